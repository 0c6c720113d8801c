// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// faulty is a provider with worker capabilities that are not its own.
type faulty struct{ openstack.Provider }

func (faulty) Workers() provider.Workers {
	return provider.WorkersOf(provider.WorkerConfig[v1alpha1.WorkerConfig]{
		Kind:         schema.GroupVersion(v1alpha1.GroupVersion).WithKind("WorkerConfig"),
		Capabilities: []capability.Definition{{Name: "acme-launch", Values: []string{"on"}}, {Name: "gardener-launch", Values: []string{"on"}}},
	})
}

// The faults of a provider are reported when the component starts, before it connects to anything, in the words of provider.Check.
func TestFaultyProvider(t *testing.T) {
	want := provider.Check(faulty{})
	if want == nil {
		t.Fatal("nothing is wrong with it")
	}
	t.Setenv("GARDEN_KUBECONFIG", "does/not/exist")
	cmd := NewCommand(faulty{})
	cmd.SetArgs([]string{"--webhook-config-mode=service"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || err.Error() != want.Error() {
		t.Errorf("the command says %v instead of %v", err, want)
	}
	cmd.SetArgs([]string{"--help"})
	cmd.SetOut(&strings.Builder{})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Errorf("there is no help: %v", err)
	}
	for _, s := range Switches(faulty{}) {
		for range 2 { // the second try fails, too
			if webhook, err := s.Func(nil); webhook != nil || err == nil || err.Error() != want.Error() {
				t.Errorf("webhook %s: %v, %v", s.Name, webhook, err)
			}
		}
	}
}

const head = `"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"`

// asking is a WorkerConfig that requests trusted launch.
const asking = `{` + head + `,"trustedLaunch":{"enabled":true}}`

func config(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }

// trusted returns the examples of trusted launch.
func trusted(t testing.TB) (*v1beta1.CloudProfile, *v1beta1.Shoot) {
	t.Helper()
	profile, shoot := example[v1beta1.CloudProfile](t, "cloudprofile-trusted-launch.yaml"), example[v1beta1.Shoot](t, "shoot-trusted-launch.yaml")
	profile.UID, profile.ResourceVersion, shoot.UID, shoot.ResourceVersion = "a", "1", "b", "1"
	return profile, shoot
}

// TestStripShoot wants nothing private or large of a Shoot in memory. See also TestStrippedShoots.
func TestStripShoot(t *testing.T) {
	_, shoot := trusted(t)
	private := map[string]string{"password": secret}
	shoot.Labels, shoot.Annotations = map[string]string{"b": "c"}, private
	shoot.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: secret}}
	shoot.Spec.Kubernetes.Kubelet = &v1beta1.KubeletConfig{CPUManagerPolicy: ptr.To(secret)}
	shoot.Spec.Maintenance = &v1beta1.Maintenance{TimeWindow: &v1beta1.MaintenanceTimeWindow{Begin: secret}}
	shoot.Spec.Provider.InfrastructureConfig = config(`"` + secret + `"`)
	worker := &shoot.Spec.Provider.Workers[0]
	worker.Annotations, worker.Labels, worker.CABundle, worker.Sysctls = private, private, ptr.To(secret), private
	worker.Machine.Image.ProviderConfig = config(`"` + secret + `"`)
	worker.Kubernetes = &v1beta1.WorkerKubernetes{Version: ptr.To("1.32.0"), Kubelet: shoot.Spec.Kubernetes.Kubelet}
	whole := shoot.DeepCopy()
	stripped := kept(t, shoot)
	if string(encode(t, shoot)) != string(encode(t, whole)) {
		t.Error("the Shoot that was given has changed")
	}
	if !maps.Equal(stripped.Labels, whole.Labels) {
		t.Errorf("the labels, by which the informers select, are %v", stripped.Labels)
	}
	if all := string(encode(t, stripped)); strings.Contains(all, secret) {
		t.Errorf("there is more: %s", all)
	}
	if other, err := stripShoot("something else"); other != "something else" || err != nil {
		t.Errorf("%v, %v", other, err)
	}
}

