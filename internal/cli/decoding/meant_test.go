// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package decoding_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/cli/decoding"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

func parsed(t *testing.T, spec string) *manifest.Object {
	t.Helper()
	read := manifest.Parse("profile.yaml",
		"apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nmetadata: {name: p}\nspec:\n"+spec, nil)
	if len(read.Objects) != 1 || len(read.Problems) > 0 {
		t.Fatal(read)
	}
	return read.Objects[0]
}

func TestMeant(t *testing.T) {
	memory := decoding.Memory{}
	o := parsed(t, `  type: openstack
  machinetypes: [{name: small, memory: 8 GB, cpu: "4 cores", gpu: some, architectur: arm64, useable: false, next: {year: 1}}]
  machineImages: [{name: gl, versions: [{version: 1.0.0, expirationDate: "2090-01-31", capabilityFlavors: [{capabilities: {architecture: amd64}}]}]}]
`)
	if _, errs := decoding.Object[v1beta1.CloudProfile](memory, o); len(errs) == 0 {
		t.Fatal("there are no errors")
	}
	// The value of a misspelt key has not been checked: if it has errors itself, its meaning is unknown.
	if meant, _ := decoding.Meant[v1beta1.CloudProfile](memory, o); meant != nil {
		t.Errorf("it is %+v", meant.Spec)
	}
	o = parsed(t, `  type: openstack
  machineTypes: [{name: small, memory: 8 GB, cpu: "4 cores", gpu: some, architectur: arm64, useable: false, next: {year: 1}}]
  machineImages: [{name: gl, versions: [{version: 1.0.0, expirationDate: "2090-01-31", capabilityFlavors: [{capabilities: {architecture: [amd64]}}]}]}]
`)
	for range 2 { // the second result is memoized
		meant, as := decoding.Meant[v1beta1.CloudProfile](memory, o)
		if meant == nil {
			t.Fatal("nobody knows what it means")
		}
		small, version := meant.Spec.MachineTypes[0], meant.Spec.MachineImages[0].Versions[0]
		if small.Memory.String() != "8Gi" || small.CPU.String() != "4" || !small.GPU.IsZero() || *small.Architecture != "arm64" || *small.Usable {
			t.Errorf("the machine type is %+v", small)
		}
		flavor, expires := version.CapabilityFlavors[0], version.ExpirationDate.UTC().String() //nolint:staticcheck // as people write it
		if expires != "2090-01-31 00:00:00 +0000 UTC" || flavor.Capabilities["architecture"][0] != "amd64" {
			t.Errorf("the version is %+v", version)
		}
		flavorAt := "spec.machineImages[0].versions[0].capabilityFlavors[0]"
		for renamed, written := range map[string]string{
			"spec.machineTypes[0].architecture": "spec.machineTypes[0].architectur",
			"spec.machineTypes[0].memory":       "spec.machineTypes[0].memory",
			flavorAt + ".architecture[0]":       flavorAt + ".capabilities.architecture[0]",
		} {
			_, column := as.Position(renamed)
			if _, want := o.Position(written); column != want || as.Value(renamed) == nil {
				t.Errorf("%s is at column %d, and %s at %d", renamed, column, written, want)
			}
		}
	}
	if again, errs := decoding.Object[v1beta1.CloudProfile](memory, o); len(errs) != 8 || len(again.Spec.MachineTypes) != 1 {
		t.Errorf("%d errors are left: %v", len(errs), errs)
	}
}

// Of a misspelt key and the right one beside it, the right one counts, wherever the other one is.
func TestMeantIsTheRightKey(t *testing.T) {
	for _, spec := range []string{
		"  machineTypes: [{name: big}]\n  machinetypes: [{name: small}]\n",
		"  machineTypez: [{name: small}]\n  machineTypes: [{name: big}]\n",
		"  regions: []\n  machinetypes: 5\n  machineTypez: [{name: small}]\n  machineTypes: [{name: big, useable: true, usable: false}]\n  type: a\n",
	} {
		meant, _ := decoding.Meant[v1beta1.CloudProfile](nil, parsed(t, spec))
		if meant == nil || len(meant.Spec.MachineTypes) != 1 || meant.Spec.MachineTypes[0].Name != "big" || ptr.Deref(meant.Spec.MachineTypes[0].Usable, false) {
			t.Errorf("%s: it is %+v", spec, meant)
		}
	}
}

func TestMeantIsNotGuessed(t *testing.T) {
	for name, spec := range map[string]string{
		"a key in the wrong place":            "  machineTypes: [{name: small, regions: [europe]}]\n",
		"two that are misspelt":               "  machinetypes: []\n  machineTipes: [{name: small}]\n",
		"a list for a text":                   "  type: [openstack]\n",
		"a number for a text":                 "  machineImages: [{name: gl, versions: [{version: 1.2}]}]\n",
		"a time in words":                     "  machineImages: [{name: gl, versions: [{version: 1.2.3, expirationDate: tomorrow}]}]\n",
		"a flavor with more than its wrap":    "  machineImages: [{versions: [{capabilityFlavors: [{capabilities: {architecture: [amd64]}, a: [b]}]}]}]\n",
		"a list where there are to be fields": "  machineTypes: [small]\n",
	} {
		t.Run(name, func(t *testing.T) {
			o := parsed(t, spec)
			if _, errs := decoding.Object[v1beta1.CloudProfile](nil, o); len(errs) == 0 {
				t.Error("there are no errors")
			}
			if meant, _ := decoding.Meant[v1beta1.CloudProfile](nil, o); meant != nil {
				t.Errorf("it is %+v", meant.Spec)
			}
		})
	}
}

func TestMeantConfig(t *testing.T) {
	o := parsed(t, "  providerConfig: {keystonURL: u, keystoneURLs: [{regon: r}]}\n")
	memory, decoded := decoding.Memory{}, 0
	profile, _ := decoding.Object[v1beta1.CloudProfile](memory, o)
	raw, at := profile.Spec.ProviderConfig.Raw, field.NewPath("spec", "providerConfig")
	decode := func() finding.List {
		decoded++
		var into struct {
			KeystoneURL  string `json:"keystoneURL"`
			KeystoneURLs []struct {
				Region string `json:"region"`
				URL    int    `json:"url"`
			} `json:"keystoneURLs"`
		}
		return strictjson.Decode(raw, &into, at)
	}
	for range 2 { // the second result is memoized
		meant := memory.Config(o, raw, at.String(), decode)
		if string(meant.Raw) != `{"keystoneURL":"u","keystoneURLs":[{"region":"r"}]}` || len(meant.Taken) != 2 {
			t.Fatalf("it is %s, after %v", meant.Raw, meant.Taken)
		}
		for renamed, written := range map[string]string{
			"spec.providerConfig.keystoneURL":            "spec.providerConfig.keystonURL",
			"spec.providerConfig.keystoneURLs[0].region": "spec.providerConfig.keystoneURLs[0].regon",
		} {
			line, column := meant.Manifest.Position(renamed)
			if wantLine, want := o.Position(written); line != wantLine || column != want || column == 0 {
				t.Errorf("%s is at %d:%d, not at %d:%d", renamed, line, column, wantLine, want)
			}
		}
	}
	if decoded != 1 {
		t.Errorf("it was decoded %d times", decoded)
	}
	raw = []byte(`{"keystonURL": "u", "keystoneURL": "v"}`)
	if meant := decoding.Memory(nil).Config(o, raw, at.String(), decode); string(meant.Raw) != `{ "keystoneURL": "v"}` || len(meant.Taken) != 1 {
		t.Errorf("of two keys, %s was meant, after %v", meant.Raw, meant.Taken)
	}
}
