// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/resolve"
)

// acme begins the description of a fictitious cloud.
const acme = `apiVersion: capkit/v1
kind: ProviderDescription
type: acme
apiVersions: [acme.example.com/v1alpha1, acme.example.com/v1]
`

const images = "images: {path: machineImages, name: name, versions: versions, version: version}\n"

// cloud returns the provider of a valid description.
func cloud(tb testing.TB, text string) provider.Provider[described.Reference] {
	tb.Helper()
	p, err := described.Read("acme.yaml", []byte(text), nil)
	if err != nil {
		tb.Fatal(err)
	}
	if err := provider.Check(p); err != nil {
		tb.Error(err)
	}
	return p
}

// The built-in clouds obey the laws with their examples.
func TestBuiltIn(t *testing.T) {
	var types []string
	for _, p := range described.BuiltIn() {
		types = append(types, p.Type())
		kind := schema.GroupVersionKind{Group: p.Type() + ".provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "CloudProfileConfig"}
		if p.Type() == "gdch" {
			kind.Group = "gdch.provider.extensions.gardener.gdc.goog"
		}
		providertest.Laws(t, p, providertest.Configs(t, kind, "../../example/"+p.Type())...)
		if !strings.Contains(described.Text(p.Type()), "type: "+p.Type()+"\n") {
			t.Errorf("%s has no text", p.Type())
		}
	}
	if want := []string{"gdch", "hcloud", "ironcore", "ironcore-metal", "stackit"}; !slices.Equal(types, want) {
		t.Error(types)
	}
	if text := described.Text("acme"); text != "" {
		t.Error(text)
	}
}

// shapes are descriptions of every shape.
var shapes = map[string]string{
	"global": images + "flavors: {path: capabilityFlavors, capabilities: capabilities}\n" +
		"reference: [image]\narchitecture: {field: architecture, default: amd64}\n",
	"one-architecture": images + "reference: [image]\narchitecture: {default: amd64}\n",
	"any-architecture": images + "reference: [image]\nshared: true\n",
	"two-fields": images + "flavors: {path: capabilityFlavors, capabilities: capabilities}\n" +
		"reference: [spec.id, spec.project]\narchitecture: {field: spec.arch, default: amd64}\n",
	"regional": images + "flavors: {path: capabilityFlavors, capabilities: capabilities}\nregions: {path: by.regions, name: name}\n" +
		"reference: [id]\nfallback: [image]\narchitecture: {field: cpu.architecture, default: arm64}\n",
	"regional-for-all": images + "flavors: {path: capabilityFlavors, capabilities: capabilities}\nregions: {path: regions, name: name}\n" +
		"reference: [id]\nshared: true\n",
	"derived":        images + "reference: [image]\nderived: {image: \"{image}/{version}\"}\nunmapped: [\"linux@2.*\"]\noverrides: {path: places, name: name}\n",
	"nothing-mapped": "reference: [image]\nderived: {image: \"{image}-{version}\"}\n",
}

// Each shape decodes its configs, and obeys the laws.
func TestShapes(t *testing.T) {
	tried := map[string]bool{}
	cases.Run(t, "testdata/shapes.txtar", func(c *cases.Case) string {
		name := strings.TrimSpace(c.Text("shape"))
		tried[name] = true
		p := cloud(c.T(), acme+shapes[name])
		raw := c.JSON("config.yaml")
		if err := providertest.Check(p, raw); err != nil {
			c.T().Error(err)
		}
		config, report := p.Decode(&runtime.RawExtension{Raw: raw}, field.NewPath("config"))
		var lines []string
		for _, image := range config.Images {
			for _, v := range image.Versions {
				lines = append(lines, image.Name+"@"+v.Version)
				for _, f := range v.Flavors {
					text, _ := json.Marshal(f.Capabilities)
					lines = append(lines, "  "+string(text)+" at "+f.Path.String())
					if f.Global != nil {
						text, _ = json.Marshal(f.Global.Ref)
						lines = append(lines, "    "+string(text)+" at "+f.Global.Path.String())
						report.Errors = append(report.Errors, finding.Of(p.ValidateReference(f.Global.Ref, f.Global.Path))...)
					}
					for _, r := range f.Regional {
						text, _ = json.Marshal(r.Ref)
						lines = append(lines, "    "+r.Region+" "+string(text)+" at "+r.Path.String()+", named at "+r.NamePath().String())
						report.Errors = append(report.Errors, finding.Of(p.ValidateReference(r.Ref, r.Path))...)
					}
				}
			}
		}
		return strings.Join(append(lines, cases.Report(c.T(), report)), "\n")
	})
	for name := range shapes {
		if !tried[name] {
			t.Errorf("no case has the shape %s", name)
		}
	}
}

// A cloud without a mapping derives all references, and needs no config.
func TestNothingMapped(t *testing.T) {
	p := cloud(t, acme+shapes["nothing-mapped"])
	if _, report := p.Decode(nil, nil); len(report.Errors) > 0 {
		t.Error(report.Errors)
	}
	deriver, derives := provider.As[provider.ReferenceDeriver[described.Reference]](p)
	if !derives {
		t.Fatal("it does not derive")
	}
	ref, derived := deriver.DeriveReference(provider.ImageVersion{Image: "linux", Version: "1.2"}, nil)
	if text, _ := json.Marshal(ref); !derived || string(text) != `{"image":"linux-1.2"}` {
		t.Error(derived, string(text))
	}
}

// Where there are images, references are derived only for versions that need no entry.
func TestUnmapped(t *testing.T) {
	deriver, _ := provider.As[provider.ReferenceDeriver[described.Reference]](cloud(t, acme+shapes["derived"]))
	for version, want := range map[string]bool{"2.1": true, "1.2": false} {
		if _, derived := deriver.DeriveReference(provider.ImageVersion{Image: "linux", Version: version}, nil); derived != want {
			t.Errorf("%s: %t", version, derived)
		}
	}
	if _, derives := provider.As[provider.ReferenceDeriver[described.Reference]](cloud(t, acme+shapes["global"])); derives {
		t.Error("a cloud whose images are all mapped derives references")
	}
}

// Unknown fields are kept, unless they are inside rewritten parts.
func TestIgnoredFields(t *testing.T) {
	ignorer, _ := provider.As[providerconfig.FieldIgnorer](cloud(t, acme+shapes["two-fields"]))
	fields, within := ignorer.IgnoredFields(map[string]any{
		"version": "1", "note": "x", "spec": map[string]any{"id": "a", "since": "y"},
		"capabilityFlavors": []any{map[string]any{"spec": map[string]any{"project": "p"}}, map[string]any{"z": 1}},
	})
	if diff := cmp.Diff(map[string]any{"note": "x"}, fields); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"capabilityFlavors[1].z", "spec.since"}, within); diff != "" {
		t.Error(diff)
	}
}