// patchConfig applies a JSON patch to a provider config.
func patchConfig(t testing.TB, config *runtime.RawExtension, changes string) {
	t.Helper()
	patch, err := jsonpatch.DecodePatch([]byte(changes))
	if err == nil {
		config.Raw, err = patch.Apply(config.Raw)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// kept returns a Shoot as the informers store it.
func kept(t testing.TB, shoot *v1beta1.Shoot) *v1beta1.Shoot {
	t.Helper()
	stripped, err := stripShoot(shoot)
	if err != nil {
		t.Fatal(err)
	}
	return stripped.(*v1beta1.Shoot)
}

// withPools returns a renamed copy of the Shoot with some of its pools.
func withPools(shoot *v1beta1.Shoot, name string, pools ...int) *v1beta1.Shoot {
	other := shoot.DeepCopy()
	other.Name, other.Spec.Provider.Workers = name, nil
	for _, i := range pools {
		other.Spec.Provider.Workers = append(other.Spec.Provider.Workers, shoot.Spec.Provider.Workers[i])
	}
	return other
}

// TestWhoIsWarned removes parts of a profile that worker pools require. The warning names the affected Shoots, with and without a
// NamespacedCloudProfile. A parent cannot remove a NamespacedCloudProfile's own definitions.
func TestWhoIsWarned(t *testing.T) {
	profile, shoot := trusted(t)
	child := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	child.Spec.Parent.Name, child.Spec.MachineTypes = profile.Name, nil
	flavors := profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors
	child.Spec.MachineImages = []v1beta1.MachineImage{{Name: "gardenlinux", Versions: []v1beta1.MachineImageVersion{{
		ExpirableVersion: v1beta1.ExpirableVersion{Version: "2000.1.0"}, CapabilityFlavors: flavors,
	}}}}
	child.Spec.ProviderConfig = config(`{
		"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "gardenlinux", "versions": [{"version": "2000.1.0", "capabilityFlavors": [
			{"capabilities": {"architecture": ["amd64"]}, "regions": [{"name": "europe", "id": "a"}]},
			{"capabilities": {"architecture": ["amd64"], "openstack-trustedLaunch": ["enabled"]},
				"regions": [{"name": "europe", "id": "b"}]}]}]}]}`)
	own, inherited := withPools(shoot, "own", 0, 1), withPools(shoot, "inherited", 0)
	for i := range own.Spec.Provider.Workers {
		image := v1beta1.ShootMachineImage{Name: "gardenlinux", Version: ptr.To("2000.1.0")}
		own.Spec.Provider.Workers[i].Machine.Image = &image
	}
	for _, s := range []*v1beta1.Shoot{own, inherited} {
		s.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: child.Name}
	}
	c := componentFor(openstack.Provider{}, stored{
		profile, child, kept(t, own), kept(t, inherited), kept(t, shoot),
		kept(t, withPools(shoot, "asking", 0)), kept(t, withPools(shoot, "other", 1)),
	})
	expectWarning := func(report finding.Report, err error, want string) {
		t.Helper()
		got := warn(report.Warnings)
		if err != nil || len(report.Errors) > 0 || len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("got %q, %v and %v instead of %s", got, report.Errors, err, want)
		}
	}
	const removal = `[{"op": "remove", "path": "/machineImages/0/versions/0/capabilityFlavors/1"}]`
	without, childWithout := profile.DeepCopy(), child.DeepCopy()
	patchConfig(t, without.Spec.ProviderConfig, removal)
	without.Spec.MachineImages[0].Versions[0].CapabilityFlavors = flavors[:1]
	patchConfig(t, childWithout.Spec.ProviderConfig, removal)
	childWithout.Spec.MachineImages[0].Versions[0].CapabilityFlavors = flavors[:1]

	report, err := c.checkCloudProfile(t.Context(), without, profile)
	expectWarning(report, err, "gardenlinux@1877.5.0: no image is left for worker pools of Shoots garden-demo/asking, "+
		"garden-demo/bank, garden-demo/inherited")
	report, err = c.checkNamespacedCloudProfile(t.Context(), childWithout, child)
	expectWarning(report, err, "gardenlinux@2000.1.0: no image is left for worker pools of Shoot garden-demo/own")
	// The image of own is not the CloudProfile's, but its machine type is.
	untyped := profile.DeepCopy()
	untyped.Spec.MachineTypes = slices.DeleteFunc(untyped.Spec.MachineTypes, func(m v1beta1.MachineType) bool {
		return m.Name == shoot.Spec.Provider.Workers[0].Machine.Type
	})
	report, err = c.checkCloudProfile(t.Context(), untyped, profile)
	expectWarning(report, err, "is removed and still used by Shoots garden-demo/asking, garden-demo/bank, "+
		"garden-demo/inherited, garden-demo/other, garden-demo/own")
	report, err = c.checkCloudProfile(t.Context(), profile, without)
	if got := append(report.Errors, report.Warnings...); err != nil || len(got) > 0 {
		t.Error("it is put back, and others go on booting what they boot:", got, err)
	}
}

