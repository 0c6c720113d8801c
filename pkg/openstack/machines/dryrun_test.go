// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// rawOf returns an object as stored in a Cluster.
func rawOf(t *testing.T, apiVersion, kind string, object any) runtime.RawExtension {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: []byte(strings.Replace(string(raw), "{", `{"apiVersion":"`+apiVersion+`","kind":"`+kind+`",`, 1))}
}

// seedOf returns a seed in which the Worker of a situation has been reconciled, and then something changes.
func seedOf(
	t *testing.T, s *situation, change func(*situation, []*machinev1alpha1.MachineClass, []*machinev1alpha1.MachineDeployment), more ...client.Object,
) client.Client {
	t.Helper()
	s.cluster.Shoot.TypeMeta, s.cluster.CloudProfile.TypeMeta = metav1.TypeMeta{}, metav1.TypeMeta{}
	var classes []*machinev1alpha1.MachineClass
	var deployments []*machinev1alpha1.MachineDeployment
	for _, pool := range planned(t, s).pools {
		classes = append(classes, pool.classes...)
		for _, d := range pool.deployments {
			deployment := &machinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.worker.Namespace, Name: d.Name}}
			deployment.Spec.Template.Spec.Class.Name = d.ClassName
			deployments = append(deployments, deployment)
		}
	}
	change(s, classes, deployments)
	objects := append(more, s.worker, &extensionsv1alpha1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: s.worker.Namespace},
		Spec: extensionsv1alpha1.ClusterSpec{
			Shoot:        rawOf(t, "core.gardener.cloud/v1beta1", "Shoot", s.cluster.Shoot),
			CloudProfile: rawOf(t, "core.gardener.cloud/v1beta1", "CloudProfile", s.cluster.CloudProfile),
			Seed:         new(rawOf(t, "core.gardener.cloud/v1beta1", "Seed", &v1beta1.Seed{})),
		},
	})
	for selector, data := range s.userData {
		objects = append(objects, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.worker.Namespace, Name: selector.Name}, Data: map[string][]byte{selector.Key: data},
		})
	}
	for _, class := range classes {
		objects = append(objects, class)
	}
	for _, deployment := range deployments {
		objects = append(objects, deployment)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, machinev1alpha1.AddToScheme, extensionsv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

// Before the controller takes over, a dry run shows its effects, and the effects of going back.
func TestDryRun(t *testing.T) {
	type (
		classes     = []*machinev1alpha1.MachineClass
		deployments = []*machinev1alpha1.MachineDeployment
	)
	const namespace, driver = "shoot--h6--s4", "machine-controller-manager-provider-openstack"
	for name, tc := range map[string]struct {
		change func(*situation, classes, deployments)
		more   []client.Object
		// says are parts of the lines, in order. stops means that the controller must not take over.
		says  []string
		stops bool
	}{
		"nothing changes": {change: func(*situation, classes, deployments) {}, says: []string{"1 Worker checked, 1 without findings"}},
		"machines would be replaced": {
			change: func(_ *situation, _ classes, d deployments) { d[0].Spec.Template.Spec.Class.Name = "other" },
			says: []string{"STOP: worker pool plain: the machines of shoot--h6--s4-plain-z1 would be replaced: " +
				"their machine class is other, and would be shoot--h6--s4-plain-z1-",
				"1 Worker checked, 0 without findings"}, stops: true,
		},
		"a class would change": {
			change: func(_ *situation, c classes, _ deployments) {
				c[0].ProviderSpec.Raw = []byte(strings.Replace(string(c[0].ProviderSpec.Raw), `"subnetIDs":`, `"subnetID":`, 1))
			},
			says: []string{"would change, without effect on existing machines: providerSpec.spec.subnetID, providerSpec.spec.subnetIDs\n"},
		},
		"the mapping is wrong": {
			change: func(s *situation, _ classes, _ deployments) { s.cluster.CloudProfile.Spec.MachineTypes = nil },
			says:   []string{"worker pool plain: machine type virt is not in the profile", "until that is repaired"},
		},
		"a pool would be refused": {
			change: func(s *situation, _ classes, _ deployments) {
				s.worker.Spec.Pools[0].MachineImage.Version, s.worker.Spec.Pools[0].Name = "9.9.9", "new"
			},
			says: []string{"STOP: worker pool new: image gardenlinux has no version 9.9.9"}, stops: true,
		},
		"a pool is gone, and its machines are not": {
			change: func(s *situation, _ classes, _ deployments) { s.worker.Spec.Pools = s.worker.Spec.Pools[1:] },
			says:   []string{"STOP: machine deployment shoot--h6--s4-plain-z1 would be deleted, with its machines\n"}, stops: true,
		},
		"a Worker without a Cluster": {
			change: func(*situation, classes, deployments) {},
			more: []client.Object{&extensionsv1alpha1.Worker{
				ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "w"},
				Spec:       extensionsv1alpha1.WorkerSpec{DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "openstack"}},
			}},
			says: []string{`a: STOP: clusters.extensions.gardener.cloud "a" not found`, "2 Workers checked, 1 without findings"}, stops: true,
		},
		"a Cluster without a Shoot": {
			change: func(*situation, classes, deployments) {},
			more: []client.Object{
				&extensionsv1alpha1.Worker{
					ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "w"},
					Spec:       extensionsv1alpha1.WorkerSpec{DefaultSpec: extensionsv1alpha1.DefaultSpec{Type: "openstack"}},
				},
				&extensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			},
			says: []string{"a: STOP: ", "2 Workers checked, 1 without findings"}, stops: true,
		},
		"a server group with an old name": {
			change: func(s *situation, _ classes, _ deployments) {
				status := s.worker.Status.ProviderStatus
				status.Raw = []byte(strings.Replace(string(status.Raw), "sg-name", namespace+"-group-0bQxV7PzKa", 1))
			},
			says: []string{"worker pool group: server group " + namespace + "-group-0bQxV7PzKa has an old name: with Kubernetes 1.35 or newer, " +
				"going back replaces the machines"},
		},
		"the record of a server group is lost": {
			change: func(s *situation, _ classes, _ deployments) { s.worker.Status.ProviderStatus = nil },
			says:   []string{"worker pool group: its server group sg-id-1 is not recorded, and would be"},
		},
		"a new pool has a server group": {
			change: func(s *situation, _ classes, _ deployments) {
				pool := s.worker.Spec.Pools[slices.IndexFunc(s.worker.Spec.Pools, func(p extensionsv1alpha1.WorkerPool) bool { return p.Name == "group" })].DeepCopy()
				pool.Name = "fresh"
				s.worker.Spec.Pools = append(s.worker.Spec.Pools, *pool)
			},
			says: []string{"worker pool fresh: its server group would be made\n", "worker pool fresh: machine deployment shoot--h6--s4-fresh-z1 would be made\n"},
		},
		"a pool gets a server group": {
			change: func(s *situation, _ classes, _ deployments) {
				group := s.worker.Spec.Pools[slices.IndexFunc(s.worker.Spec.Pools, func(p extensionsv1alpha1.WorkerPool) bool { return p.Name == "group" })]
				s.worker.Spec.Pools[0].ProviderConfig = group.ProviderConfig
			},
			says: []string{"STOP: worker pool plain: it has no server group yet\n"}, stops: true,
		},
		"trusted launch": {
			change: func(s *situation, _ classes, _ deployments) {
				config := &runtime.RawExtension{Raw: []byte(`{"trustedLaunch":{}}`)}
				s.cluster.Shoot.Spec.Provider.Workers = []v1beta1.Worker{{Name: "plain", ProviderConfig: config}}
			},
			says: []string{"spec.provider.workers[0].providerConfig.trustedLaunch would have to be removed before going back"},
		},
		"an old machine controller": {
			change: func(*situation, classes, deployments) {}, more: released(namespace, "machine-controller-manager", driver, "x:v0.24.1"),
			says: []string{"STOP: the machine controller of the Shoot, " + driver + ", is of release v0.24.1"}, stops: true,
		},
		"an old release": {
			change: func(*situation, classes, deployments) {},
			more:   released("extension-x", "gardener-extension-provider-openstack", "gardener-extension-provider-openstack", "x:v1.52.0"),
			says:   []string{", 1 without findings"}, stops: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			c := seedOf(t, situationOf(t, seven), tc.change, tc.more...)
			err := dryRun(t.Context(), c, &out)
			if (err != nil) != tc.stops {
				t.Errorf("%v", err)
			}
			rest := out.String()
			for _, text := range tc.says {
				_, after, found := strings.Cut(rest, text)
				if !found {
					t.Errorf("it does not say %q:\n%s", text, &out)
				}
				rest = after
			}
		})
	}
}
