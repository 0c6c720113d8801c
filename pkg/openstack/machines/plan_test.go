// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/capkit/capkit/internal/testing/machinedriver"
	"github.com/capkit/capkit/pkg/worker"
)

// seven is a Worker of seven pools, with the result of provider-openstack.
const seven = "testdata/seven"

// load decodes a JSON file of a folder.
func load[T any](t testing.TB, folder, name string) *T {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	into := new(T)
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return into
}

// situationOf returns the situation in a folder, without machine classes.
func situationOf(t testing.TB, folder string) *situation {
	t.Helper()
	w := load[extensionsv1alpha1.Worker](t, folder, "input-worker")
	status, err := readStatus(w.Status.ProviderStatus)
	if err != nil {
		t.Fatal(err)
	}
	s := &situation{
		worker: w,
		cluster: &extensionscontroller.Cluster{
			Shoot: load[v1beta1.Shoot](t, folder, "input-shoot"), CloudProfile: load[v1beta1.CloudProfile](t, folder, "input-cloudprofile"),
		},
		status: status, userData: map[corev1.SecretKeySelector][]byte{},
	}
	for i := range w.Spec.Pools {
		s.userData[w.Spec.Pools[i].UserDataSecretRef] = []byte("#cloud-config <&>\n")
	}
	return s
}

// planned returns a situation's plan.
func planned(t testing.TB, s *situation) *plan {
	t.Helper()
	p, err := s.plan()
	if err != nil {
		t.Fatal(err)
	}
	hold(t, p)
	return p
}

// hold fails the test if the machine controller would refuse a machine class.
func hold(t interface{ Errorf(string, ...any) }, p *plan) {
	for i := range p.pools {
		for _, class := range p.pools[i].classes {
			if err := machinedriver.Check(machinedriver.V0271, class.ProviderSpec.Raw); err != nil {
				t.Errorf("machine class %s: %v", class.Name, err)
			}
		}
	}
}

// The machine controller of provider-openstack up to v1.52 refuses each machine class, so a seed with it is refused.
func TestOldMachineControllersRefuseEachClass(t *testing.T) {
	for _, pool := range planned(t, situationOf(t, seven)).pools {
		for _, class := range pool.classes {
			if err := machinedriver.Check(machinedriver.V0241, class.ProviderSpec.Raw); err == nil {
				t.Errorf("it takes %s", class.Name)
			}
		}
	}
}

