// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// faulty is a provider whose worker capabilities are those of another.
type faulty struct{ openstack.Provider }

func (faulty) Workers() provider.Workers {
	return provider.WorkersOf(provider.WorkerConfig[v1alpha1.WorkerConfig]{
		Kind:         schema.GroupVersion(v1alpha1.GroupVersion).WithKind("WorkerConfig"),
		Capabilities: []capability.Definition{{Name: "acme-launch", Values: []string{"on"}}, {Name: "gardener-launch", Values: []string{"on"}}},
	})
}

// What is wrong with a provider is said when the component starts, before it connects to anything, in as many words.
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
		for range 2 { // nor does it work at the second try
			if webhook, err := s.Func(nil); webhook != nil || err == nil || err.Error() != want.Error() {
				t.Errorf("webhook %s: %v, %v", s.Name, webhook, err)
			}
		}
	}
}

const head = `"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"`

// asking is a WorkerConfig that asks for trusted launch.
const asking = `{` + head + `,"trustedLaunch":{"enabled":true}}`

func config(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }

// trusted returns the examples of trusted launch.
func trusted(t testing.TB) (*v1beta1.CloudProfile, *v1beta1.Shoot) {
	t.Helper()
	profile, shoot := example[v1beta1.CloudProfile](t, "cloudprofile-trusted-launch.yaml"), example[v1beta1.Shoot](t, "shoot-trusted-launch.yaml")
	profile.UID, profile.ResourceVersion, shoot.UID, shoot.ResourceVersion = "a", "1", "b", "1"
	return profile, shoot
}

// TestStripShoot wants of a Shoot in memory what decides its profile and the images of its workers, and nothing else.
func TestStripShoot(t *testing.T) {
	_, shoot := trusted(t)
	private := map[string]string{"password": secret}
	shoot.Labels, shoot.Annotations = map[string]string{"b": "c"}, private
	shoot.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: secret}}
	shoot.Spec.Provider.InfrastructureConfig = config(`"` + secret + `"`)
	shoot.Spec.Provider.Workers = []v1beta1.Worker{{
		Name: "whole", UpdateStrategy: ptr.To(v1beta1.AutoInPlaceUpdate), ProviderConfig: config(asking),
		Machine: v1beta1.Machine{
			Type: "medium_4_8", Architecture: ptr.To("amd64"),
			Image: &v1beta1.ShootMachineImage{
				Name: "gardenlinux", Version: ptr.To("1877.5.0"), ProviderConfig: config(`"` + secret + `"`),
			},
		},
		Annotations: private, Labels: private, CABundle: ptr.To(secret), Sysctls: private, Zones: []string{secret},
		Kubernetes: &v1beta1.WorkerKubernetes{Version: ptr.To(secret)}, Minimum: 3,
		// A provider's own requests may be about volumes.
		Volume: &v1beta1.Volume{VolumeSize: "50Gi", Encrypted: ptr.To(true)}, DataVolumes: []v1beta1.DataVolume{{Name: "data"}},
	}, {Name: "bare"}}
	whole := shoot.DeepCopy()
	stripped := kept(t, shoot)
	if string(encode(t, shoot)) != string(encode(t, whole)) {
		t.Error("the Shoot that was given has changed")
	}
	metadata := metav1.ObjectMeta{
		Name: whole.Name, Namespace: whole.Namespace, UID: "b", ResourceVersion: "1", Labels: whole.Labels,
	}
	if !reflect.DeepEqual(stripped.ObjectMeta, metadata) {
		t.Errorf("the metadata are %v", stripped.ObjectMeta)
	}
	if profileIndex(stripped)[0] != profileIndex(whole)[0] || stripped.Spec.Region != whole.Spec.Region {
		t.Error("it uses another profile, or is elsewhere")
	}
	if got, want := encode(t, provider.PoolsOf(stripped)), encode(t, provider.PoolsOf(whole)); string(got) != string(want) {
		t.Errorf("the pools are %s instead of %s", got, want)
	}
	if all := string(encode(t, stripped)); strings.Contains(all, secret) || stripped.Spec.Provider.Workers[0].Minimum != 0 {
		t.Errorf("there is more: %s", all)
	}
	if other, err := stripShoot("something else"); other != "something else" || err != nil {
		t.Errorf("%v, %v", other, err)
	}
}

