// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/test/authors/acme/machines"
)

const namespace = "shoot--p--s"

func object[T any](t *testing.T, file string) *T {
	t.Helper()
	text, err := os.ReadFile("../" + file)
	check(t, err)
	read := new(T)
	check(t, yaml.UnmarshalStrict(text, read))
	return read
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// seed is what a delegate works on: the seed, and the Cluster of the shoot.
type seed struct {
	client.Client

	cluster *extensionscontroller.Cluster
	worker  *extensionsv1alpha1.Worker
	events  *events.FakeRecorder
}

// newSeed returns a seed with only a Worker, whose pools have these machine types and versions.
func newSeed(t *testing.T, region string, pools ...extensionsv1alpha1.WorkerPool) *seed {
	t.Helper()
	worker := &extensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: namespace, UID: "1"}}
	worker.Spec.Region, worker.Spec.Pools = region, pools
	return withWorker(t, worker, object[v1beta1.CloudProfile](t, "cloudprofile.yaml"))
}

func withWorker(t *testing.T, worker *extensionsv1alpha1.Worker, profile *v1beta1.CloudProfile, others ...client.Object) *seed {
	t.Helper()
	scheme := runtime.NewScheme()
	add := runtime.NewSchemeBuilder(corev1.AddToScheme, machinev1alpha1.AddToScheme, extensionsv1alpha1.AddToScheme)
	check(t, add.AddToScheme(scheme))
	userData := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "osc", Namespace: namespace}, Data: map[string][]byte{"data": []byte("x")}}
	s := &seed{worker: worker, events: events.NewFakeRecorder(10)}
	s.Client = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(worker).WithObjects(append(others, worker, userData)...).Build()
	check(t, s.Get(t.Context(), client.ObjectKeyFromObject(worker), worker))
	s.cluster = &extensionscontroller.Cluster{CloudProfile: profile, Shoot: &v1beta1.Shoot{}}
	s.cluster.Shoot.Status.TechnicalID = namespace
	return s
}

func poolOf(name, machineType, version string) extensionsv1alpha1.WorkerPool {
	pool := extensionsv1alpha1.WorkerPool{
		Name: name, MachineType: machineType, Zones: []string{"a", "b"}, Minimum: 1, Maximum: 3, NodeAgentSecretName: ptr.To("agent"),
		MachineImage: extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: version},
	}
	pool.UserDataSecretRef.Name, pool.UserDataSecretRef.Key = "osc", "data"
	return pool
}

func (s *seed) delegate(t *testing.T) genericactuator.WorkerDelegate {
	t.Helper()
	factory := &machines.Delegates{Client: s, Reader: s, Events: s.events}
	delegate, err := factory.WorkerDelegate(t.Context(), s.worker, s.cluster)
	check(t, err)
	return delegate
}

// reconcile calls a delegate like genericactuator.
func (s *seed) reconcile(t *testing.T) error {
	t.Helper()
	d := s.delegate(t)
	check(t, d.PreReconcileHook(t.Context()))
	deployments, err := d.GenerateMachineDeployments(t.Context())
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{d.DeployMachineClasses, d.UpdateMachineImagesStatus, d.PostReconcileHook} {
		check(t, step(t.Context()))
	}
	for _, deployment := range deployments {
		if _, made := s.templates(t)[deployment.ClassName]; !made {
			t.Errorf("%s has no machine class", deployment.Name)
		}
	}
	return nil
}

// templates returns the template of each machine class.
func (s *seed) templates(t *testing.T) map[string]string {
	t.Helper()
	classes := &machinev1alpha1.MachineClassList{}
	check(t, s.List(t.Context(), classes))
	templates := map[string]string{}
	for _, class := range classes.Items {
		_, rest, _ := strings.Cut(string(class.ProviderSpec.Raw), `"tpl-`)
		id, _, _ := strings.Cut(rest, `"`)
		templates[class.Name] = "tpl-" + id
	}
	return templates
}

