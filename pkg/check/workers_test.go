// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

func TestHowWorkerCapabilitiesAreRegistered(t *testing.T) {
	cases.Run(t, "testdata/worker-definitions.txtar", func(c *cases.Case) string {
		var def v1beta1.CapabilityDefinition
		c.Decode("capability.yaml", &def)
		s := given.CoreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, def}, nil)
		_, report := check.CloudProfile(given.Linux(v1beta1.Capabilities{}).With(given.Definitions, given.Requests), &v1beta1.CloudProfile{Spec: *s})
		report.Warnings = slices.DeleteFunc(report.Warnings, func(f finding.Finding) bool { return !strings.HasPrefix(f.Origin, "worker-capability-") })
		catalogue.Check(c.T(), report.Errors)
		catalogue.Check(c.T(), report.Warnings)
		got := given.Plainly(report.Errors)
		for _, line := range given.Plainly(report.Warnings) {
			got = append(got, "warning "+line)
		}
		return cases.Fold(got...)
	})
}

// Gardener should not choose an image version that boots only on request.
func TestVersionsOnlyOnRequest(t *testing.T) {
	checkWarnings(t, "testdata/only-on-request.txtar")
}

// A new image that supports more than an existing one, and is otherwise equal, does not change the image of existing users.
func TestOfferingAFeatureWarnsNobody(t *testing.T) {
	offered := 0
	rapid.Check(t, func(t *rapid.T) {
		cloud, s := given.DrawProfile(t)
		old, _ := profile.Compile(cloud, s, field.NewPath("spec"))
		var shoots []use
		for range 10 {
			shoots = append(shoots, use{Name: "shoot", Pools: []provider.Pool{given.DrawPool(t)}})
		}
		for _, def := range given.Declarable[1:] {
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

// offer adds a flavor to the first version of the first image, on both sides. It is a copy of the first flavor that also declares values
// of a capability, unless that is declared already.
func offer(cloud given.Cloud, s *v1beta1.CloudProfileSpec, name string, values []string) (given.Cloud, *v1beta1.CloudProfileSpec) {
	update := s.DeepCopy()
	image := cloud.Images[0]
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
	offering.Images = append([]imageselector.Image[string]{image}, cloud.Images[1:]...)
	return offering, update
}

// The requests are written as in a Shoot: the update strategy and the providerConfig of a worker.
func TestShootsThatAsk(t *testing.T) {
	checkShoots(t, "../resolve/testdata/worker-pools.yaml", "testdata/shoots-that-ask.txtar")
}
