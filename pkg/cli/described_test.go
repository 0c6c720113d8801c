// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
)

// metal is a profile of a cloud that maps no images.
const metal = `apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata: {name: metal}
spec:
  type: metal
  kubernetes: {versions: [{version: 1.33.2}]}
  regions: [{name: a}]
  machineTypes: [{name: small, cpu: "4", gpu: "0", memory: 8Gi}]
  machineImages: [{name: debian, versions: [{version: 12.1.0}]}]
`

// A description makes the command know a cloud: by the flag, and by the settings, which the flag overrides.
func TestProviderFile(t *testing.T) {
	description := read(t, root+"/docs/examples/metal-stack.yaml")
	inFolder(t, map[string]string{
		"profile.yaml": metal, "metal.yaml": description, "taken.yaml": strings.Replace(description, "type: metal", "type: aws", 1),
		"wrong.yaml":                strings.Replace(description, "reference", "references", 1),
		"settings/.capkit.yaml":     "providerFiles: [../metal.yaml]\n",
		"two/.capkit.yaml":          "providerFiles: [../metal.yaml, ../wrong.yaml]\n",
		"wrongly/said/.capkit.yaml": "providerFiles: metal.yaml\n",
	})
	for _, tc := range []struct {
		args, says string
		status     int
	}{
		{"lint profile.yaml", "[provider-unknown]", 0},
		{"lint --provider-file metal.yaml profile.yaml", "no errors, no warnings", 0},
		{"lint --config settings/.capkit.yaml profile.yaml", "no errors, no warnings", 0},
		{"select --provider-file metal.yaml --image debian --version 12.1.0 --machine-type small --region a profile.yaml", "boots image debian-12.1.0", 0},
		{"render --provider-file wrong.yaml profile.yaml", `wrong.yaml:6:1: unknown key "references"; did you mean reference?`, 2},
		{"migrate --provider-file metal.yaml profile.yaml", "machineCapabilities", 0},
		{"plan --provider-file metal.yaml profile.yaml profile.yaml", "nothing changes", 0},
		{"lint --provider-file taken.yaml profile.yaml", "taken.yaml:4:7: the type aws is known already", 2},
		{"lint --config two/.capkit.yaml profile.yaml", "wrong.yaml:6:1", 2},
		{"lint --config two/.capkit.yaml --provider-file metal.yaml profile.yaml", "no errors, no warnings", 0},
		{"lint --provider-file= profile.yaml", "--provider-file is empty", 2},
		{"lint --provider-file gone.yaml profile.yaml", "gone.yaml: no such file or directory", 2},
		{"lint --config wrongly/said/.capkit.yaml profile.yaml", "write a list of files with descriptions of providers", 2},
	} {
		if r := runFor(table, "", strings.Fields(tc.args)...); r.status != tc.status || !strings.Contains(r.stdout+r.stderr, tc.says) {
			t.Errorf("%s: %+v", tc.args, r)
		}
	}
}

// What a provider does not know stays where a profile is migrated, or the migration is refused.
func TestMigrateKeepsWhatIsNotKnown(t *testing.T) {
	legacy := read(t, root+"/example/ironcore-metal/cloudprofile-legacy.yaml")
	noted := strings.Replace(legacy, "        image: registry.example/gardenlinux:1877.5.0-metal-amd64\n",
		"        image: registry.example/gardenlinux:1877.5.0-metal-amd64\n        note: first # of the first\n", 1)
	several := strings.Replace(noted, "        architecture: arm64\n", "        architecture: arm64\n        note: second\n", 1)
	inFolder(t, map[string]string{"noted.yaml": noted, "several.yaml": several})
	r := runFor(table, "", "migrate", "--provider-config", "-w", "noted.yaml")
	changed := read(t, "noted.yaml")
	if r.status != 0 || !strings.Contains(changed, "note: first # of the first") || !strings.Contains(changed, "certificateAuthorityData: YWJj") ||
		strings.Count(changed, "capabilities:") != 3 {
		t.Errorf("%+v\n%s", r, changed)
	}
	r = runFor(table, "", "migrate", "--provider-config", "-w", "several.yaml")
	if r.status == 0 || !strings.Contains(r.stderr, "another note each") || read(t, "several.yaml") != several {
		t.Errorf("%+v", r)
	}
}

// Core gets flavors also where the provider config knows none: the images stay as they are mapped.
func TestMigrateOfALegacyConfig(t *testing.T) {
	inFolder(t, map[string]string{"hcloud.yaml": read(t, root+"/example/hcloud/cloudprofile-legacy.yaml")})
	r := runFor(table, "", "migrate", "-w", "hcloud.yaml")
	if changed := read(t, "hcloud.yaml"); r.status != 0 || strings.Count(changed, "architecture: [") != 3 || strings.Count(changed, "imageName:") != 2 {
		t.Errorf("%+v\n%s", r, changed)
	}
	if r = runFor(table, "", "lint", "hcloud.yaml"); !strings.Contains(r.stdout+r.stderr, "no errors, no warnings") {
		t.Errorf("%+v", r)
	}
	if r = runFor(table, "", "migrate", "--provider-config", "hcloud.yaml"); r.status == 0 || !strings.Contains(r.stdout+r.stderr, "knows the legacy format only") {
		t.Errorf("%+v", r)
	}
}
