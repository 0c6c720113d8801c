// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

// A finding's quick fix repairs it, and all repairs of a file together give the same text as lint --fix.
func TestQuickFixesAreThoseOfLint(t *testing.T) {
	for name, repairable := range map[string]bool{
		"core-flavor-wrapped": true, "field-type": true, "object-kind": true, "unknown-field": true, "reserved-capability-first-text": true,
		"unknown-config-field": false,
		"region-unknown":       false, "provider-flavor-missing": false,
	} {
		text := example(t, "broken/"+name+".yaml")
		e := begin(t, map[string]string{"p.yaml": text})
		e.open("p.yaml", text)
		line := -1
		e.until(name+" is found", func() bool {
			for _, d := range e.told["p.yaml"].List {
				if d.Code == name {
					line = d.Range.Start.Line
				}
			}
			return line >= 0
		})
		fixed := ""
		for _, a := range e.actions("p.yaml", line) {
			got := applied(t, text, a.Edit.Changes[e.uri("p.yaml")])
			switch {
			case got == text:
				t.Errorf("%s: %s changes nothing", name, a.Title)
			case a.Kind == "quickfix":
				fixed = got
			case got != lintFixed(t, text):
				t.Errorf("%s: %s makes\n%s", name, a.Title, got)
			}
		}
		if (fixed != "") != repairable {
			t.Errorf("%s: is there a repair? %v", name, fixed != "")
		}
		if fixed == "" {
			continue
		}
		e.change("p.yaml", fixed)
		e.until(name+" is repaired", func() bool {
			d := e.told["p.yaml"]
			return *d.Version == 2 && !slices.ContainsFunc(d.List, func(d diagnostic) bool { return d.Code == name && d.Range.Start.Line == line })
		})
		if further := e.actions("p.yaml", 0); len(further) > 0 {
			t.Errorf("%s: elsewhere there is %+v", name, further)
		}
	}
}

// lintFixed returns the text after lint --fix.
func lintFixed(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cli.Run([]string{"capkit", "lint", "--no-config", "--fix", "-w", name}, strings.NewReader(""), &buffer{}, &buffer{}, clouds.All()...)
	after, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(after)
}