// expect checks the number of machine classes, and that each boots the template.
func (s *seed) expect(t *testing.T, number int, template string) {
	t.Helper()
	templates := s.templates(t)
	for name, id := range templates {
		if id != template {
			t.Errorf("%s boots %s instead of %s", name, id, template)
		}
	}
	if len(templates) != number {
		t.Errorf("%v", templates)
	}
}

// A new pool gets the image that capkit select prints, or an error that names the pool, and nothing is written.
func TestNewPools(t *testing.T) {
	for _, c := range []struct{ machineType, version, region, want string }{
		{"m.large", "1877.5.0", "south", "tpl-0a11ce02"}, {"m.small", "1877.5.0", "south", "tpl-0ba51c02"},
		{"m.small", "1592.9.0", "north", "tpl-01d00001"}, {"m.large", "1.0.0", "north", ""}, {"m.large", "1877.5.0", "west", ""},
	} {
		s := newSeed(t, c.region, poolOf("web", c.machineType, c.version))
		switch err := s.reconcile(t); {
		case c.want == "":
			if err == nil || strings.Count(err.Error(), "worker pool web") != 1 {
				t.Errorf("%v: %v", c, err)
			}
			s.expect(t, 0, "")
		case err != nil:
			t.Errorf("%v: %v", c, err)
		default:
			s.expect(t, 2, c.want)
		}
	}
}

// The controller finds an image for each pool that the webhook admits. Enabling a setting later replaces the machines.
func TestASettingIsSwitchedOn(t *testing.T) {
	vault := object[v1beta1.Shoot](t, "shoot.yaml").Spec.Provider.Workers[0]
	s := newSeed(t, "north", poolOf(vault.Name, vault.Machine.Type, *vault.Machine.Image.Version))
	check(t, s.reconcile(t))
	s.expect(t, 2, "tpl-0a11ce01")
	before := s.templates(t)
	s.worker.Spec.Pools[0].ProviderConfig = vault.ProviderConfig
	check(t, s.reconcile(t))
	after := s.templates(t)
	if len(after) != 4 {
		t.Errorf("the machines are not replaced: %v", after)
	}
	for name, template := range after {
		if _, old := before[name]; !old && template != "tpl-0c0f1d01" {
			t.Errorf("%s boots %s", name, template)
		}
	}
	s.worker.Spec.Pools[0].UpdateStrategy, s.worker.Spec.Pools[0].KubernetesVersion = ptr.To(v1beta1.AutoInPlaceUpdate), ptr.To("1.33.2")
	if err := s.reconcile(t); err == nil || !strings.Contains(err.Error(), capability.UpdateType) {
		t.Errorf("updated in place: %v", err)
	}
}

// A pool with machines keeps its flavor when another one ranks higher, also in later reconciliations. A new pool gets the other one.
func TestABetterFlavor(t *testing.T) {
	s := newSeed(t, "south", poolOf("web", "m.large", "1877.5.0"))
	check(t, s.reconcile(t))
	before := s.templates(t)
	for _, capability := range s.cluster.CloudProfile.Spec.MachineCapabilities {
		if capability.Name == "network" {
			slices.Reverse(capability.Values)
		}
	}
	s.worker.Spec.Pools = append(s.worker.Spec.Pools, poolOf("new", "m.large", "1877.5.0"))
	for range 2 {
		check(t, s.reconcile(t))
		for name, template := range s.templates(t) {
			if was, existed := before[name]; existed && template != was || !existed && template != "tpl-0ba51c02" {
				t.Errorf("%s boots %s", name, template)
			}
		}
	}
}

// A pool keeps an image version that the profile no longer lists: with its existing classes, for an added pool, and in another seed.
func TestDelisted(t *testing.T) {
	s := newSeed(t, "south", poolOf("web", "m.large", "1877.5.0"))
	check(t, s.reconcile(t))
	delisted := object[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	delisted.Spec.MachineImages[0].Versions = nil
	s.cluster.CloudProfile = delisted
	s.worker.Spec.Pools = append(s.worker.Spec.Pools, poolOf("new", "m.large", "1877.5.0"))
	check(t, s.reconcile(t))
	s.expect(t, 4, "tpl-0a11ce02")

	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.worker.Status.Resources[0].ResourceRef.Name, Namespace: namespace}}
	check(t, s.Get(t.Context(), client.ObjectKeyFromObject(config), config))
	moved := &extensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: namespace, UID: "2"}, Spec: s.worker.Spec}
	moved.Status.LastOperation = &v1beta1.LastOperation{Type: v1beta1.LastOperationTypeRestore}
	other := withWorker(t, moved, delisted,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: config.Name, Namespace: namespace}, Data: config.Data})
	for range 2 {
		check(t, other.reconcile(t))
		other.expect(t, 4, "tpl-0a11ce02")
	}
}

