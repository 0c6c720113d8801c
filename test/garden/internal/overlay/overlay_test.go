// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package overlay

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/test/garden/internal/overlay/validation"
	"github.com/capkit/capkit/test/garden/internal/repository"
)

func TestReplaced(t *testing.T) {
	t.Parallel()
	before, after := "if a {\n\t", "\n}\n"
	got, err := replaced(before + rule + after)
	if diff := cmp.Diff(before+instead+after, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for source, want := range map[string]string{
		"":                                   "is there 0 times",
		rule + rule:                          "is there 2 times",
		strings.Replace(rule, "%q", "%s", 1): "is there 0 times",
	} {
		if got, err := replaced(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error that says %q", source, got, err, want)
		}
	}
}

// This repository's Gardener has the rule, and no other difference.
func TestWrite(t *testing.T) {
	t.Parallel()
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	overlay, err := Write(t.Context(), root, folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "overlay.json"))
	if err != nil {
		t.Fatal(err)
	}
	var written struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &written); err != nil {
		t.Fatal(err)
	}
	if len(written.Replace) != 2 {
		t.Errorf("these files are others: %v", written.Replace)
	}
	path := filepath.Join(folder, "gardener", file)
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := os.ReadFile(written.Replace[path])
	if err != nil {
		t.Fatal(err)
	}
	if back := strings.Replace(string(changed), instead, rule, 1); back != string(original) || back == string(changed) {
		t.Errorf("more than the rule is changed, or less:\n%s", cmp.Diff(string(original), string(changed)))
	}
	if !strings.HasPrefix(overlay.Version, "v1.") {
		t.Errorf("the version is %q", overlay.Version)
	}
}

func TestValidateGardenerCapability(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		definition core.CapabilityDefinition
		want       []string
	}{
		"both values":       {core.CapabilityDefinition{Name: "gardener-update-type", Values: []string{"rolling", "in-place"}}, nil},
		"in another order":  {core.CapabilityDefinition{Name: "gardener-boot-type", Values: []string{"secure", "standard"}}, nil},
		"one of the values": {core.CapabilityDefinition{Name: "gardener-boot-type", Values: []string{"standard"}}, nil},
		"a value of the first text": {
			core.CapabilityDefinition{Name: "gardener-update-type", Values: []string{"rolling", "inPlace"}},
			[]string{`here.values[1]: Unsupported value: "inPlace": supported values: "rolling", "in-place"`},
		},
		"the value of another": {
			core.CapabilityDefinition{Name: "gardener-boot-type", Values: []string{"rolling", "x"}},
			[]string{
				`here.values[0]: Unsupported value: "rolling": supported values: "standard", "secure"`,
				`here.values[1]: Unsupported value: "x": supported values: "standard", "secure"`,
			},
		},
		"a name of the first text": {
			core.CapabilityDefinition{Name: "gardener-bootType", Values: []string{"secure"}},
			[]string{`here.name: Unsupported value: "gardener-bootType": supported values: "gardener-boot-type", "gardener-update-type"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, err := range validation.ValidateGardenerCapability(tc.definition, field.NewPath("here")) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