// If an operator, or a newer version of the component, breaks a worker pool, updates that leave the pool alone still pass (semantics
// S10). New errors are refused.
func TestUpdatesOfShootsThatAsk(t *testing.T) {
	profile, old := trusted(t)
	patchConfig(t, profile.Spec.ProviderConfig, `[{"op": "remove", "path": "/machineImages/0/versions/0/capabilityFlavors/1"}]`)
	versions := profile.Spec.MachineImages[0].Versions
	versions[0].CapabilityFlavors, versions[2].InPlaceUpdates = versions[0].CapabilityFlavors[:1], nil
	c := componentFor(openstack.Provider{}, stored{profile})
	// The first pool requires the removed flavor; the second is valid.
	for _, configured := range []string{`{"kind":"InfrastructureConfig"}`, `[` + asking + `]`, asking} {
		worker := old.Spec.Provider.Workers[1].DeepCopy()
		worker.Name, worker.ProviderConfig = fmt.Sprint("pool-", len(old.Spec.Provider.Workers)), config(configured)
		worker.UpdateStrategy = ptr.To(v1beta1.AutoInPlaceUpdate)
		old.Spec.Provider.Workers = append(old.Spec.Provider.Workers, *worker)
	}
	const asks, plain, otherKind, list, inPlace, none = 0, 1, 2, 3, 4, -1
	if report, err := c.checkShoot(t.Context(), old, nil); err != nil || len(report.Errors) < 4 {
		t.Fatalf("of the Shoot as it is: %v, %v", report.Errors, err)
	}
	for name, test := range map[string]struct {
		refused int // the pool that is refused
		change  func(s *v1beta1.Shoot, pools []v1beta1.Worker)
	}{
		"hibernation": {none, func(s *v1beta1.Shoot, _ []v1beta1.Worker) {
			s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)}
		}},
		"numbers":   {none, func(_ *v1beta1.Shoot, pools []v1beta1.Worker) { pools[list].Maximum, pools[asks].Maximum = 7, 7 }},
		"reordered": {none, func(_ *v1beta1.Shoot, pools []v1beta1.Worker) { slices.Reverse(pools) }},
		"one less":  {none, func(s *v1beta1.Shoot, pools []v1beta1.Worker) { s.Spec.Provider.Workers = pools[1:] }},
		"repaired": {none, func(_ *v1beta1.Shoot, pools []v1beta1.Worker) {
			pools[otherKind].ProviderConfig, pools[otherKind].UpdateStrategy = nil, nil
		}},
		"another one": {none, func(_ *v1beta1.Shoot, pools []v1beta1.Worker) { setVersion(&pools[plain], "1592.9.0") }},
		"two swapped": {plain, func(_ *v1beta1.Shoot, pools []v1beta1.Worker) {
			pools[plain].ProviderConfig, pools[asks].ProviderConfig = pools[asks].ProviderConfig, nil
		}},
		"unreadable in another way": {otherKind, func(_ *v1beta1.Shoot, pools []v1beta1.Worker) {
			pools[otherKind].ProviderConfig = config(`{"kind":"ControlPlaneConfig"}`)
		}},
		"unreadable, other image": {list, func(_ *v1beta1.Shoot, pools []v1beta1.Worker) { setVersion(&pools[list], "1592.9.0") }},
		"in place, other image":   {inPlace, func(_ *v1beta1.Shoot, pools []v1beta1.Worker) { setVersion(&pools[inPlace], "2150.1.0") }},
	} {
		t.Run(name, func(t *testing.T) {
			object := old.DeepCopy()
			test.change(object, object.Spec.Provider.Workers)
			report, err := c.checkShoot(t.Context(), object, old)
			for _, found := range report.Errors {
				if !strings.HasPrefix(found.Field, fmt.Sprintf("spec.provider.workers[%d]", test.refused)) {
					t.Errorf("refused: %v", found)
				}
			}
			if err != nil || test.refused != none && len(report.Errors) == 0 {
				t.Errorf("it is admitted, with %q, %v", warn(report.Warnings), err)
			}
		})
	}
}

