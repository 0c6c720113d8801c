// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
)

// fillings renders the filled flavors, one line for each version.
func fillings(registered []v1beta1.CapabilityDefinition, filled []profile.Filled) string {
	v, _ := capability.Compile(registered, nil)
	var lines []string
	for _, f := range filled {
		line := fmt.Sprintf("%d.%d:", f.Image, f.Version)
		for _, flavor := range f.Flavors {
			line += " " + v.Format(flavor.Capabilities)
		}
		lines = append(lines, line)
	}
	return cases.Fold(lines...)
}

func TestFillCloudProfile(t *testing.T) { fillProfiles(t, "testdata/fill.txtar", given.ImagesOnly{}) }

// following are policies that let core follow the provider config.
var following = policy.Policies{CoreFollows: true}

func TestCoreFollows(t *testing.T) {
	fillProfiles(t, "testdata/fill-following.txtar", given.Deciding{Chosen: following})
	fillNamespacedProfiles(t, "testdata/fill-following-namespaced.txtar", given.Deciding{Chosen: following})
}

// fillProfiles fills the CloudProfile of each case.
func fillProfiles(t *testing.T, archive string, cloud provider.Provider[openstack.Image]) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		s := given.SpecOf(c, "profile.yaml")
		before := s.DeepCopy()
		filled := profile.FillCloudProfile(cloud, s)
		if diff := cmp.Diff(before, s); diff != "" {
			c.T().Errorf("the profile was changed: %s", diff)
		}
		return fillings(s.MachineCapabilities, filled)
	})
}

func TestFillNamespacedCloudProfile(t *testing.T) {
	fillNamespacedProfiles(t, "testdata/fill-namespaced.txtar", given.ImagesOnly{})
}

// fillNamespacedProfiles fills the NamespacedCloudProfile of each case.
func fillNamespacedProfiles(t *testing.T, archive string, cloud provider.Provider[openstack.Image]) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		above, object := given.ParentOf(c), given.NamespacedOf(c)
		before, parent := object.DeepCopy(), above.DeepCopy()
		filled := profile.FillNamespacedCloudProfile(cloud, object, above)
		if !reflect.DeepEqual(before, object) || !reflect.DeepEqual(parent, above) {
			c.T().Error("an argument was changed")
		}
		return fillings(above.MachineCapabilities, filled)
	})
}

// given.Cloud returns its own maps, as a provider may.
func TestWhatIsFilledInIsTheCallers(t *testing.T) {
	flavors := []v1beta1.Capabilities{{"architecture": {"amd64"}, "c0": {"x"}}}
	s := given.CoreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, {Name: "c0", Values: []string{"x", "y"}}}, nil)
	s.ProviderConfig = &runtime.RawExtension{}
	filled := profile.FillCloudProfile(given.Linux(flavors...), s)
	if len(filled) != 1 {
		t.Fatal(filled)
	}
	c := filled[0].Flavors[0].Capabilities
	c["c0"][0], c["more"] = "changed", v1beta1.CapabilityValues{"z"}
	if diff := cmp.Diff([]v1beta1.Capabilities{{"architecture": {"amd64"}, "c0": {"x"}}}, flavors); diff != "" {
		t.Error(diff)
	}
}

// onlyRepeats reports whether the only errors are duplicate flavors in the mapping.
func onlyRepeats(report finding.Report) bool {
	return len(report.Silenced) == 0 && !slices.ContainsFunc(report.Errors, func(f finding.Finding) bool { return f.Origin != "provider-flavor-duplicate" })
}

// Filled flavors correspond one to one, except for duplicate flavors in the mapping. A version is left unfilled only if it has an error.
func TestAProfileIsSoundWhereItIsFilled(t *testing.T) {
	filledIn, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		defs := given.DrawDefinitions(t)
		flavors := given.DrawFlavors(t, defs, "provider")
		if rapid.IntRange(0, 2).Draw(t, "wrong") == 0 {
			flavors[0]["architecture"] = v1beta1.CapabilityValues{"riscv"}
		}
		if rapid.Bool().Draw(t, "without repetitions") {
			_, repeated := distinct(defs, flavors)
			for _, i := range slices.Backward(repeated) {
				flavors = slices.Delete(flavors, i, i+1)
			}
		}
		for i := range flavors {
			if values := flavors[i]["architecture"]; len(values) > 1 {
				flavors[i]["architecture"] = values[:1]
			}
		}
		s := given.CoreSpec(defs, nil)
		s.ProviderConfig = &runtime.RawExtension{}
		filled := profile.FillCloudProfile(given.Linux(flavors...), s)
		for _, f := range filled {
			s.MachineImages[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
			filledIn++
		}
		_, report := profile.Compile(given.Linux(flavors...), s, field.NewPath("spec"))
		if len(filled) > 0 && !onlyRepeats(report) {
			t.Fatal(report.Errors)
		}
		if len(filled) == 0 {
			left++
			if len(report.Errors) == 0 && len(flavors[0]) > 0 {
				t.Fatalf("nothing was filled in for %v", flavors)
			}
		}
		if again := profile.FillCloudProfile(given.Linux(flavors...), s); len(filled) > 0 && len(again) > 0 {
			t.Fatalf("filled again: %+v", again)
		}
	})
	if filledIn < 10 || left < 10 {
		t.Errorf("filled in %d times, left %d times", filledIn, left)
	}
}

