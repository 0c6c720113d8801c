// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
)

// verdict compiles a valid parent, and checks a NamespacedCloudProfile below it.
func verdict[R any](
	t *testing.T, cloud provider.Provider[R], parent *v1beta1.CloudProfileSpec, object *v1beta1.NamespacedCloudProfile,
) finding.Report {
	t.Helper()
	above, before := given.Sound(t, cloud, parent), object.DeepCopy()
	_, report := check.NamespacedCloudProfile(above, object)
	if diff := cmp.Diff(before, object); diff != "" {
		t.Errorf("the object was changed: %s", diff)
	}
	catalogue.Check(t, report.Errors)
	catalogue.Check(t, report.Warnings)
	return report
}

// checkNamespacedProfiles checks the NamespacedCloudProfile of each case twice.
func checkNamespacedProfiles[R any](t *testing.T, cloud provider.Provider[R], archive string) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		report := verdict(c.T(), cloud, given.ParentOf(c), given.NamespacedOf(c))
		if again := verdict(c.T(), cloud, given.ParentOf(c), given.NamespacedOf(c)); text(again) != text(report) {
			c.T().Error(cmp.Diff(text(report), text(again)))
		}
		return cases.Fold(given.Plainly(report.Errors)...)
	})
}

func TestNamespacedCloudProfile(t *testing.T) {
	checkNamespacedProfiles(t, given.ImagesOnly{}, "testdata/namespaced.txtar")
}

// A container image serves every architecture, in either format. One that does not is reported.
func TestNamespacedCloudProfileOfTheLocalProvider(t *testing.T) {
	checkNamespacedProfiles(t, local.Provider{}, "testdata/namespaced-local.txtar")
}

// Warnings are about the profile's own definitions; regions come from the parent.
func TestWarningsOfANamespacedCloudProfile(t *testing.T) {
	cases.Run(t, "testdata/namespaced-warnings.txtar", func(c *cases.Case) string {
		above, ofParent := profile.Compile(given.ImagesOnly{}, given.SpecOf(c, "parent.yaml"), field.NewPath("spec"))
		_, report := check.NamespacedCloudProfile(above, given.NamespacedOf(c))
		catalogue.Check(c.T(), report.Warnings)
		if len(report.Errors) > 0 {
			c.T().Error(report.Errors)
		}
		lines := given.Plainly(ofParent.Errors)
		for i := range lines {
			lines[i] = "parent: " + lines[i]
		}
		return cases.Fold(lines...) + given.Explained(report.Warnings)
	})
}

// The lifecycle that the profile gives to a version of its parent takes precedence. If the parent lacks the version, nothing is to be mapped.
func TestOverriddenLifecycleCounts(t *testing.T) {
	cases.Run(t, "testdata/namespaced-lifecycle.txtar", func(c *cases.Case) string {
		report := verdict(c.T(), given.ImagesOnly{}, given.SpecOf(c, "parent.yaml"), given.NamespacedOf(c))
		return given.Explained(report.Errors) + given.Explained(report.Warnings)
	})
}

// An empty config is the same as none, in all its forms.
func TestProviderConfigWithoutContent(t *testing.T) {
	above, _ := profile.Compile(given.ImagesOnly{}, profileNamed(t, "parent"), field.NewPath("spec"))
	for _, config := range []*runtime.RawExtension{nil, {}, {Raw: []byte("null")}, {Raw: []byte(" null\n")}} {
		object := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{ProviderConfig: config}}
		if _, report := check.NamespacedCloudProfile(above, object); !reflect.DeepEqual(report, finding.Report{}) {
			t.Error(report)
		}
		if changes, err := render.Config(given.ImagesOnly{}, nil, object, nil); len(changes) > 0 || err != nil {
			t.Error(changes, err)
		}
		if filled := profile.FillNamespacedCloudProfile(given.ImagesOnly{}, object, profileNamed(t, "parent")); len(filled) > 0 {
			t.Error(filled)
		}
	}
}

// profileNamed returns a spec of testdata/profiles.
func profileNamed(t *testing.T, name string) *v1beta1.CloudProfileSpec {
	t.Helper()
	return given.File[v1beta1.CloudProfileSpec](t, "testdata/profiles/"+name+".yaml")
}

func TestWorkerCapabilitiesOfANamespacedCloudProfile(t *testing.T) {
	checkNamespacedProfiles(t, given.ImagesOnly{}, "testdata/namespaced-worker-capabilities.txtar")
}

