// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/internal/cli/transform/lifecycle"
	"github.com/capkit/capkit/pkg/versions"
)

// now divides the dates in the tests.
var now = time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC)

// drawVersions draws a list of versions in some layout, with the members that draw returns, and counts its comments.
func drawVersions(t *rapid.T, indent string, comments *int, draw func(*rapid.T) [][2]string) string {
	var b strings.Builder
	comment := func() string {
		if rapid.IntRange(0, 3).Draw(t, "comment") > 0 {
			return ""
		}
		*comments++
		return fmt.Sprintf("# %d\n", *comments)
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "versions") {
		members := append(draw(t), [2]string{"version", fmt.Sprintf("1.%d.0", i)}, [2]string{"architectures", "[amd64]"})
		members = rapid.Permutation(members).Draw(t, "order")
		if rapid.IntRange(0, 3).Draw(t, "flow") == 0 {
			var inner []string
			for _, m := range members {
				inner = append(inner, m[0]+": "+m[1])
			}
			b.WriteString(indent + "- {" + strings.Join(inner, ", ") + "}\n")
			continue
		}
		for k, m := range members {
			if above := comment(); above != "" {
				b.WriteString(indent + "  " + above)
			}
			dash := "  "
			if k == 0 {
				dash = "- "
			}
			b.WriteString(indent + dash + m[0] + ": " + m[1])
			if behind := comment(); behind != "" {
				b.WriteString(" " + behind)
				continue
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func drawProfile(t *rapid.T, draw func(*rapid.T) [][2]string) (text string, comments int) {
	text = "kind: CloudProfile\nspec:\n  kubernetes:\n    versions:\n" + drawVersions(t, "    ", &comments, draw) +
		"  machineImages:\n  - name: gl\n    versions:\n" + drawVersions(t, "    ", &comments, draw) + "  type: other\n"
	return text, comments
}

// drawLegacy draws the classification of a version without a lifecycle.
func drawLegacy(t *rapid.T) (members [][2]string) {
	quote := rapid.SampledFrom([]string{"", "'", `"`}).Draw(t, "quote")
	if rapid.Bool().Draw(t, "classified") {
		is := rapid.SampledFrom([]string{"preview", "supported", "deprecated"}).Draw(t, "classification")
		members = append(members, [2]string{"classification", quote + is + quote})
	}
	if rapid.Bool().Draw(t, "expires") {
		date := rapid.SampledFrom([]string{"2050-01-01T00:00:00Z", "2070-01-01T00:00:00Z", "2070-01-01T01:00:00+01:00"}).Draw(t, "date")
		members = append(members, [2]string{"expirationDate", quote + date + quote})
	}
	return members
}

// versionsOf returns the versions of a manifest, and the rest of it.
func versionsOf(t *rapid.T, manifest any) (all []v1beta1.ExpirableVersion, rest any) {
	decode := func(into any) {
		text, err := json.Marshal(manifest)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	object := &v1beta1.CloudProfile{}
	decode(object)
	all = object.Spec.Kubernetes.Versions
	for _, image := range object.Spec.MachineImages {
		for _, v := range image.Versions {
			all = append(all, v.ExpirableVersion)
		}
	}
	decode(&rest)
	without(rest)
	return all, rest
}

// without removes the fields that classify versions.
func without(value any) {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(name string, _ any) bool {
			return slices.Contains([]string{"classification", "expirationDate", "lifecycle"}, name)
		})
		for _, inner := range value {
			without(inner)
		}
	case []any:
		for _, inner := range value {
			without(inner)
		}
	}
}

// migrated returns a text after a migration, which must have the content of the result and keep all comments.
func migrated(t *rapid.T, text string, comments int, back bool) string {
	before := rawOf(t, text)
	result, errs, err := lifecycle.Rewrite(transform.Input{Raw: before}, back, now)
	if err != nil || len(errs) > 0 {
		t.Fatalf("%v %v\n%s", errs, err, text)
	}
	changed, err := edit.Apply(text, []edit.Change{{Line: 1, Column: 1, Ops: result.Ops}})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(edit.Decoded(result.Raw), edit.Decoded(rawOf(t, changed))); diff != "" {
		t.Fatalf("%s\n%s\n%s", diff, text, changed)
	}
	for i := range comments {
		if strings.Count(changed+"\n", fmt.Sprintf("# %d\n", i+1)) != 1 {
			t.Fatalf("comment %d is lost\n%s\n%s", i+1, text, changed)
		}
	}
	was, rest := versionsOf(t, edit.Decoded(before))
	is, others := versionsOf(t, edit.Decoded(result.Raw))
	if !reflect.DeepEqual(rest, others) {
		t.Fatalf("more changes: %s", cmp.Diff(rest, others))
	}
	for i := range was {
		if back && (!versions.SameFrom(now, was[i], is[i]) || len(is[i].Lifecycle) > 0) ||
			!back && !reflect.DeepEqual(versions.StagesOf(was[i]), versions.StagesOf(is[i])) {
			t.Fatalf("%v, and then %v\n%s\n%s", versions.StagesOf(was[i]), versions.StagesOf(is[i]), text, changed)
		}
	}
	if again, _, _ := lifecycle.Rewrite(transform.Input{Raw: result.Raw}, back, now); len(again.Ops) > 0 {
		t.Fatalf("the second time it changes something again\n%s", changed)
	}
	return changed
}

func rawOf(t rapid.TB, text string) json.RawMessage {
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return converted
}

// After migrating there and back, each version has the same stage at every moment, and nothing else changes.
func TestLifecyclesAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, comments := drawProfile(t, drawLegacy)
		there := migrated(t, text, comments, false)
		migrated(t, migrated(t, there, comments, true), comments, false)
	})
}