// What a legacy record implies still applies once the profile has capabilities: a machine type gets no image whose network it lacks.
func TestImplied(t *testing.T) {
	s := newSeed(t, "south", poolOf("web", "m.large", "1592.9.0"))
	capabilities, legacy := s.cluster.CloudProfile, s.cluster.CloudProfile.DeepCopy()
	legacy.Spec.MachineCapabilities, legacy.Spec.MachineTypes[0].Capabilities = nil, nil
	legacy.Spec.MachineTypes[0].Architecture = ptr.To("amd64")
	legacy.Spec.MachineImages[0].Versions = legacy.Spec.MachineImages[0].Versions[1:]
	legacy.Spec.MachineImages[0].Versions[0].CapabilityFlavors = nil
	s.cluster.CloudProfile = legacy
	check(t, s.reconcile(t))
	s.expect(t, 2, "tpl-01d00002")

	capabilities.Spec.MachineImages[0].Versions = capabilities.Spec.MachineImages[0].Versions[:1]
	capabilities.Spec.MachineTypes[1].Capabilities = v1beta1.Capabilities{"architecture": {"amd64"}, "network": {"accelerated"}}
	s.cluster.CloudProfile = capabilities
	check(t, s.reconcile(t))
	s.expect(t, 2, "tpl-01d00002")
	s.worker.Spec.Pools[0].MachineType, s.worker.Spec.Pools[0].NodeAgentSecretName = "m.small", ptr.To("other")
	if err := s.reconcile(t); err == nil || !strings.Contains(err.Error(), "nor does an image fit") {
		t.Error(err)
	}
}

// A Worker is deleted with the current credentials, whatever the profile contains.
func TestDeletion(t *testing.T) {
	s := newSeed(t, "south", poolOf("web", "m.large", "1877.5.0"))
	check(t, s.reconcile(t))
	s.cluster.CloudProfile = &v1beta1.CloudProfile{}
	s.worker.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"kind":"Other"}`)}
	s.worker.DeletionTimestamp = ptr.To(metav1.Now())
	s.worker.Spec.SecretRef.Name = "today"
	d := s.delegate(t)
	for _, step := range []func(context.Context) error{d.PreDeleteHook, d.DeployMachineClasses, d.PostDeleteHook} {
		check(t, step(t.Context()))
	}
	s.expect(t, 2, "tpl-0a11ce02")
	classes := &machinev1alpha1.MachineClassList{}
	check(t, s.List(t.Context(), classes))
	for _, class := range classes.Items {
		if class.CredentialsSecretRef.Name != "today" {
			t.Errorf("%s has the credentials of %s", class.Name, class.CredentialsSecretRef.Name)
		}
	}
}

// An Event reports that a pool cannot keep its flavor.
func TestReplaced(t *testing.T) {
	s := newSeed(t, "south", poolOf("web", "m.large", "1877.5.0"))
	check(t, s.reconcile(t))
	classes := &machinev1alpha1.MachineClassList{}
	check(t, s.List(t.Context(), classes))
	for i := range classes.Items {
		classes.Items[i].ProviderSpec.Raw = []byte(`{"template":"tpl-00000000"}`)
		check(t, s.Update(t.Context(), &classes.Items[i]))
	}
	check(t, s.reconcile(t))
	select {
	case event := <-s.events.Events:
		if !strings.Contains(event, "ImageReplaced worker pool web: ") {
			t.Error(event)
		}
	default:
		t.Error("no Event")
	}
}
