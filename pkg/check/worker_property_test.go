// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

var declarable = []v1beta1.CapabilityDefinition{
	{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "given-trusted", Values: []string{"on", "off"}},
	{Name: "given-disk", Values: []string{"fast", "slow"}}, {Name: capability.BootType, Values: []string{"secure", "standard"}},
	{Name: capability.UpdateType, Values: []string{"inPlace", "rolling"}},
}

// drawProfile draws a profile that core and its provider agree on. Worker capabilities of the provider are registered
// or not, reserved ones are sometimes registered.
func drawProfile(t *rapid.T) (fake, *v1beta1.CloudProfileSpec) {
	s := &v1beta1.CloudProfileSpec{Regions: []v1beta1.Region{{Name: "eu"}, {Name: "us"}}, MachineCapabilities: slices.Clone(declarable[:1])}
	for _, def := range declarable[1:] {
		if rapid.Bool().Draw(t, "registered") {
			s.MachineCapabilities = append(s.MachineCapabilities, def)
		}
	}
	cloud := fake{workers: workersWith(rules)}
	for i, name := range []string{"a", "b"} {
		image, mapped := v1beta1.MachineImage{Name: name}, imageselector.Image[string]{Name: name, Path: field.NewPath("images").Index(i)}
		for k := range rapid.IntRange(1, 3).Draw(t, "versions") {
			core, version := drawVersion(t, s.MachineCapabilities, fmt.Sprintf("%d.0.0", k), mapped.Path.Child("versions").Index(k))
			image.Versions, mapped.Versions = append(image.Versions, core), append(mapped.Versions, version)
		}
		s.MachineImages, cloud.images = append(s.MachineImages, image), append(cloud.images, mapped)
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "machine types") {
		mt := v1beta1.MachineType{
			Name: fmt.Sprintf("m%d", i), Capabilities: drawFlavors(t, s.MachineCapabilities, "machine")[0], Usable: new(rapid.Bool().Draw(t, "usable")),
		}
		mt.Capabilities["architecture"] = v1beta1.CapabilityValues{rapid.SampledFrom(declarable[0].Values).Draw(t, "architecture")}
		s.MachineTypes = append(s.MachineTypes, mt)
	}
	return cloud, s
}

// drawVersion draws the different flavors of a version, on which both sides agree.
func drawVersion(
	t *rapid.T, registered []v1beta1.CapabilityDefinition, name string, at *field.Path,
) (v1beta1.MachineImageVersion, imageselector.Version[string]) {
	v, _ := capability.Compile(registered, nil, definitions...)
	core := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: name}}
	var undeclared v1beta1.Capabilities
	if rapid.IntRange(0, 3).Draw(t, "in place") == 0 {
		core.InPlaceUpdates = &v1beta1.InPlaceUpdates{Supported: true}
		undeclared = v1beta1.Capabilities{capability.UpdateType: {capability.UpdateTypeInPlace, capability.UpdateTypeRolling}}
	}
	version := imageselector.Version[string]{Version: name, Path: at}
	seen := map[capability.Set]bool{}
	for _, declared := range drawFlavors(t, declarable, "flavors") {
		declared["architecture"] = v1beta1.CapabilityValues{rapid.SampledFrom(declarable[0].Values).Draw(t, "architecture")}
		if last := len(version.Flavors) - 1; last >= 0 && rapid.Bool().Draw(t, "like the last one") {
			declared = maps.Clone(version.Flavors[last].Capabilities)
			declared[capability.BootType] = rapid.SliceOfN(rapid.SampledFrom(declarable[3].Values), 1, 2).Draw(t, "boot type")
		}
		ofCore := maps.Clone(declared)
		maps.DeleteFunc(ofCore, func(name string, _ v1beta1.CapabilityValues) bool { return !v.IsRegistered(name) })
		maps.DeleteFunc(declared, func(name string, _ v1beta1.CapabilityValues) bool {
			return !v.IsRegistered(name) && !strings.HasPrefix(name, capability.ReservedPrefix)
		})
		set, _ := v.Flavor(declared, undeclared, nil)
		carried, _ := v.Flavor(ofCore, undeclared, nil)
		if seen[set] {
			continue
		}
		if !slices.ContainsFunc(core.CapabilityFlavors, func(f v1beta1.MachineImageFlavor) bool {
			set, _ := v.Flavor(f.Capabilities, undeclared, nil)
			return set == carried
		}) {
			core.CapabilityFlavors = append(core.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: ofCore})
		}
		seen[set] = true
		flavor := imageselector.Flavor[string]{Capabilities: declared, Path: at.Child("capabilityFlavors").Index(len(version.Flavors))}
		if region := rapid.SampledFrom([]string{"eu", "us", ""}).Draw(t, "region"); region != "" {
			flavor.Regional = []imageselector.Regional[string]{{Region: region, Ref: flavor.Path.String()}}
		} else {
			flavor.Global = &imageselector.Global[string]{Ref: flavor.Path.String()}
		}
		version.Flavors = append(version.Flavors, flavor)
	}
	return core, version
}

