// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"strings"
	"testing"
)

// many repeats a format with the numbers from 1.
func many(number int, format string) string {
	var all strings.Builder
	for i := range number {
		fmt.Fprintf(&all, format, i+1)
	}
	return all.String()
}

// withTypes returns the profile of [cloudProfile] with this many additional machine types.
func withTypes(t *testing.T, number int, name, memory string) string {
	t.Helper()
	types := many(number, "  - name: "+name+"\n    cpu: \"4\"\n    gpu: \"0\"\n    memory: "+memory+"\n    capabilities: {architecture: [amd64]}\n")
	return strings.Replace(cloudProfile(t), "  machineImages:\n", types+"  machineImages:\n", 1)
}

// Equal findings about many entries are reported once, such as sizes copied from `openstack flavor list`, which are in mebibytes.
func TestSaidOnceOfMany(t *testing.T) {
	profile := withTypes(t, 12, "m%d", `"8192"`)
	profile = strings.Replace(profile, "{versions: [", "{versions: ["+many(4, "{version: 1.2%d.0}, "), 1)
	said := run(t, profile, "lint", "-").stdout
	for _, want := range []string{
		"machine types m1, m2, m3, m4, m5, and 7 more: memory without a unit is in bytes; append Mi if that is meant [",
		"Kubernetes versions 1.21.0, 1.22.0, 1.23.0, 1.24.0: Gardener ",
	} {
		if strings.Count(said, want) != 1 {
			t.Errorf("%q is not in this once: %s", want, said)
		}
	}
}

// Worker pools that get no image for one reason are reported once, whatever their machine types and versions. JSON has each.
func TestOneReasonIsSaidOnceOfMany(t *testing.T) {
	pool := "    - {name: p%[1]d, minimum: 1, maximum: 1, zones: [europe-1a], volume: {type: default, size: 20Gi}, " +
		"machine: {type: m%[1]d, image: {name: gardenlinux, version: 1877.5.0}}}\n"
	text, _, _ := strings.Cut(read(t, examples+"/shoot.yaml"), "    - name: web\n")
	profile := read(t, examples+"/cloudprofile.yaml")
	types := many(9, "  - {name: m%d, cpu: 4, gpu: 0, memory: 8Gi, capabilities: {architecture: [amd64], hypervisor: [virtualised]}}\n")
	inFolder(t, map[string]string{"shoot.yaml": text + many(9, pool), "profile.yaml": strings.Replace(profile, "  machineTypes:\n", "  machineTypes:\n"+types, 1)})
	said := run(t, "", "lint", ".").stdout
	contains(t, said, "error: worker pool p1: no image fits machine type m1 with gardenlinux@1877.5.0 in region europe: the profile has an error at "+
		"spec.machineTypes[0].capabilities.hypervisor[0]; repair that first [no-image-fits]\n", "    for the same reason 8 times more: shoot.yaml:")
	if n := strings.Count(said, "no image fits"); n != 1 {
		t.Errorf("said %d times: %s", n, said)
	}
	if n := strings.Count(run(t, "", "lint", "-o=json", ".").stdout, `"no-image-fits"`); n != 9 {
		t.Errorf("%d of 9 in JSON", n)
	}
}

// select and explain count worker pools without an image once answers are more than a screen.
func TestSelectCountsWhatBootsNothing(t *testing.T) {
	pool := "    - {name: p%d, minimum: 1, maximum: 1, machine: {type: medium_4_8, image: {name: gardenlinux, version: 1877.5.0}}}\n"
	text, _, _ := strings.Cut(read(t, examples+"/shoot.yaml"), "    - name: web\n")
	text += strings.NewReplacer("%d", "0", "medium_4_8", "lost").Replace(pool)
	for number, want := range map[int]string{19: "", 20: "1 of 21 worker pools boots nothing\n"} {
		inFolder(t, map[string]string{"shoot.yaml": text + many(number, pool)})
		for _, command := range []string{"select", "explain"} {
			if r := run(t, "", command, "shoot.yaml", root+"/example/cloudprofile.yaml"); r.status != 1 || r.stderr != want {
				t.Errorf("%s: status %d, %q, not %q", command, r.status, r.stderr, want)
			}
		}
	}
}