// removeFlavor removes the flavor of gardenlinux 1877.5.0 that has trusted launch, on both sides.
func removeFlavor(t testing.TB, profile *v1beta1.CloudProfile) {
	t.Helper()
	patchConfig(t, profile.Spec.ProviderConfig, `[{"op": "remove", "path": "/machineImages/0/versions/0/capabilityFlavors/1"}]`)
	flavors := &profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors
	*flavors = (*flavors)[:1]
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

// kept returns a Shoot as the informers keep it.
func kept(t testing.TB, shoot *v1beta1.Shoot) *v1beta1.Shoot {
	t.Helper()
	stripped, err := stripShoot(shoot)
	if err != nil {
		t.Fatal(err)
	}
	return stripped.(*v1beta1.Shoot)
}

// withPools returns the example Shoot under another name, with some of its pools.
func withPools(shoot *v1beta1.Shoot, name string, pools ...int) *v1beta1.Shoot {
	other := shoot.DeepCopy()
	other.Name, other.Spec.Provider.Workers = name, nil
	for _, i := range pools {
		other.Spec.Provider.Workers = append(other.Spec.Provider.Workers, shoot.Spec.Provider.Workers[i])
	}
	return other
}

// TestWarningsAboutWorkerCapabilities: who removes what worker pools ask for is told which Shoots do, and who adds it
// is told nothing, since others go on booting what they boot.
func TestWarningsAboutWorkerCapabilities(t *testing.T) {
	profile, shoot := trusted(t)
	inPlace := withPools(shoot, "in-place", 1)
	inPlace.Spec.Provider.Workers[0].UpdateStrategy = ptr.To(v1beta1.AutoInPlaceUpdate)
	inPlace.Spec.Provider.Workers[0].Machine.Image = &v1beta1.ShootMachineImage{Name: "gardenlinux", Version: ptr.To("2150.1.0")}
	shoots := []client.Object{
		kept(t, withPools(shoot, "asking", 0)), kept(t, withPools(shoot, "other", 1)), kept(t, shoot), kept(t, inPlace),
	}
	without := profile.DeepCopy()
	removeFlavor(t, without)
	unregistered := without.DeepCopy()
	unregistered.Spec.MachineCapabilities = unregistered.Spec.MachineCapabilities[:1]
	for i := range unregistered.Spec.MachineTypes {
		delete(unregistered.Spec.MachineTypes[i].Capabilities, openstack.TrustedLaunch)
	}
	rolling := profile.DeepCopy()
	rolling.Spec.MachineImages[0].Versions[2].InPlaceUpdates = nil
	either := profile.DeepCopy() // the flavor comes first, and boots without trusted launch as well
	flavors := either.Spec.MachineImages[0].Versions[0].CapabilityFlavors
	slices.Reverse(flavors)
	flavors[0].Capabilities = v1beta1.Capabilities{"architecture": {"amd64"}, openstack.TrustedLaunch: {"enabled", "disabled"}}
	const declared = "/machineImages/0/versions/0/capabilityFlavors/1/capabilities/openstack-trustedLaunch"
	patchConfig(t, either.Spec.ProviderConfig, `[{"op": "replace", "path": "`+declared+`", "value": ["enabled", "disabled"]}]`)
	const (
		asking = "spec.providerConfig.machineImages: gardenlinux@1877.5.0: no image is left for worker pools of Shoots garden-demo/asking, " +
			"garden-demo/bank: they get no new machines; put the flavor or the reference back until nobody uses it"
		inPlaceNoMore = "spec.machineImages: gardenlinux@2150.1.0: the image is still there, but worker pools of Shoot garden-demo/in-place " +
			"cannot boot it any more, because what is said about it or about their machine types has changed: " +
			"they get no new machines; undo that until nobody uses it"
	)
	for name, test := range map[string]struct {
		from, to *v1beta1.CloudProfile
		want     []string
	}{
		"the flavor is removed":               {profile, without, []string{asking}},
		"the flavor is added":                 {without, profile, nil},
		"a flavor for both is added":          {without, either, nil},
		"the capability is removed":           {profile, unregistered, []string{asking}},
		"the capability is added":             {unregistered, profile, nil},
		"updates in place are not supported":  {profile, rolling, []string{inPlaceNoMore}},
		"updates in place are supported then": {rolling, profile, nil},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.from.DeepCopy()
			c := componentFor(openstack.Provider{}, append(stored{before}, shoots...))
			report, err := c.checkCloudProfile(t.Context(), test.to.DeepCopy(), before)
			if err != nil || len(report.Errors) > 0 {
				t.Fatal(err, report.Errors)
			}
			if got := warn(report.Warnings.Errors()); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The same for the Shoots of a NamespacedCloudProfile, about a version of its own and one of its parent.
func TestWarningsAboutWorkerCapabilitiesBelow(t *testing.T) {
	parent, shoot := trusted(t)
	child := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	child.Spec.Parent.Name, child.Spec.MachineTypes = parent.Name, nil
	version := v1beta1.MachineImageVersion{
		ExpirableVersion:  v1beta1.ExpirableVersion{Version: "2000.1.0"},
		CapabilityFlavors: parent.Spec.MachineImages[0].Versions[0].CapabilityFlavors,
	}
	child.Spec.MachineImages = []v1beta1.MachineImage{{Name: "gardenlinux", Versions: []v1beta1.MachineImageVersion{version}}}
	raw, err := yaml.YAMLToJSON([]byte(`
apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
kind: CloudProfileConfig
machineImages:
- name: gardenlinux
  versions:
  - version: 2000.1.0
    capabilityFlavors:
    - capabilities: {architecture: [amd64]}
      regions: [{name: europe, id: a}]
    - capabilities: {architecture: [amd64], openstack-trustedLaunch: [enabled]}
      regions: [{name: europe, id: a}]
`))
	if err != nil {
		t.Fatal(err)
	}
	child.Spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	own := withPools(shoot, "own", 0, 1)
	for i := range own.Spec.Provider.Workers {
		own.Spec.Provider.Workers[i].Machine.Image = &v1beta1.ShootMachineImage{Name: "gardenlinux", Version: ptr.To("2000.1.0")}
	}
	inherited := withPools(shoot, "inherited", 0)
	for _, s := range []*v1beta1.Shoot{own, inherited} {
		s.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: child.Name}
	}
	c := componentFor(openstack.Provider{}, stored{parent, child, kept(t, own), kept(t, inherited)})
	warnsAbout := func(report finding.Report, err error, version, shoot string) {
		t.Helper()
		want := fmt.Sprintf("%s: no image is left for worker pools of Shoot garden-demo/%s: they get", version, shoot)
		if got := warn(report.Warnings.Errors()); err != nil || len(report.Errors) > 0 || len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("got %q, %v and %v instead of %s", got, report.Errors, err, want)
		}
	}
	without := child.DeepCopy()
	patchConfig(t, without.Spec.ProviderConfig, `[{"op": "remove", "path": "/machineImages/0/versions/0/capabilityFlavors/1"}]`)
	without.Spec.MachineImages[0].Versions[0].CapabilityFlavors = version.CapabilityFlavors[:1]
	report, err := c.checkNamespacedCloudProfile(t.Context(), without, child)
	warnsAbout(report, err, "gardenlinux@2000.1.0", "own")

	above := parent.DeepCopy()
	removeFlavor(t, above)
	report, err = c.checkCloudProfile(t.Context(), above, parent)
	warnsAbout(report, err, "gardenlinux@1877.5.0", "inherited")
}

// updateOf judges an update of a Shoot whose profile is as it is now; old is nil on creation.
func updateOf(t *testing.T, profile *v1beta1.CloudProfile, old, object *v1beta1.Shoot) finding.Report {
	t.Helper()
	report, err := componentFor(openstack.Provider{}, stored{profile}).checkShoot(t.Context(), object, old)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// What an operator, or a newer version of the component, takes away from a worker pool is no reason to refuse updates
// that leave the pool alone (semantics S10). Whatever is new is.
func TestUpdatesOfShootsThatAsk(t *testing.T) {
	profile, example := trusted(t)
	removeFlavor(t, profile)
	profile.Spec.MachineImages[0].Versions[2].InPlaceUpdates = nil
	old := example.DeepCopy()
	pools := &old.Spec.Provider.Workers
	for name, change := range map[string]func(*v1beta1.Worker){
		"misspelt": configured(`{` + head + `,"trustedlaunch":{"enabled":true}}`),
		"other":    configured(`{"kind":"InfrastructureConfig"}`),
		"list":     configured(`[` + asking + `]`),
		"text":     configured(`{` + head + `,"trustedLaunch":{"enabled":"true"}}`),
		"in-place": func(w *v1beta1.Worker) { w.UpdateStrategy = ptr.To(v1beta1.ManualInPlaceUpdate) },
		"both": func(w *v1beta1.Worker) {
			w.UpdateStrategy, w.ProviderConfig = ptr.To(v1beta1.AutoInPlaceUpdate), config(asking)
		},
	} {
		worker := (*pools)[1].DeepCopy()
		worker.Name = name
		change(worker)
		*pools = append(*pools, *worker)
	}
	slices.SortFunc(*pools, func(a, b v1beta1.Worker) int { return strings.Compare(a.Name, b.Name) })
	// both, in-place, ledger, list, misspelt, other, text, web
	const both, inPlace, ledger, list, misspelt, other, text, web = 0, 1, 2, 3, 4, 5, 6, 7
	errors := len(updateOf(t, profile, nil, old).Errors)
	if errors < 7 {
		t.Fatalf("%d errors of the Shoot as it is", errors)
	}
	imaged := func(version string) func(*v1beta1.Worker) {
		return func(w *v1beta1.Worker) { w.Machine.Image.Version = &version }
	}
	// Changes of one pool.
	for name, test := range map[string]struct {
		pool    int
		change  func(*v1beta1.Worker)
		refused bool
	}{
		"keys reordered":            {ledger, configured(`{"trustedLaunch": {"enabled": true}, ` + head + `}`), false},
		"another pool":              {web, imaged("1592.9.0"), false},
		"asked for no more":         {ledger, func(w *v1beta1.Worker) { w.ProviderConfig = nil }, false},
		"repaired":                  {misspelt, configured(`{` + head + `}`), false},
		"a number":                  {list, func(w *v1beta1.Worker) { w.Maximum = 7 }, false},
		"another number":            {both, func(w *v1beta1.Worker) { w.Maximum = 7 }, false},
		"renamed":                   {ledger, func(w *v1beta1.Worker) { w.Name = "vault" }, true},
		"repaired, and asking":      {misspelt, configured(asking), true},
		"asking":                    {web, configured(asking), true},
		"in place":                  {web, func(w *v1beta1.Worker) { w.UpdateStrategy = ptr.To(v1beta1.AutoInPlaceUpdate) }, true},
		"another image":             {ledger, imaged("1592.9.0"), true},
		"unreadable in another way": {other, configured(`{"kind":"ControlPlaneConfig"}`), true},
		"unreadable, other image":   {text, imaged("1592.9.0"), true},
		"in place, other image":     {inPlace, imaged("2150.1.0"), true},
	} {
		t.Run(name, func(t *testing.T) {
			object := old.DeepCopy()
			test.change(&object.Spec.Provider.Workers[test.pool])
			expectRefusedPool(t, updateOf(t, profile, old, object), test.pool, test.refused)
		})
	}
	// Changes of the Shoot, or of several pools.
	for name, test := range map[string]struct {
		change func(s *v1beta1.Shoot, pools []v1beta1.Worker)
		pool   int // the one that is refused, -1 if none is
	}{
		"hibernation": {func(s *v1beta1.Shoot, _ []v1beta1.Worker) {
			s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)}
		}, -1},
		"reordered": {func(_ *v1beta1.Shoot, pools []v1beta1.Worker) { slices.Reverse(pools) }, -1},
		"one less":  {func(s *v1beta1.Shoot, pools []v1beta1.Worker) { s.Spec.Provider.Workers = pools[1:] }, -1},
		"two swapped": {func(_ *v1beta1.Shoot, pools []v1beta1.Worker) {
			pools[web].ProviderConfig, pools[ledger].ProviderConfig = pools[ledger].ProviderConfig, nil
		}, web},
	} {
		t.Run(name, func(t *testing.T) {
			object := old.DeepCopy()
			test.change(object, object.Spec.Provider.Workers)
			expectRefusedPool(t, updateOf(t, profile, old, object), test.pool, test.pool >= 0)
		})
	}
}

// configured returns a change that gives a worker this config.
func configured(text string) func(*v1beta1.Worker) {
	return func(w *v1beta1.Worker) { w.ProviderConfig = config(text) }
}

// expectRefusedPool expects errors about one worker pool alone, or none at all.
func expectRefusedPool(t *testing.T, report finding.Report, pool int, refused bool) {
	t.Helper()
	for _, err := range report.Errors {
		if !refused || !strings.HasPrefix(err.Field, fmt.Sprintf("spec.provider.workers[%d]", pool)) {
			t.Errorf("refused: %v", err)
		}
	}
	if refused && len(report.Errors) == 0 {
		t.Errorf("it is admitted, with %q", warn(report.Warnings.Errors()))
	}
}

// A WorkerConfig of any size and depth is answered for, soon, and nothing of it is logged.
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

// manyFields returns that many fields that no config has.
func manyFields(n int) string {
	var fields strings.Builder
	for i := range n {
		fmt.Fprintf(&fields, `,"%s%d":%d`, secret, i, i)
	}
	return fields.String()
}