// For any lifecycle, either the fields express the same from now on, or the error names the stages that they cannot express.
func TestWhatNoFieldsCanSay(t *testing.T) {
	for said, want := range map[string]string{
		`[{classification: preview}]`: "classification: preview",
		`[{classification: preview, startTime: "2050-01-01T00:00:00Z"}, {classification: deprecated, startTime: "2051-01-01T00:00:00Z"},
			{classification: expired, startTime: "2070-01-01T00:00:00Z"}]`: `classification: deprecated, expirationDate: "2070-01-01T00:00:00Z"`,
		`[{classification: deprecated},
			{classification: expired, startTime: "2050-01-01T00:00:00Z"}]`: `classification: deprecated, expirationDate: "2050-01-01T00:00:00Z"`,
		`[{classification: expired, startTime: "2050-01-01T00:00:00Z"}]`:                              `expirationDate: "2050-01-01T00:00:00Z"`,
		`[{classification: preview}, {classification: supported, startTime: "2070-01-01T00:00:00Z"}]`: "[1] becomes supported on 2070-01-01",
		`[{classification: supported}, {classification: deprecated, startTime: "2070-01-01T08:00:00Z"},
			{classification: expired, startTime: "2071-01-01T00:00:00Z"}]`: "[1] becomes deprecated on 2070-01-01T08:00:00Z",
		`[{classification: supported, startTime: "2070-01-01T00:00:00Z"}]`: "[0] becomes supported on 2070-01-01",
		`[{classification: expired}]`:                                      "[0] is expired, without a date",
		`[{classification: supported}, {classification: expired, startTime: "2070-01-01T00:00:00Z"},
			{classification: deprecated, startTime: "2071-01-01T00:00:00Z"}]`: "[1] becomes expired on 2070-01-01",
	} {
		manifest := "{spec: {machineImages: [{name: gl, versions: [{version: 1.0.0, %s}]}]}}"
		result, errs, err := lifecycle.Rewrite(transform.Input{Raw: rawOf(t, fmt.Sprintf(manifest, "lifecycle: "+said))}, true, now)
		if err != nil {
			t.Fatal(err)
		}
		if len(errs) > 0 {
			got := strings.TrimPrefix(errs[0].Field, "spec.machineImages[0].versions[0].lifecycle") + " " +
				strings.TrimPrefix(errs[0].Detail, "gl@1.0.0: classification and expirationDate cannot say that it ")
			if !strings.HasPrefix(got, want+"; write it without this stage first") {
				t.Errorf("%s: %s", said, got)
			}
			continue
		}
		if diff := cmp.Diff(edit.Decoded(rawOf(t, fmt.Sprintf(manifest, want))), edit.Decoded(result.Raw)); diff != "" {
			t.Errorf("%s: %s", said, diff)
		}
	}
	if _, _, err := lifecycle.Rewrite(transform.Input{Raw: json.RawMessage("[]")}, false, now); err == nil {
		t.Error("a list is no profile")
	}
}