// A cloud that offers many machine types in only one of its zones, and an inventory of only one region.
func TestVerifySaysItOnceOfMany(t *testing.T) {
	profile := withTypes(t, 5, "m%d", "8Gi")
	profile = strings.Replace(profile, "{name: europe-1a}", "{name: europe-1a}, {name: europe-1b}", 1) + many(7, "  - name: region-%d\n")
	inFolder(t, map[string]string{"profile.yaml": profile, "inventory.yaml": "apiVersion: capkit/v1\nkind: Inventory\nprovider: openstack\n" +
		"taken: \"2026-11-23T12:00:00Z\"\nregions:\n- name: europe\n  machineTypes:\n" +
		many(5, "  - {name: m%d, cpu: 4, memoryMiB: 8192, gpu: 0, zones: [europe-1a]}\n")})
	r := run(t, "", "verify", "--at=2026-11-27", "profile.yaml", "--inventory", "inventory.yaml")
	contains(t, r.stdout, "warning: machine types m1, m2, m3, m4, m5: not offered in zone europe-1b of region europe, but in europe-1a; "+
		"to be added to unavailableMachineTypes of the zone [cloud-zone-machine-type]")
	contains(t, r.stderr, "note: there is no inventory of regions region-1, region-2, region-3, region-4, region-5, and 2 more: nothing is concluded about that\n")
	r = run(t, "", "verify", "--at=2026-11-27", "--strict", "profile.yaml", "--inventory", "inventory.yaml")
	contains(t, r.stdout, "error: regions region-1, region-2, region-3, region-4, region-5, and 2 more: there is no inventory; take one [cloud-unread]")
}

// Findings about a list are in the order of the list.
func TestPlanOrdersByIndex(t *testing.T) {
	inFolder(t, map[string]string{"old.yaml": cloudProfile(t), "new.yaml": withTypes(t, 11, `"m:%d"`, "8Gi")})
	type planned struct {
		Changes []struct{ Kind, Field string }
	}
	var got []string
	for _, change := range decoded[planned](t, run(t, "", "plan", "-o=json", "old.yaml", "new.yaml")).Changes {
		if change.Kind == "refused" {
			got = append(got, change.Field)
		}
	}
	if want := strings.Fields(many(11, "spec.machineTypes[%d].name ")); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q", got)
	}
}

// plan and migrate also report equal findings about many entries once. JSON has each of them.
func TestPlanAndMigrateSayItOnceOfMany(t *testing.T) {
	const more = "    the same 5 times more: "
	inFolder(t, map[string]string{
		"old.yaml":     withTypes(t, 6, "m%d", "8Gi"),
		"refused.yaml": withTypes(t, 6, "m%d", "-8Gi"),
		"unread.yaml":  withTypes(t, 6, "m%d", "8Gi\n    foo: bar"),
	})
	r := run(t, "", "plan", "old.yaml", "refused.yaml")
	contains(t, r.stdout, "refused (6): ", more+"spec.machineTypes[2].memory, spec.machineTypes[3].memory, spec.machineTypes[4].memory, and 2 more\n")
	if n := strings.Count(r.stdout, `Invalid value: "-8Gi"`); n != 1 {
		t.Errorf("said %d times: %s", n, r.stdout)
	}
	if n := strings.Count(run(t, "", "plan", "-o=json", "old.yaml", "refused.yaml").stdout, `"kind": "refused"`); n != 6 {
		t.Errorf("%d of 6 in JSON", n)
	}
	for _, args := range []string{"plan old.yaml unread.yaml", "migrate unread.yaml"} {
		r := run(t, "", strings.Fields(args)...)
		contains(t, r.stderr, more+"unread.yaml:")
		if n := strings.Count(r.stderr, `unknown field "foo"`); n != 1 {
			t.Errorf("%s: said %d times: %s", args, n, r.stderr)
		}
	}
	if n := strings.Count(run(t, "", "migrate", "-o=json", "unread.yaml").stdout, `unknown field \"foo\"`); n != 6 {
		t.Errorf("%d of 6 in JSON", n)
	}
}