func drawAskingPool(t *rapid.T) provider.Pool {
	pool := provider.Pool{
		Name:        "w",
		MachineType: rapid.SampledFrom([]string{"m0", "m1", "m2", "none"}).Draw(t, "machine type"),
		Image:       rapid.SampledFrom([]string{"a", "a", "b", "none"}).Draw(t, "image"),
		Version:     rapid.SampledFrom([]string{"0.0.0", "0.0.0", "1.0.0", "2.0.0"}).Draw(t, "version"),
		Region:      rapid.SampledFrom([]string{"eu", "us"}).Draw(t, "region"),
		Order:       rapid.SampledFrom([]capability.Order{capability.GEP33, capability.Gardener}).Draw(t, "order"),
		Path:        field.NewPath("w"),
	}
	pool.Architecture = rapid.SampledFrom([]string{"", "", "amd64", "arm64"}).Draw(t, "architecture")
	pool.Worker.SecureBoot = rapid.IntRange(0, 2).Draw(t, "secure boot") == 0
	pool.Worker.UpdateStrategy = rapid.SampledFrom([]v1beta1.MachineUpdateStrategy{"", "", v1beta1.AutoInPlaceUpdate}).Draw(t, "strategy")
	rests := []string{"none", "", `, "trusted": true`, `, "disk": "fast"`, `, "disk": "any", "trusted": true`, `, "x": 1`}
	if rest := rapid.SampledFrom(rests).Draw(t, "config"); rest != "none" {
		pool.Config = &runtime.RawExtension{Raw: []byte(`{"apiVersion": "given/v1", "kind": "WorkerConfig"` + rest + "}")}
	}
	return pool
}

// Whatever is suggested to a pool that asks for something works, and what the error is about is true.
func TestRefusalsOfPoolsThatAskAreTrue(t *testing.T) {
	suggested, outcomes := 0, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		cloud, s := drawProfile(t)
		p, report := profile.Compile(cloud, s, field.NewPath("spec"))
		if len(report.Errors) > 0 {
			t.Fatal(report.Errors)
		}
		for range 20 {
			pool := drawAskingPool(t)
			r := answerTo(t, p, pool)
			suggested += len(r.Suggestions)
			if r.Err == nil {
				outcomes[""]++
				continue
			}
			outcomes[r.Err.Origin]++
			checkRefusal(t, p, r)
		}
	})
	for _, rule := range []string{
		"", "worker-request-unmet", "no-image-fits", "worker-capability-not-registered", "unknown-machine-type",
	} {
		if outcomes[rule] == 0 {
			t.Errorf("%q never happens", rule)
		}
	}
	if suggested == 0 {
		t.Error("nothing is ever suggested")
	}
}

func checkRefusal(t *rapid.T, p *profile.Profile[string], r resolve.Resolution[string]) {
	request := r.Decision.Request
	request.Worker = capability.Set{}
	switch without := p.Catalog().Choose(request); r.Err.Origin {
	case "worker-request-unmet":
		if without < 0 {
			t.Fatalf("without any request there is no image either: %v", r.Err)
		}
		if want := culprit(p, r); !strings.HasPrefix(r.Err.Detail, "worker pool w: "+want+" asks for ") &&
			!strings.Contains(r.Err.Detail, ", as it says nothing else ("+want+"), and ") {
			t.Fatalf("%+v: %v, want it to be about %q", r.Requirements, r.Err, want)
		}
	case "no-image-fits":
		if without >= 0 {
			t.Fatalf("without any request there would be an image: %v", r.Err)
		}
	case "worker-capability-not-registered":
		_, asked, _ := strings.Cut(r.Err.Detail, "asks for ")
		if name, _, _ := strings.Cut(asked, " "); p.Vocabulary().IsRegistered(name) {
			t.Fatalf("%s is registered: %v", name, r.Err)
		}
	}
}

// culprit returns the setting that a refusal has to be about: the first without which the others are met, or else the
// first; what the pool itself asks for goes before what is implied.
func culprit(p *profile.Profile[string], r resolve.Resolution[string]) string {
	ordered := slices.SortedStableFunc(slices.Values(r.Requirements), func(a, b capability.Requirement) int {
		rank := map[bool]int{false: 0, true: 1}
		return rank[a.Implied] - rank[b.Implied]
	})
	for i := range ordered {
		request := r.Decision.Request
		request.Worker, _ = p.Vocabulary().Request(slices.Concat(ordered[:i], ordered[i+1:]))
		if p.Catalog().Choose(request) >= 0 {
			return ordered[i].Setting
		}
	}
	return ordered[0].Setting
}

