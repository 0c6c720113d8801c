// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/capkit/capkit/internal/testing/cases"
)

func TestLintFindsEverythingAtItsPlace(t *testing.T) {
	cases.Run(t, "testdata/lint.txtar", func(c *cases.Case) string { return places(c.T(), manifests(c)...) })
}

// Malicious input gets one clear finding, and the documents beside it are still checked.
func TestHostileInput(t *testing.T) {
	bomb := "x:\n- &a [" + strings.Repeat("x,", 50) + "]\n"
	for c := 'b'; c < 'm'; c++ {
		bomb += fmt.Sprintf("- &%c [%s]\n", c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 50))
	}
	for name, tc := range map[string]struct{ manifest, want string }{
		"alias bomb":         {"apiVersion: v1\nkind: A\n" + bomb, "too-large"},
		"deep nesting":       {"apiVersion: v1\nkind: A\nx: " + strings.Repeat("[", 100000), "too-large"},
		"deep nesting, JSON": {`{"a":` + strings.Repeat(`{"a":`, 100000), "too-large"},
		"binary":             {"\x00\x01\x02", "syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			report := lint(t, joined(tc.manifest+"\n", cloudProfile(t)), "-")
			if got := rules(report); got[len(got)-1] != tc.want && got[0] != tc.want {
				t.Errorf("got %v, want %s among them", got, tc.want)
			}
		})
	}
	t.Run("100 MB", func(t *testing.T) {
		report := lint(t, strings.Repeat("# nothing but comments\n", 100<<20/23), "-")
		if diff := cmp.Diff([]string{"too-large"}, rules(report)); diff != "" {
			t.Error(diff)
		}
	})
}

// A value may have megabytes. A message contains only its beginning, but is otherwise complete.
func TestLongValuesInMessages(t *testing.T) {
	certificate, region := strings.Repeat("no PEM ", 100_000), strings.Repeat("é", 300)
	manifest := strings.Replace(cloudProfile(t)+"  - name: "+region+"\n", "spec:\n", "spec:\n  caBundle: "+certificate+"\n", 1)
	text := run(t, manifest, "lint", "-").stdout
	contains(t, text,
		`error: Invalid value: "`+certificate[:200]+`… (699999 characters)": caBundle is not a valid PEM-encoded certificate [gardener-core]`,
		"in regions europe, "+strings.Repeat("é", 200)+"… (300 characters) flavor {architecture: [amd64]} is referenced by name only")
	for _, f := range lint(t, manifest, "-").Findings {
		if len(f.Message) > 1000 {
			t.Errorf("%d bytes: %.100s", len(f.Message), f.Message)
		}
	}
}

// Findings about NamespacedCloudProfiles together with their parents and Shoots.
func TestLintNamespacedCloudProfile(t *testing.T) {
	cases.Run(t, "testdata/namespaced.txtar", func(c *cases.Case) string { return places(c.T(), manifests(c)...) })
}

// wrong returns manifests with errors and warnings, an object of another kind, and a document that is not an object.
func wrong(t *testing.T) string {
	t.Helper()
	return joined("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: elsewhere\n", "- not an object\n", cloudProfile(t)+"  - name: asia\n")
}

func TestLintFormats(t *testing.T) {
	for _, format := range []string{"text", "json", "yaml", "sarif", "junit", "github"} {
		t.Run(format, func(t *testing.T) {
			r := run(t, wrong(t), "lint", "-o", format, "-")
			want := "1 object checked: 2 errors, 1 warning; 1 manifest of other kinds skipped\n"
			if format == "text" || format == "github" {
				want = "rules: image-name-fallback 1, not-an-object 1, provider-flavor-missing 1; for details, run capkit explain-rule RULE\n" + want
			}
			if r.status != 1 || r.stderr != want {
				t.Errorf("status %d: %s", r.status, r.stderr)
			}
			golden(t, "lint."+format, r.stdout)
		})
	}
}

func TestJUnitFailsForWhatCounts(t *testing.T) {
	var suites junit.Testsuites
	if err := xml.Unmarshal([]byte(run(t, wrong(t), "lint", "-o", "junit", "--fail-on=warning", "-").stdout), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Failures != 3 {
		t.Errorf("%d failures", suites.Failures)
	}
}

func TestNothingFoundInEveryFormat(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		golden(t, "nothing."+format, run(t, "", "lint", "--allow-empty", "-o", format, "-").stdout)
	}
	if text := run(t, "", "lint", "--allow-empty", "-").stdout; text != "" {
		t.Errorf("text: %q", text)
	}
}