func TestReferenceForm(t *testing.T) {
	for shape, want := range map[string]string{
		"global": "image", "two-fields": "spec.id and spec.project", "regional": "by.regions, as in by.regions: [{name: REGION, id: ID}]",
	} {
		describer, _ := provider.As[provider.ReferenceDescriber](cloud(t, acme+shapes[shape]))
		if got := describer.ReferenceForm(); got != want {
			t.Errorf("%s: %s", shape, got)
		}
	}
}

// All errors in a description are reported at once, with line and column.
func TestRead(t *testing.T) {
	cases.Run(t, "testdata/read.txtar", func(c *cases.Case) string {
		_, err := described.Read("acme.yaml", []byte(c.Text("acme.yaml")), map[string]string{"aws": "", "stackit": "other.yaml"})
		if err == nil {
			return "nothing is wrong"
		}
		return err.Error()
	})
}

// A reference with several fields may lack one of them.
func TestPartOfAReference(t *testing.T) {
	for shape, want := range map[string]string{
		"global":     "the image is missing; write it as image, or remove the entry",
		"two-fields": "a part of the reference to the image is missing; write it as project, or remove the entry",
	} {
		errs := cloud(t, acme+shapes[shape]).ValidateReference(described.Reference{}, field.NewPath("image"))
		if len(errs) == 0 || errs[len(errs)-1].Detail != want {
			t.Errorf("%s: %v", shape, errs)
		}
	}
}

