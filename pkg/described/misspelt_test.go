// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// filled returns a config with all fields of its type, each with a value. In levels it collects the objects with fields, by their paths.
func filled(as reflect.Type, at *field.Path, apiVersion string, levels map[string]map[string]any) any {
	switch {
	case as == reflect.TypeFor[v1beta1.Capabilities]():
		return map[string]any{"architecture": []any{"amd64"}}
	case as.Kind() == reflect.Slice:
		return []any{filled(as.Elem(), at.Index(0), apiVersion, levels)}
	case as.Kind() == reflect.Struct:
		object := map[string]any{}
		for f := range as.Fields() {
			name := f.Tag.Get("json")
			object[name] = filled(f.Type, at.Child(name), apiVersion, levels)
		}
		levels[at.String()] = object
		return object
	}
	switch {
	case strings.HasSuffix(at.String(), ".apiVersion"):
		return apiVersion
	case strings.HasSuffix(at.String(), ".kind"):
		return "CloudProfileConfig"
	}
	return "amd64"
}

// configOf returns a config with all fields that a description names, and the objects in it by their paths.
func configOf(t testing.TB, p provider.Provider[described.Reference]) (config any, levels map[string]map[string]any) {
	typed, is := provider.As[interface {
		ConfigType() reflect.Type
		ConfigVersions() []string
	}](p)
	if !is {
		t.Fatal(p.Type(), "has no type")
	}
	levels = map[string]map[string]any{}
	return filled(typed.ConfigType(), field.NewPath("config"), typed.ConfigVersions()[0], levels), levels
}

// unknown returns what is found about unknown fields in a config, as PATH=FIELD-THAT-WAS-MEANT.
func unknown(t testing.TB, p provider.Provider[described.Reference], config any) (found []string) {
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	_, report := p.Decode(&runtime.RawExtension{Raw: raw}, field.NewPath("config"))
	for _, f := range slices.Concat(report.Errors, report.Warnings) {
		if f.Origin == strictjson.OriginUnknownField || f.Origin == "unknown-config-field" {
			found = append(found, f.Field+"="+f.Suggestion.With)
		}
	}
	return found
}

// slips returns a name with one letter too many, too few, replaced, or in another case, or with two neighbors swapped.
func slips(name string) (all []string) {
	for i, letter := range name {
		before, after := name[:i], name[i+1:]
		other := unicode.ToUpper(letter)
		if other == letter {
			other = unicode.ToLower(letter)
		}
		all = append(all, before+after, before+string(letter)+name[i:], before+"q"+after, before+string(other)+after)
		if after != "" && after[0] != name[i] {
			all = append(all, before+after[:1]+string(letter)+after[1:])
		}
	}
	return all
}

// renamed calls do while the field of an object has another name.
func renamed(object map[string]any, name, to string, do func()) {
	value := object[name]
	delete(object, name)
	object[to] = value
	do()
	delete(object, to)
	object[name] = value
}

// Each known field of each built-in description that is misspelt by one letter is found, unless the spelling says too little. apiVersion
// and kind have errors of their own.
func TestMisspelt(t *testing.T) {
	for _, p := range described.BuiltIn() {
		config, levels := configOf(t, p)
		tried, silent := 0, map[string]bool{}
		for path, object := range levels {
			for _, name := range slices.Sorted(maps.Keys(object)) {
				for _, to := range slips(name) {
					if _, known := object[to]; known || name == "apiVersion" || name == "kind" {
						continue
					}
					var want []string
					if words.Closest(to, []string{name}) == name {
						want = []string{path + "." + to + "=" + name}
						tried++
					} else {
						silent[name] = true
					}
					renamed(object, name, to, func() {
						if got := unknown(t, p, config); !slices.Equal(got, want) {
							t.Errorf("%s: %s at %s is written %s: got %v, want %v", p.Type(), name, path, to, got, want)
						}
					})
				}
			}
		}
		delete(silent, "id") // a replaced letter is half of it
		if tried < 100 || len(silent) > 0 {
			t.Errorf("%s: %d slips, and none is found for some of %v", p.Type(), tried, silent)
		}
	}
}

// A field whose name looks like no absent one is not found, and neither is one that looks like a present one.
func TestNotMisspelt(t *testing.T) {
	for _, p := range described.BuiltIn() {
		config, levels := configOf(t, p)
		rapid.Check(t, func(rt *rapid.T) {
			path := rapid.SampledFrom(slices.Sorted(maps.Keys(levels))).Draw(rt, "path")
			object := levels[path]
			known := slices.Sorted(maps.Keys(object))
			absent := rapid.SampledFrom(known).Filter(func(name string) bool { return name != "apiVersion" && name != "kind" }).Draw(rt, "absent")
			present := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return name == absent })
			far := rapid.OneOf(rapid.StringMatching(`[a-zA-Z]{0,20}`), rapid.Map(rapid.SampledFrom(present), func(name string) string {
				return name + "x"
			})).Filter(func(name string) bool {
				return !slices.Contains(known, name) && words.Closest(name, []string{absent}) == ""
			}).Draw(rt, "far")
			renamed(object, absent, far, func() {
				if got := unknown(t, p, config); len(got) > 0 {
					rt.Errorf("%s: %v", p.Type(), got)
				}
			})
		})
	}
}

// The warnings about many near misses are no error, and do not hide that others are left out.
func TestManyMisspelt(t *testing.T) {
	var versions []any
	for i := range 3 * finding.Most {
		versions = append(versions, map[string]any{"version": fmt.Sprint("1.", i), "imagename": "x"})
	}
	p := described.BuiltIn()[1]
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "hcloud.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": []any{map[string]any{"name": "a", "versions": versions}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, report := p.Decode(&runtime.RawExtension{Raw: raw}, field.NewPath("config"))
	if n := len(report.Warnings); len(report.Errors) > 0 || n < finding.Most/2 || n > finding.Most {
		t.Errorf("%d errors, %d warnings", len(report.Errors), n)
	}
}