// In a profile that mentions no worker capability, whoever asks for nothing special is answered as if nobody could ask.
func TestProfilesWithoutWorkerCapabilitiesAreAsBefore(t *testing.T) {
	chosen, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		p, _ := profile.Compile(local.Provider{}, s, field.NewPath("spec"))
		for _, image := range s.MachineImages {
			for _, version := range image.Versions {
				for _, machine := range []string{"m0", "m1", "m2"} {
					pool := provider.Pool{MachineType: machine, Image: image.Name, Version: version.Version, Region: "local"}
					pool.Order = rapid.SampledFrom([]capability.Order{capability.GEP33, capability.Gardener}).Draw(t, "order")
					r := resolve.Explain(p, pool)
					if r.Reason == profile.ReasonUnknownMachineType {
						continue
					}
					request := r.Decision.Request
					request.Worker = capability.Set{}
					compareDecisions(t, p.Catalog().Decide(request), r.Decision)
					if r.Err == nil {
						chosen++
						pool.Worker.UpdateStrategy = v1beta1.AutoInPlaceUpdate
						if again := resolve.Pool(p, pool); again.Err == nil || again.Err.Origin != "worker-request-unmet" {
							t.Fatalf("in place, of which nobody says anything: %v", again.Err)
						}
					} else if refused++; r.Err.Origin == "worker-request-unmet" || r.Err.Origin == "worker-capability-not-registered" {
						t.Fatal(r.Err)
					}
				}
			}
		}
	})
	if chosen == 0 || refused == 0 {
		t.Errorf("chosen %d times, refused %d times", chosen, refused)
	}
}

func compareDecisions[R any](t *rapid.T, without, with imageselector.Decision[R]) {
	if with.Chosen != without.Chosen || with.Ambiguous != without.Ambiguous || with.Reason != without.Reason || !cmp.Equal(with.Comparisons, without.Comparisons) {
		t.Fatalf("%+v\n%+v", with, without)
	}
	for i := range with.Verdicts {
		a, b := with.Verdicts[i], without.Verdicts[i]
		if a.Reason != b.Reason || !cmp.Equal(a.Conflicts, b.Conflicts) ||
			!cmp.Equal(resolve.Rejections(&a, with.Request.Region), resolve.Rejections(&b, without.Request.Region)) {
			t.Fatalf("flavor %d: %+v, without a request %+v", i, a, b)
		}
	}
}

// An image that supports more than one that is there already, and is equal to it otherwise, changes nothing for those
// who boot that one.
func TestOfferingAFeatureWarnsNobody(t *testing.T) {
	offered := 0
	rapid.Check(t, func(t *rapid.T) {
		cloud, s := drawProfile(t)
		old, _ := profile.Compile(cloud, s, field.NewPath("spec"))
		var shoots []use
		for range 10 {
			shoots = append(shoots, use{Name: "shoot", Pools: []provider.Pool{drawAskingPool(t)}})
		}
		for _, def := range declarable[1:] {
			values := rapid.SliceOfN(rapid.SampledFrom(def.Values), 1, 2).Draw(t, "values")
			if !old.Vocabulary().IsRegistered(def.Name) && !strings.HasPrefix(def.Name, capability.ReservedPrefix) {
				continue
			}
			offering, update := offer(cloud, s, def.Name, values)
			updated, report := profile.Compile(offering, update, field.NewPath("spec"))
			if len(report.Errors) == 0 && len(updated.Catalog().Flavors("a", "0.0.0")) > len(old.Catalog().Flavors("a", "0.0.0")) {
				offered++
			}
			if warnings := effects(old, updated, shoots); len(warnings) > 0 {
				t.Fatalf("%s %v: %v", def.Name, values, warnings)
			}
		}
	})
	if offered == 0 {
		t.Error("nothing is ever offered")
	}
}

// offer adds a flavor to the first version of the first image, on both sides: the first one, with values of a
// capability that it leaves out.
func offer(cloud fake, s *v1beta1.CloudProfileSpec, name string, values []string) (fake, *v1beta1.CloudProfileSpec) {
	update := s.DeepCopy()
	image := cloud.images[0]
	image.Versions = slices.Clone(image.Versions)
	version := &image.Versions[0]
	first := version.Flavors[0]
	if _, declared := first.Capabilities[name]; declared {
		return cloud, update
	}
	more := first
	more.Capabilities = maps.Clone(first.Capabilities)
	more.Capabilities[name] = values
	more.Path = version.Path.Child("capabilityFlavors").Index(len(version.Flavors))
	version.Flavors = append(slices.Clone(version.Flavors), more)
	core := &update.MachineImages[0].Versions[0]
	if slices.ContainsFunc(s.MachineCapabilities, func(d v1beta1.CapabilityDefinition) bool { return d.Name == name }) {
		ofCore := maps.Clone(more.Capabilities)
		maps.DeleteFunc(ofCore, func(name string, _ v1beta1.CapabilityValues) bool {
			return !slices.ContainsFunc(s.MachineCapabilities, func(d v1beta1.CapabilityDefinition) bool { return d.Name == name })
		})
		core.CapabilityFlavors = append(core.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: ofCore})
	}
	offering := cloud
	offering.images = append([]imageselector.Image[string]{image}, cloud.images[1:]...)
	return offering, update
}

// What is filled in is what core can carry of a mapping, and corresponds to it.
func TestAProfileWithWorkerCapabilitiesIsSoundWhereItIsFilled(t *testing.T) {
	filledIn, dropped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		cloud, s := drawProfile(t)
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
			if len(f.Flavors) < len(cloud.images[f.Image].Versions[f.Version].Flavors) {
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
			version := &cloud.images[f.Image].Versions[f.Version]
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