// A worker pool uses a version that a NamespacedCloudProfile defines, and that profile is updated.
func TestAnUpdateOfANamespacedCloudProfileThatTakesAFeature(t *testing.T) {
	above, _ := profile.Compile(given.ImagesOnly{}, profileNamed(t, "parent"), field.NewPath("spec"))
	old, update := namespacedNamed(t, "namespaced-with-secure-boot"), namespacedNamed(t, "namespaced-without")
	pool := provider.Pool{MachineType: "m", Image: "own", Version: "1", Region: "europe"}
	wants := pool
	wants.Worker = capability.Worker{SecureBoot: true}
	warnings := func(updated, old *v1beta1.NamespacedCloudProfile, uses ...use) finding.List {
		after, report := check.NamespacedCloudProfileUpdate(above, updated, old)
		before, _ := namespaced.Extend(above, old)
		all := append(report.Warnings, effects(before, after, uses)...)
		return slices.DeleteFunc(all, func(f finding.Finding) bool {
			return f.Origin != "mapping-in-use" && f.Origin != "machine-type-in-use" && f.Origin != "image-choice-changed"
		})
	}
	got := warnings(update, old,
		use{Namespace: "garden-a", Name: "plain", Pools: []provider.Pool{pool}},
		use{Namespace: "garden-a", Name: "secure", Pools: []provider.Pool{wants}})
	if len(got) != 1 || got[0].Origin != "mapping-in-use" ||
		!strings.Contains(got[0].Detail, "no image is left for worker pools of Shoot garden-a/secure (1 pool):") {
		t.Error(got)
	}
	if got := warnings(old, update, use{Name: "plain", Pools: []provider.Pool{pool}}); len(got) > 0 {
		t.Error("a feature is offered:", got)
	}
}

func namespacedNamed(t *testing.T, name string) *v1beta1.NamespacedCloudProfile {
	t.Helper()
	return &v1beta1.NamespacedCloudProfile{Spec: *given.File[v1beta1.NamespacedCloudProfileSpec](t, "testdata/profiles/"+name+".yaml")}
}

// lockable has one machine type, and an image that fits every machine type.
const lockable = `
type: openstack
machineCapabilities:
- {name: architecture, values: [amd64, arm64]}
- {name: hypervisor, values: [virtualized, baremetal]}
regions: [{name: europe}]
machineTypes:
- {name: any, capabilities: {architecture: [amd64]}}
machineImages:
- name: gl
  versions:
  - version: "1"
    capabilityFlavors:
    - {architecture: [amd64], hypervisor: [virtualized]}
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - version: "1"
      capabilityFlavors:
      - capabilities: {architecture: [amd64], hypervisor: [virtualized]}
        regions: [{name: europe, id: virt}]
`

// An update of a NamespacedCloudProfile that locks Shoots is reported as a lock. This applies if its own machine type is removed, and if
// no core flavor fits the type any more (semantics S16).
func TestANamespacedCloudProfileLocks(t *testing.T) {
	parent := given.Sound(t, given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, lockable))
	old := &v1beta1.NamespacedCloudProfile{}
	old.Namespace, old.Name = "garden-a", "child"
	old.Spec.Parent = v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "p"}
	old.Spec.MachineTypes = []v1beta1.MachineType{{Name: "own", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}}
	gone, narrowed := old.DeepCopy(), old.DeepCopy()
	gone.Spec.MachineTypes = nil
	narrowed.Spec.MachineTypes[0].Capabilities["hypervisor"] = v1beta1.CapabilityValues{"baremetal"}
	uses := []use{{"garden-a", "shoot", []provider.Pool{{Name: "w", MachineType: "own", Image: "gl", Version: "1", Region: "europe"}}}}
	for rule, updated := range map[string]*v1beta1.NamespacedCloudProfile{"machine-type-in-use": gone, "mapping-in-use": narrowed} {
		after, _ := check.NamespacedCloudProfileUpdate(parent, updated, old)
		before, _ := namespaced.Extend(parent, old)
		warnings := effects(before, after, uses)
		if len(warnings) != 1 || warnings[0].Origin != rule || !strings.Contains(warnings[0].Detail, "confirmation of their deletion") {
			t.Errorf("%s: %v", rule, warnings)
		}
	}
}

// A full report omits further findings. Then no error is excused, because new ones cannot be recognized (semantics S10).
func TestErrorsBehindAFullReportAreNotExcused(t *testing.T) {
	spec := given.Decoded[v1beta1.CloudProfileSpec](t, lockable)
	inherited := spec.MachineImages[0].Versions[0]
	for i := range finding.Most + 1 {
		version := *inherited.DeepCopy()
		version.Version = fmt.Sprint(i + 2)
		spec.MachineImages[0].Versions = append(spec.MachineImages[0].Versions, version)
	}
	above, _ := profile.Compile(given.ImagesOnly{}, spec, field.NewPath("spec"))
	for what, add := range map[string]func(*v1beta1.NamespacedCloudProfileSpec, int){
		"machine types": func(s *v1beta1.NamespacedCloudProfileSpec, i int) {
			s.MachineTypes = append(s.MachineTypes, v1beta1.MachineType{
				Name: fmt.Sprint(i), Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {}},
			})
		},
		"versions of the parent": func(s *v1beta1.NamespacedCloudProfileSpec, i int) {
			s.MachineImages[0].Versions = append(s.MachineImages[0].Versions, spec.MachineImages[0].Versions[i+1])
		},
	} {
		old := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{MachineImages: []v1beta1.MachineImage{{Name: "gl"}}}}
		for i := range finding.Most {
			add(&old.Spec, i)
		}
		updated := old.DeepCopy()
		add(&updated.Spec, finding.Most)
		if _, report := check.NamespacedCloudProfileUpdate(above, updated, old); len(report.Errors) == 0 {
			t.Errorf("%s: one more error is admitted", what)
		}
	}
}