func TestFillWorkerCapabilitiesOfANamespacedCloudProfile(t *testing.T) {
	fillNamespacedProfiles(t, "testdata/fill-namespaced-worker-capabilities.txtar", given.ImagesOnly{})
}

// Only capabilities that core can carry are filled in.
func TestFillWorkerCapabilities(t *testing.T) {
	fillProfiles(t, "testdata/fill-worker-capabilities.txtar", given.ImagesOnly{})
}

// The filled flavors are the part of the mapping that core can carry, and correspond to it.
func TestAProfileWithWorkerCapabilitiesIsSoundWhereItIsFilled(t *testing.T) {
	filledIn, dropped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		cloud, s := given.DrawProfile(t)
		s.ProviderConfig = &runtime.RawExtension{}
		for i := range s.MachineImages {
			for k := range s.MachineImages[i].Versions {
				s.MachineImages[i].Versions[k].CapabilityFlavors = nil
			}
		}
		filled := profile.FillCloudProfile(cloud, s)
		for _, f := range filled {
			filledIn++
			s.MachineImages[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
			if len(f.Flavors) < len(cloud.Images[f.Image].Versions[f.Version].Flavors) {
				dropped++
			}
		}
		p, report := profile.Compile(cloud, s, field.NewPath("spec"))
		for _, f := range filled {
			for _, flavor := range f.Flavors {
				for name := range flavor.Capabilities {
					if !p.Vocabulary().IsRegistered(name) {
						t.Fatalf("%s is not registered, and filled in", name)
					}
				}
			}
			version := &cloud.Images[f.Image].Versions[f.Version]
			if at := version.Path.String(); len(p.Catalog().Flavors(s.MachineImages[f.Image].Name, version.Version)) != len(version.Flavors) {
				t.Fatalf("not everything in %s corresponds to what is filled in: %v", at, report.Errors)
			}
		}
		again := profile.FillCloudProfile(cloud, s)
		if len(again) > 0 && slices.ContainsFunc(filled, func(f profile.Filled) bool {
			return f.Image == again[0].Image && f.Version == again[0].Version
		}) {
			t.Fatalf("filled again: %+v", again)
		}
	})
	if filledIn == 0 || dropped == 0 {
		t.Errorf("filled in %d times, %d times with fewer flavors", filledIn, dropped)
	}
}

// follower is a cloud with the policies following.
type follower struct{ given.Cloud }

func (follower) Policies() policy.Policies { return following }

// Where core follows, the mapping overwrites core flavors that do not correspond, and keeps the others. A version without core flavors is
// filled as by default. Each check draws several profiles, because few of them can be filled.
func TestCoreThatFollowsIsSound(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 5 {
			seen[followed(t)]++
		}
	})
	for _, what := range []string{"filled in", "overwritten", "kept", "left"} {
		if seen[what] == 0 {
			t.Errorf("never %s: %v", what, seen)
		}
	}
}

// followed checks a profile with one image version, and returns the outcome for its core flavors.
func followed(t *rapid.T) string {
	defs := given.DrawDefinitions(t)
	written := given.DrawFlavors(t, defs, "core")
	cloud := given.Linux(given.DrawFlavors(t, defs, "provider")...)
	if rapid.Bool().Draw(t, "same") {
		cloud = given.Linux(written...)
	}
	if rapid.Bool().Draw(t, "none") {
		written = nil
	}
	s := given.CoreSpec(defs, written)
	s.ProviderConfig = &runtime.RawExtension{}
	_, before := profile.Compile(cloud, s, field.NewPath("spec"))
	standard, filled := profile.FillCloudProfile(cloud, s), profile.FillCloudProfile(follower{cloud}, s)
	what := "overwritten"
	switch {
	case len(written) == 0:
		if diff := cmp.Diff(standard, filled); diff != "" {
			t.Fatal("without flavors", diff)
		}
		what = "filled in"
	case len(standard) > 0:
		t.Fatalf("overwritten by default: %v", standard)
	case len(before.Errors)+len(before.Silenced) == 0 && len(filled) > 0:
		t.Fatalf("overwritten although it corresponds: %v", filled)
	case len(before.Errors)+len(before.Silenced) == 0:
		return "kept"
	}
	if len(filled) == 0 {
		return "left"
	}
	s.MachineImages[filled[0].Image].Versions[filled[0].Version].CapabilityFlavors = filled[0].Flavors
	if again := profile.FillCloudProfile(follower{cloud}, s); len(filled) > 1 || len(again) > 0 {
		t.Fatalf("filled in: %v, and again: %v", filled, again)
	}
	if _, report := profile.Compile(cloud, s, field.NewPath("spec")); !onlyRepeats(report) {
		t.Fatal(report.Errors)
	}
	return what
}
