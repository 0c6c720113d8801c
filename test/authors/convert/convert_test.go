// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package convert_test compares an extension before its conversion to capkit with the one after it: package before with package after.
package convert_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/pkg/apis/core"
	gardencoreinstall "github.com/gardener/gardener/pkg/apis/core/install"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/provider/providertest"
	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/test/authors/convert/after"
	"github.com/capkit/capkit/test/authors/convert/api"
	"github.com/capkit/capkit/test/authors/convert/before"
)

// extension is what an extension is made of, before or after.
type extension struct {
	fill, status                 extensionswebhook.Mutator
	profiles, namespaced, shoots extensionswebhook.Validator
	// boots returns the AMI of a worker pool on m5.large in eu-west-1, whose machine class boots an AMI already, unless that is empty.
	boots func(t *testing.T, profile *v1beta1.CloudProfile, status *api.WorkerStatus, class string) string
}

// unconverted is the extension before. It finds these profiles.
func unconverted(t *testing.T, stored ...client.Object) extension {
	return extension{
		fill: before.NewCloudProfileMutator(), status: before.NewNamespacedCloudProfileMutator(),
		profiles: before.NewCloudProfileValidator(), namespaced: before.NewNamespacedCloudProfileValidator(),
		shoots: before.NewShootValidator(garden(t, stored)),
		boots: func(_ *testing.T, profile *v1beta1.CloudProfile, status *api.WorkerStatus, _ string) string {
			image, err := before.Image(&profile.Spec, status, newWorker(), 0)
			if err != nil {
				return err.Error()
			}
			return image.AMI
		},
	}
}

// policed is the provider with any policies.
type policed struct {
	after.Provider

	policies policy.Policies
}

func (p policed) Policies() policy.Policies { return p.policies }

// converted is the extension after, with these policies.
func converted(t *testing.T, policies policy.Policies, stored ...client.Object) extension {
	cloud := policed{policies: policies}
	w := &after.Webhooks{Cloud: cloud, Reader: garden(t, stored)}
	return extension{
		fill: w.CloudProfileMutator(), status: w.StatusMutator(),
		profiles: w.CloudProfileValidator(), namespaced: w.NamespacedCloudProfileValidator(), shoots: w.ShootValidator(),
		boots: func(_ *testing.T, profile *v1beta1.CloudProfile, status *api.WorkerStatus, class string) string {
			var classes []worker.Class[after.AMI]
			if class != "" {
				classes = append(classes, worker.Class[after.AMI]{Name: "pool-z1", Image: "linux", Version: "1.0.0", Reference: after.AMI{ID: class}})
			}
			image, err := after.NewMachines(cloud, &profile.Spec, newWorker(), status).Image(0, []string{"pool-z1"}, classes)
			if err != nil {
				return err.Error()
			}
			return image.Reference.ID
		},
	}
}

func garden(t *testing.T, stored []client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	gardencoreinstall.Install(scheme)
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored...).Build()
}

// newWorker returns a Worker with one pool.
func newWorker() *extensionsv1alpha1.Worker {
	w := &extensionsv1alpha1.Worker{}
	w.Spec.Region = "eu-west-1"
	w.Spec.Pools = []extensionsv1alpha1.WorkerPool{{
		Name: "pool", MachineType: "m5.large", MachineImage: extensionsv1alpha1.MachineImage{Name: "linux", Version: "1.0.0"},
		Architecture: new("amd64"),
	}}
	return w
}

func newShoot() *v1beta1.Shoot {
	shoot := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "garden-team"}}
	shoot.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "aws"}
	shoot.Spec.Region, shoot.Spec.Provider.Type = "eu-west-1", api.Type
	shoot.Spec.Provider.Workers = []v1beta1.Worker{{
		Name: "pool", Machine: v1beta1.Machine{Type: "m5.large", Image: &v1beta1.ShootMachineImage{Name: "linux", Version: new("1.0.0")}},
	}}
	return shoot
}

// object reads a manifest, with texts replaced: old, new, old, new.
func object[T any](t *testing.T, file string, replace ...string) *T {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(text), replace[i]) {
			t.Fatalf("%s does not have %q", file, replace[i])
		}
	}
	read := new(T)
	if err := yaml.UnmarshalStrict([]byte(strings.NewReplacer(replace...).Replace(string(text))), read); err != nil {
		t.Fatal(err)
	}
	return read
}