// Each case is an example in which a part is replaced by an incomplete input with a mark at the cursor.
func TestCompletion(t *testing.T) {
	const profile, shoot, namespaced = "cloudprofile.yaml", "shoot.yaml", "namespacedcloudprofile.yaml"
	for name, tc := range map[string]struct {
		file, old, typed string
		want             []string
		// written is the line after accepting the first completion.
		written string
	}{
		"a capability of a machine type": {
			profile, "      architecture: [arm64]\n      hypervisor: [virtualized]\n", "      architecture: [arm64]\n      hy‸\n",
			[]string{"hypervisor"}, "      hypervisor: ",
		},
		"on an empty line": {
			profile, "      architecture: [arm64]\n      hypervisor: [virtualized]\n", "      ‸\n",
			[]string{"architecture", "hypervisor"}, "      architecture: ",
		},
		"of a core flavor": {
			profile,
			"      - architecture: [amd64] # no",
			"      - ‸ # no",
			[]string{"architecture", "hypervisor"},
			"      - architecture:  # no hypervisor: it boots on either",
		},
		"of a flavor of the provider config": {
			profile, "            architecture: [arm64]\n            hypervisor: [virtualized]\n", "            architecture: [arm64]\n            h‸\n",
			[]string{"hypervisor", "gardener-*"}, "            hypervisor: ",
		},
		"in braces": {profile, "- architecture: [amd64] # no", "- {architecture: [amd64], ‸} # no", []string{"hypervisor"}, ""},
		"a value": {
			profile,
			"\n      architecture: [arm64]",
			"\n      architecture: [‸]",
			[]string{"amd64", "arm64"},
			"      architecture: [amd64]",
		},
		"a further value": {
			profile,
			"\n      architecture: [arm64]",
			"\n      architecture: [arm64, ‸",
			[]string{"amd64"},
			"      architecture: [arm64, amd64",
		},
		"a key that is gone":     {profile, "\n      architecture: [arm64]", "\n      ‸: [arm64]", []string{"architecture"}, "      architecture: [arm64]"},
		"a key in quotes":        {profile, "\n      architecture: [arm64]", "\n      \"‸\": [arm64]", []string{"architecture"}, "      architecture: [arm64]"},
		"a key behind one quote": {profile, "\n      architecture: [arm64]", "\n      \"‸:\t[arm64]", []string{"architecture"}, "      architecture: \t[arm64]"},
		"a key in braces that is gone": {
			profile, "- architecture: [amd64] # no", "- {‸: [amd64]} # no", []string{"architecture", "hypervisor"},
			"      - {architecture: [amd64]} # no hypervisor: it boots on either",
		},
		"before an item": {
			profile, "\n      architecture: [arm64]\n      hypervisor: [virtualized]\n", "\n      architecture:\n      ‸  - arm64\n", []string{}, "",
		},
		"a first key behind one quote": {
			profile, "- architecture: [amd64] # no", "- \"‸: [amd64] # no", []string{"architecture", "hypervisor"},
			"      - architecture:  [amd64] # no hypervisor: it boots on either",
		},
		"before values": {profile, "\n      architecture: [arm64]", "\n      architecture: ‸[arm64]", []string{}, ""},
		"before a region in braces": {
			profile, "          - name: asia\n            id: 5678-amd64-old\n", "          - ‸{name: asia, id: 5678-amd64-old}\n", []string{}, "",
		},
		"behind one quote before others": {
			profile, "- architecture: [amd64] # no", "- {architecture: [\"‸], hypervisor: [\"baremetal\"]} # no",
			[]string{"amd64", "arm64"}, "      - {architecture: [amd64], hypervisor: [\"baremetal\"]} # no hypervisor: it boots on either",
		},
		"a half written value": {
			profile,
			"\n      architecture: [arm64]",
			"\n      architecture: [ar‸",
			[]string{"amd64", "arm64"},
			"      architecture: [amd64",
		},
		"a value without brackets": {
			profile,
			"\n      architecture: [arm64]",
			"\n      architecture:‸",
			[]string{"amd64", "arm64"},
			"      architecture: [amd64]",
		},
		"a value of a list in a block": {profile, "\n      architecture: [arm64]", "\n      architecture:\n      - ‸", []string{"amd64", "arm64"}, "      - amd64"},
		"a region": {
			profile,
			"          - name: asia\n            id: 5678-amd64-old",
			"          - name: ‸",
			[]string{"asia"},
			"          - name: asia",
		},
		"an image": {profile, "    machineImages:\n    - name: gardenlinux", "    machineImages:\n    - name: ‸", []string{"gardenlinux"}, ""},
		"a version": {
			profile, "      - version: 1592.9.0\n        capabilityFlavors:", "      - version: ‸\n        capabilityFlavors:", []string{"1592.9.0"}, "",
		},
		"the region of a Shoot": {shoot, "region: europe", "region: ‸", []string{"europe", "asia"}, "  region: europe"},
		"a zone":                {shoot, "zones: [europe-1b]", "zones: [‸]", []string{"europe-1a", "europe-1b"}, ""},
		"a machine type":        {shoot, "type: bare_8_16", "type: ‸", []string{"medium_4_8", "medium_4_8_arm", "bare_8_16"}, ""},
		"an image of a pool": {
			shoot,
			"          name: gardenlinux\n          version: 1877.5.0\n      volume:\n        type: default\n" +
				"        size: 20Gi\n      zones: [europe-1b]",
			"          name: ‸",
			[]string{"gardenlinux"},
			"",
		},
		"a version, supported first": {
			shoot,
			"          version: 1877.5.0\n      volume:\n        type: default\n        size: 20Gi\n      zones: [europe-1b]",
			"          version: ‸",
			[]string{"1877.5.0", "1592.9.0"},
			"",
		},
		"a profile":            {shoot, "    name: openstack\n", "    name: ‸\n", []string{"openstack"}, ""},
		"a kind of profile":    {shoot, "    kind: CloudProfile\n", "    kind: ‸\n", []string{"CloudProfile", "NamespacedCloudProfile"}, ""},
		"a Kubernetes version": {shoot, "version: 1.33.2", "version: ‸", []string{"1.33.2"}, ""},
		"a parent":             {namespaced, "    name: openstack", "    name: ‸", []string{"openstack"}, ""},
		"a capability of the parent": {
			namespaced,
			"      architecture: [amd64]\n      hypervisor: [virtualized]\n  providerConfig",
			"      ‸\n  providerConfig",
			[]string{"architecture", "hypervisor"},
			"",
		},
		"an image of the parent": {
			namespaced, "  machineImages:\n  - name: gardenlinux", "  machineImages:\n  - name: ‸", []string{"gardenlinux"}, "  - name: gardenlinux",
		},
		"a version of the parent": {
			namespaced, "    - version: 2000.1.0\n      cri", "    - version: ‸\n      cri", []string{"1877.5.0"}, "    - version: 1877.5.0",
		},
		"a Kubernetes version of the parent": {
			namespaced, "  machineTypes:", "  kubernetes: {versions: [{version: ‸}]}\n  machineTypes:", []string{"1.33.2"}, "",
		},
		"no version of its own":   {profile, "    - version: 1.33.2", "    - version: ‸", []string{}, ""},
		"a region of the parent":  {namespaced, "          - name: asia", "          - name: ‸", []string{"asia"}, ""},
		"a value of a capability": {profile, "values: [amd64, arm64]", "values: [amd64, ‸]", []string{"arm64"}, "    values: [amd64, arm64]"},
		"capabilities to register": {
			profile, "  - name: hypervisor\n", "  - name: ‸\n", []string{"openstack-trustedLaunch", "openstack-rootVolume"}, "",
		},
		"values to register": {
			profile, "  - name: hypervisor\n    values: [virtualized, baremetal]", "  - name: openstack-trustedLaunch\n    values: [‸]",
			[]string{"enabled", "disabled"}, "    values: [enabled]",
		},
		"a capability behind a dash": {
			profile,
			"      - architecture: [amd64] # no",
			"      -‸ # no",
			[]string{"architecture", "hypervisor"},
			"      - architecture:  # no hypervisor: it boots on either",
		},
		"nothing in another column": {profile, "\n      hypervisor: [virtualized]\n", "\n     ‸\n", []string{}, ""},
		"the entry of a region": {
			profile, "          - name: asia\n            id: 5678-amd64-old", "          - ‸\n            id: 5678-amd64-old",
			[]string{"asia"}, "          - name: asia",
		},
		"no second name of a region": {profile, "          - name: asia\n            id: 5678-amd64-old", "          - ‸\n            name: asia", []string{}, ""},
		"a region in brackets":       {profile, "          regions:\n          - name: europe", "          regions: [‸]\n", []string{}, ""},
		"in quotes":                  {shoot, "zones: [europe-1b]", `zones: ["‸"]`, []string{"europe-1a", "europe-1b"}, "      zones: [europe-1a]"},
		"in quotes without an end":   {shoot, "zones: [europe-1b]", `zones: ["eu‸]`, []string{"europe-1a", "europe-1b"}, "      zones: [europe-1a]"},
		"nothing behind a value":     {shoot, "region: europe", "region: europe ‸", []string{}, ""},
		"nothing before a value":     {shoot, "region: europe", "region:‸ europe", []string{}, ""},
		"nothing behind a list":      {profile, "\n      architecture: [arm64]", "\n      architecture: [arm64] ‸", []string{}, ""},
		"nothing before a block":     {profile, "\n      architecture: [arm64]", "\n      architecture: ‸\n      - arm64", []string{}, ""},
		"a boolean": {
			shoot, "  region: europe", "  maintenance: {autoUpdate: {machineImageVersion: ‸}}",
			[]string{"true", "false"}, "  maintenance: {autoUpdate: {machineImageVersion: true}}",
		},
		"no kind of another group": {shoot, "apiVersion: core.gardener.cloud/v1beta1\nkind: Shoot", "apiVersion: apps/v1\nkind: ‸", []string{}, ""},
		"no kind within an object": {shoot, "  region: europe", "  resources: [{kind: ‸}]", []string{}, ""},
		"a further zone":           {shoot, "zones: [europe-1b]", "zones: [europe-1b, ‸]", []string{"europe-1a"}, "      zones: [europe-1b, europe-1a]"},
		"nothing without a comma":  {profile, "\n      architecture: [arm64]", "\n      architecture: [arm64 ‸]", []string{}, ""},
		"nothing before an item":   {profile, "\n      architecture: [arm64]", "\n      architecture: [‸ arm64]", []string{}, ""},
		"no key without a comma":   {profile, "- architecture: [amd64] # no", "- {architecture: [amd64],‸ hypervisor: []} # no", []string{}, ""},
		"nothing at a memory":      {profile, "    memory: 16Gi", "    memory: ‸", []string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := map[string]string{"cloudprofile.yaml": example(t, profile)}
			text := example(t, tc.file)
			if strings.Count(text, tc.old) < 1 {
				t.Fatalf("%q is not in %s", tc.old, tc.file)
			}
			i := strings.LastIndex(text, tc.old)
			at, typed := where(t, text[:i]+tc.typed+text[i+len(tc.old):])
			e := begin(t, all)
			if tc.file != profile {
				e.open("cloudprofile.yaml", all["cloudprofile.yaml"])
			}
			e.open(tc.file, typed)
			items := e.complete(tc.file, at)
			got := labels(items)
			for i, label := range got {
				if strings.HasPrefix(label, "gardener-") {
					got = append(got[:i:i], "gardener-*")
					break
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Fatalf("%q, want %q", got, tc.want)
			}
			if tc.written != "" {
				line := strings.Split(applied(t, typed, []edit{items[0].TextEdit}), "\n")[at.Line]
				if line != tc.written {
					t.Errorf("%q", line)
				}
			}
		})
	}
}

