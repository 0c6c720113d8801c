// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/release"
	"github.com/capkit/capkit/internal/cli/release/source"
)

// For any source or map, errors are reported at their places, and importing the rest again changes nothing.

// examples holds sources, and profiles without images, one for each cloud.
const examples = "../../../docs/examples/import"

const inventory = `apiVersion: capkit/v1
kind: Inventory
provider: openstack
taken: "2026-11-23T12:00:00Z"
regions:
- name: europe
  images:
  - {id: 6dd80000-0000-4000-8000-000000000000, name: gl-1877.5, status: active, architecture: amd64, properties: {hypervisor_type: baremetal}}
  - {id: 6dd80001-0000-4000-8000-000000000000, name: gl-1877.5-b, status: queued}
`

func text(tb testing.TB, file string) string {
	tb.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return string(content)
}

// profiles returns the examples.
func profiles(tb testing.TB) (all []release.Profile) {
	tb.Helper()
	for _, cloud := range clouds.All() {
		file := filepath.Join(examples, cloud.Type()+".yaml")
		if _, err := os.Stat(file); err != nil {
			continue // a cloud whose images are in no release
		}
		raw, err := yaml.YAMLToJSON([]byte(text(tb, file)))
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, profileOf(tb, release.Profile{Raw: raw, Cloud: cloud}))
	}
	if len(all) < 5 {
		tb.Fatal(len(all))
	}
	return all
}

// profileOf decodes the spec of a profile.
func profileOf(tb testing.TB, p release.Profile) release.Profile {
	tb.Helper()
	var object v1beta1.CloudProfile
	if err := json.Unmarshal(p.Raw, &object); err != nil {
		tb.Fatal(err)
	}
	p.Spec = object.Spec
	return p
}

// fuzzing writes inputs to a file and reads them.
type fuzzing struct {
	*testing.F
	file     string
	profiles []release.Profile
}

func newFuzzing(f *testing.F) *fuzzing {
	return &fuzzing{f, filepath.Join(f.TempDir(), "input.yaml"), profiles(f)}
}

// addAll adds files as seeds.
func (f *fuzzing) addAll(pattern string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatal(pattern, err)
	}
	for _, file := range files {
		f.Add(text(f, file))
	}
}

func (f *fuzzing) write(t *testing.T, input string) {
	if err := os.WriteFile(f.file, []byte(input), 0o600); err != nil {
		t.Fatal(err)
	}
}

// placed checks the positions of faults.
func placed(t *testing.T, input string, faults []source.Fault) {
	for _, fault := range faults {
		if fault.Rule != source.RuleSource || fault.Message == "" || fault.Type == "" || fault.Line < 1 || fault.Column < 1 ||
			fault.Line > strings.Count(input, "\n")+strings.Count(input, "\r")+2 {
			t.Fatalf("%+v", fault)
		}
	}
}

// reads reads the input as a source of a kind, and imports it.
func (f *fuzzing) reads(kind string) {
	f.Fuzz(func(t *testing.T, input string) {
		f.write(t, input)
		from := source.Source{Kind: kind, Path: f.file}
		if kind != source.List {
			from.Image = "gardenlinux"
		}
		contents, faults, err := source.Read(from)
		if err != nil {
			t.Fatal(err)
		}
		placed(t, input, faults)
		if _, again, _ := source.Read(from); !reflect.DeepEqual(faults, again) {
			t.Fatalf("%+v\nand then\n%+v", faults, again)
		}
		if len(faults) > 0 {
			return
		}
		for _, a := range contents.Artifacts {
			if _, is := source.Complete(a.Version); !is || a.Image == "" || len(a.Places) != len(a.Regions) || len(a.Regions) == 0 && a.Global == nil {
				t.Fatalf("%+v", a)
			}
		}
		f.imports(t, contents, release.Options{Classification: "preview", Keep: 1})
	})
}

// imports imports into all profiles, and again into the results.
func (f *fuzzing) imports(t *testing.T, contents *source.Contents, options release.Options) {
	for _, p := range f.profiles {
		result := release.Import(p, contents, options)
		for _, err := range result.Errors {
			if err.Origin == "" || err.Field == "" || err.Detail == "" || err.Type == field.ErrorTypeInternal {
				t.Fatalf("%s: %+v", p.Cloud.Type(), err)
			}
		}
		if len(result.Errors)+len(result.Faults) > 0 {
			continue
		}
		raw, err := json.Marshal(edit.Result(edit.Decoded(p.Raw), result.Ops))
		if err != nil {
			t.Fatal(err)
		}
		now := profileOf(t, release.Profile{Raw: raw, Cloud: p.Cloud})
		again := release.Import(now, contents, options)
		if len(again.Ops)+len(again.Errors)+len(again.Faults) > 0 {
			t.Fatalf("%s: %+v\nonce more: %+v", p.Cloud.Type(), result, again)
		}
	}
}

func FuzzGardenLinux(f *testing.F) {
	of := newFuzzing(f)
	of.addAll(examples + "/metadata/*.yaml")
	of.addAll(examples + "/a*.yaml") // not metadata
	of.reads(source.GardenLinux)
}

func FuzzInventory(f *testing.F) {
	of := newFuzzing(f)
	for _, provider := range []string{"openstack", "aws", "azure", "gcp", "alicloud", "other"} {
		f.Add(strings.Replace(inventory, "provider: openstack", "provider: "+provider, 1))
	}
	of.reads(source.Inventory)
}

func FuzzList(f *testing.F) {
	of := newFuzzing(f)
	of.addAll(examples + "/images.yaml")
	f.Add("apiVersion: capkit/v1\nkind: ImageList\nimages:\n- name: a\n  version: 1.0.0\n  flavors:\n" +
		"  - {capabilities: {architecture: [amd64]}, urn: 'a:b:c:d'}\n  - {capabilities: {architecture: [arm64]}, image: projects/a/global/images/b}\n")
	of.reads(source.List)
}

func FuzzMap(f *testing.F) {
	of := newFuzzing(f)
	of.addAll(examples + "/map.yaml")
	f.Add(source.MapText(source.GardenLinux))
	contents, faults, err := source.Read(source.Source{Kind: source.GardenLinux, Path: examples + "/metadata", Image: "gardenlinux"})
	if err != nil || len(faults) > 0 {
		f.Fatal(err, faults)
	}
	f.Fuzz(func(t *testing.T, input string) {
		of.write(t, input)
		m, faults, err := source.ReadMap(of.file, source.GardenLinux)
		if err != nil {
			t.Fatal(err)
		}
		if placed(t, input, faults); len(faults) == 0 {
			of.imports(t, contents, release.Options{Map: m})
		}
	})
}