func cloudProfile(t *testing.T, replace ...string) *v1beta1.CloudProfile {
	t.Helper()
	return object[v1beta1.CloudProfile](t, "cloudprofile.yaml", replace...)
}

const (
	secondOfCore = `      - architecture: [amd64]
        storage: [nvme]
        network: [ena]
`
	secondMapped = `        - capabilities:
            architecture: [amd64]
            storage: [nvme]
            network: [ena]
          regions:
          - name: eu-west-1
            ami: ami-00000003
          - name: us-east-1
            ami: ami-00000004
`
)

// said is what a validator says: the errors, or "admitted".
func said(t *testing.T, v extensionswebhook.Validator, updated, old client.Object) string {
	t.Helper()
	if err := v.Validate(t.Context(), updated, old); err != nil {
		return err.Error()
	}
	return "admitted"
}

// mutated returns an object as a webhook leaves it.
func mutated[T client.Object](t *testing.T, m extensionswebhook.Mutator, object T) T {
	t.Helper()
	changed := object.DeepCopyObject().(T)
	if err := m.Mutate(t.Context(), changed, nil); err != nil {
		t.Fatal(err)
	}
	return changed
}

// row is a question that is answered in one way before the conversion, and in another after it.
type row struct {
	name string
	// policies give the answer back that was given before. The zero value: none do.
	policies policy.Policies
	stored   []client.Object
	ask      func(*testing.T, extension) string
	// before and after are parts of the answers.
	before, after string
}

// rows are what changes for users, in the order of the tables in docs/authors/convert.md, up to what is checked.
func rows(t *testing.T) []row {
	upstream := after.Converted{}.Policies()
	alone := cloudProfile(t, secondOfCore, "")
	grown := cloudProfile(t)
	wrong := cloudProfile(t, "name: eu-west-1\n            ami: ami-00000001", "name: eu-west-2\n            ami: ami-00000001",
		"name: eu-west-1\n            ami: ami-00000003", "name: eu-west-2\n            ami: ami-00000003")
	booted := &api.WorkerStatus{MachineImages: []api.MachineImage{{
		Name: "linux", Version: "1.0.0", AMI: "ami-00000001", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}},
	}}}
	return []row{
		{
			name: "several flavors fit a new pool", policies: policy.Policies{Order: upstream.Order},
			ask:    func(t *testing.T, e extension) string { return e.boots(t, grown, &api.WorkerStatus{}, "") },
			before: "ami-00000001", after: "ami-00000003",
		},
		{
			name: "an operator adds a flavor to the provider config alone", policies: policy.Policies{CoreFollows: upstream.CoreFollows},
			ask: func(t *testing.T, e extension) string {
				return said(t, e.profiles, mutated(t, e.fill, alone), nil)
			},
			before: "admitted", after: "spec.machineImages does not list a flavor",
		},
		{
			name:     "a new pool has a version whose mapping is wrong, and another pool has booted it",
			policies: policy.Policies{Undecided: upstream.Undecided},
			ask: func(t *testing.T, e extension) string {
				return e.boots(t, wrong, booted, "")
			},
			before: "ami-00000001", after: "has no image in region eu-west-1",
		},
		{
			name: "a better flavor is added, and a pool has machines",
			ask: func(t *testing.T, e extension) string {
				better := cloudProfile(t, "values: [nvme, scsi]", "values: [scsi, nvme]", "storage: [nvme]\n", "storage: [scsi]\n")
				return e.boots(t, better, &api.WorkerStatus{}, "ami-00000003")
			},
			before: "ami-00000001", after: "ami-00000003",
		},
		{
			name: "a Shoot is changed, and the mapping of its unchanged image is gone", stored: []client.Object{unmapped(t)},
			ask: func(t *testing.T, e extension) string {
				updated := newShoot()
				updated.Spec.Provider.Workers[0].Maximum = 5
				return said(t, e.shoots, updated, newShoot())
			},
			before: "could not find an AMI", after: "admitted",
		},
		{
			name: "a NamespacedCloudProfile has two entries of one version", stored: []client.Object{object[v1beta1.CloudProfile](t, "legacy.yaml")},
			ask: func(t *testing.T, e extension) string {
				return rendered(t, e, object[v1beta1.CloudProfile](t, "legacy.yaml"))
			},
			before: "1.0.0 2 regions 0 flavors, 2.0.0 1 regions 0 flavors",
			after:  "1.0.0 2 regions 0 flavors, 2.0.0 1 regions 0 flavors, 2.0.0 1 regions 0 flavors",
		},
		{
			name: "a NamespacedCloudProfile has a different format from its parent", stored: []client.Object{cloudProfile(t)},
			ask:    func(t *testing.T, e extension) string { return rendered(t, e, cloudProfile(t)) },
			before: "1.0.0 0 regions 3 flavors, 2.0.0 1 regions 0 flavors",
			after:  "1.0.0 0 regions 3 flavors, 2.0.0 0 regions 1 flavors, 2.0.0 0 regions 1 flavors",
		},
	}
}

