// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changedLines returns the removed and added lines of a diff.
func changedLines(diff string) (changed []string) {
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") {
			changed = append(changed, line[:1]+strings.TrimSpace(line[1:]))
		}
	}
	return changed
}

// Unambiguous mistakes are repaired, and no other line changes.
func TestFix(t *testing.T) {
	clean := read(t, root+"/example/cloudprofile.yaml")
	for name, tc := range map[string]struct {
		from, to string // the misspelt text
	}{
		"flavor":                      {"- architecture: [arm64]", "- architecture: arm64"},
		"list":                        {"architecture: [arm64]", "architecture: arm64"},
		"field":                       {"keystoneURL:", "keyStoneURL:"},
		"slip":                        {"  machineTypes:", "  machineType:"},
		"slip in the provider config": {"        capabilityFlavors:", "        capabilityFlavor:"},
		"region":                      {"- name: europe\n            id", "- name: eurpoe\n            id"},
		"region, a letter less":       {"- name: europe\n            id", "- name: europ\n            id"},
		"type":                        {"type: openstack", "type: OpenStack"},
		"kind":                        {"kind: CloudProfile\n", "kind: Cloudprofiles\n"},
		"version":                     {"apiVersion: core.gardener.cloud/v1beta1", "apiVersion: core.gardener.cloud/v1"},
		"alias":                       {"capabilities:\n            architecture: [amd64]", "capabilities:\n            architecture: [x86_64]"},
		"another":                     {"capabilities:\n            architecture: [amd64]", "capabilities:\n            architecture: [x64]"},
		"in core":                     {"capabilities:\n      architecture: [amd64]", "capabilities:\n      architecture: [x86_64]"},
		"spelling":                    {"capabilities:\n            architecture: [amd64]", "capabilities:\n            Architecture: [amd64]"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(clean, tc.from) {
				t.Fatalf("no %q in the profile", tc.from)
			}
			broken := strings.Replace(clean, tc.from, tc.to, 1)
			inFolder(t, map[string]string{"a.yaml": broken})
			r := run(t, "", "lint", "--fix", "a.yaml")
			if r.status != 0 || read(t, "a.yaml") != broken || len(changedLines(r.stdout)) != 2 {
				t.Fatalf("status %d: %s%s", r.status, r.stdout, r.stderr)
			}
			contains(t, r.stderr, "would repair: a.yaml:", "1 repair in 1 file; remaining: no errors, no warnings; -w changes the files, and lints them again\n")
			if r := run(t, broken, "lint", "--fix", "-"); len(changedLines(r.stdout)) != 2 {
				t.Errorf("of standard input: %s%s", r.stdout, r.stderr)
			}
			r = run(t, "", "lint", "--fix", "-w", "--fail-on=warning", "a.yaml")
			if diff := cmp.Diff(clean, read(t, "a.yaml")); diff != "" || r.status != 0 {
				t.Errorf("status %d: %s%s", r.status, diff, r.stderr)
			}
			if r := run(t, "", "lint", "--fix", "a.yaml"); r.stdout != "" || r.stderr != "nothing to repair; remaining: no errors, no warnings\n" {
				t.Errorf("again: %v", r)
			}
		})
	}
}

// The region of a Shoot is repaired, unless the profile may be the one that misspells it, or another one may be meant.
func TestFixOfAShootsRegion(t *testing.T) {
	shoot, profile := read(t, examples+"/shoot.yaml"), read(t, examples+"/cloudprofile.yaml")
	misspelt := strings.ReplaceAll(profile, "- name: europe\n", "- name: eurpoe\n")
	for _, tc := range []struct{ region, profile, want string }{
		{"europ", profile, "europe"}, {"Europe", profile, "europe"}, {"euro", profile, "euro"},
		{"europe", misspelt, "europe"}, {"europ", misspelt, "europ"},
	} {
		wrong := strings.Replace(shoot, "region: europe", "region: "+tc.region, 1)
		inFolder(t, map[string]string{"a.yaml": wrong, "b.yaml": tc.profile})
		r := run(t, "", "lint", "--fix", "-w", "a.yaml", "b.yaml")
		if want := strings.Replace(shoot, "region: europe", "region: "+tc.want, 1); read(t, "a.yaml") != want {
			t.Errorf("%s: %s%s", tc.region, r.stderr, cmp.Diff(want, read(t, "a.yaml")))
		}
	}
}