// A Shoot is offered the profiles of its provider type, and all of them while it has none.
func TestProfilesOfTheProviderTypeAreOffered(t *testing.T) {
	profile, child := example(t, "cloudprofile.yaml"), example(t, "namespacedcloudprofile.yaml")
	e := begin(t, map[string]string{
		"p.yaml": profile, "n.yaml": child,
		"q.yaml": "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nmetadata: {name: other}\nspec: {type: other}\n",
		"m.yaml": "apiVersion: core.gardener.cloud/v1beta1\nkind: NamespacedCloudProfile\nmetadata: {name: others, namespace: garden-demo}\n" +
			"spec: {parent: {kind: CloudProfile, name: other}}\n",
		"o.yaml": "apiVersion: core.gardener.cloud/v1beta1\nkind: NamespacedCloudProfile\nmetadata: {name: orphan, namespace: garden-demo}\n" +
			"spec: {parent: {kind: CloudProfile, name: unknown}}\n",
	})
	n := 0
	for place, want := range map[string]struct{ typed, all []string }{
		"cloudProfile: {name: ‸}":                               {[]string{"openstack"}, []string{"openstack", "other"}},
		"cloudProfileName: ‸":                                   {[]string{"openstack"}, []string{"openstack", "other"}},
		"cloudProfile: {kind: NamespacedCloudProfile, name: ‸}": {[]string{"orphan", "team"}, []string{"orphan", "others", "team"}},
	} {
		for provider, want := range map[string][]string{"\n  provider: {type: openstack}": want.typed, "": want.all} {
			at, text := where(t, "apiVersion: core.gardener.cloud/v1beta1\nkind: Shoot\nmetadata: {name: shop, namespace: garden-demo}\nspec:\n  "+
				place+provider+"\n")
			n++
			file := fmt.Sprintf("shoot%d.yaml", n)
			e.open(file, text)
			got := labels(e.complete(file, at))
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s%s: %q, want %q", place, provider, got, want)
			}
		}
	}
}