// checks are the rows about what is checked, and was not, or in another way.
func checks(t *testing.T) []row {
	inPlace := newShoot()
	inPlace.Spec.Provider.Workers[0].UpdateStrategy = new(v1beta1.AutoInPlaceUpdate)
	team := object[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml", legacyTeam, `
      - version: 2.0.0
        capabilityFlavors:
        - capabilities: {architecture: [amd64]}
          regions: [{name: eu-west-1, ami: ami-00000011}]
        - capabilities: {architecture: [arm64]}
          regions: [{name: eu-west-1, ami: ami-00000012}, {name: us-east-1, ami: ami-00000013}]
`, "architectures: [amd64, arm64]", "capabilityFlavors: [{architecture: [amd64]}, {architecture: [arm64]}]")
	return []row{
		{
			name: "some flavors lack a region that others have", stored: []client.Object{cloudProfile(t)},
			ask:    func(t *testing.T, e extension) string { return said(t, e.namespaced, team, nil) },
			before: "must provide an image mapping", after: "admitted",
		},
		{
			name: "a flavor lists a region twice",
			ask: func(t *testing.T, e extension) string {
				twice := cloudProfile(t, "name: us-east-1\n            ami: ami-00000002", "name: eu-west-1\n            ami: ami-00000002")
				return e.boots(t, twice, &api.WorkerStatus{}, "ami-00000002") + ", " + said(t, e.profiles, twice, nil)
			},
			before: "ami-00000002, admitted",
			after:  "ami-00000002, spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].regions[1].name: Duplicate",
		},
		{
			name: "a version has flavors, and a legacy entry for the same architecture",
			ask: func(t *testing.T, e extension) string {
				return said(t, e.profiles, mutated(t, e.fill, cloudProfile(t, "ami: ami-00000006\n", "ami: ami-00000006\n"+legacyBeside)), nil)
			},
			before: "admitted", after: "spec.providerConfig.machineImages[0].versions[1].capabilityFlavors: Required value",
		},
		{
			name: "a pool asks for in-place updates", stored: []client.Object{cloudProfile(t)},
			ask:    func(t *testing.T, e extension) string { return said(t, e.shoots, inPlace, nil) },
			before: "admitted", after: "spec.provider.workers[0]",
		},
		{
			name:   "core lists a version without a mapping",
			ask:    func(t *testing.T, e extension) string { return said(t, e.profiles, unmapped(t), nil) },
			before: "spec.providerConfig.machineImages: Required value: must provide an image mapping for linux@1.0.0",
			after:  "spec.machineImages[0].versions[0]: Required value: linux@1.0.0: the provider config has no entry for this version",
		},
		{
			name: "a pool has an image without an AMI", stored: []client.Object{unmapped(t)},
			ask:    func(t *testing.T, e extension) string { return said(t, e.shoots, newShoot(), nil) },
			before: `spec.provider.workers[0]: Invalid value: "linux": could not find an AMI for region "eu-west-1", image "linux", version "1.0.0"`,
			after:  "spec.provider.workers[0].machine.image.version: Unsupported value",
		},
	}
}

const legacyBeside = `
      - version: 1.0.0
        regions:
        - name: eu-west-1
          ami: ami-00000007
          architecture: amd64
`

const legacyTeam = `
      - version: 2.0.0
        regions:
        - name: eu-west-1
          ami: ami-00000011
          architecture: amd64
      - version: 2.0.0
        regions:
        - name: eu-west-1
          ami: ami-00000012
          architecture: arm64
`

// unmapped is the profile without an entry for the version that core lists.
func unmapped(t *testing.T) *v1beta1.CloudProfile {
	t.Helper()
	return cloudProfile(t, "version: 1.0.0\n        capabilityFlavors", "version: 0.9.0\n        capabilityFlavors")
}

// rendered returns what the status of the NamespacedCloudProfile has once Gardener has written it and the extension has mutated it.
func rendered(t *testing.T, e extension, parent *v1beta1.CloudProfile) string {
	t.Helper()
	child := object[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	child.Status.ObservedGeneration, child.Status.CloudProfileSpec = child.Generation, parent.Spec
	config := &api.CloudProfileConfig{}
	if err := json.Unmarshal(mutated(t, e.status, child).Status.CloudProfileSpec.ProviderConfig.Raw, config); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, v := range config.MachineImages[0].Versions {
		parts = append(parts, v.Version+" "+count(len(v.Regions))+" regions "+count(len(v.CapabilityFlavors))+" flavors")
	}
	slices.Sort(parts) // before, the order is that of a map
	return strings.Join(parts, ", ")
}

func count(n int) string { return string(rune('0' + n)) }

// What changes for users is what docs/authors/convert.md says, and a policy gives back what was before.
func TestWhatChanges(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/authors/convert.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range slices.Concat(rows(t), checks(t)) {
		t.Run(r.name, func(t *testing.T) {
			if !strings.Contains(string(guide), "\n| "+r.name+" |") {
				t.Error("the guide has no such row")
			}
			if got := r.ask(t, unconverted(t, r.stored...)); !strings.Contains(got, r.before) || r.before == "" {
				t.Errorf("before: %s", got)
			}
			if got := r.ask(t, converted(t, policy.Policies{}, r.stored...)); !strings.Contains(got, r.after) || r.after == "" {
				t.Errorf("after: %s", got)
			}
			if r.policies == (policy.Policies{}) {
				return
			}
			if got := r.ask(t, converted(t, r.policies, r.stored...)); !strings.Contains(got, r.before) {
				t.Errorf("after, with policies as before: %s", got)
			}
		})
	}
}

// Each format is read and written as it was.
func TestLaws(t *testing.T) {
	kind := api.GroupVersion.WithKind("CloudProfileConfig")
	providertest.Laws(t, after.Provider{}, providertest.Configs(t, kind, "testdata")...)
	if err := provider.Check(after.Converted{}); err != nil {
		t.Error(err)
	}
}

// Whoever registers webhooks for the internal types goes on doing that.
func TestInternalTypes(t *testing.T) {
	e := converted(t, policy.Policies{}, cloudProfile(t))
	for _, c := range []struct {
		validator extensionswebhook.Validator
		external  client.Object
		internal  client.Object
		want      string
	}{
		{e.profiles, cloudProfile(t), &core.CloudProfile{}, "admitted"},
		{e.profiles, unmapped(t), &core.CloudProfile{}, "the provider config has no entry for this version"},
		{e.shoots, newShoot(), &core.Shoot{}, "admitted"},
		{e.namespaced, object[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml"), &core.NamespacedCloudProfile{}, "admitted"},
	} {
		scheme := runtime.NewScheme()
		gardencoreinstall.Install(scheme)
		if err := scheme.Convert(c.external, c.internal, nil); err != nil {
			t.Fatal(err)
		}
		for _, object := range []client.Object{c.external, c.internal} {
			if got := said(t, c.validator, object, nil); !strings.Contains(got, c.want) {
				t.Errorf("%T: %s", object, got)
			}
			if got := said(t, c.validator, object, object); got != "admitted" {
				t.Errorf("an update of %T that changes nothing: %s", object, got)
			}
		}
	}
}

// What is stored with an error can be changed elsewhere, and what is being deleted in any way.
func TestUpdates(t *testing.T) {
	e := converted(t, policy.Policies{}, cloudProfile(t))
	stored := unmapped(t)
	updated := stored.DeepCopy()
	updated.Spec.Regions = append(updated.Spec.Regions, v1beta1.Region{Name: "eu-north-1"})
	if got := said(t, e.profiles, updated, stored); got != "admitted" {
		t.Errorf("an error that is stored: %s", got)
	}
	if got := said(t, e.profiles, stored, cloudProfile(t)); got == "admitted" {
		t.Error("an error that the update makes is admitted")
	}
	shoot := newShoot()
	shoot.Spec.Provider.Workers[0].Machine.Type = "gone"
	if got := said(t, e.shoots, shoot, newShoot()); got == "admitted" {
		t.Error("a machine type that the profile lacks is admitted")
	}
	now := metav1.Now()
	shoot.DeletionTimestamp = &now
	if got := said(t, e.shoots, shoot, newShoot()); got != "admitted" {
		t.Errorf("a Shoot that is being deleted: %s", got)
	}
}

// A Shoot of a NamespacedCloudProfile is judged by what that and its parent result in.
func TestShootsOfNamespacedCloudProfiles(t *testing.T) {
	e := converted(t, policy.Policies{}, cloudProfile(t), object[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml"))
	shoot := newShoot()
	shoot.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "team"}
	*shoot.Spec.Provider.Workers[0].Machine.Image.Version = "2.0.0"
	if got := said(t, e.shoots, shoot, nil); got != "admitted" {
		t.Error(got)
	}
	*shoot.Spec.Provider.Workers[0].Machine.Image.Version = "3.0.0"
	if got := said(t, e.shoots, shoot, nil); !strings.Contains(got, "spec.provider.workers[0].machine.image.version: Unsupported value") {
		t.Error(got)
	}
}

// Core's half of a version that a NamespacedCloudProfile defines is filled in.
func TestFillNamespacedCloudProfiles(t *testing.T) {
	w := &after.Webhooks{Cloud: after.Converted{}, Reader: garden(t, []client.Object{cloudProfile(t)})}
	child := object[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml", "\n      architectures: [amd64, arm64]", "")
	filled := mutated(t, w.NamespacedCloudProfileMutator(), child)
	if got := filled.Spec.MachineImages[0].Versions[0].CapabilityFlavors; len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// The status has what it had before, in either format of a profile; a pool whose version is not listed any more goes on with it.
func TestWorkerStatus(t *testing.T) {
	for file, want := range map[string]api.MachineImage{
		"cloudprofile.yaml": {Name: "linux", Version: "1.0.0", AMI: "ami-00000001", Capabilities: v1beta1.Capabilities{
			"architecture": {"amd64"}, "storage": {"nvme", "scsi"}, "network": {"basic"},
		}},
		"legacy.yaml": {Name: "linux", Version: "1.0.0", AMI: "ami-00000001", Architecture: new("amd64")},
	} {
		t.Run(file, func(t *testing.T) {
			profile := object[v1beta1.CloudProfile](t, file)
			was, err := before.Image(&profile.Spec, &api.WorkerStatus{}, newWorker(), 0)
			if err != nil || !reflect.DeepEqual(*was, want) {
				t.Errorf("before: %v %v", was, err)
			}
			machines := after.NewMachines(after.Converted{}, &profile.Spec, newWorker(), &api.WorkerStatus{})
			image, err := machines.Image(0, []string{"pool-z1"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			status := machines.Status([]worker.Image[after.AMI]{image, image})
			if !reflect.DeepEqual(status.MachineImages, []api.MachineImage{want}) {
				t.Errorf("after: %v", status.MachineImages)
			}
			profile.Spec.MachineImages[0].Versions[0].Version = "9.9.9"
			machines = after.NewMachines(after.Converted{}, &profile.Spec, newWorker(), status)
			if image, err := machines.Image(0, []string{"pool-z1"}, nil); err != nil || image.Reference.ID != want.AMI {
				t.Errorf("a version that is not listed any more: %v %v", image, err)
			}
		})
	}
}

// An object that lacks a half of the mapping is none that a garden has: what tests of an extension have to be completed with.
func TestBothHalves(t *testing.T) {
	half := cloudProfile(t)
	half.Spec.MachineImages = nil
	e := converted(t, policy.Policies{}, half)
	if got := said(t, e.shoots, newShoot(), nil); !strings.Contains(got, "image linux is not in the profile") {
		t.Error(got)
	}
	if got := e.boots(t, half, &api.WorkerStatus{}, ""); !strings.Contains(got, "image linux is not in the profile") {
		t.Error(got)
	}
}