// Gardener does not allow a NamespacedCloudProfile to override a lifecycle, and allows only one explicitly supported patch version of
// each Kubernetes minor version.
func TestLifecyclesThatStay(t *testing.T) {
	profile := rawOf(t, `{spec: {kubernetes: {versions: [{version: 1.33.2, expirationDate: "2070-01-01T00:00:00Z"}]},
		machineImages: [{name: gl, versions: [{version: 2.0.0, classification: preview}, {version: 1.0.0, classification: preview}]}]}}`)
	used := func(image, version string) []string {
		if image == "gl" && version == "2.0.0" || image == "" && version == "1.33.2" {
			return []string{"somebody"}
		}
		return nil
	}
	result, errs, err := lifecycle.Rewrite(transform.Input{Raw: profile, Used: used}, false, now)
	want := edit.Decoded(rawOf(t, `{spec: {kubernetes: {versions: [{version: 1.33.2, expirationDate: "2070-01-01T00:00:00Z"}]},
		machineImages: [{name: gl, versions: [{version: 2.0.0, classification: preview}, {version: 1.0.0, lifecycle: [{classification: preview}]}]}]}}`))
	if diff := cmp.Diff(want, edit.Decoded(result.Raw)); diff != "" || err != nil || len(errs) > 0 {
		t.Error(diff, errs, err)
	}
	kept := []transform.Kept{
		{Version: "1.33.2", By: []string{"somebody"}, Field: "spec.kubernetes.versions[0]"},
		{Image: "gl", Version: "2.0.0", By: []string{"somebody"}, Field: "spec.machineImages[0].versions[0]"},
	}
	if diff := cmp.Diff(kept, result.Kept); diff != "" {
		t.Error(diff)
	}
	parent := &v1beta1.CloudProfileSpec{MachineImages: []v1beta1.MachineImage{{Name: "gl", Versions: []v1beta1.MachineImageVersion{
		{ExpirableVersion: v1beta1.ExpirableVersion{Version: "2.0.0"}},
	}}}}
	result, _, _ = lifecycle.Rewrite(transform.Input{Raw: profile, Parent: parent}, false, now)
	if diff := cmp.Diff(want, edit.Decoded(result.Raw)); diff != "" || len(result.Kept) > 0 {
		t.Error(diff, result.Kept)
	}

	several := rawOf(t, `{spec: {kubernetes: {versions: [{version: 1.33.2, lifecycle: [{classification: supported}]},
		{version: 1.33.1, lifecycle: [{classification: supported}, {classification: expired, startTime: "2070-01-01T00:00:00Z"}]},
		{version: 1.33.0, lifecycle: [{classification: deprecated}]}, {version: 1.32.0, lifecycle: [{classification: supported}]}]}}}`)
	result, errs, err = lifecycle.Rewrite(transform.Input{Raw: several}, true, now)
	want = edit.Decoded(rawOf(t, `{spec: {kubernetes: {versions: [{version: 1.33.2}, {version: 1.33.1, expirationDate: "2070-01-01T00:00:00Z"},
		{version: 1.33.0, classification: deprecated}, {version: 1.32.0, classification: supported}]}}}`))
	if diff := cmp.Diff(want, edit.Decoded(result.Raw)); diff != "" || err != nil || len(errs) > 0 {
		t.Error(diff, errs, err)
	}
}
