// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
)

// A version expires at its very moment, however long it takes to look at it, and one that does at midnight does so on the day that begins.
func TestMaintenanceIsOfTheVeryMoment(t *testing.T) {
	profile := read(t, root+"/docs/examples/newer-version.yaml")
	late := strings.Replace(profile, "- version: 1.33.2", "- version: 1.33.2\n      expirationDate: \"2030-01-30T23:59:59.999999Z\"", 1)
	if late == profile || !strings.Contains(profile, "2030-01-31T00:00:00Z") {
		t.Fatal("the example is another one")
	}
	inFolder(t, map[string]string{"profile.yaml": late, "shoot.yaml": read(t, examples+"/shoot-trusted-launch.yaml")})
	for at, want := range map[string]string{
		"2030-01-30T23:59:59.999998Z":    "Kubernetes 1.33.2 is updated",
		"2030-01-30T23:59:59.999999Z":    "Kubernetes 1.33.2 is forced",
		"2030-01-30T23:59:59.999999999Z": "1877.5.0 is updated",
		"2030-01-31T00:59:59+01:00":      "1877.5.0 is updated",
		"2030-01-31T01:00:00+01:00":      "1877.5.0 is forced",
		"2030-01-31":                     "1877.5.0 is forced",
		"9999-12-31":                     "1877.5.0 is forced",
	} {
		contains(t, run(t, "", "maintenance", "--at="+at, "profile.yaml", "shoot.yaml").stdout, want)
	}
	const manual = "\nspec:\n  maintenance: {autoUpdate: {kubernetesVersion: false, machineImageVersion: false}}\n"
	write(t, "shoot.yaml", strings.Replace(read(t, "shoot.yaml"), "\nspec:\n", manual, 1))
	contains(t, run(t, "", "maintenance", "--at=2030-01-01", "--until=2030-12-31", "profile.yaml", "shoot.yaml").stdout,
		"2030-01-30: Kubernetes: 1 forced\n", "2030-01-31: 1 worker pool moved to what boots nothing, 1 forced\n")
	contains(t, run(t, "", "maintenance", "--at=2030-01-01", "--until=+30d", "profile.yaml", "shoot.yaml").stdout, "\nUntil 2030-01-31: ")
}

// A worker pool whose maintenance fails is stuck from the day on that nothing is left to move it to, and a calendar says so.
func TestACalendarSaysWhoIsStuckAfterAFailure(t *testing.T) {
	profile := read(t, root+"/docs/examples/newer-version.yaml")
	expiring := strings.Replace(profile, "- version: 1877.6.0", "- version: 1877.6.0\n      expirationDate: \"2030-03-01T00:00:00Z\"", 1)
	inFolder(t, map[string]string{"profile.yaml": expiring, "shoot.yaml": read(t, examples+"/shoot-trusted-launch.yaml")})
	r := run(t, "", "maintenance", "--webhook=validating", "--at=2030-01-01", "--until=2030-12-31", "profile.yaml", "shoot.yaml")
	contains(t, r.stdout, "2030-01-01: 2 worker pools failing\n", "2030-03-01: 2 worker pools stuck; ", "Until 2030-12-31: 2 worker pools stuck, 2 failing; ")
	if strings.Contains(r.stdout, "2030-01-31: ") {
		t.Errorf("what fails is said once: %s", r.stdout)
	}
}

// What happens to many worker pools or Shoots is one line of text, below a count and what is to be prevented. JSON has every one.
func TestMaintenanceOfManyIsOneLine(t *testing.T) {
	shoot := read(t, examples+"/shoot-trusted-launch.yaml")
	files := map[string]string{"profile.yaml": read(t, root+"/docs/examples/newer-version.yaml")}
	for _, name := range []string{"a", "b", "c", "d"} {
		files[name+".yaml"] = strings.Replace(shoot, "name: bank", "name: "+name, 1)
	}
	inFolder(t, files)
	const (
		four = "Shoots garden-demo/a, garden-demo/b, garden-demo/c, garden-demo/d: "
		web  = "4 worker pools of " + four + "gardenlinux@1877.5.0 is updated to 1877.6.0\n"
		all  = four + "Kubernetes 1.33.2 is updated to 1.33.3\n"
	)
	for _, file := range []string{"b.yaml", "c.yaml", "d.yaml"} {
		contains(t, run(t, "", "maintenance", "--webhook=true", "--at=2030-01-01", "profile.yaml", file).stdout, ", worker pool web: ")
	}
	text := run(t, "", "maintenance", "--webhook=true", "--at=2030-01-01", ".").stdout
	contains(t, text, "4 worker pools updated, 4 kept; Kubernetes: 4 updated\n4 worker pools of "+four+"gardenlinux@1877.5.0 stays: ", web, all)
	if strings.Count(text, "\n") != 4 {
		t.Errorf("four lines are expected: %s", text)
	}
	if n := strings.Count(run(t, "", "maintenance", "--at=2030-01-01", "-o=json", ".").stdout, `"pool": `); n != 8 {
		t.Errorf("JSON has %d worker pools", n)
	}
	contains(t, run(t, "", "maintenance", "--webhook=true", "--at=2030-01-01", "--until=2030-12-31", ".").stdout, "  "+web, "  "+all,
		"2030-01-31: 4 worker pools stuck\n  4 worker pools of "+four+"gardenlinux@1877.5.0 is stuck: nothing replaces it: ")
	write(t, "b.yaml", strings.ReplaceAll(files["b.yaml"], "type: medium_4_8", "type: large"))
	write(t, "profile.yaml", strings.Replace(files["profile.yaml"], "  machineTypes:\n", "  machineTypes:\n  - {name: large, cpu: 8, gpu: 0, memory: 16Gi}\n", 1))
	contains(t, run(t, "", "maintenance", "--webhook=true", "--at=2030-01-31", ".").stdout, "4 worker pools stuck, 4 forced; ",
		"garden-demo/d, such as garden-demo/a, worker pool ledger: gardenlinux@1877.5.0 is stuck: nothing replaces it: ")
}

// The first line of text is about what is to be prevented, whichever Shoot it concerns.
func TestMaintenanceSaysTheWorstFirst(t *testing.T) {
	shoot := read(t, examples+"/shoot-trusted-launch.yaml")
	i := strings.Index(shoot, "    - name: ledger")
	k := strings.Index(shoot, "    - name: web")
	if i < 0 || k < i {
		t.Fatal("the example is another one")
	}
	inFolder(t, map[string]string{"profile.yaml": read(t, root+"/docs/examples/newer-version.yaml"), "shoot.yaml": shoot[:i] + shoot[k:] + shoot[i:k]})
	text := run(t, "", "maintenance", "--webhook=true", "--at=2030-02-01", "profile.yaml", "shoot.yaml").stdout
	if !strings.HasPrefix(text, "garden-demo/bank, worker pool ledger: gardenlinux@1877.5.0 is stuck: ") {
		t.Error(text)
	}
}
