// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/report"
)

// The profile in the tests of package verify, and an inventory that matches it.
var (
	described = absolute("../verify/testdata/profile.yaml")
	cloud     = absolute("../verify/testdata/inventory.yaml")
)

// absolute makes a path independent of the working directory.
func absolute(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return path
}

// verified returns the result of verify on a profile and an inventory after replacing texts.
func verified(t *testing.T, profile, inventory []string, args ...string) result {
	t.Helper()
	inFolder(t, map[string]string{
		"profile.yaml":   strings.NewReplacer(profile...).Replace(read(t, described)),
		"inventory.yaml": strings.NewReplacer(inventory...).Replace(read(t, cloud)),
	})
	return run(t, "", append([]string{"verify", "--at=2026-11-27", "profile.yaml", "--inventory", "inventory.yaml"}, args...)...)
}

func TestVerifyTheTruth(t *testing.T) {
	for _, command := range []string{"verify", "verify --strict", "lint --strict --disable region-uncovered,image-name-fallback,version-expired"} {
		r := run(t, "", append(strings.Fields(command), described, "--inventory", cloud, "--fail-on=warning")...)
		if r.status != 0 || r.stdout != "" || !strings.HasPrefix(r.stderr, "1 object checked: no errors, no warnings") {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

// lies cause an error, a warning, an unread part, and an unused image.
var lies = []string{"name: medium_4_8, cpu: 4", "name: medium_4_8, cpu: 2", "visibility: community", "visibility: private", "name: gl-1592.9", "name: gl-0",
	"  volumeTypes: [{name: default}, {name: premium}]\n  networks: [{name: fp-pool-1, external: true}]", "  unread: [volumeTypes, networks]"}

func TestVerifyFormats(t *testing.T) {
	said := map[string]string{}
	t.Run("in a folder of its own", func(t *testing.T) {
		for _, format := range report.Formats() {
			r := verified(t, nil, lies, "-o", format)
			said["verify."+format] = r.stdout
			if format == "text" {
				said["verify.stderr"] = r.stderr
			}
			if r.status != 1 {
				t.Errorf("%s: %+v", format, r)
			}
		}
		said["verify-unused.text"] = verified(t, nil, lies, "--unused", "-q", "--disable=cloud-image-missing,cloud-machine-type-size,cloud-image-hidden").stdout
		said["verify-unused.json"] = verified(t, nil, lies, "--unused", "-o=json").stdout
	})
	for name, text := range said {
		golden(t, name, text)
	}
}

func TestVerifyExits(t *testing.T) {
	hidden := []string{"visibility: community", "visibility: private"}
	small := []string{"name: medium_4_8, cpu: 4", "name: medium_4_8, cpu: 2"}
	asia := []string{"- name: asia", "- name: africa"}
	for _, tc := range []struct {
		inventory, args []string
		status          int
		stdout, stderr  string
	}{
		{hidden, nil, 0, "[cloud-image-hidden]", "no errors, 1 warning"},
		{hidden, []string{"--fail-on=warning"}, 1, "[cloud-image-hidden]", "no errors, 1 warning"},
		{small, nil, 1, "[cloud-machine-type-size]", "for details, run capkit explain-rule cloud-machine-type-size"},
		{small, []string{"--disable=cloud-machine-type-size"}, 0, "", "1 finding silenced"},
		{asia, nil, 0, "", "note: there is no inventory of region asia: nothing is concluded about that"},
		{asia, []string{"-q"}, 0, "", ""},
		{[]string{"  volumeTypes: [{name: default}, {name: premium}]\n", ""}, []string{"--strict"}, 0, "",
			"note: the inventory of europe, asia does not have volumeTypes: nothing is concluded about that\n1 object"},
		{[]string{"  zones: [{name: asia-1a, available: true}]\n", ""}, nil, 0, "",
			"note: the inventory of asia does not have zones: nothing is concluded about that\n1 object"},
		{asia, []string{"--strict"}, 1, "region asia: there is no inventory; take one [cloud-unread]", "1 error"},
		{nil, []string{"--at=2028-03-01"}, 0, "", "note: inventory.yaml is 463 days old, taken on 2026-11-23: take a new one, for clouds change"},
		{nil, []string{"--at=2025-12-01"}, 1, "99999999-0000-4000-8000-000000000001", ""}, // before a version expired
		{[]string{"taken: \"2026-11-23T12:00:00Z\"\n", ""}, nil, 0, "", "note: inventory.yaml does not say when it was taken"},
		{nil, []string{"--unused"}, 0, "nothing is unused\n", ""},
		{nil, []string{"--unused", "-o=sarif"}, 2, "", "--unused has no place in -o sarif: use text, json or yaml"},
		{nil, []string{"--at=soon"}, 2, "", "invalid --at \"soon\""},
		{nil, []string{"--inventory="}, 2, "", "--inventory or --properties is empty"},
		{nil, []string{"--inventory=inventory.yaml"}, 2, "", "region europe of openstack is in inventory.yaml already: give one inventory for each region"},
		{nil, []string{"--inventory=gone.yaml"}, 2, "", "gone.yaml: no such file"},
		{nil, []string{"--inventory=profile.yaml"}, 2, "", "profile.yaml:1:1: apiVersion: apiVersion is core.gardener.cloud/v1beta1, and not capkit/v1"},
		{[]string{"provider: openstack", "provider: aws"}, nil, 2, "", "inventory.yaml: the inventory is of provider aws, and the profile of openstack"},
		{[]string{"provider: openstack", "provider: opnstack"}, nil, 2, "", "of openstack; did you mean openstack?"},
		{[]string{"  zones:", "  zone:"}, nil, 2, "",
			"inventory.yaml:19:3: regions[0].zone: unknown field \"zone\"; did you mean \"zones\"?"},
		{[]string{"2026-11-23T12", "someday"}, nil, 2, "", "inventory.yaml:4:1: taken: must be a time like"},
		{nil, []string{"--properties=inventory.yaml"}, 2, "", "inventory.yaml:2:1: kind: kind is Inventory, and not ImageProperties"},
		{nil, []string{"--properties=-"}, 2, "", "--properties names a file"},
	} {
		r := verified(t, nil, tc.inventory, tc.args...)
		if r.status != tc.status || !strings.Contains(r.stdout, tc.stdout) || !strings.Contains(r.stderr, tc.stderr) || tc.stdout == "" && r.stdout != "" {
			t.Errorf("%q %v: %+v", tc.inventory, tc.args, r)
		}
	}
	if r := verified(t, []string{"type: openstack", "type: opnstack"}, nil); r.status != 2 || !strings.HasSuffix(r.stderr, "of opnstack\n") {
		t.Errorf("%+v", r)
	}
	for command, want := range map[string]string{
		"verify " + described:                               "no inventory given: name one with --inventory",
		"verify --inventory " + cloud:                       "no FILE given",
		"verify - --inventory -":                            "standard input is either a FILE or an inventory",
		"verify --inventory " + cloud + " " + cloud:         "no CloudProfile or NamespacedCloudProfile among the inputs; 1 document skipped",
		"lint --strict " + described:                        "--strict and --properties go with --inventory",
		"lint --fix --inventory " + cloud + " " + described: "--fix repairs what lint finds by itself",
	} {
		if r := run(t, "", strings.Fields(command)...); r.status != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", command, r)
		}
	}
	if r := run(t, read(t, cloud), "verify", described, "--inventory", "-"); r.status != 0 {
		t.Error(r)
	}
	if r := run(t, read(t, described), "verify", "-", "--inventory", cloud); r.status != 0 {
		t.Error(r)
	}
}

// Many things that a region lacks are one line, unless --all is given.
func TestVerifyGroupsWhatIsMissing(t *testing.T) {
	types := "  machineTypes:\n"
	for i := range 20 {
		types += fmt.Sprintf("  - {name: gone-type-%d, cpu: 4, gpu: 0, memory: 8Gi, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}\n", i)
	}
	profile := []string{"  machineTypes:\n", types}
	r := verified(t, profile, nil)
	contains(t, r.stdout, "the cloud has no machine type gone-type-0 in regions europe, asia [cloud-machine-type-missing]\n",
		"    for the same reason 19 times more: profile.yaml:", ", and 16 more (--all shows each)\n")
	if n := strings.Count(r.stdout, "gone-type-"); n != 1 {
		t.Errorf("%d machine types are named: %s", n, r.stdout)
	}
	if n := strings.Count(verified(t, profile, nil, "--all").stdout, "[cloud-machine-type-missing]"); n != 20 {
		t.Errorf("--all: %d", n)
	}
}

// An operator's table replaces OpenStack's. Its provider must be that of the profiles.
func TestVerifyProperties(t *testing.T) {
	const head = "apiVersion: capkit/v1\nkind: ImageProperties\nprovider: openstack\nproperties:"
	inFolder(t, map[string]string{
		"profile.yaml": read(t, described), "inventory.yaml": strings.Replace(read(t, cloud), "hypervisor_type: baremetal", "hypervisor_type: virtualized", 1),
		"none.yaml": head + " []\n", "own.yaml": head + "\n- {names: [hw_firmware_type], value: UEFI, capability: architecture, only: [arm64]}\n",
		"aws.yaml": strings.Replace(head, "openstack", "aws", 1) + " []\n",
	})
	for flag, want := range map[string][]string{
		"":                       {"cloud-image-property"},
		"--properties=none.yaml": nil,
		"--properties=own.yaml":  {"cloud-image-property"},
	} {
		r := run(t, "", append(strings.Fields("verify profile.yaml --inventory inventory.yaml -o json --at 2026-11-27"), strings.Fields(flag)...)...)
		if diff := cmp.Diff(want, rules(decoded[report.Report](t, r))); diff != "" {
			t.Errorf("%s: %s", flag, diff)
		}
	}
	r := run(t, "", strings.Fields("verify profile.yaml --inventory inventory.yaml --properties aws.yaml --properties none.yaml --properties own.yaml")...)
	contains(t, r.stderr, "own.yaml: provider openstack has a table already, in none.yaml")
	r = run(t, "", strings.Fields("verify profile.yaml --inventory inventory.yaml --properties aws.yaml")...)
	contains(t, r.stderr, "the table of properties is of provider aws, and the profile of openstack")
	if r.status != 2 {
		t.Error(r)
	}
}

// Comments silence findings of both commands, and neither reports a comment as unused that may be for the other one.
func TestCommentsForVerify(t *testing.T) {
	silenced := []string{
		`  - {name: medium_4_8, cpu: "4", gpu: "0", memory: 8Gi,`, `  # capkit:ignore cloud-machine-type-size: resized next week` + "\n" +
			`  - {name: medium_4_8, cpu: "4", gpu: "0", memory: 8Gi,`,
		"image: gl-1592.9", "image: gl-1592.9 # capkit:ignore image-name-fallback: there is one of the name",
	}
	small := []string{"name: medium_4_8, cpu: 4", "name: medium_4_8, cpu: 2"}
	findings := func(command string, inventory []string) []string {
		inFolder(t, map[string]string{
			"profile.yaml":   strings.NewReplacer(silenced...).Replace(read(t, described)),
			"inventory.yaml": strings.NewReplacer(inventory...).Replace(read(t, cloud)),
		})
		var found []string
		for _, f := range decoded[report.Report](t, run(t, "", append(strings.Fields(command), "-o=json", "profile.yaml")...)).Findings {
			if !slices.Contains([]string{"region-uncovered", "version-expired"}, f.Rule) {
				found = append(found, fmt.Sprint(f.Rule, len(f.Suppressions)))
			}
		}
		slices.Sort(found)
		return found
	}
	for _, tc := range []struct {
		command   string
		inventory []string
		want      []string
	}{
		{"lint", nil, []string{"image-name-fallback1"}},
		{"verify --inventory inventory.yaml", small, []string{"cloud-machine-type-size1"}},
		{"verify --inventory inventory.yaml", nil, []string{"ignore-unused0"}},
		{"lint --inventory inventory.yaml", small, []string{"cloud-machine-type-size1", "image-name-fallback1"}},
		{"lint --inventory inventory.yaml", nil, []string{"ignore-unused0", "image-name-fallback1"}},
	} {
		if diff := cmp.Diff(tc.want, findings(tc.command, tc.inventory)); diff != "" {
			t.Errorf("%s: %s", tc.command, diff)
		}
	}
	// Admission has no inventory, so it does not refuse silenced findings of verify.
	findings("lint --inventory inventory.yaml", small)
	if r := run(t, "", "lint", "--inventory", "inventory.yaml", "profile.yaml"); r.status != 0 || strings.Contains(r.stderr, "refused by admission") {
		t.Error(r)
	}
}

const ownVersion = `---
apiVersion: core.gardener.cloud/v1beta1
kind: NamespacedCloudProfile
metadata: {name: child, namespace: garden-demo}
spec:
  parent: {kind: CloudProfile, name: openstack}
  machineTypes:
  - {name: big_8_64, cpu: "8", gpu: "0", memory: 64Gi, architecture: amd64, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}
`

// Several profiles, different clouds, and profiles that cannot be checked.
func TestVerifySeveralProfiles(t *testing.T) {
	inFolder(t, map[string]string{
		"all.yaml": read(t, described) + ownVersion, "inventory.yaml": read(t, cloud), "child.yaml": ownVersion,
		"aws.yaml": strings.Replace(strings.Split(read(t, described), "  machineImages:")[0], "type: openstack", "type: aws", 1) +
			"  regions:\n  - {name: eu-west-1}\n",
		"unknown.yaml": strings.NewReplacer("type: openstack", "type: unheard", "name: openstack\nspec", "name: unheard\nspec").Replace(read(t, described)),
		"inventory2.yaml": "apiVersion: capkit/v1\nkind: Inventory\nprovider: unheard\ntaken: \"2026-11-23T12:00:00Z\"\n" +
			"regions: [{name: europe, machineTypes: [], zones: []}]\n",
	})
	verify := func(args ...string) (result, []string) {
		r := run(t, "", append([]string{"verify", "--at=2026-11-27", "-o=json", "--inventory=inventory.yaml"}, args...)...)
		var found []string
		if r.status != 2 {
			for _, f := range decoded[report.Report](t, r).Findings {
				found = append(found, fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.Rule, f.Field))
			}
		}
		return r, found
	}
	_, found := verify("all.yaml")
	if diff := cmp.Diff([]string{"all.yaml:93 cloud-machine-type-missing spec.machineTypes[0].name"}, found); diff != "" {
		t.Error(diff)
	}
	if _, found = verify("child.yaml"); len(found) != 1 || !strings.Contains(found[0], "profile-missing spec.parent.name") {
		t.Error(found)
	}
	r, found := verify("all.yaml", "aws.yaml")
	if len(found) != 2 || !strings.Contains(r.stderr, "object-duplicate") && !strings.Contains(strings.Join(found, " "), "object-duplicate") {
		t.Error(r, found)
	}
	write(t, "broken.yaml", "kind: CloudProfile\nspec: {[\n")
	r, _ = verify("all.yaml", "broken.yaml", "--unused")
	contains(t, r.stderr, "note: --unused: inputs that could not be read may use what is listed\n")
	if r, _ = verify("all.yaml", "--unused"); strings.Contains(r.stderr, "may use") {
		t.Error(r)
	}
	r, found = verify("all.yaml", "unknown.yaml", "--inventory=inventory2.yaml")
	contains(t, r.stderr, "there is no inventory of region asia", "provider unheard is unknown to this command")
	missing := 0
	for _, f := range found {
		if strings.Contains(f, "image") || strings.Contains(f, "network") {
			t.Error(f)
		}
		if strings.HasPrefix(f, "unknown.yaml") {
			missing++
		}
	}
	if missing != 7 {
		t.Error(found)
	}
}

// Clouds have regions of the same name: with profiles of several, notes name the cloud as well.
func TestVerifyNamesTheCloud(t *testing.T) {
	aws, alicloud := absolute("../../example/aws/cloudprofile.yaml"), absolute("../../example/alicloud/cloudprofile.yaml")
	inFolder(t, map[string]string{"inventory.yaml": "apiVersion: capkit/v1\nkind: Inventory\nprovider: aws\nregions:\n" +
		"- {name: eu-central-1, unread: [machineTypes], images: [], zones: []}\n"})
	r := run(t, "", "verify", "--inventory=inventory.yaml", alicloud, aws)
	contains(t, r.stderr, "there is no inventory of regions eu-central-1 of alicloud, cn-shanghai of alicloud, us-east-1 of aws:",
		"the inventory of eu-central-1 of aws does not have volumeTypes:", "machineTypes of region eu-central-1 of aws could not be read")
	contains(t, run(t, "", "verify", "--inventory=inventory.yaml", aws).stderr, "there is no inventory of region us-east-1:")
}

// For a cloud without knowledge of its images, a note says that they are not checked, if the inventory has some.
func TestVerifyDescribed(t *testing.T) {
	const taken = "apiVersion: capkit/v1\nkind: Inventory\nprovider: stackit\ntaken: \"2026-11-23T12:00:00Z\"\nregions: [{name: eu01%s}]\n"
	for images, want := range map[string]bool{"": false, ", images: []": false, ", images: [{id: a, status: active}]": true} {
		r := runFor(table, fmt.Sprintf(taken, images), "verify", "--at=2026-11-27", examples+"/stackit/cloudprofile.yaml", "--inventory", "-")
		if said := strings.Contains(r.stderr, "note: images of provider stackit are not looked at"); r.status != 0 || said != want {
			t.Errorf("%q: %+v", images, r)
		}
	}
}

// Profiles in a garden have no line numbers.
func TestVerifyGarden(t *testing.T) {
	r := run(t, "", "verify", "-A", "--kubeconfig", exampleGarden(t).Start(t), "--inventory", absolute(root+"/docs/examples/inventory.yaml"), "-o=json")
	found := decoded[report.Report](t, r).Findings
	if r.status != 1 || len(found) < 3 || found[0].File != "<cluster>" || found[0].Line != 0 {
		t.Errorf("%+v", r)
	}
}