// An object with many findings is not decoded for each of them.
func TestFixOfManyFindings(t *testing.T) {
	regions := "  regions:\n"
	for i := range 900 {
		regions += fmt.Sprintf("  - name: r%d\n    zones:\n    - name: a\n      unavailableMachineTypes: [[type-%d]]\n", i, i)
	}
	inFolder(t, map[string]string{"a.yaml": strings.Replace(read(t, root+"/example/cloudprofile.yaml"), "  regions:\n", regions, 1)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := run(t, "", "lint", "--fix", "a.yaml")
	runtime.ReadMemStats(&after)
	contains(t, r.stderr, "nothing to repair; remaining: 900 errors")
	if megabytes := (after.TotalAlloc - before.TotalAlloc) >> 20; megabytes > 400 {
		t.Errorf("%d megabytes were allocated", megabytes)
	}
}

// A name is replaced by an object with that name.
func TestFixMakesAnObject(t *testing.T) {
	inFolder(t, map[string]string{"a.yaml": strings.Replace(read(t, root+"/example/cloudprofile.yaml"), "- name: europe-1a", "- europe-1a", 1)})
	r := run(t, "", "lint", "--fix", "-w", "--fail-on=warning", "a.yaml")
	contains(t, r.stderr, "europe-1a is now {name: europe-1a} [field-type]\n", "no errors, no warnings")
	if !strings.Contains(read(t, "a.yaml"), "    - {name: europe-1a}\n    - name: europe-1b\n") || r.status != 0 {
		t.Errorf("status %d: %s", r.status, read(t, "a.yaml"))
	}
}

// Regions of the legacy format with one misspelt architecture are one flavor, with one finding. All of them are repaired.
func TestFixOfAnArchitecture(t *testing.T) {
	clean := read(t, root+"/example/cloudprofile-legacy.yaml")
	inFolder(t, map[string]string{"a.yaml": strings.ReplaceAll(clean, "architecture: arm64", "architecture: aarch64")})
	r := run(t, "", "lint", "--fix", "-w", "a.yaml")
	if diff := cmp.Diff(clean, read(t, "a.yaml")); diff != "" || r.status != 0 {
		t.Errorf("status %d: %s%s", r.status, diff, r.stderr)
	}
}

// An architecture that the profile registers by another name is replaced everywhere, in core and in the provider config.
func TestFixOfARegisteredArchitecture(t *testing.T) {
	for file, other := range map[string]string{"cloudprofile.yaml": "x86_64", "aws/cloudprofile.yaml": "aarch64"} {
		clean := read(t, root+"/example/"+file)
		right := map[string]string{"x86_64": "amd64", "aarch64": "arm64"}[other]
		inFolder(t, map[string]string{"a.yaml": regexp.MustCompile(`\b`+right+`\b([^:\n]*\]|\n)`).ReplaceAllString(clean, other+"$1")})
		r := run(t, "", "lint", "--fix", "-w", "a.yaml")
		if diff := cmp.Diff(clean, read(t, "a.yaml")); diff != "" || r.status != 0 || strings.Count(r.stderr, "repaired: ") != 1 {
			t.Errorf("%s: status %d: %s%s", file, r.status, diff, r.stderr)
		}
	}
}

// A word is replaced in place: the order of members, comments, quotes and blank lines stay.
func TestFixMovesNothing(t *testing.T) {
	for _, c := range [][2]string{
		{"        - id: a # the first\n          name: eurpoe\t# a large one\n\n          # of arm\n          architecture: arm64\n", "name: europe\t#"},
		{"        - {id: a, name: \"eurpoe\", architecture: arm64} # the first\n", "name: \"europe\","},
		{"        - name: europe # the first\n          id: a\n\n          # of arm\n          Architecture: arm64 # all\n", "  architecture: arm64 #"},
		{
			"        # the first\n        - # of arm\n          name: europe\n          ARCHITECTURE: arm64\n          # last\n          id: a\n",
			"  architecture: arm64\n",
		},
	} {
		wrong, right := c[0], c[1]
		before := head + ofOpenStack + "    machineImages:\n    - name: linux\n      versions:\n      - version: 1.0.0\n        regions:\n" + wrong
		inFolder(t, map[string]string{"a.yaml": before})
		run(t, "", "lint", "--fix", "-w", "a.yaml")
		was, is := strings.SplitAfter(before, "\n"), strings.SplitAfter(read(t, "a.yaml"), "\n")
		different := 0
		for i := range min(len(was), len(is)) {
			if was[i] != is[i] {
				different++
			}
		}
		if different != 1 || len(was) != len(is) || !strings.Contains(strings.Join(is, ""), right) {
			t.Errorf("%q is not in\n%s", right, strings.Join(is, ""))
		}
	}
}

// Ambiguous mistakes, and mistakes whose repair would cause others, are left alone.
func TestFixLeavesAlone(t *testing.T) {
	clean := read(t, root+"/example/cloudprofile.yaml")
	for name, text := range map[string]string{
		"another region": strings.NewReplacer(
			"- name: asia\n            id", "- name: eu-de-2\n            id", "- name: asia", "- name: eu-de-1").Replace(clean),
		"the region itself":      strings.Replace(clean, "- name: europe\n    zones", "- name: eurpoe\n    zones", 1),
		"the region is there":    read(t, root+"/example/broken/region-unknown.yaml"),
		"several values":         strings.Replace(clean, "architecture: [arm64]", "architecture: amd64, arm64", 1),
		"what cannot be guessed": read(t, root+"/example/broken/provider-flavor-missing.yaml"),
		"what is silenced":       "# capkit:ignore provider-unknown: on purpose\n" + strings.Replace(clean, "type: openstack", "type: OpenStack", 1),
		"nothing is wrong":       clean,
	} {
		inFolder(t, map[string]string{"a.yaml": text})
		before := run(t, "", "lint", "a.yaml")
		r := run(t, "", "lint", "--fix", "-w", "a.yaml")
		if read(t, "a.yaml") != text || strings.Contains(r.stderr, "repaired") || r != before {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// One repair reveals a mistake that the next one repairs. The remaining ones are reported.
func TestFixSeveral(t *testing.T) {
	broken := strings.NewReplacer("keystoneURL:", "KeystoneURL:", "type: openstack", "type: Openstack", "architecture: [arm64]", "architecture: arm64").
		Replace(read(t, root+"/example/broken/provider-image-unused.yaml"))
	inFolder(t, map[string]string{"a.yaml": broken})
	r := run(t, "", "lint", "--fix", "-w", "-o", "github", "a.yaml")
	contains(t, r.stderr, "KeystoneURL is now keystoneURL [unknown-field]\n", "Openstack is now openstack [provider-unknown]\n")
	if !strings.HasPrefix(r.stdout, "::warning title=provider-image-unused,") || strings.Count(r.stdout, "\n") != 1 {
		t.Error(r.stdout)
	}
}

// A preview ends with the status of the remaining findings, like -w, and takes flags, comments and settings into account.
func TestFixEnds(t *testing.T) {
	clean, unknown := read(t, root+"/example/cloudprofile.yaml"), unknownRegion(t)
	missing := read(t, root+"/example/broken/provider-flavor-missing.yaml")
	for name, tc := range map[string]struct {
		text, args string
		status     int
		said       string
	}{
		"nothing wrong": {clean, "", 0, "nothing to repair; remaining: no errors, no warnings\n"},
		"all repaired": {
			strings.ReplaceAll(clean, "architecture: [arm64]", "architecture: arm64"), "", 0, "3 repairs in 1 file; remaining: no errors, no warnings; -w changes",
		},
		"an error remains":  {missing, "", 1, "nothing to repair; remaining: 1 error, no warnings\n"},
		"one of two":        {strings.Replace(missing, "keystoneURL:", "KeystoneURL:", 1), "", 1, "1 repair in 1 file; remaining: 1 error, no warnings; -w changes"},
		"a warning remains": {unknown, "", 0, "nothing to repair; remaining: no errors, 1 warning\n"},
		"which counts":      {unknown, "--fail-on=warning", 1, "nothing to repair; remaining: no errors, 1 warning\n"},
		"which is disabled": {unknown, "--fail-on=warning --disable=region-unknown", 0, "nothing to repair; remaining: no errors, no warnings\n"},
		"quiet":             {missing, "-q", 1, ""},
		"a silenced error": {
			missing, "-q --disable=provider-flavor-missing", 0,
			"note: silenced, but still refused by admission: provider-flavor-missing 1\n",
		},
		"a repair that is disabled": {
			strings.Replace(clean, "- name: europe\n            id", "- name: eurpoe\n            id", 1), "--disable=region-unknown", 0,
			"nothing to repair; remaining: no errors, 1 warning\n",
		},
		"a notation that prevents a repair": {
			strings.Replace(clean, "  type: openstack\n", "  type: |-\n    OPENSTACK\n", 1), "", 1,
			"cannot repair: a.yaml:8: a value of several lines would have to become another one; write it anew [provider-unknown]\n" +
				"nothing to repair; remaining: 1 error, no warnings\n",
		},
		"and is not said quietly": {strings.Replace(clean, "  type: openstack\n", "  type: |-\n    OPENSTACK\n", 1), "-q", 1, ""},
	} {
		inFolder(t, map[string]string{"a.yaml": tc.text})
		preview := run(t, "", append([]string{"lint", "--fix", "a.yaml"}, strings.Fields(tc.args)...)...)
		if preview.status != tc.status || !strings.Contains(preview.stderr, tc.said) || tc.said == "" && preview.stderr != "" {
			t.Errorf("%s: status %d: %s", name, preview.status, preview.stderr)
		}
		if r := run(t, "", append([]string{"lint", "--fix", "-w", "a.yaml"}, strings.Fields(tc.args)...)...); r.status != tc.status {
			t.Errorf("%s, with -w: status %d: %s", name, r.status, r.stderr)
		}
	}
}

// Without a write, nothing is reported as repaired. The error names the file that the user knows.
func TestFixThatCannotBeWritten(t *testing.T) {
	broken := strings.ReplaceAll(read(t, root+"/example/cloudprofile.yaml"), "architecture: [arm64]", "architecture: arm64")
	name := strings.Repeat("a", 245) + ".yaml" // a temporary file beside it cannot have a longer name
	inFolder(t, map[string]string{name: broken})
	r := run(t, "", "lint", "--fix", "-w", name)
	want := "capkit: " + name + " cannot be written: no new file can be made in its folder: file name too long\n"
	if r.status != 2 || r.stdout != "" || r.stderr != want || read(t, name) != broken {
		t.Errorf("%+v", r)
	}
}

// All mistakes of one object are repaired at once. Those that cannot be repaired are left and reported.
func TestFixMany(t *testing.T) {
	clean := read(t, root+"/example/cloudprofile.yaml")
	with := func(architecture string) string {
		types := ""
		for i := range 300 {
			value := map[bool]string{true: architecture, false: "7"}[i%3 > 0]
			types += fmt.Sprintf("  - {name: m%d, cpu: '4', gpu: '0', memory: 8Gi, capabilities: {architecture: %s, hypervisor: [virtualized]}}\n", i, value)
		}
		return strings.Replace(clean, "  machineTypes:\n", "  machineTypes:\n"+types, 1)
	}
	inFolder(t, map[string]string{"a.yaml": with("amd64")})
	r := run(t, "", "lint", "--fix", "a.yaml")
	contains(t, r.stderr, "\n200 repairs in 1 file; remaining: 100 errors, no warnings; ")
	run(t, "", "lint", "--fix", "-w", "a.yaml")
	if diff := cmp.Diff(with("[amd64]"), read(t, "a.yaml")); diff != "" {
		t.Error(diff)
	}
	// Only one of two regions can be repaired, because the other one already exists.
	two := strings.NewReplacer("- name: europe\n            id: 1234-amd64-virt", "- name: eurpoe\n            id: 1234-amd64-virt",
		"- name: asia\n            id: 5678-amd64-virt",
		"- name: aisa\n            id: 5678-amd64-virt\n          - name: asia\n            id: other").Replace(clean)
	inFolder(t, map[string]string{"a.yaml": two})
	r = run(t, "", "lint", "--fix", "a.yaml")
	contains(t, r.stderr, "eurpoe is now europe [region-unknown]\n1 repair in 1 file; remaining: no errors, 1 warning; ")
	if diff := cmp.Diff([]string{"-- name: eurpoe", "+- name: europe"}, changedLines(r.stdout)); diff != "" || r.status != 0 {
		t.Errorf("status %d: %s", r.status, diff)
	}
}

func TestFixFlags(t *testing.T) {
	inFolder(t, map[string]string{"a.yaml": ""})
	for command, want := range map[string]string{
		"lint -w a.yaml":             "-w goes with --fix",
		"lint --fix -o json a.yaml":  "--fix prints a diff: -o goes with --fix -w",
		"lint --fix -w -":            "standard input cannot be changed",
		"lint --fix -w nowhere.yaml": "nowhere.yaml: no such file",
	} {
		if r := run(t, "", strings.Fields(command)...); r.status != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %v", command, r)
		}
	}
}

// Gardener's own capabilities get the names of the second text of GEP-0054 everywhere, and their missing values. Values that the
// registration has implied for silent flavors are removed again, in both lists.
func TestFixOfReservedCapabilities(t *testing.T) {
	registered := read(t, root+"/docs/examples/reserved-in-core.yaml")
	inOldWords := strings.NewReplacer("gardener-boot-type", "gardener-bootType").Replace(registered)
	inPlace := strings.NewReplacer("gardener-boot-type", "gardener-update-type", "standard", "rolling", "secure", "in-place").Replace(registered)
	for name, tc := range map[string]struct {
		broken, want string
	}{
		"all in the words of the first text": {inOldWords, registered},
		"values, too": {
			strings.NewReplacer("gardener-update-type", "gardener-updateType", "in-place]", "inPlace]").Replace(inPlace), inPlace,
		},
		"one of them": {strings.Replace(registered, "            gardener-boot-type: [secure]", "            gardener-bootType: [secure]", 1), registered},
		"half a registration": {
			strings.Replace(registered, "values: [standard, secure]", "values: [secure]", 1), registered,
		},
		"a silent flavor": {
			strings.NewReplacer("        gardener-boot-type: [standard] # who says nothing claims to have both\n", "",
				"            gardener-boot-type: [standard]\n", "").Replace(registered),
			strings.Replace(registered, "[standard] # who says nothing claims to have both", "[standard]", 1),
		},
		"half a registration, and a flavor that is silent about it": {
			strings.NewReplacer("values: [standard, secure]", "values: [secure]",
				"        gardener-boot-type: [standard] # who says nothing claims to have both\n", "",
				"            gardener-boot-type: [standard]\n", "").Replace(registered),
			strings.Replace(registered, "[standard] # who says nothing claims to have both", "[standard]", 1),
		},
		"a value of the other text": {
			strings.Replace(inPlace, "            gardener-update-type: [in-place]", "            gardener-update-type: [inPlace]", 1), inPlace,
		},
		"a misspelt name": {
			strings.Replace(registered, "            gardener-boot-type: [secure]", "            gardener-boottype: [secure]", 1), registered,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inFolder(t, map[string]string{"a.yaml": tc.broken})
			r := run(t, "", "lint", "--reserved-in-core", "--fix", "-w", "--fail-on=warning", "a.yaml")
			if diff := cmp.Diff(tc.want, read(t, "a.yaml")); diff != "" || r.status != 0 {
				t.Errorf("status %d: %s%s%s", r.status, diff, r.stdout, r.stderr)
			}
		})
	}
}

// An incomplete registration hides that ordinary worker pools have no image. That this appears must not prevent the repair.
func TestFixOfHalfARegistration(t *testing.T) {
	inFolder(t, map[string]string{"a.yaml": read(t, root+"/example/broken/reserved-capability-incomplete.yaml")})
	r := run(t, "", "lint", "--reserved-in-core", "--fix", "-w", "a.yaml")
	contains(t, r.stdout, "[image-version-only-on-request]")
	contains(t, r.stderr, "repaired: a.yaml:15: gardener-boot-type has [standard, secure] [reserved-capability-incomplete]\n", "no errors, 1 warning")
}

// The repair of a flavor changes the text of warnings that quote it, which must not prevent the repair.
func TestFixOfWhatAWarningQuotes(t *testing.T) {
	registered := read(t, root+"/docs/examples/reserved-in-core.yaml")
	byName := strings.Replace(registered, "          regions:\n          - name: europe\n            id: 4230-amd64\n", "          image: linux\n", 1)
	if byName == registered {
		t.Fatal("the flavor has another reference")
	}
	inFolder(t, map[string]string{"a.yaml": strings.NewReplacer("        gardener-boot-type: [standard] # who says nothing claims to have both\n", "",
		"            gardener-boot-type: [standard]\n", "").Replace(byName)})
	r := run(t, "", "lint", "--reserved-in-core", "--fix", "-w", "a.yaml")
	contains(t, r.stdout, "[image-name-fallback]")
	contains(t, r.stderr, "repaired: a.yaml:54: gardener-boot-type is [standard] [reserved-capability-silent]\n", "no errors, 1 warning")
	want := strings.Replace(byName, "[standard] # who says nothing claims to have both", "[standard]", 1)
	if diff := cmp.Diff(want, read(t, "a.yaml")); diff != "" || r.status != 0 {
		t.Errorf("status %d: %s%s%s", r.status, diff, r.stdout, r.stderr)
	}
}

// Objects with generated names are repaired, and keep the names in reports, even if other files have similar objects.
func TestFixOfGeneratedNames(t *testing.T) {
	shoot := strings.Replace(read(t, examples+"/shoot.yaml"), "  name: shop\n", "  generateName: shop-\n", 1)
	wrong := strings.NewReplacer("zones: [europe-1a]", "zones: europe-1a", "zones: [europe-1b]", "zones: [europe-1x]").Replace(shoot)
	dir := t.TempDir()
	files := map[string]string{"a.yaml": wrong, "b.yaml": shoot, "c.yaml": joined(shoot, wrong), "d.yaml": read(t, examples+"/cloudprofile.yaml")}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	r := run(t, "", "lint", "--fix", "-w", dir)
	contains(t, r.stderr, "repaired: "+filepath.Join(dir, "a.yaml")+":43: ", "repaired: "+filepath.Join(dir, "c.yaml")+":",
		"5 objects checked: 2 errors, no warnings")
	contains(t, r.stdout, "Shoot garden-demo/shop-00001: ", "Shoot garden-demo/shop-00004: ")
	for _, name := range []string{"a.yaml", "c.yaml"} {
		if is, want := read(t, filepath.Join(dir, name)), strings.ReplaceAll(files[name], "zones: europe-1a", "zones: [europe-1a]"); is != want {
			t.Errorf("%s: %s", name, is)
		}
	}
}

// A file that is given twice, even through a link, is repaired once. Otherwise the second write would overwrite the first repair.
func TestFixOfALink(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "profile.yaml")
	before := read(t, examples+"/cloudprofile.yaml")
	write(t, file, strings.Replace(strings.Replace(before, "- architecture: [amd64]", "- architecture: amd64", 1),
		"          regions:\n          - name: europe\n", "          regions:\n          - name: europee\n", 1))
	if err := os.Symlink("profile.yaml", filepath.Join(dir, "z.yaml")); err != nil {
		t.Fatal(err)
	}
	r := run(t, "", "lint", "--fix", "-w", dir)
	contains(t, r.stderr, "1 object checked: no errors, no warnings")
	if r.status != 0 || strings.Count(r.stderr, "repaired: ") != 2 || read(t, file) != before {
		t.Errorf("%+v\n%s", r, read(t, file))
	}
}