// NamespacedCloudProfiles with machine types of their own share a line, if there are many of them.
func TestPlanSaysItOnceOfManyOwnMachineTypes(t *testing.T) {
	old := read(t, examples+"/cloudprofile.yaml")
	child := read(t, examples+"/namespacedcloudprofile.yaml")
	files := map[string]string{"old.yaml": old, "new.yaml": strings.ReplaceAll(old, "id: 1234-amd64-virt", "id: changed")}
	for i := range 4 {
		own := strings.NewReplacer("name: team", fmt.Sprintf("name: team-%d", i), "large_16_32", fmt.Sprintf("large-%d", i))
		files[fmt.Sprintf("%d.yaml", i)] = own.Replace(child)
	}
	inFolder(t, files)
	const image = "gardenlinux@1877.5.0 on large-%d in europe boots id changed instead of id 1234-amd64-virt"
	three := run(t, "", "plan", "old.yaml", "new.yaml", "0.yaml", "1.yaml", "2.yaml").stdout
	contains(t, three, "through NamespacedCloudProfile garden-demo/team-0: "+fmt.Sprintf(image, 0), fmt.Sprintf(image, 2))
	four := run(t, "", "plan", "old.yaml", "new.yaml", ".").stdout
	contains(t, four, "other-image (5): ", "  through NamespacedCloudProfiles garden-demo/team-0, garden-demo/team-1, garden-demo/team-2, garden-demo/team-3: "+
		"gardenlinux@1877.5.0 on large-0, large-1, large-2, large-3 in europe boots id changed instead of id 1234-amd64-virt, ")
	if strings.Count(four, "through") != 1 {
		t.Error(four)
	}
}

// Messages about many profiles or Shoots name the first of them.
func TestMessagesNameTheFirstOfMany(t *testing.T) {
	const users = "Shoot garden-demo/a1, Shoot garden-demo/a2, Shoot garden-demo/a3, Shoot garden-demo/a4, Shoot garden-demo/a5, and 3 more"
	text := read(t, suffixes)
	at := strings.LastIndex(text, "---\n")
	children := many(8, strings.Replace(strings.ReplaceAll(child(t), "%", "%%"), "name: team", "name: team-%d", 1)+"---\n")
	inFolder(t, map[string]string{
		"children.yaml": parent(t) + "---\n" + children,
		"fold.yaml":     text[:at] + many(8, strings.Replace(text[at:], "name: hosts", "name: a%d", 1)),
	})
	contains(t, run(t, "", "migrate", foldSuffixes, "--machine-types=bare_*", "fold.yaml").stderr, "is kept, because it is used by "+users+"; ")
	const named = ", garden-demo/team-2, garden-demo/team-3, garden-demo/team-4, garden-demo/team-5, and 3 more"
	contains(t, run(t, "", "render", "children.yaml").stderr, "use --profile, one of garden-demo/team-1"+named+"\n")
	contains(t, run(t, "", "render", "--profile=garden-demo/nobody", "children.yaml").stderr, "which have garden-demo/team-1"+named)
}

// So do notes about them.
func TestNotesNameTheFirstOfMany(t *testing.T) {
	wrong := strings.NewReplacer("%", "%%", "name: team", "name: team-%[1]d", "version: 1877.5.0", "version: 1.0.0").Replace(child(t))
	user := strings.NewReplacer("name: shop", "name: shop-%[1]d", "kind: CloudProfile\n    name: openstack", "kind: NamespacedCloudProfile\n    name: team-%[1]d")
	inFolder(t, map[string]string{"all.yaml": parent(t) + "---\n" + many(6, wrong+"---\n"+user.Replace(read(t, examples+"/shoot.yaml"))+"---\n")})
	r := run(t, "", "maintenance", "all.yaml")
	contains(t, r.stderr, "note: NamespacedCloudProfiles garden-demo/team-1, garden-demo/team-2, garden-demo/team-3, garden-demo/team-4, "+
		"garden-demo/team-5, and 1 more: the rendered profile has ")
	if strings.Count(r.stderr, "note: ") != 1 {
		t.Error(r.stderr)
	}
}

// GitHub takes comments of up to 65,536 characters.
func TestPlanAsACommentOfLimitedLength(t *testing.T) {
	inFolder(t, map[string]string{"old.yaml": withTypes(t, 2000, "m%d", "8Gi"), "new.yaml": withTypes(t, 2000, "m%d", "1%[1]dGi")})
	comment := run(t, "", "plan", "-o=markdown", "old.yaml", "new.yaml").stdout
	if len(comment) > 65_536 {
		t.Errorf("%d bytes", len(comment))
	}
	listed := strings.Count(comment, "memory changes from 8Gi to 1")
	contains(t, comment, "| offer | 2000 |", fmt.Sprintf("\n- and %d more, which `capkit plan` lists without `-o markdown`\n\n</details>\n", 2000-listed))
	if n := strings.Count(run(t, "", "plan", "old.yaml", "new.yaml").stdout, "memory changes from 8Gi to 1"); n != 2000 {
		t.Errorf("%d of 2000 in the text", n)
	}
}