// A cloud with only the legacy format is not advised to use flavors.
func TestNoFlavors(t *testing.T) {
	broken := given.File[v1beta1.CloudProfile](t, "testdata/broken/ironcore.yaml")
	for shape, want := range map[string]string{
		shapes["regional-for-all"]: "add capabilityFlavors, or a reference in the legacy format",
		images + "regions: {path: regions, name: name}\nreference: [id]\nshared: true\n": "add a reference in the legacy format",
	} {
		broken.Spec.Type = "acme"
		broken.Spec.MachineCapabilities = []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}
		broken.Spec.ProviderConfig.Raw = []byte(`{"apiVersion": "acme.example.com/v1", "kind": "CloudProfileConfig",
			"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0"}]}]}`)
		_, report := check.CloudProfile(cloud(t, acme+shape), broken)
		if text := fmt.Sprintf("%v\n", report.Errors); !strings.Contains(text, "the version has no image: "+want) {
			t.Errorf("%s: %s", shape, text)
		}
	}
}

// The findings for a broken profile of each built-in cloud.
func TestBroken(t *testing.T) {
	var got strings.Builder
	for _, p := range described.BuiltIn() {
		object := given.File[v1beta1.CloudProfile](t, "testdata/broken/"+p.Type()+".yaml")
		_, report := check.CloudProfile(p, object)
		rules := map[string]bool{}
		for severity, list := range []finding.List{report.Errors, report.Warnings} {
			for _, f := range list {
				rules[f.Origin] = true
				fmt.Fprintf(&got, "%s %s %s %s\n", p.Type(), []string{"error", "warning"}[severity], f.Origin, f)
			}
		}
		if len(rules) < 4 {
			t.Errorf("%s: %d kinds of mistakes only", p.Type(), len(rules))
		}
	}
	const file = "testdata/broken.txt"
	if cases.Update() {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if diff := cmp.Diff(string(want), got.String()); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// No worker pool boots with a part of a reference.
func TestPartOfAReferenceBootsNothing(t *testing.T) {
	p := cloud(t, acme+images+"flavors: {path: capabilityFlavors, capabilities: capabilities}\nregions: {path: regions, name: name}\nreference: [id, project]\n")
	core := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"}, CapabilityFlavors: []v1beta1.MachineImageFlavor{{}}}
	for entry, boots := range map[string]bool{`"id": "a", "project": "p"`: true, `"project": "p"`: false, `"id": "a"`: false} {
		compiled, report := profile.Compile(p, &v1beta1.CloudProfileSpec{
			Type: "acme", Regions: []v1beta1.Region{{Name: "north"}}, MachineTypes: []v1beta1.MachineType{{Name: "m"}},
			MachineCapabilities: []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}},
			MachineImages:       []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{core}}},
			ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"apiVersion": "acme.example.com/v1", "kind": "CloudProfileConfig", "machineImages": [
				{"name": "linux", "versions": [{"version": "1.0.0", "capabilityFlavors": [{"regions": [{"name": "north", ` + entry + `}]}]}]}]}`)},
		}, field.NewPath("spec"))
		answer := resolve.Pool(compiled, provider.Pool{MachineType: "m", Image: "linux", Version: "1.0.0", Region: "north"})
		if (answer.Err == nil) != boots || len(report.Errors) == 0 != boots {
			t.Errorf("%s: %v %v", entry, answer.Err, report.Errors)
		}
	}
}
