// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// readFile decodes a file below the root of the repository.
func readFile(name string, into any) {
	GinkgoHelper()
	text, err := os.ReadFile(root + "/" + name)
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(text, into)).To(Succeed(), name)
}

// profileOf returns the example CloudProfile with the replacements in testdata/profile.yaml. legacy selects the format without
// capabilities. Expired entries expired at the given time.
func profileOf(legacy bool, expired time.Time) *unstructured.Unstructured {
	GinkgoHelper()
	profile, instead := &unstructured.Unstructured{}, map[string]any{}
	readFile("example/cloudprofile.yaml", &profile.Object)
	readFile("test/versions/testdata/profile.yaml", &instead)
	spec := profile.Object["spec"].(map[string]any)
	for name, value := range instead {
		spec[name] = value
	}
	var images []any
	for _, image := range spec["machineImages"].([]any) {
		images = append(images, image.(map[string]any)["versions"].([]any)...)
	}
	for _, version := range append(images, spec["kubernetes"].(map[string]any)["versions"].([]any)...) {
		if v := version.(map[string]any); v["expirationDate"] != nil {
			v["expirationDate"] = expired.UTC().Format(time.RFC3339)
		}
	}
	if legacy {
		delete(spec, "machineCapabilities")
		for _, machineType := range spec["machineTypes"].([]any) {
			t := machineType.(map[string]any)
			t["architecture"] = t["capabilities"].(map[string]any)["architecture"].([]any)[0]
			delete(t, "capabilities")
		}
		for _, version := range images {
			v, architectures := version.(map[string]any), []any(nil)
			for _, flavor := range v["capabilityFlavors"].([]any) {
				if a := flavor.(map[string]any)["architecture"].([]any)[0]; !slices.Contains(architectures, a) {
					architectures = append(architectures, a)
				}
			}
			v["architectures"] = architectures
			delete(v, "capabilityFlavors")
		}
	}
	return profile
}

// childOf returns the example NamespacedCloudProfile in the format of its parent.
func childOf(legacy bool) *unstructured.Unstructured {
	GinkgoHelper()
	child := &unstructured.Unstructured{}
	readFile("example/namespacedcloudprofile.yaml", &child.Object)
	if legacy {
		set(child.Object, "spec.machineTypes.0.capabilities", nil)
		set(child.Object, "spec.machineTypes.0.architecture", "amd64")
		set(child.Object, "spec.machineImages.0.versions.1.capabilityFlavors", nil)
		set(child.Object, "spec.machineImages.0.versions.1.architectures", []any{"amd64"})
	}
	return child
}

// change is a change of an object at path At: to one of the values in To, or its removal if Remove is set.
type change struct {
	At     string
	To     []any
	Remove bool
}

// drawn is an object with descriptions of its changes.
type drawn struct {
	object  *unstructured.Unstructured
	changes []string
}

func (d *drawn) String() string {
	return fmt.Sprintf("%s %s: %s", d.object.GetKind(), d.object.GetName(), strings.Join(d.changes, "; "))
}

// apply makes a change with one of its values.
func (d *drawn) apply(c change, value any) {
	if c.At == "metadata.name" {
		value = d.object.GetName() + value.(string)
	}
	if c.Remove {
		value = nil
	}
	set(d.object.Object, c.At, runtime.DeepCopyJSONValue(value))
	text, _ := yaml.Marshal(value)
	d.changes = append(d.changes, c.At+"="+strings.TrimSpace(string(text)))
}

// set writes a value at a path, or removes it if value is nil. It creates missing maps, but not missing list items. A final + appends to
// a list.
func set(in any, path string, value any) {
	key, rest, more := strings.Cut(path, ".")
	switch in := in.(type) {
	case map[string]any:
		list, isList := in[key].([]any)
		switch {
		case !more && value == nil:
			delete(in, key)
		case !more:
			in[key] = value
		case rest == "+":
			in[key] = append(slices.Clip(list), value)
		case isList:
			set(list, rest, value)
		default:
			if _, is := in[key].(map[string]any); !is && value != nil {
				in[key] = map[string]any{}
			}
			set(in[key], rest, value)
		}
	case []any:
		i, err := strconv.Atoi(key)
		switch {
		case err != nil || i >= len(in):
		case more:
			set(in[i], rest, value)
		default:
			in[i] = value
		}
	}
}

// register adds Gardener's capabilities of GEP-0054 to the example CloudProfile: to its vocabulary, to a machine type and to flavors.
func register(profile *unstructured.Unstructured) {
	for _, c := range []struct {
		at    string
		value any
	}{
		{"spec.machineCapabilities.+", map[string]any{"name": "gardener-update-type", "values": []any{"rolling", "in-place"}}},
		{"spec.machineCapabilities.+", map[string]any{"name": "gardener-boot-type", "values": []any{"standard", "secure"}}},
		{"spec.machineTypes.2.capabilities.gardener-update-type", []any{"rolling"}},
		{"spec.machineImages.0.versions.0.capabilityFlavors.0.gardener-update-type", []any{"rolling"}},
		{"spec.machineImages.0.versions.0.capabilityFlavors.2.gardener-update-type", []any{"rolling", "in-place"}},
		{"spec.machineImages.0.versions.0.capabilityFlavors.2.gardener-boot-type", []any{"standard"}},
	} {
		set(profile.Object, c.at, c.value)
	}
}

// draw returns wanted objects of a kind: one for each value of each change, followed by random pairs of changes. Each has its own name.
// With a prefix, the changes are from the file with that prefix, and the second of a pair may also be one without.
func draw(r *rand.Rand, base *unstructured.Unstructured, prefix string, wanted int) (all []*drawn) {
	GinkgoHelper()
	var changes, usual []change
	kind := strings.ToLower(base.GetKind())
	readFile("test/versions/testdata/"+prefix+kind+".yaml", &changes)
	if prefix != "" {
		readFile("test/versions/testdata/"+kind+".yaml", &usual)
	}
	one := func() *drawn {
		d := &drawn{object: base.DeepCopy()}
		d.object.SetName(fmt.Sprintf("%c%d", base.GetName()[0], len(all)))
		all = append(all, d)
		return d
	}
	for _, c := range changes {
		if c.Remove {
			c.To = []any{nil}
		}
		for _, value := range c.To {
			one().apply(c, value)
		}
	}
	for len(all) < wanted {
		d := one()
		for _, from := range [][]change{changes, slices.Concat(changes, usual)} {
			c := from[r.IntN(len(from))]
			if c.Remove {
				c.To = []any{nil}
			}
			d.apply(c, c.To[r.IntN(len(c.To))])
		}
	}
	return all
}
