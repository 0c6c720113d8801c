// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// Faults found by others are named if they may be the reason why a worker pool gets no image, and faulty entries are not suggested.
func TestFaultsOfOthers(t *testing.T) {
	p := profileOfPools(t)
	version, name := "spec.machineImages[0].versions[0]", "spec.machineTypes[2].name"
	faulty := p.WithFaults(finding.Of(field.ErrorList{
		field.Invalid(field.NewPath("spec", "machineTypes").Index(2).Child("name"), "bare", "not qualified"),
		field.Invalid(field.NewPath("spec", "machineImages").Index(0).Child("versions").Index(0).Child("kubeletVersionConstraint"), "x", "no"),
	}))
	for _, c := range []struct{ machine, version, before, after string }{
		{"virt", "9.5.0", "would work: version 10.0.0", "would work: version 9.0.0"},
		{"bare", "10.0.0", "would work: ", name},
		{"arm", "10.0.0", "would work: ", version},
		{"huge", "10.0.0", "would work: machine type virt or either", name},
	} {
		pool := provider.Pool{Name: "w", Image: "gl", Version: c.version, MachineType: c.machine, Region: "asia"}
		before, after := given.Answer(t, p, pool), given.Answer(t, faulty, pool)
		if before.Err == nil || after.Err == nil || before.Err.Origin != after.Err.Origin || before.Err.Field != after.Err.Field {
			t.Errorf("%+v: %v, then %v", c, before.Err, after.Err)
			continue
		}
		if !strings.Contains(before.Err.Detail, c.before) || !strings.Contains(after.Err.Detail, c.after) {
			t.Errorf("%+v: %v, then %v", c, before.Err, after.Err)
		}
		for _, s := range after.Suggestions {
			if s.Value == "bare" || s.Value == "10.0.0" || s.Value == "gl@10.0.0" {
				t.Errorf("%+v: %v", c, after.Suggestions)
			}
		}
	}
	if p.WithFaults(nil) != p {
		t.Error("nothing is wrong")
	}
}

// A spec without a manifest, for example a rendered one, has no paths: faulty parts are named.
func TestFaultsWithoutPlaces(t *testing.T) {
	spec := given.File[v1beta1.CloudProfileSpec](t, "testdata/pools.yaml")
	spec.MachineImages[0].Versions[0].CapabilityFlavors[0].Capabilities["hypervisor"] = []string{"baremetal"}
	spec.MachineTypes[3].Capabilities["hypervisor"] = []string{}
	p, _ := profile.Compile(given.ImagesOnly{}, spec, nil)
	for machine, want := range map[string]string{
		"bare": "the profile has an error in gl@10.0.0; repair that first",
		"arm":  "the profile has an error in machine type arm; repair that first",
	} {
		r := given.Answer(t, p, provider.Pool{Name: "w", Image: "gl", Version: "10.0.0", MachineType: machine, Region: "asia"})
		if r.Err == nil || !strings.HasSuffix(r.Err.Detail, want) {
			t.Errorf("%s: %v", machine, r.Err)
		}
	}
}

// Only versions that Gardener allows for the pool are suggested: others may lack its container runtime or exclude its kubelet.
func TestSuggestionsSuitKubeletAndContainerRuntime(t *testing.T) {
	spec := given.File[v1beta1.CloudProfileSpec](t, "testdata/pools.yaml")
	containerd := []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
	sandboxed := []v1beta1.CRI{{Name: v1beta1.CRINameContainerD, ContainerRuntimes: []v1beta1.ContainerRuntime{{Type: "gvisor"}}}}
	for i := range spec.MachineImages {
		for k := range spec.MachineImages[i].Versions {
			spec.MachineImages[i].Versions[k].CRI = containerd
		}
	}
	gl := spec.MachineImages[0].Versions
	gl[0].CRI, gl[1].CRI, gl[2].CRI = sandboxed, sandboxed, sandboxed
	gl[1].KubeletVersionConstraint = new(">= 1.34.0")
	p, _ := profile.Compile(given.ImagesOnly{}, spec, field.NewPath("spec"))
	for _, c := range []struct{ kubelet, version, runtime, want string }{
		{"", "10.0.0", "", "would work: version 9.0.0; or image ubuntu@24.4.0; or machine type virt"},
		{"1.34.0", "10.0.0", "gvisor", "would work: version 9.0.0 or 8.0.0; or machine type virt"},
		{"1.33.2", "10.0.0", "gvisor", "would work: version 8.0.0; or machine type virt or either"},
		{"1.33.2", "10.0.0", "", "would work: version 8.0.0; or image ubuntu@24.4.0; or machine type virt"},
		{"1.33.2", "10.0.0", "kata", ""}, // on any machine type
	} {
		pool := provider.Pool{
			Name: "w", Image: "gl", Version: c.version, MachineType: "bare", Region: "asia", Kubelet: c.kubelet,
			CRI: &v1beta1.CRI{Name: v1beta1.CRINameContainerD},
		}
		if c.runtime != "" {
			pool.CRI.ContainerRuntimes = []v1beta1.ContainerRuntime{{Type: c.runtime}}
		}
		many := resolve.NewResolver(p)
		for range 2 { // the second answer is memoized
			if r := many.Pool(pool); !strings.HasSuffix(r.Err.Detail, c.want) || strings.Contains(r.Err.Detail, "would work") != (c.want != "") {
				t.Errorf("%+v: %v", c, r.Err)
			}
		}
		given.Answer(t, p, pool)
		works := resolve.Works(p, pool)
		if got := works("bare", "gl", "9.0.0"); got != strings.Contains(c.want, "9.0.0") {
			t.Errorf("%+v: 9.0.0 works: %v", c, got)
		}
		if got := works("either", "gl", "10.0.0"); got != strings.Contains(c.want, "machine type virt") {
			t.Errorf("%+v: machine type either works: %v", c, got)
		}
	}
}