// The API server generates names for objects with generateName, so two such objects are distinct. An object with neither name is an error.
func TestGeneratedNames(t *testing.T) {
	named, profile := read(t, examples+"/shoot.yaml"), read(t, examples+"/cloudprofile.yaml")
	generated := strings.Replace(named, "  name: shop\n", "  generateName: shop-\n", 1)
	all := joined(generated, generated, profile)
	if r := run(t, all, "lint", "-"); r.status != 0 || !strings.HasPrefix(r.stderr, "3 objects checked: no errors, no warnings") {
		t.Errorf("%+v", r)
	}
	contains(t, run(t, all, "select", "-").stdout, "garden-demo/shop-00001, worker pool web: ", "garden-demo/shop-00002, worker pool web: ")

	nameless := strings.Replace(named, "  name: shop\n", "", 1)
	report := lint(t, joined(nameless, nameless, profile), "-")
	if got := strings.Join(rules(report), " "); got != "gardener-core" || len(report.Findings) != 2 {
		t.Errorf("%s: %+v", got, report.Findings)
	}
}

// For the images of a Shoot of another cloud, only Gardener's own findings are reported, because the profile is the wrong one.
func TestImagesLeftToGardenerInAnotherCloud(t *testing.T) {
	other := strings.NewReplacer("    type: openstack\n", "    type: aws\n", "type: medium_4_8", "type: m5.large", "          version: 1877.5.0\n", "",
		"name: gardenlinux", "name: suse").Replace(read(t, examples+"/shoot.yaml"))
	report := lint(t, joined(other, read(t, examples+"/cloudprofile.yaml")), "-")
	if got := strings.Join(rules(report), " "); got != "gardener-admission provider-type-mismatch" {
		t.Errorf("%s: %+v", got, report.Findings)
	}
	for _, f := range report.Findings {
		if strings.Contains(f.Message, "m5.large") {
			t.Errorf("%+v", f)
		}
	}
}

// Errors in a manifest do not affect its generated name.
func TestGeneratedNameBesideAnError(t *testing.T) {
	shoot := strings.NewReplacer("  name: shop\n", "  generateName: shop-\n", "maximum:", "maximun:").Replace(read(t, examples+"/shoot.yaml"))
	r := run(t, joined(shoot, read(t, examples+"/cloudprofile.yaml")), "lint", "-")
	contains(t, r.stderr, "\n2 objects checked: 2 errors, no warnings; 1 manifest with errors checked as probably meant\n")
}

// A manifest is counted once, however many corrections are assumed in it.
func TestAsMeantIsCountedOnce(t *testing.T) {
	misspelt := strings.NewReplacer("  type: openstack\n", "  type: openstck\n", "  machineTypes:", "  machineType:")
	profile := misspelt.Replace(read(t, examples+"/cloudprofile.yaml"))
	contains(t, run(t, profile, "lint", "-").stderr, "\n1 object checked: 2 errors, no warnings; 1 manifest with errors checked as probably meant\n")
}

// A misspelt key in a provider config is one error: Shoots are checked as if it were correct. Errors below it are reported at their own
// lines, even if another key above is misspelt, too. --fix repairs all of them.
func TestMisspeltKeyOfAProviderConfig(t *testing.T) {
	profile, shoot := read(t, examples+"/cloudprofile.yaml"), read(t, examples+"/shoot.yaml")
	for key, misspelt := range map[string]string{
		"keystoneURL": "keystonURL", "constraints": "constraint", "floatingPools": "floatigPools", "loadBalancerProviders": "loadBalancerProvider",
		"machineImages": "machinImages", "versions": "versoins", "capabilityFlavors": "capabilityFlavor", "regions": "regons",
	} {
		before, config, _ := strings.Cut(profile, "  providerConfig:")
		config = strings.Replace(config, " "+key+":", " "+misspelt+":", 1)
		for _, configAs := range []string{"providerConfig", "providerConfg"} {
			r := run(t, joined(before+"  "+configAs+":"+config, shoot), "lint", "-")
			contains(t, r.stdout, `unknown field "`+misspelt+`"; did you mean "`+key+`"? [unknown-field]`)
			want := "1 error"
			if configAs != "providerConfig" {
				want = "2 errors"
			}
			contains(t, r.stderr, "\n2 objects checked: "+want+", no warnings; 1 manifest with errors checked as probably meant\n")
		}
	}
	twice := strings.NewReplacer("  providerConfig:", "  providerConfg:", "    constraints:", "    constraint:", "- name: fp-pool-1", "- name: ''").
		Replace(profile)
	line := strings.Count(twice[:strings.Index(twice, "- name: ''")], "\n") + 1
	contains(t, run(t, twice, "lint", "-").stdout, fmt.Sprintf("<stdin>:%d:", line))
}

