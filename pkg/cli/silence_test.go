// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/report"
)

// unknownRegion returns a CloudProfile with one finding, in the line "- name: eurpoe". named renames it.
func unknownRegion(t *testing.T) string { return read(t, root+"/example/broken/region-unknown.yaml") }

func named(manifest, name string) string {
	return strings.Replace(manifest, "name: region-unknown\n", "name: "+name+"\n", 1)
}

// outcome returns lint's findings about a text as LINE RULE, followed by the reason in brackets if they are silenced.
func outcome(t *testing.T, text string, args ...string) []string {
	t.Helper()
	found := []string{}
	for _, f := range lint(t, text, append(args, "-")...).Findings {
		line := fmt.Sprintf("%d %s", f.Line, f.Rule)
		if len(f.Suppressions) > 0 {
			line = fmt.Sprintf("(%s: %s %s)", line, f.Suppressions[0].Kind, f.Suppressions[0].Justification)
		}
		found = append(found, line)
	}
	slices.Sort(found)
	return found
}

func TestCommentsSilence(t *testing.T) {
	profile := unknownRegion(t)
	const finding, place = "- name: eurpoe # misspelt, or left over\n", "          - name: eurpoe"
	above := func(comment string) string {
		return strings.Replace(profile, place, "          "+comment+"\n"+place, 1)
	}
	behind := func(comment string) string {
		return strings.Replace(profile, finding, "- name: eurpoe "+comment+"\n", 1)
	}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"nothing": {profile, []string{"53 region-unknown"}},
		"behind":  {behind("# capkit:ignore region-unknown: in May"), []string{"(53 region-unknown: inSource in May)"}},
		"above":   {above("#capkit:ignore region-unknown: in May"), []string{"(54 region-unknown: inSource in May)"}},
		"above, with more comments": {
			above("# capkit:ignore region-unknown: in: May\n          # More.\n"), []string{"(56 region-unknown: inSource in: May)"},
		},
		"for the object": {
			"# capkit:ignore region-unknown: in May\n" + profile, []string{"(54 region-unknown: inSource in May)"},
		},
		"above the marker": {
			"# capkit:ignore region-unknown: in May\n---\n" + profile, []string{"(55 region-unknown: inSource in May)"},
		},
		"for another object": {
			"# capkit:ignore region-unknown: in May\n" + named(profile, "a") + "\n---\n" + named(profile, "b"),
			[]string{"(54 region-unknown: inSource in May)", "110 region-unknown"},
		},
		"at the end of another one": {
			named(profile, "a") + "\n# capkit:ignore region-unknown: in May\n---\n" + named(profile, "b"),
			[]string{"53 region-unknown", "(110 region-unknown: inSource in May)"},
		},
		"another line": {
			strings.Replace(profile, "  type: openstack\n", "  type: openstack # capkit:ignore region-unknown: in May\n", 1),
			[]string{"7 ignore-unused", "53 region-unknown"},
		},
		"several rules": {
			behind("# capkit:ignore region-unknown, region-uncovered: in May"),
			[]string{"53 ignore-unused", "(53 region-unknown: inSource in May)"},
		},
		"no reason":            {behind("# capkit:ignore region-unknown"), []string{"53 ignore-comment", "53 region-unknown"}},
		"no colon":             {behind("# capkit:ignore region-unknown asia comes in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"an empty reason":      {behind("# capkit:ignore region-unknown: "), []string{"53 ignore-comment", "53 region-unknown"}},
		"no rule":              {behind("# capkit:ignore: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"misspelt rule":        {behind("# capkit:ignore regon-unknown: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"misspelt":             {behind("# capkit:ignroe region-unknown: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"found online":         {behind("# capkit:ignore mapping-in-use: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"one that is right":    {behind("# capkit:ignore region-unknown, regon-unknown: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"for the next line":    {behind("# capkit:ignore-next-line region-unknown: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"in capitals":          {behind("# Capkit:Ignore region-unknown: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"with a hyphen":        {behind("#capkit-ignore region-unknown: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"without a colon":      {behind("# capkit ignore region-unknown: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"with a space":         {behind("# capkit: ignore region-unknown: in May"), []string{"(53 region-unknown: inSource in May)"}},
		"behind a comment":     {behind("# misspelt # capkit:ignore region-unknown: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"behind text":          {behind("# misspelt; capkit:ignore regon-unknown: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"above, behind text":   {above("# misspelt; capkit:ignore region-unknown: in May"), []string{"53 ignore-comment", "54 region-unknown"}},
		"text about a comment": {above("# Write capkit:ignore RULE: reason, see capkit:ignore."), []string{"54 region-unknown"}},
		"text about it":        {above("# capkit ignores what is not listed\n# Capkit: ignored, capkit ignore lists, capkitignore"), []string{"55 region-unknown"}},
		"text with its name":   {above("# capkit: checked by it"), []string{"54 region-unknown"}},
		"commented out":        {above("# - name: asia # capkit:ignore region-unknown: in May"), []string{"54 region-unknown"}},
		"commented out, alone": {above("#     # capkit:ignore region-unknown: in May"), []string{"54 region-unknown"}},
		"never":                {behind("# capkit:ignore unknown-field: in May"), []string{"53 ignore-comment", "53 region-unknown"}},
		"no comment": {
			strings.Replace(profile, "metadata:\n", "metadata:\n  annotations:\n    a: |\n      # capkit:ignore region-unknown: in May\n", 1),
			[]string{"56 region-unknown"},
		},
		"another kind": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a} # capkit:ignore region-unknown: in May\n---\n" + profile,
			[]string{"3 ignore-unused", "57 region-unknown"},
		},
		"above another kind": {
			"# capkit:ignore region-unknown: in May\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n" + profile,
			[]string{"1 ignore-unused", "59 region-unknown"},
		},
		"misspelt in another kind": {
			"apiVersion: v1\nkind: ConfigMap # capkit:ignore regon-unknown: in May\nmetadata: {name: a} # capkit-ignore a\n---\n" + profile,
			[]string{"2 ignore-comment", "57 region-unknown"},
		},
		"at the end": {
			profile + "# capkit:ignore region-unknown: in May\n", []string{"53 region-unknown", "55 ignore-unused"},
		},
		"at the end, indented": {
			profile + "            # capkit:ignore regon-unknown: in May\n...\n", []string{"53 region-unknown", "55 ignore-comment"},
		},
		"behind the last document": {
			profile + "...\n# capkit:ignore region-unknown: in May\n", []string{"53 region-unknown", "56 ignore-unused"},
		},
		"above a List": {
			"# capkit:ignore region-unknown: in May\n" + kubectl(profile), []string{"1 ignore-unused", "55 region-unknown"},
		},
		"above the entries of a List": {
			strings.Replace(kubectl(profile), "items:", "# capkit:ignore region-unknown: in May\nitems:", 1),
			[]string{"2 ignore-unused", "55 region-unknown"},
		},
		"in what is no object": {
			"kind: CloudProfile # capkit:ignore region-unknown: in May\n---\n" + profile,
			[]string{"1 not-an-object", "55 region-unknown"},
		},
		"an entry of a List": {
			"apiVersion: v1\nkind: List\nitems:\n# capkit:ignore region-unknown: in May\n- " +
				strings.ReplaceAll(strings.TrimSpace(profile), "\n", "\n  ") + "\n", []string{"(57 region-unknown: inSource in May)"},
		},
		// A comment for something that was not checked is not reported as unused.
		"what cannot be read": {
			strings.Replace(profile, "spec:\n", "spec: # capkit:ignore region-uncovered: in May\n  versions: 1\n", 1), []string{"7 unknown-field"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			slices.Sort(tc.want)
			if diff := cmp.Diff(tc.want, outcome(t, tc.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The finding about a comment that silences nothing says what to change.
func TestCommentsThatSilenceNothing(t *testing.T) {
	profile := unknownRegion(t)
	const form = "; write # capkit:ignore RULE: reason"
	for comment, want := range map[string]string{
		"# capkit:ignore region-unknown":                      "the comment silences nothing, because it has no reason" + form,
		"# capkit:ignore region-unknown -- opens":             "the comment silences nothing, because there is no colon before the reason" + form,
		"# capkit:ignore region-unknown opens in May":         "the comment silences nothing, because there is no colon before the reason" + form,
		"# capkit:ignore region-unknown - asia: opens in May": "the comment silences nothing, because there is no colon before the reason" + form,
		"# capkit:ignore-next-line region-unknown: opens":     "capkit has no comment capkit:ignore-next-line" + form,
		"# capkit:ignroe: opens":                              "capkit has no comment capkit:ignroe" + form,
		"# Capkit:Ignore region-unknown: opens":               "the comment silences nothing, because it begins with Capkit:Ignore" + form,
		"# capkit-ignore-line":                                "the comment silences nothing, because it begins with capkit-ignore" + form,
		"# misspelt # capkit:ignore region-unknown: opens": "the comment silences nothing, because it does not begin with capkit:ignore; " +
			"write that first, or in a comment of its own in the line above",
		"#\n# capkit:ignore region-unknown: opens": "rule region-unknown finds nothing here, because nothing follows the comment; " +
			"write it behind what it is about, or in the line above",
		"\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a} # capkit:ignore region-unknown: opens": "rule region-unknown finds nothing in " +
			"ConfigMap a, which is not checked; remove the comment",
		"\n---\napiVersion: v1 # capkit:ignore region-unknown: opens\nkind: List": "rule region-unknown finds nothing in line 56, which is in no object; " +
			"write the comment above one, or remove it",
	} {
		var messages []string
		for _, f := range lint(t, strings.TrimSpace(profile)+" "+comment+"\n", "-").Findings {
			if f.Rule != "region-unknown" {
				messages = append(messages, f.Message)
			}
		}
		if diff := cmp.Diff([]string{want}, messages); diff != "" {
			t.Errorf("%s\n%s", comment, diff)
		}
	}
}

func TestDisable(t *testing.T) {
	profile := unknownRegion(t)
	want := []string{"(53 region-unknown: external --disable)"}
	for _, args := range [][]string{
		{"--disable=region-unknown"}, {"--disable=region-uncovered, region-unknown"},
		{"--disable=region-uncovered", "--disable", "region-unknown"},
	} {
		if diff := cmp.Diff(want, outcome(t, profile, args...)); diff != "" {
			t.Error(args, diff)
		}
	}
	found := lint(t, profile, "--disable=region-unknown", "-")
	if found.Summary != (report.Summary{Objects: 1, Suppressed: 1}) {
		t.Errorf("%+v", found.Summary)
	}
	if r := run(t, profile, "lint", "--disable=region-unknown", "--fail-on=warning", "-"); r.status != 0 || r.stdout != "" {
		t.Error(r)
	}
	// Silencing an error always causes a note, even with -q.
	for _, args := range [][]string{{"lint", "--disable=profile-missing", "-"}, {"lint", "-q", "--disable=profile-missing", "-"}} {
		r := run(t, shoot(t), args...)
		contains(t, r.stderr, "note: silenced, but still refused by admission: profile-missing 1\n")
		if r.status != 0 || r.stdout != "" {
			t.Error(r)
		}
	}
	for rule, want := range map[string]string{
		"regon-unknown": "capkit: --disable: there is no rule regon-unknown; did you mean region-unknown?\n",
		"a,syntax": "capkit: --disable: there is no rule a; capkit rules lists all\n" +
			"capkit: --disable: syntax cannot be silenced: what it is about could not be read, and was not checked\n",
		"":                "capkit: --disable has an empty name: name a rule, or leave the flag out\n",
		"region-unknown,": "--disable has an empty name",
		"gardener-core":   "gardener-core cannot be disabled: it stands for all that Gardener's API server checks",
		"mapping-in-use":  "mapping-in-use is not found by lint",
	} {
		if r := run(t, profile, "lint", "--disable", rule, "-"); r.status != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: status %d: %s", rule, r.status, r.stderr)
		}
	}
}

// A misspelt region hides its consequence: nothing boots in the intended region. If the finding is silenced, by whatever means, the
// consequences are reported, unless they are silenced as well.
func TestSilencedSlip(t *testing.T) {
	slip := strings.NewReplacer("          - name: europe\n            id: 1234-amd64-virt\n", "", " # misspelt, or left over", "").
		Replace(unknownRegion(t))
	inFolder(t, map[string]string{
		"settings.yaml": "disable:\n- rule: region-unknown\n  reason: in May\n",
		"all.yaml":      "disable:\n- {rule: region-unknown, reason: in May}\n- {rule: machine-type-without-image, reason: in June}\n",
	})
	const machine, flavor = "14 machine-type-without-image", "47 region-uncovered"
	comment := func(rules string) string { return "# capkit:ignore " + rules + ": in May" }
	behind := func(text, line, comment string) string { return strings.Replace(text, line, line+" "+comment, 1) }
	commented := behind(slip, "- name: eurpoe", comment("region-unknown"))
	above := strings.Replace(slip, "          - name: eurpoe", "          "+comment("region-unknown")+"\n          - name: eurpoe", 1)
	for name, tc := range map[string]struct {
		text string
		args []string
		want []string
	}{
		"told":   {slip, nil, []string{"51 region-unknown"}},
		"flag":   {slip, []string{"--disable=region-unknown"}, []string{machine, flavor, "(51 region-unknown: external --disable)"}},
		"file":   {slip, []string{"--config=settings.yaml"}, []string{machine, flavor, "(51 region-unknown: external in May)"}},
		"behind": {commented, nil, []string{machine, flavor, "(51 region-unknown: inSource in May)"}},
		"above":  {above, nil, []string{machine, flavor, "(52 region-unknown: inSource in May)"}},
		"object": {comment("region-unknown") + "\n" + slip, nil, []string{
			"15 machine-type-without-image", "48 region-uncovered", "(52 region-unknown: inSource in May)",
		}},
		"and a part of that, by a file": {slip, []string{"--config=all.yaml"}, []string{
			"(14 machine-type-without-image: external in June)", flavor, "(51 region-unknown: external in May)",
		}},
		"and a part of that, behind it": {behind(commented, "- name: medium_4_8", comment("machine-type-without-image")), nil, []string{
			"(14 machine-type-without-image: inSource in May)", flavor, "(51 region-unknown: inSource in May)",
		}},
		"and all of that": {comment("region-unknown, machine-type-without-image region-uncovered") + "\n" + slip, nil, []string{
			"(15 machine-type-without-image: inSource in May)", "(48 region-uncovered: inSource in May)",
			"(52 region-unknown: inSource in May)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			slices.Sort(tc.want)
			if diff := cmp.Diff(tc.want, outcome(t, tc.text, tc.args...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestQuiet(t *testing.T) {
	r := run(t, unknownRegion(t), "lint", "-q", "-")
	if r.stderr != "" || !strings.Contains(r.stdout, "[region-unknown]") {
		t.Error(r)
	}
}

// inFolder writes files into a new folder, and changes to it.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, name, text)
	}
}

func TestSettings(t *testing.T) {
	const disabled = "disable:\n- rule: region-unknown\n  reason: in May\n"
	inFolder(t, map[string]string{
		".capkit.yaml":       "# Settings.\ninputs: [manifests, manifests/a.yaml]\nfailOn: warning\n" + disabled,
		"manifests/a.yaml":   unknownRegion(t),
		"below/x.yaml":       unknownRegion(t),
		"other.yaml":         "failOn: warning\n",
		"repository/x.yaml":  unknownRegion(t),
		"repository/.git":    "gitdir: elsewhere",
		"own/.capkit.yaml":   "",
		"own/x.yaml":         unknownRegion(t),
		"gone/.capkit.yaml":  "inputs: [shoot]\n",
		"domain.yaml":        "domain: demo\nreservedInCore: true\n",
		"wrong/.capkit.yml":  "failOn: warning\n",
		"wrong/x.yaml":       unknownRegion(t),
		"both/.capkit.yml":   "failOn: warning\n",
		"both/.capkit.yaml":  "failOn: error\n",
		"floating/pool.yaml": read(t, root+"/example/broken/floating-pool-domain.yaml"),
	})
	if err := errors.Join(os.MkdirAll("folder/.capkit.yaml", 0o755), os.MkdirAll("wrong/below", 0o755), os.Mkdir("link", 0o755),
		os.Symlink("nowhere", "link/.capkit.yaml")); err != nil {
		t.Fatal(err)
	}
	expect := func(dir, command string, status int, said string) {
		t.Helper()
		r := func() result {
			here, _ := os.Getwd()
			defer func() { _ = os.Chdir(here) }()
			if err := os.Chdir(dir); err != nil {
				t.Fatal(err)
			}
			return run(t, "", strings.Fields(command)...)
		}()
		if r.status != status || !strings.Contains(r.stdout+r.stderr, said) {
			t.Errorf("%s in %s: status %d: %s%s", command, dir, r.status, r.stdout, r.stderr)
		}
	}
	const silenced, counts = "1 finding silenced", "manifests/a.yaml:53:13: warning"
	expect(".", "lint", 0, silenced)
	expect(".", "lint -o sarif", 0, `"justification": "in May"`)
	expect(".", "lint --no-config", 2, "no FILE given")
	expect(".", "lint --no-config manifests", 0, counts)
	expect(".", "lint --config=other.yaml manifests", 1, counts)
	expect(".", "lint --config=other.yaml --fail-on=error manifests", 0, counts)
	expect(".", "lint --config=nowhere.yaml manifests", 2, "nowhere.yaml: no such file")
	expect(".", "lint --config= manifests", 2, "--config is empty")
	expect(".", "lint --config=other.yaml --no-config manifests", 2, "use only one of them")
	expect("below", "lint", 0, silenced)
	expect("below", "lint x.yaml", 0, silenced)
	expect("repository", "lint x.yaml", 0, "x.yaml:53:13: warning")
	expect("repository", "lint", 2, "no FILE given")
	expect("own", "lint x.yaml", 0, "x.yaml:53:13: warning")
	expect("folder", "lint", 2, ".capkit.yaml is a directory, and settings are in a file: rename it, or name a file with --config")
	expect("folder", "lint --no-config ../below", 0, "[region-unknown]")
	expect("link", "lint", 2, "open .capkit.yaml: no such file or directory")
	expect("wrong", "lint x.yaml", 2, ".capkit.yml is not read, because the settings have the name .capkit.yaml: rename it, or remove it")
	expect("wrong/below", "lint ../x.yaml", 2, "../.capkit.yml is not read")
	expect("wrong", "lint --config=.capkit.yml x.yaml", 1, "[region-unknown]")
	expect("wrong", "lint --no-config x.yaml", 0, "[region-unknown]")
	expect("both", "report ../below", 2, ".capkit.yml is not read")
	expect("gone", "lint", 2, "inputs of .capkit.yaml: shoot: no such file")
	expect(".", "lint --no-config floating", 0, "[floating-pool-domain]")
	expect(".", "lint -q --config=domain.yaml floating", 1, "")
	expect(".", "lint -q --config=domain.yaml --domain=fp-domain floating", 1, "fp-pool-example")
}

func TestSettingsOfTheDocuments(t *testing.T) {
	file, manifest := root+"/docs/examples/settings.yaml", shoot(t)
	if r := run(t, manifest, "lint", "--config", file, "-"); r.status != 1 || !strings.Contains(r.stdout, "[profile-missing]") {
		t.Error(r)
	}
	inFolder(t, map[string]string{
		"acme.yaml": strings.Replace(read(t, root+"/docs/examples/metal-stack.yaml"), "type: metal", "type: acme", 1),
		"all.yaml":  regexp.MustCompile(`(?m)^# ([a-z]\w+:| *- |  reason)`).ReplaceAllString(read(t, file), "$1"),
	})
	if r := run(t, manifest, "lint", "--config", "all.yaml", "-"); r.status != 0 || !strings.Contains(r.stderr, "no warnings; 1 finding silenced") {
		t.Error(r)
	}
}

// YAML has several spellings of true and false.
func TestSettingsWithOtherSpellings(t *testing.T) {
	inFolder(t, map[string]string{".capkit.yaml": "gardener: {featureGates: {InPlaceNodeUpdates: True, VersionClassificationLifecycle: FALSE}}\n"})
	if r := run(t, unknownRegion(t), "lint", "-"); r.status != 0 || !strings.Contains(r.stdout, "[region-unknown]") {
		t.Errorf("%+v", r)
	}
}

func TestSettingsThatAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"disabel: []\n":    `1:1: unknown key "disabel"; did you mean disable?`,
		"fail-on: error\n": `1:1: unknown key "fail-on"; did you mean failOn?`,
		"colours: no\n": `1:1: unknown key "colours"; there are disable, domain, failOn, gardener, inputs, providerFiles, reservedInCore, ` +
			"webhook",
		"gardener-version: v1.150.0\n":                            `1:1: unknown key "gardener-version": write version below gardener`,
		"featureGates: {}\n":                                      `1:1: unknown key "featureGates": write it below gardener, each gate with true or false`,
		"no-webhook: true\n":                                      `1:1: unknown key "no-webhook": write webhook: validating`,
		"providerFile: a.yaml\n":                                  `1:1: unknown key "providerFile": write providerFiles, which is a list`,
		"disable: region-unknown\n":                               "1:10: write a list of entries with a rule and a reason",
		"disable: [region-unknown]\n":                             "1:11: write a mapping with the keys reason, rule",
		"disable:\n- rule: syntax\n":                              "2:9: syntax cannot be silenced",
		"disable:\n- rule: regon-unknown":                         "2:9: there is no rule regon-unknown; did you mean region-unknown?",
		"disable:\n- rule: region-unknown":                        `2:3: the key "reason" is missing`,
		"disable:\n- rule: region-unknown\n  reason: ''\n":        "3:11: write why the rule does not count, as text",
		"disable:\n- rule: region-unknown\n  raeson: x\n":         `3:3: unknown key "raeson"; did you mean reason?`,
		"failOn: never\n":                                         "1:9: write error, warning or skipped",
		"domain: 3\n":                                             "1:9: write the name of the domain, as text",
		"reservedInCore: often\n":                                 "1:17: write true or false",
		"inputs: a\n":                                             "1:9: write a list of files and directories",
		"inputs: [1]\n":                                           "1:10: write a file or a directory, as text",
		"domain: a\ndomain: b\n":                                  `2:1: the key "domain" is already given in line 1; remove one of the two`,
		"- a\n":                                                   "1:1: write a mapping with the keys disable",
		"domain: a\n---\ndomain: b\n":                             "3:1: there is a second document",
		"domain: a\n---\n{b\n":                                    "3:1: there is more text after the end of the document: write all settings into one",
		"{domain: a}\n}\n":                                        "2:1: there is more text after the end of the document: write all settings into one",
		" domain: a\nfailOn: error\n":                             "2:1: there is more text after the end of the document: write all settings into one",
		"gardener: v1.150.0\n":                                    "1:11: write a mapping with the keys featureGates, version",
		"gardener: {version: v1.x}\n":                             `1:21: "v1.x" is not a version of Gardener: write one like v1.150.0`,
		"gardener: {featureGates: [A]}\n":                         "1:26: write a mapping of feature gates to true or false",
		"gardener: {featureGates: {InPlaceNodeUpdate: true}}\n":   "1:27: unknown feature gate InPlaceNodeUpdate; did you mean InPlaceNodeUpdates?",
		"gardener: {featureGates: {InPlaceNodeUpdates: maybe}}\n": "1:47: write true or false",
		"gardener: {featureGates: {InPlaceNodeUpdates: true, InPlaceNodeUpdates: false}}\n": "1:53: the feature gate InPlaceNodeUpdates is already given",
		"disable:\n- \n":      "2:2: write a mapping with the keys reason, rule",
		"domain: [\n":         ".capkit.yaml:1:1: not valid YAML",
		"a: &a [*a]\nb: *c\n": ".capkit.yaml:2:1: not valid YAML",
	} {
		inFolder(t, map[string]string{".capkit.yaml": text})
		r := run(t, unknownRegion(t), "lint", "-")
		if r.status != 2 || r.stdout != "" || !strings.HasPrefix(r.stderr, "capkit: .capkit.yaml:") || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: status %d: %s\nwant: %s", text, r.status, r.stderr, want)
		}
		if r := run(t, "", "version", "--check-config"); r.status != 1 || r.stderr != "" || !strings.HasPrefix(r.stdout, ".capkit.yaml:") ||
			!strings.Contains(r.stdout, want) {
			t.Errorf("%q checked: status %d: %s%s\nwant: %s", text, r.status, r.stdout, r.stderr, want)
		}
	}
	inFolder(t, map[string]string{".capkit.yaml": "a: 1\nfailOn: x\nb: 2\n"})
	if r := run(t, "", "lint", "-"); strings.Count(r.stderr, "\n") != 3 {
		t.Errorf("not everything at once: %s", r.stderr)
	}
	if r := run(t, "", "version", "--check-config"); strings.Count(r.stdout, "\n") != 3 {
		t.Errorf("not everything at once: %s", r.stdout)
	}
}

// The settings in a repository may be a link to an endless device.
func TestSettingsWithoutAnEnd(t *testing.T) {
	profile := read(t, examples+"/cloudprofile.yaml")
	for _, name := range []string{".capkit.yaml", ".capkitignore", "cloud.yaml"} {
		t.Chdir(t.TempDir())
		write(t, "profile.yaml", profile)
		if name == "cloud.yaml" {
			write(t, ".capkit.yaml", "providerFiles: [cloud.yaml]")
		}
		if err := os.Symlink("/dev/zero", name); err != nil {
			t.Fatal(err)
		}
		if r := run(t, "", "lint", "."); r.status != 2 || !strings.Contains(r.stderr, name+" is a device, and not read") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// The same is true for files that are given by name.
func TestNamedFilesWithoutAnEnd(t *testing.T) {
	inFolder(t, map[string]string{"profile.yaml": read(t, examples+"/cloudprofile.yaml")})
	if err := os.Symlink("/dev/zero", "zero.yaml"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OS_CLIENT_CONFIG_FILE", "zero.yaml")
	t.Setenv("KUBECONFIG", "zero.yaml")
	for _, args := range [][]string{
		{"import", "profile.yaml", "--from", "list:zero.yaml"}, {"import", "profile.yaml", "--from", "inventory:zero.yaml", "--match", "name=*"},
		{"import", "profile.yaml", "--from", "gardenlinux:zero.yaml"}, {"verify", "profile.yaml", "--inventory", "zero.yaml"},
		{"inventory", "openstack", "--os-cloud", "x"}, {"lint", "-A"}, {"lint", "-A", "--kubeconfig", "zero.yaml"},
	} {
		if r := run(t, "", args...); r.status != 2 || !strings.Contains(r.stderr, "zero.yaml: it is larger than 32 MiB") {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

// Settings are checked even if they apply to nothing.
func TestSettingsThatAreChecked(t *testing.T) {
	inFolder(t, map[string]string{
		"with/.git/HEAD": "", "with/.capkit.yaml": "inputs: [missing/]\nfailOn: warning\n", "with/below/x": "", "without/.git/HEAD": "", "dev.yaml": "a: b\n",
		"newer/.capkit.yaml": "gardener: {version: v1.151.0}\n",
	})
	for _, tc := range []struct {
		folder, line   string
		status         int
		stdout, stderr string
	}{
		{"with", "version --check-config", 0, ".capkit.yaml: capkit dev understands all of it\n", ""},
		{"with/below", "version --check-config", 0, "../.capkit.yaml: capkit dev understands all of it\n", ""},
		{"with", "version --check-config --config ../dev.yaml", 1, "../dev.yaml:1:1: unknown key \"a\"", ""},
		{
			"newer", "version --check-config", 0, ".capkit.yaml: capkit dev understands all of it\n",
			"note: Gardener v1.151.0 is newer than the newest one that is known; it is judged by the rules of v1.150\n",
		},
		{"without", "version --check-config", 2, "", "capkit: there is no .capkit.yaml here or in a folder above: name a file with --config\n"},
		{"without", "version --check-config --config x.yaml", 2, "", "capkit: open x.yaml: no such file or directory\n"},
		{"with", "version --config ../dev.yaml", 2, "", "capkit: --config goes with --check-config: use both\n"},
		{"with", "version --check-config -o json", 2, "", "capkit: --check-config has one form of output: leave out -o\n"},
	} {
		t.Run(tc.line, func(t *testing.T) {
			t.Chdir(tc.folder)
			r := run(t, "", strings.Fields(tc.line)...)
			if r.status != tc.status || !strings.HasPrefix(r.stdout, tc.stdout) || (r.stdout == "") != (tc.stdout == "") || r.stderr != tc.stderr {
				t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
			}
		})
	}
}
