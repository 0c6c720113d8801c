// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providertest_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
)

var kind = local.ConfigKind

const config = `{"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": [
	{"name": "a", "versions": [{"version": "1.0.0", "image": "node:1"}, {"version": "2.0.0", "capabilityFlavors": [
		{"image": "node:2", "capabilities": {"architecture": ["amd64"]}}, {"image": "node:3", "capabilities": {"architecture": ["arm64"]}}]}]}]}`

type version = imageselector.Version[local.Image]

// changed is a provider that does something else before it encodes a version, or to what it has encoded.
type changed struct {
	local.Provider
	before func(v version, format provider.Format) version
	after  func(entries []any, err error) ([]any, error)
}

func (c changed) Encode(v version, format provider.Format) ([]any, error) {
	if c.before != nil {
		v = c.before(v, format)
	}
	entries, err := c.Provider.Encode(v, format)
	if c.after != nil {
		return c.after(entries, err)
	}
	return entries, err
}

func clone(v version) version {
	v.Flavors = slices.Clone(v.Flavors)
	for i := range v.Flavors {
		v.Flavors[i].Capabilities = maps.Clone(v.Flavors[i].Capabilities)
	}
	return v
}

// Each of these breaks one law.
func TestLawsFindFaults(t *testing.T) {
	var calls atomic.Int32
	for want, cloud := range map[string]changed{
		"": {},
		"2.0.0 as capabilityFlavors: it was written as": {before: func(v version, _ provider.Format) version { // loses capabilities
			v = clone(v)
			for i := range v.Flavors {
				delete(v.Flavors[i].Capabilities, "architecture")
			}
			return v
		}},
		"Inverse": {before: func(v version, _ provider.Format) version { // another order
			v = clone(v)
			slices.Reverse(v.Flavors)
			return v
		}},
		"it is version \"3.0.0\", not": {before: func(v version, _ provider.Format) version {
			v.Version = "3.0.0"
			return v
		}},
		"it is in another format than legacy": {
			before: func(v version, _ provider.Format) version { return v },
			after: func(entries []any, err error) ([]any, error) {
				for i := range entries {
					entry := entries[i].(local.MachineImageVersion)
					if entry.Image != "" {
						entry.CapabilityFlavors, entry.Image = []local.MachineImageFlavor{{Image: entry.Image}}, ""
					}
					entries[i] = entry
				}
				return entries, err
			},
		},
		"1.0.0 as legacy: no words": {after: func([]any, error) ([]any, error) { return nil, errors.New("no words") }},
		"and then no words": {after: func(entries []any, err error) ([]any, error) {
			if calls.Add(1)%2 == 0 {
				return nil, errors.New("no words")
			}
			return entries, err
		}},
		"Encode returns no entry": {after: func([]any, error) ([]any, error) { return nil, nil }},
		"has changed the version": {before: func(v version, _ provider.Format) version {
			for i := range v.Flavors {
				v.Flavors[i].Global.Ref.Image += "x"
			}
			return v
		}},
		"an entry that is no JSON": {after: func([]any, error) ([]any, error) { return []any{func() {}}, nil }},
		"unknown field":            {after: func([]any, error) ([]any, error) { return []any{map[string]any{"a": 1}}, nil }},
		"flavor 1 is lost": {before: func(v version, format provider.Format) version {
			if !v.Legacy && format == provider.FormatLegacy {
				v = clone(v)
				v.Flavors = v.Flavors[:1]
			}
			return v
		}},
		"has come from nowhere": {before: func(v version, format provider.Format) version {
			if v.Legacy && format == provider.FormatFlavors {
				v.Flavors = append(slices.Clone(v.Flavors), imageselector.Flavor[local.Image]{
					Global: &imageselector.Global[local.Image]{Ref: local.Image{Image: "another"}},
				})
			}
			return v
		}},
	} {
		err := providertest.Check(cloud, []byte(config))
		switch {
		case want == "":
			if err != nil {
				t.Error(err)
			}
		case want == "Inverse":
			if err == nil || !strings.Contains(err.Error(), "read again") {
				t.Errorf("the order: %v", err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%q is not found: %v", want, err)
		}
	}
}

// fickle is a provider that reads a config in two ways.
type fickle struct {
	local.Provider
	calls *atomic.Int32
}

func (f fickle) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[local.Image], finding.Report) {
	read, report := f.Provider.Decode(raw, at)
	if f.calls.Add(1)%2 == 0 {
		slices.Reverse(read.Images[0].Versions)
	}
	return read, report
}

func TestDecodeTwice(t *testing.T) {
	if err := providertest.Check(fickle{calls: &atomic.Int32{}}, []byte(config)); err == nil || !strings.Contains(err.Error(), "in two ways") {
		t.Error(err)
	}
}

func TestConfigsWithErrorsCountForNothing(t *testing.T) {
	refusing := changed{after: func([]any, error) ([]any, error) { return nil, errors.New("no words") }}
	if err := providertest.Check(refusing, []byte(strings.Replace(config, `"name"`, `"nam"`, 1))); err != nil {
		t.Error(err)
	}
}

func TestConfigs(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"a.yaml":    "kind: CloudProfile\nspec: {providerConfig: " + strings.ReplaceAll(config, "\t", " ") + "}\n---\n" + strings.ReplaceAll(config, "\t", " "),
		"b/c.json":  `{"items": [` + config + `, {"kind": "CloudProfileConfig"}]}`,
		"d.txtar":   "-- a case/profile.yaml --\n" + strings.ReplaceAll(config, "\t", " ") + "\n",
		"e.txt":     config,
		"f.yaml":    "{",
		"g/h.other": config,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := providertest.Configs(t, kind, folder)
	if len(found) != 4 {
		t.Errorf("%d are found: %s", len(found), found)
	}
	providertest.Laws(t, local.Provider{}, found...)
}