// The effects of a profile's misspelt architecture on worker pools refer to it, and suggest nothing that does not exist.
func TestMisspeltArchitecture(t *testing.T) {
	profile, shoot := read(t, examples+"/cloudprofile-full.yaml"), read(t, examples+"/shoot-full.yaml")
	vocabulary := run(t, joined(strings.Replace(profile, "name: architecture", "name: architcture", 1), shoot), "lint", "-").stdout
	contains(t, vocabulary, "supported types: none; the profile has an error at spec.machineCapabilities[0].name; repair that first [gardener-admission]")
	contains(t, vocabulary, "worker pool web: the pool is for architecture arm64, and the profile registers none in spec.machineCapabilities; repair that first")
	machineType := run(t, joined(strings.Replace(profile, " architecture: [amd64]", " architcture: [amd64]", 1), shoot), "lint", "-").stdout
	contains(t, machineType, "supported types: none; the profile has an error at spec.machineTypes[0].capabilities; repair that first [gardener-admission]")
	near := run(t, strings.Replace(read(t, examples+"/cloudprofile-trusted-launch.yaml"), "values: [amd64, arm64]", "values: [am64, arm64]", 1), "lint", "-")
	contains(t, near.stdout, `value "am64" of capability architecture`)
	if strings.Contains(near.stdout, `value "arm64"`) {
		t.Errorf("arm64 is what it is:\n%s", near.stdout)
	}
}

// A misspelt name or metadata key is not reported as a missing name as well, and others can refer to the intended name.
func TestMisspeltName(t *testing.T) {
	profile, child := read(t, examples+"/cloudprofile.yaml"), read(t, examples+"/namespacedcloudprofile.yaml")
	for _, misspelt := range [][2]string{{"metadata:", "metadat:"}, {"  name:", "  naem:"}} {
		for _, profiles := range []string{
			joined(strings.Replace(profile, misspelt[0], misspelt[1], 1), child),
			joined(profile, strings.Replace(child, misspelt[0], misspelt[1], 1)),
		} {
			r := run(t, joined(profiles, read(t, examples+"/shoot.yaml"), read(t, examples+"/shoot-namespaced.yaml")), "lint", "-")
			contains(t, r.stderr, "\n4 objects checked: 1 error, no warnings; 1 manifest with errors checked as probably meant\n")
		}
	}
}

// A profile with the correct name is not hidden by one whose misspelt name means the same.
func TestMisspeltNameOfAnother(t *testing.T) {
	profile := read(t, examples+"/cloudprofile.yaml")
	other := strings.NewReplacer("  name: openstack\n", "  naem: openstack\n", "  - name: medium_4_8\n", "  - name: other_4_8\n").Replace(profile)
	for _, profiles := range []string{joined(profile, other), joined(other, profile)} {
		r := run(t, joined(profiles, read(t, examples+"/shoot.yaml")), "lint", "-")
		contains(t, r.stderr, "\n3 objects checked: 1 error, no warnings; 1 manifest with errors checked as probably meant\n")
	}
}

// Gardener refuses a Shoot whose type differs from its profile's. Commands with predictions give the same error as lint.
func TestShootOfAnotherCloudHasNoAnswer(t *testing.T) {
	other := joined(strings.Replace(read(t, examples+"/shoot.yaml"), "    type: openstack\n", "    type: aws\n", 1), read(t, examples+"/cloudprofile.yaml"))
	for _, command := range []string{"select", "explain", "maintenance"} {
		r := run(t, other, command, "-")
		contains(t, r.stderr, "<stdin>:20:5: error: the Shoot is for provider type aws, and its profile for openstack; write openstack, or refer to a profile "+
			"of the other type [provider-type-mismatch]")
		if r.status != 1 || strings.Contains(r.stdout, "gardenlinux") {
			t.Errorf("%s: status %d: %s", command, r.status, r.stdout)
		}
	}
}

// A profile may have no volume types, and then a worker pool cannot have one.
func TestNoVolumeTypes(t *testing.T) {
	profile := patched(t, read(t, examples+"/cloudprofile.yaml"), `[{op: remove, path: /spec/volumeTypes}]`)
	r := run(t, joined(profile, read(t, examples+"/shoot.yaml")), "lint", "-")
	contains(t, r.stdout, `Unsupported value: "default": supported values: none [gardener-admission]`)
}