func setVersion(w *v1beta1.Worker, version string) { w.Machine.Image.Version = &version }

// A WorkerConfig of any size and depth gets an answer soon, and nothing of it is logged.
func TestBadWorkerConfigs(t *testing.T) {
	e := newEndpoints(t)
	_, shoot := trusted(t)
	shoot.Spec.Provider.Workers[1].ProviderConfig = config(`"the config"`)
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	long := strings.Repeat(secret, 1<<20/len(secret))
	for name, test := range map[string]struct {
		config  string
		allowed bool
	}{
		"additional fields":   {`{` + head + `,"trustedLaunch":{"enabled":true},"password":"` + secret + `","` + secret + `":1}`, false},
		"additional inside":   {`{` + head + `,"trustedLaunch":{"enabled":true,"` + secret + `":{"` + secret + `":["` + secret + `"]}}}`, false},
		"value of wrong type": {`{` + head + `,"trustedLaunch":{"enabled":"` + secret + `"}}`, false},
		"other kind":          {`{"apiVersion":"` + secret + `/v1","kind":"` + secret + `"}`, false},
		"a label":             {`{` + head + `,"machineLabels":[{"name":"password","value":"` + secret + `"}]}`, true},
		"text":                {`"` + secret + `"`, false},
		"list":                {`["` + secret + `"]`, false},
		"key twice":           {`{` + head + `,"trustedLaunch":{"enabled":false,"enabled":true},"kind":"` + secret + `"}`, false},
		"key in two cases":    {`{` + head + `,"TrustedLaunch":{"enabled":true},"trustedlaunch":null}`, false},
		"deep":                {`{` + head + `,"` + secret + `":` + deep(3e5) + `}`, false},
		"deep inside":         {`{` + head + `,"trustedLaunch":` + deep(3e5) + `}`, false},
		"deep node template":  {`{` + head + `,"nodeTemplate":{"capacity":` + deep(3e5) + `}}`, false},
		"1 MiB in a field":    {`{` + head + `,"` + long + `":1}`, false},
		"1 MiB in a label":    {`{` + head + `,"machineLabels":[{"name":"a","value":"` + long + `"}]}`, false},
		"1 MiB in a kind":     {`{"kind":"` + long + `"}`, false},
		"2e4 fields":          {`{` + head + manyFields(2e4) + `}`, false},
		"1e5 groups":          {`{` + head + `,"additionalSecurityGroups":["` + strings.Repeat(`a","`, 1e5) + `a"]}`, true},
		"huge number":         {`{` + head + `,"trustedLaunch":` + strings.Repeat("9", 1e5) + `}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			body := bytes.Replace(reviewed(t, shoot, nil), []byte(`"the config"`), []byte(test.config), 1)
			response := e.bad(t, name, "validate-shoot", body)
			if response.Allowed != test.allowed {
				t.Errorf("allowed is %t: %.2000v", response.Allowed, response.Result)
			}
			if !response.Allowed && response.Result.Code != 422 && response.Result.Code != 400 {
				t.Errorf("the answer is %.2000v", response.Result)
			}
		})
	}
}

// manyFields returns n unknown fields.
func manyFields(n int) string {
	var fields strings.Builder
	for i := range n {
		fmt.Fprintf(&fields, `,"%s%d":%d`, secret, i, i)
	}
	return fields.String()
}
