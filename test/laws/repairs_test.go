// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/cli/clouds"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/test/fixtures"
)

// What the catalogue says about a rule repairs its broken example: nothing is left to say. These are the rules that only other
// clouds than OpenStack have; those of OpenStack are repaired on a real API, by test/admission.
func TestRepairs(t *testing.T) {
	all, err := fixtures.All(root)
	if err != nil {
		t.Fatal(err)
	}
	patches := repairs(t)
	for _, rule := range cli.Rules(clouds.All()...) {
		if !rule.InManifests() || slices.ContainsFunc(rulesOfOpenStack(), func(r finding.Rule) bool { return r.Name == rule.Name }) {
			continue
		}
		t.Run(rule.Name, func(t *testing.T) {
			i := slices.IndexFunc(all, func(f fixtures.Fixture) bool { return f.Name == "broken/"+rule.Name })
			if i < 0 || patches[rule.Name] == nil {
				t.Fatalf("there is no broken example, or no repair in pkg/TYPE/testdata/repairs.yaml")
			}
			documents, err := all[i].Documents()
			if err != nil {
				t.Fatal(err)
			}
			var repaired [][]byte
			for k, d := range documents {
				object, err := yaml.YAMLToJSON(d.Text)
				if err == nil && k == len(documents)-1 {
					object, err = patches[rule.Name].Apply(object)
				}
				if err != nil {
					t.Fatal(err)
				}
				repaired = append(repaired, object)
			}
			run(t, string(bytes.Join(repaired, []byte("\n---\n"))), "lint", "--fail-on=warning", "-")
		})
		delete(patches, rule.Name)
	}
	for name := range patches {
		t.Errorf("%s is repaired, and is no rule of a cloud", name)
	}
}

// rulesOfOpenStack are the rules that hold for all clouds, and OpenStack's own.
func rulesOfOpenStack() []finding.Rule {
	all := clouds.All()
	return cli.Rules(all[slices.IndexFunc(all, func(c cli.Provider) bool { return c.Type() == "openstack" })])
}

// repairs reads the repairs of all clouds, by rule.
func repairs(t *testing.T) map[string]jsonpatch.Patch {
	t.Helper()
	all := map[string]jsonpatch.Patch{}
	for _, cloud := range clouds.All() {
		text, err := os.ReadFile(filepath.Join(root, "pkg", cloud.Type(), "testdata", "repairs.yaml"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var written map[string]json.RawMessage
		if err == nil {
			err = yaml.UnmarshalStrict(text, &written)
		}
		for rule, patch := range written {
			if err == nil {
				all[rule], err = jsonpatch.DecodePatch(patch)
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", cloud.Type(), err)
		}
	}
	return all
}