// In JSON all names are quoted, and an incomplete name begins with a quote.
func TestCompletionInJSON(t *testing.T) {
	inJSON := func(name string) string {
		compact, err := yaml.YAMLToJSON([]byte(example(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := json.Indent(&text, compact, "", "  "); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	const types = `"capabilities": {
          "architecture": [
            "amd64"
          ],
          `
	for typed, written := range map[string]string{
		types + `‸`:     types + `"hypervisor": `,
		types + `"hy‸"`: types + `"hypervisor": `,
		types + "\"hypervisor\": ‸\n},\n\"foo\": {\"bar\": 1": types + `"hypervisor": ["virtualized"]`,
		types + "\"hypervisor\": ‸\n\"foo\": 1":               types + `"hypervisor": ["virtualized"]`,
		types + `"hypervisor": ‸`:                             types + `"hypervisor": ["virtualized"]`,
		types + `"hypervisor": [‸]`:                           types + `"hypervisor": ["virtualized"]`,
		types + `"hypervisor": ["‸]`:                          types + `"hypervisor": ["virtualized"]`,
	} {
		const old = types + "\"hypervisor\": [\n            \"virtualized\"\n          ]"
		text := inJSON("cloudprofile.yaml")
		if !strings.Contains(text, old) {
			t.Fatal("nothing to replace in\n" + text)
		}
		at, text := where(t, strings.Replace(text, old, typed, 1))
		e := begin(t, nil)
		e.open("p.json", text)
		items := e.complete("p.json", at)
		if len(items) == 0 || !strings.Contains(applied(t, text, []edit{items[0].TextEdit}), written+"\n") {
			t.Errorf("%s: %+v", typed, items)
		} else if strings.Contains(typed, `"hy‸`) && items[0].FilterText != `"hypervisor` {
			t.Errorf("%s: an editor hides %+v", typed, items[0])
		}
	}
}

// A profile with its parent, or with a mistake, may have a name twice. It is offered once, with what counts.
func TestNothingIsOfferedTwice(t *testing.T) {
	profile := strings.Replace(example(t, "cloudprofile.yaml"), "values: [virtualized, baremetal]", "values: [virtualized, baremetal, virtualized]", 1)
	child := strings.Replace(example(t, "namespacedcloudprofile.yaml"), "name: large_16_32", "name: medium_4_8", 1)
	e := begin(t, map[string]string{"n.yaml": child, "p.yaml": profile})
	for _, tc := range []struct {
		file, text, old, typed string
		want                   []string
	}{
		{
			"p.yaml", profile, "      hypervisor: [virtualized]\n", "      hypervisor: [‸]\n",
			[]string{"virtualized hypervisor, preference 1 of 3", "baremetal hypervisor, preference 2 of 3"},
		},
		{
			"s.yaml", example(t, "shoot-namespaced.yaml"), "version: 2000.1.0", "version: ‸",
			[]string{"2000.1.0 supported", "1877.5.0 supported", "1592.9.0 deprecated, expires on 2037-12-31"},
		},
		{"s.yaml", example(t, "shoot-namespaced.yaml"), "type: large_16_32", "type: ‸", []string{"medium_4_8 ", "medium_4_8_arm ", "bare_8_16 "}},
	} {
		if !strings.Contains(tc.text, tc.old) {
			t.Fatalf("%s is not in %s", tc.old, tc.file)
		}
		at, text := where(t, strings.Replace(tc.text, tc.old, tc.typed, 1))
		e.open(tc.file, text)
		var got []string
		for _, i := range e.complete(tc.file, at) {
			got = append(got, i.Label+" "+i.Detail)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.typed, got, tc.want)
		}
		e.closeFile(tc.file)
	}
}

// Gardener's own capabilities can be registered where settings say that core accepts them.
func TestReservedCapabilitiesAreOfferedWhereCoreAcceptsThem(t *testing.T) {
	at, text := where(t, strings.Replace(example(t, "cloudprofile.yaml"), "- name: hypervisor", "- name: ‸", 1))
	e := begin(t, map[string]string{".capkit.yaml": "reservedInCore: true\n"})
	e.open("p.yaml", text)
	want := []string{"gardener-boot-type", "gardener-update-type", "gardener-gpuSupport", "openstack-trustedLaunch", "openstack-rootVolume"}
	if got := labels(e.complete("p.yaml", at)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Completions of versions show their stage.
func TestVersionsAreOfferedWithTheirStage(t *testing.T) {
	const deprecated = "classification: deprecated"
	profile := strings.Replace(example(t, "cloudprofile.yaml"), deprecated, deprecated+"\n      expirationDate: \"2037-12-31T00:00:00Z\"", 1)
	at, shoot := where(t, strings.Replace(example(t, "shoot.yaml"), "version: 1877.5.0", "version: ‸", 1))
	e := begin(t, map[string]string{"p.yaml": profile})
	e.open("shoot.yaml", shoot)
	items := e.complete("shoot.yaml", at)
	if len(items) != 2 || items[0].Detail != "supported" || len(items[0].Tags) != 0 ||
		items[1].Detail != "deprecated, expires on 2037-12-31" || !slices.Equal(items[1].Tags, []int{1}) {
		t.Errorf("%+v", items)
	}
}

// Rules are completed in comments that silence them, starting with the rules that have findings.
func TestRulesAreCompleted(t *testing.T) {
	text := example(t, broken)
	e := begin(t, map[string]string{})
	e.open("p.yaml", strings.Replace(text, "# misspelt, or left over", "# capkit:ignore  : because", 1))
	e.codes("p.yaml", "region-unknown", "ignore-comment")
	at := of(t, text, "# misspelt", 0)
	at.Character += len("# capkit:ignore ") - 1
	items := e.complete("p.yaml", at)
	if len(items) < 50 || items[0].Label != "region-unknown" || items[0].Detail == "" || slices.Contains(labels(items), "unknown-field") {
		t.Errorf("%d: %+v", len(items), items[0])
	}
	at, text = where(t, strings.Replace(text, "# misspelt, or left over", "# ca‸", 1))
	e.change("p.yaml", text)
	e.codes("p.yaml", "region-unknown")
	items = e.complete("p.yaml", at)
	if len(items) != 1 || strings.Split(applied(t, text, []edit{items[0].TextEdit}), "\n")[at.Line] != "          - name: eurpoe # capkit:ignore " {
		t.Errorf("%+v", items)
	}
}

// A hover shows the same as explain and explain-rule.
func TestHover(t *testing.T) {
	profile, shoot := example(t, "cloudprofile.yaml"), example(t, "shoot.yaml")
	e := begin(t, map[string]string{"shoot.yaml": shoot})
	commented := strings.Replace(profile, "  - name: asia\n", "  - name: asia # capkit:ignore region-unknown, machine-type-without-image: soon\n", 1)
	e.open("cloudprofile.yaml", commented)
	e.open("shoot.yaml", shoot)
	for _, tc := range []struct {
		file, word string
		n          int
		want       []string
	}{
		{"shoot.yaml", "bare_8_16", 0, []string{"gardenlinux@1877.5.0 on bare_8_16 in europe", "boots id 1234-amd64-bare", "Flavors of"}},
		{"shoot.yaml", "1877.5.0", 0, []string{"gardenlinux@1877.5.0 on medium_4_8 in europe", "boots id 1234-amd64-virt"}},
		{"cloudprofile.yaml", "medium_4_8_arm", 0, []string{"Boots:\n- `gardenlinux@1877.5.0`", "Does not boot:\n- `gardenlinux@1592.9.0`: ", "arm64"}},
		{"cloudprofile.yaml", "1592.9.0", 0, []string{"Boots on:\n- `medium_4_8`\n- `bare_8_16`", "Does not boot on:\n- `medium_4_8_arm`"}},
		{"cloudprofile.yaml", "1592.9.0", 1, []string{"Boots on:\n- `medium_4_8`\n- `bare_8_16`"}},
		{"cloudprofile.yaml", "capabilityFlavors", 0, nil},
		{"cloudprofile.yaml", "hypervisor: [baremetal]", 1, []string{"Capability **`hypervisor`**", "`virtualized` and `baremetal`"}},
		{"cloudprofile.yaml", "- name: hypervisor", 0, nil},
		{"cloudprofile.yaml", "hypervisor\n", 0, []string{"number 2 in importance"}},
		{"cloudprofile.yaml", "region-unknown", 0, []string{"**region-unknown** (warning)"}},
		{"cloudprofile.yaml", "capkit:ignore", 0, []string{"**region-unknown**", "**machine-type-without-image**"}},
		{"cloudprofile.yaml", "europe-1a", 0, nil},
	} {
		text := commented
		if tc.file == "shoot.yaml" {
			text = shoot
		}
		said := e.hover(tc.file, of(t, text, tc.word, tc.n))
		for _, part := range tc.want {
			if !strings.Contains(said, part) {
				t.Errorf("%s, %s: %q is not in\n%s", tc.file, tc.word, part, said)
			}
		}
		if tc.want == nil && said != "" {
			t.Errorf("%s: %s", tc.word, said)
		}
	}
}

// A profile that registers one of Gardener's own capabilities gives another meaning to images that do not declare it (semantics S3).
func TestHoverOverRegisteredCapabilities(t *testing.T) {
	for name, want := range map[string]string{
		"gardener-boot-type": "An image that does not declare it has all values that the profile registers.",
		"gardener-bootType":  "An image that does not declare it has `standard`.",
	} {
		profile := strings.Replace(example(t, "cloudprofile.yaml"), "  - name: hypervisor\n",
			"  - name: "+name+"\n    values: [secure, standard]\n  - name: hypervisor\n", 1)
		e := begin(t, nil)
		e.open("p.yaml", profile)
		if said := e.hover("p.yaml", of(t, profile, name, 0)); !strings.HasSuffix(said, want) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// The hover at a flavor's dash has the range of the dash.
func TestHoverOverADash(t *testing.T) {
	text := example(t, "cloudprofile.yaml")
	e := begin(t, nil)
	e.open("p.yaml", text)
	at := of(t, text, "- architecture: [amd64]", 0)
	at.Character-- // at the dash
	var answer struct{ Range span }
	e.ask("textDocument/hover", e.at("p.yaml", at), &answer)
	if want := (span{at, position{at.Line, at.Character + 1}}); answer.Range != want {
		t.Errorf("%v, want %v", answer.Range, want)
	}
}

// For an unknown provider, a hover is based on core alone, and contains a note about it.
func TestHoverByCoreAlone(t *testing.T) {
	profile := strings.Replace(example(t, "cloudprofile.yaml"), "type: openstack", "type: nimbus", 1)
	e := begin(t, nil)
	e.open("p.yaml", profile)
	if said := e.hover("p.yaml", of(t, profile, "medium_4_8", 0)); !strings.Contains(said, "by core alone\n\nBoots:") {
		t.Error(said)
	}
}

// A worker pool of a Shoot that Gardener refuses for its type has no image.
func TestHoverOverAShootOfAnotherCloud(t *testing.T) {
	shoot := strings.Replace(example(t, "shoot.yaml"), "    type: openstack\n", "    type: aws\n", 1)
	e := begin(t, map[string]string{"cloudprofile.yaml": example(t, "cloudprofile.yaml")})
	e.open("shoot.yaml", shoot)
	if said := e.hover("shoot.yaml", of(t, shoot, "bare_8_16", 0)); !strings.HasPrefix(said, "the Shoot is for provider type aws, and its profile for openstack") {
		t.Error(said)
	}
}

// All machine types of a profile are considered, even very many.
func TestHoverKnowsAllMachineTypes(t *testing.T) {
	const others = "  - {name: arm-%d, cpu: \"4\", gpu: \"0\", memory: 8Gi, capabilities: {architecture: [arm64], hypervisor: [virtualized]}}\n"
	types := "  machineTypes:\n"
	for i := range 600 {
		types += fmt.Sprintf(others, i)
	}
	profile := strings.Replace(example(t, "cloudprofile.yaml"), "  machineTypes:\n", types, 1)
	e := begin(t, nil)
	e.open("p.yaml", profile)
	said := e.hover("p.yaml", of(t, profile, "1592.9.0", 0))
	for _, part := range []string{"Boots on:\n- `medium_4_8`\n- `bare_8_16`\n", "- `arm-11`: no image fits", "\n- and 589 more"} {
		if !strings.Contains(said, part) {
			t.Errorf("%q is not in\n%s", part, said)
		}
	}
}

// Names are escaped in Markdown: an editor that renders HTML must not find any.
func TestHoverHasNoMarkupOfNames(t *testing.T) {
	const region, want = "x<img src=x>*a*&lt;![b](c)~~d~~", `x\<img src=x>\*a\*\&lt;![b]\(c)\~~d\~~`
	profile := strings.ReplaceAll(example(t, "cloudprofile.yaml"), "name: asia\n", "name: '"+region+"'\n")
	profile = strings.Replace(profile, "          - name: europe\n            id: 1234-amd64-virt\n", "", 1)
	e := begin(t, map[string]string{})
	e.open("p.yaml", profile)
	for word, part := range map[string]string{"medium_4_8": "`gardenlinux@1877.5.0` in ", "medium_4_8_arm": " in region "} {
		if said := e.hover("p.yaml", of(t, profile, word+"\n", 0)); !strings.Contains(said, part+want) {
			t.Errorf("%q is not in %s", part+want, said)
		}
	}
	profile = strings.ReplaceAll(profile, "- name: hypervisor", "- name: ''")
	e.change("p.yaml", profile)
	if said := e.hover("p.yaml", of(t, profile, "'", 0)); !strings.HasPrefix(said, "Capability **` `** of this profile") {
		t.Error(said)
	}
}

// A word leads to the definition of its name; a flavor or version leads to its counterpart in the other half.
func TestDefinition(t *testing.T) {
	profile, shoot, namespaced := example(t, "cloudprofile.yaml"), example(t, "shoot.yaml"), example(t, "namespacedcloudprofile.yaml")
	team := strings.NewReplacer(
		"kind: CloudProfile\n    name: openstack", "kind: NamespacedCloudProfile\n    name: team", "bare_8_16", "large_16_32", "name: shop", "name: other",
	).Replace(shoot)
	e := begin(t, map[string]string{"cloudprofile.yaml": profile, "namespacedcloudprofile.yaml": namespaced})
	texts := map[string]string{
		"cloudprofile.yaml": profile, "shoot.yaml": shoot, "team.yaml": team, "namespacedcloudprofile.yaml": namespaced,
	}
	for _, name := range []string{"cloudprofile.yaml", "shoot.yaml", "team.yaml", "namespacedcloudprofile.yaml"} {
		e.open(name, texts[name])
	}
	for _, tc := range []struct {
		file, word string
		n          int
		to, at     string
		nth        int
	}{
		{"cloudprofile.yaml", "version: 1592.9.0", 0, "cloudprofile.yaml", "version: 1592.9.0", 1},
		{"cloudprofile.yaml", "version: 1592.9.0", 1, "cloudprofile.yaml", "version: 1592.9.0", 0},
		{"cloudprofile.yaml", "baremetal]", 2, "cloudprofile.yaml", "- capabilities:", 1},
		{"cloudprofile.yaml", "baremetal]", 3, "cloudprofile.yaml", "- architecture: [amd64]", 1},
		{"cloudprofile.yaml", "hypervisor:", 0, "cloudprofile.yaml", "name: hypervisor", 0},
		{"cloudprofile.yaml", "asia\n", 1, "cloudprofile.yaml", "- name: asia", 0},
		{"shoot.yaml", "bare_8_16", 0, "cloudprofile.yaml", "- name: bare_8_16", 0},
		{"shoot.yaml", "gardenlinux", 0, "cloudprofile.yaml", "- name: gardenlinux", 0},
		{"shoot.yaml", "1877.5.0", 0, "cloudprofile.yaml", "version: 1877.5.0", 0},
		{"shoot.yaml", "openstack\n", 0, "cloudprofile.yaml", "name: openstack", 0},
		{"shoot.yaml", "europe\n", 0, "cloudprofile.yaml", "- name: europe", 0},
		{"shoot.yaml", "europe-1b", 0, "cloudprofile.yaml", "- name: europe-1b", 0},
		{"team.yaml", "large_16_32", 0, "namespacedcloudprofile.yaml", "- name: large_16_32", 0},
		{"team.yaml", "medium_4_8", 0, "cloudprofile.yaml", "- name: medium_4_8", 0},
		{"team.yaml", "team\n", 0, "namespacedcloudprofile.yaml", "name: team", 0},
		{"namespacedcloudprofile.yaml", "openstack\n", 0, "cloudprofile.yaml", "name: openstack", 0},
		{"namespacedcloudprofile.yaml", "version: 1592.9.0", 0, "cloudprofile.yaml", "version: 1592.9.0", 1},
		{"namespacedcloudprofile.yaml", "version: 2000.1.0", 0, "namespacedcloudprofile.yaml", "version: 2000.1.0", 1},
		{"namespacedcloudprofile.yaml", "version: 2000.1.0", 1, "namespacedcloudprofile.yaml", "version: 2000.1.0", 0},
	} {
		want := tc.to + ":" + number(of(t, texts[tc.to], tc.at, tc.nth).Line)
		got := e.leads(tc.file, of(t, texts[tc.file], tc.word, tc.n))
		if len(got) == 0 || got[0] != want {
			t.Errorf("%s, %s %d: %q, want %s", tc.file, tc.word, tc.n, got, want)
		}
	}
	if got := e.leads("shoot.yaml", of(t, shoot, "cilium", 0)); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// Misplaced fields lead to a definition or to none, without an error.
func TestDefinitionOfWhatIsInTheWrongPlace(t *testing.T) {
	const odd = `apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata: {name: odd}
spec:
  machineImages:
  - name: gardenlinux
    capabilityFlavors:
    - versions:
      - version: 1.0.0
  providerConfig:
    machineImages:
    - name: gardenlinux
      versions:
      - version: 1.0.0
        capabilityFlavors:
        - capabilities: {architecture: [amd64]}
`
	e := begin(t, nil)
	e.open("odd.yaml", odd)
	if got := e.leads("odd.yaml", of(t, odd, "1.0.0", 0)); !slices.Equal(got, []string{"odd.yaml:13"}) {
		t.Errorf("%q", got)
	}
}

// Objects with only generateName are identified by their position.
func TestHoverWithoutName(t *testing.T) {
	profile := strings.Replace(example(t, "cloudprofile.yaml"), "  name: openstack\n", "  generateName: openstack-\n", 1)
	shoot := strings.Replace(example(t, "shoot.yaml"), "  name: shop\n", "  generateName: shop-\n", 1)
	both := shoot + "---\n" + strings.Replace(shoot, "medium_4_8", "bare_8_16", 1)
	e := begin(t, map[string]string{"p.yaml": example(t, "cloudprofile.yaml")})
	e.open("s.yaml", both)
	for i, id := range []string{"1234-amd64-virt", "1234-amd64-bare"} {
		if said := e.hover("s.yaml", of(t, both, "name: web", i)); !strings.Contains(said, id) {
			t.Errorf("pool %d: %s", i, said)
		}
	}
	e = begin(t, nil)
	e.open("p.yaml", profile)
	if said := e.hover("p.yaml", of(t, profile, "1592.9.0", 0)); !strings.Contains(said, "Boots on:") {
		t.Error(said)
	}
}

// There is no hover for parts added since the last check, or known only from another file's profile of the same name.
func TestHoverOfWhatIsNotKnownYet(t *testing.T) {
	profile := example(t, "cloudprofile.yaml")
	other := strings.NewReplacer("medium_4_8", "another", "1592.9.0", "9.9.9").Replace(profile)
	e := begin(t, map[string]string{"a.yaml": profile})
	e.open("p.yaml", other)
	for _, word := range []string{"another", "9.9.9"} {
		if said := e.hover("p.yaml", of(t, other, word, 0)); said != "" {
			t.Error(said)
		}
	}
}

// There is no hover over a misspelt key, over what is below it, or over the flavor whose capabilities are below it. The error asks what is
// meant.
func TestHoverOverAMisspeltKey(t *testing.T) {
	profile, shoot := example(t, "cloudprofile.yaml"), example(t, "shoot.yaml")
	e := begin(t, map[string]string{"profile.yaml": profile})
	for _, tc := range []struct{ text, from, to, word string }{
		{profile, "capabilities:\n            architecture", "capabilitis:\n            architecture", "capabilitis"},
		{profile, "capabilities:\n            architecture", "capabilitis:\n            architecture", "architecture: [amd64]\n            hyp"},
		{profile, "capabilities:\n            architecture", "capabilitis:\n            architecture", "regions:\n          - name"},
		{shoot, "type: medium_4_8", "typ: medium_4_8", "medium_4_8"},
		{shoot, "image:", "imag:", "name: gardenlinux"},
	} {
		text := strings.Replace(tc.text, tc.from, tc.to, 1)
		e.open("a.yaml", text)
		if said := e.hover("a.yaml", of(t, text, tc.word, 0)); said != "" || text == tc.text {
			t.Errorf("%s: %s", tc.word, said)
		}
		e.closeFile("a.yaml")
	}
}

// Of very many findings in a range, only the first get quick fixes of their own, because each one needs a new check.
func TestQuickFixesAreFew(t *testing.T) {
	const others = "  - {name: m-%d, cpu: \"4\", gpu: \"0\", memory: 8Gi, Usable: true, capabilities: {architecture: [arm64], hypervisor: [virtualized]}}\n"
	types := "  machineTypes:\n"
	for i := range 40 {
		types += fmt.Sprintf(others, i)
	}
	profile := strings.Replace(example(t, "cloudprofile.yaml"), "  machineTypes:\n", types, 1)
	e := begin(t, nil)
	e.open("p.yaml", profile)
	counts := map[string]int{}
	for _, a := range e.actionsIn("p.yaml", span{End: position{Line: 999}}) {
		counts[a.Kind]++
	}
	if counts["quickfix"] != 32 || counts["source.fixAll"] != 1 {
		t.Error(counts)
	}
}

// All repairs together are offered even if none of the first findings can be repaired.
func TestFixAllBehindManyOthers(t *testing.T) {
	fields := ""
	for i := range 40 {
		fields += fmt.Sprintf("  mystery%d: x\n", i)
	}
	profile := strings.Replace(example(t, "cloudprofile.yaml"), "  machineTypes:\n", fields+"  machineTypes:\n"+
		"  - {name: m, cpu: \"4\", gpu: \"0\", memory: 8Gi, Usable: true, capabilities: {architecture: [arm64], hypervisor: [virtualized]}}\n", 1)
	e := begin(t, nil)
	e.open("p.yaml", profile)
	counts := map[string]int{}
	for _, a := range e.actionsIn("p.yaml", span{End: position{Line: 999}}) {
		counts[a.Kind]++
	}
	if counts["quickfix"] != 0 || counts["source.fixAll"] != 1 {
		t.Error(counts)
	}
}