// asJSON returns a value as decoded JSON, without fields that an API server sets and without empty fields.
func asJSON(t testing.TB, value any) any {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var decoded any
	if err := json.Unmarshal(raw, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

func onlyNames[T metav1.Object](objects []T) []T {
	for _, o := range objects {
		o.SetCreationTimestamp(metav1.Time{})
	}
	slices.SortFunc(objects, func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects
}

// The objects of the pools are the same as with provider-openstack.
func TestSameAsProviderOpenStack(t *testing.T) {
	p := planned(t, situationOf(t, seven))
	var (
		classes     []*machinev1alpha1.MachineClass
		secrets     []*corev1.Secret
		deployments []any
	)
	for _, pool := range p.pools {
		classes = append(classes, pool.classes...)
		secrets = append(secrets, pool.secrets...)
		for _, d := range pool.deployments {
			deployments = append(deployments, d)
		}
	}
	for i := range classes {
		classes[i].TypeMeta = metav1.TypeMeta{APIVersion: machinev1alpha1.SchemeGroupVersion.String(), Kind: "MachineClass"}
	}
	wantClasses := onlyNames(*load[[]*machinev1alpha1.MachineClass](t, seven, "upstream-machineclasses"))
	if diff := cmp.Diff(asJSON(t, wantClasses), asJSON(t, onlyNames(classes))); diff != "" {
		t.Errorf("machine classes (-provider-openstack +ours):\n%s", diff)
	}
	wantSecrets := onlyNames(*load[[]*corev1.Secret](t, seven, "upstream-secrets"))
	if diff := cmp.Diff(asJSON(t, wantSecrets), asJSON(t, onlyNames(secrets))); diff != "" {
		t.Errorf("secrets (-provider-openstack +ours):\n%s", diff)
	}
	if diff := cmp.Diff(*load[any](t, seven, "upstream-machinedeployments"), asJSON(t, deployments)); diff != "" {
		t.Errorf("machine deployments (-provider-openstack +ours):\n%s", diff)
	}
}

// A pool with a percentage that Gardener accepts but its library cannot parse is refused by name. It does not block a deletion.
func TestPercentagesThatAreTooLarge(t *testing.T) {
	for share, refused := range map[string]bool{"99999999999999999999%": true, "%": true, "": true, "1": true, "200%": false} {
		s := situationOf(t, seven)
		s.worker.Spec.Pools[1].MaxSurge = intstr.FromString(share)
		p, err := s.plan()
		want := "worker pool " + s.worker.Spec.Pools[1].Name + `: maxSurge is "` + share +
			`", neither a number of machines nor a percentage that is small enough, such as 100%`
		if refused && (err == nil || err.Error() != want || len(p.pools) != len(s.worker.Spec.Pools)-1) || !refused && err != nil {
			t.Errorf("%d pools, %v", len(p.pools), err)
		}
	}
}

// withVersion renames the image version of all pools.
func withVersion(s *situation, version string) {
	profile := &s.cluster.CloudProfile.Spec
	for i := range profile.MachineImages[0].Versions {
		if v := &profile.MachineImages[0].Versions[i]; v.Version == "1.0.0" {
			v.Version = version
		}
	}
	profile.ProviderConfig.Raw = bytes.ReplaceAll(profile.ProviderConfig.Raw, []byte(`"1.0.0"`), []byte(strconv.Quote(version)))
	for i := range s.worker.Spec.Pools {
		s.worker.Spec.Pools[i].MachineImage.Version = version
	}
}

// A situation from which no machine can be made is refused, for a pool with Gardener's code for configuration problems.
func TestWhatNoMachineCanBeMadeOf(t *testing.T) {
	tooLong := "1.0.0-" + strings.Repeat("a", 58)
	for want, change := range map[string]func(s *situation){
		"worker pool plain: a worker pool needs the name of at least one zone": func(s *situation) { s.worker.Spec.Pools[0].Zones = nil },
		"worker pool zones: a worker pool needs the name of at least one zone": func(s *situation) { s.worker.Spec.Pools[1].Zones[1] = "" },
		"worker pool zones: maxUnavailable is":                                 func(s *situation) { s.worker.Spec.Pools[1].MaxUnavailable = intstr.FromString("%") },
		"worker pool plain: volume.size is": func(s *situation) {
			s.worker.Spec.Pools[0].Volume = &extensionsv1alpha1.Volume{Size: "large"}
		},
		"no machine class in zone europe-1c yet": func(s *situation) {
			p, _ := s.plan()
			s.afterwards(p)
			s.cluster.CloudProfile.Spec.MachineTypes = nil
			s.worker.Spec.Pools[0].Zones = append(s.worker.Spec.Pools[0].Zones, "europe-1c")
		},
		"worker pool plain: a label of machine classes cannot have the image version " + tooLong + ": use one of up to 63 characters": func(s *situation) {
			withVersion(s, tooLong)
		},
		"worker pool plain: a label of machine classes cannot have the image version 1.0.0+a-": func(s *situation) {
			withVersion(s, "1.0.0+a-")
		},
		"group: the Worker of namespace shoot--h6--s4 has no region":     func(s *situation) { s.worker.Spec.Region = "" },
		"group: the Shoot of namespace shoot--h6--s4 has no pod network": func(s *situation) { s.cluster.Shoot.Spec.Networking.Pods = nil },
	} {
		s := situationOf(t, seven)
		change(s)
		p, err := s.plan()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		hold(t, p)
		if coded := v1beta1helper.Coder(nil); len(p.pools) > 0 && !errors.As(err, &coded) {
			t.Errorf("%v has no code", err)
		}
	}
}

// Names in a Worker are arbitrary text. Errors, which appear in its status, are printable and keep their codes.
func TestErrorsArePrintable(t *testing.T) {
	const name, shown = "pool\x1b[31m\n\u202e", `pool\x1b[31m\n\u202e`
	for want, change := range map[string]func(s *situation){
		"worker pool " + shown + `: maxSurge is "%"`: func(s *situation) { s.worker.Spec.Pools[0].MaxSurge = intstr.FromString("%") },
		"worker pools " + shown + ", ":               func(s *situation) { s.worker.Spec.InfrastructureProviderStatus = nil },
		"worker pool " + shown + ": image ":          func(s *situation) { s.worker.Spec.Pools[0].MachineImage.Name = "none" },
	} {
		s := situationOf(t, seven)
		s.worker.Spec.Pools[0].Name = name
		change(s)
		_, err := s.plan()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") || strings.Contains(err.Error(), "\u202e") {
			t.Errorf("%q, want %q", err, want)
		}
		if coded := new(worker.Error); strings.Contains(want, "image") && !errors.As(err, &coded) {
			t.Errorf("%v has lost its code", err)
		}
	}
}
