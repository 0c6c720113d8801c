// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"slices"
	"strings"
	"testing"
)

// metal is a profile of a cloud without mapped images.
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

// A description adds a cloud to the command, by the flag, or by the settings, which the flag overrides.
func TestProviderFile(t *testing.T) {
	description := read(t, root+"/docs/examples/metal-stack.yaml")
	inFolder(t, map[string]string{
		"profile.yaml": metal, "metal.yaml": description, "again.yaml": description, "taken.yaml": strings.Replace(description, "type: metal", "type: aws", 1),
		"builtin.yaml":              strings.Replace(description, "type: metal", "type: ironcore-metal", 1),
		"other.yaml":                strings.Replace(metal, "type: metal", "type: ironcore-metal", 1),
		"wrong.yaml":                strings.Replace(description, "reference", "references", 1),
		"settings/.capkit.yaml":     "providerFiles: [../metal.yaml]\n",
		"two/.capkit.yaml":          "providerFiles: [../metal.yaml, ../wrong.yaml]\n",
		"faulty/.capkit.yaml":       "providerFiles: [../wrong.yaml, ../again.yaml, ../metal.yaml]\n",
		"gone/.capkit.yaml":         "providerFiles: [metal.yaml]\n",
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
		{"lint other.yaml", "[provider-config-missing]", 1},
		{"lint --provider-file builtin.yaml other.yaml", "no errors, no warnings", 0},
		{"lint --provider-file metal.yaml --provider-file builtin.yaml other.yaml", "no errors, no warnings", 0},
		{"lint --provider-file builtin.yaml --provider-file ./settings/../builtin.yaml other.yaml", "no errors, no warnings", 0},
		{"lint --provider-file metal.yaml --provider-file again.yaml profile.yaml", "again.yaml:4:7: the type metal is described in metal.yaml already", 2},
		{"lint --config two/.capkit.yaml profile.yaml", "wrong.yaml:6:1", 2},
		{"lint --config two/.capkit.yaml --provider-file metal.yaml profile.yaml", "no errors, no warnings", 0},
		{"lint --config faulty/.capkit.yaml profile.yaml", "again.yaml:4:7: the type metal is described in wrong.yaml already", 2},
		{"lint --config faulty/.capkit.yaml profile.yaml", "metal.yaml:4:7: the type metal is described in wrong.yaml already", 2},
		{"lint --provider-file= profile.yaml", "--provider-file is empty", 2},
		{"lint --provider-file gone.yaml profile.yaml", "capkit: --provider-file: open gone.yaml: no such file or directory", 2},
		{"lint --config gone/.capkit.yaml profile.yaml", "capkit: providerFiles of gone/.capkit.yaml: open gone/metal.yaml: no such file or directory", 2},
		{"schema CloudProfile --provider metal --config settings/.capkit.yaml", "metal.CloudProfileConfig", 0},
		{"schema --config two/.capkit.yaml", "wrong.yaml:6:1", 2},
		{"schema --config two/.capkit.yaml --provider metal --provider-file metal.yaml", "metal.CloudProfileConfig", 0},
		{"schema --provider metal", "unknown provider metal", 2},
		{"lint --config wrongly/said/.capkit.yaml profile.yaml", "write a list of files with descriptions of providers", 2},
	} {
		if r := runFor(table, "", strings.Fields(tc.args)...); r.status != tc.status || !strings.Contains(r.stdout+r.stderr, tc.says) {
			t.Errorf("%s: %+v", tc.args, r)
		}
	}
}

// Commands to copy, in notes and on a page, have the flags on which the verdict depends. Without them, lint would find no error here.
func TestCommandsToCopyHaveTheSameFlags(t *testing.T) {
	named := strings.NewReplacer("ironcore-metal", "acme")
	profile := named.Replace(read(t, examples+"/ironcore-metal/cloudprofile.yaml"))
	faulty := strings.Replace(profile, "image: registry.example/gardenlinux:1877.5.0-metal-amd64", "# no image", 1)
	if faulty == profile {
		t.Fatal("the example has changed")
	}
	inFolder(t, map[string]string{
		"profile.yaml": faulty, "shoot.yaml": named.Replace(read(t, examples+"/ironcore-metal/shoot.yaml")), "l/profile.yaml": faulty,
		"our cloud.yaml": `apiVersion: capkit/v1
kind: ProviderDescription
type: acme
apiVersions: [acme.provider.extensions.gardener.cloud/v1alpha1]
images: {path: machineImages, name: name, versions: versions, version: version}
flavors: {path: capabilityFlavors, capabilities: capabilities}
reference: [image]
architecture: {field: architecture, default: amd64}
`,
		"l/.capkit.yaml": "providerFiles: [../our cloud.yaml]\nwebhook: true\n",
	})
	for flags, words := range map[string][]string{
		"--provider-file=our cloud.yaml": {"'--provider-file=our cloud.yaml'", "--provider-file=our cloud.yaml"},
		"--provider-file=our cloud.yaml;--no-config;--no-webhook": {
			"--no-config '--provider-file=our cloud.yaml' --webhook=validating", "--no-config", "--provider-file=our cloud.yaml", "--webhook=validating",
		},
		"--config=l/.capkit.yaml;--feature-gates=InPlaceNodeUpdates=true": {
			"--config=l/.capkit.yaml --feature-gates=InPlaceNodeUpdates=true", "--config=l/.capkit.yaml", "--feature-gates=InPlaceNodeUpdates=true",
		},
	} {
		given := strings.Split(flags, ";")
		r := run(t, "", append([]string{"maintenance", "profile.yaml", "shoot.yaml"}, given...)...)
		contains(t, r.stderr, "run capkit lint "+words[0]+" profile.yaml\n")
		if r := run(t, "", append([]string{"lint", "profile.yaml"}, words[1:]...)...); r.status != 1 || !strings.Contains(r.stdout, "[reference-missing]") {
			t.Errorf("%v: %+v", words, r)
		}
	}
	type inputs struct{ Profiles []struct{ Inputs []string } }
	p := pageData[inputs](t, run(t, "", "report", "--provider-file=our cloud.yaml", "profile.yaml"))
	if want := []string{"--provider-file=our cloud.yaml", "profile.yaml"}; !slices.Equal(p.Profiles[0].Inputs, want) {
		t.Errorf("%q", p.Profiles[0].Inputs)
	}
	p = pageData[inputs](t, run(t, "", "report", "--landscape", "l=l"))
	if want := []string{"--config=l/.capkit.yaml", "l/profile.yaml"}; !slices.Equal(p.Profiles[0].Inputs, want) {
		t.Errorf("%q", p.Profiles[0].Inputs)
	}
}

// A migration keeps fields that the provider does not know, or is refused.
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

// What a NamespacedCloudProfile says of an image of its parent, besides versions, would be lost without a word.
func TestNamespacedImageFieldsAreTheParents(t *testing.T) {
	profile, child := read(t, root+"/example/stackit/cloudprofile.yaml"), read(t, root+"/example/stackit/namespacedcloudprofile.yaml")
	const image = "\n    - name: gardenlinux\n"
	files := map[string]string{"profile.yaml": replacing(t)(profile, image, image+"      vendor: a\n      since: {year: 1}\n")}
	says := map[string]string{
		"the same": "      vendor: a\n      since: {year: 1}\n", "empty": "      vendor: ''\n", "another": "      vendor: b\n      since: {year: 1}\n",
		"further": "      tier: 1\n",
	}
	for name, text := range says {
		files[name+".yaml"] = replacing(t)(child, image, image+text)
	}
	files["own.yaml"] = strings.ReplaceAll(replacing(t)(child, image, image+"      vendor: b\n"), "name: gardenlinux", "name: mine")
	inFolder(t, files)
	for name, want := range map[string]string{"the same": "", "empty": "", "own": "", "another": "vendor", "further": "tier"} {
		r := runFor(table, "", "lint", "profile.yaml", name+".yaml")
		says := "image gardenlinux has versions only in a NamespacedCloudProfile whose parent has it, too; " + want + " is that of the parent"
		if got := strings.Contains(r.stdout, "namespaced-config-field"); got != (want != "") || got && (!strings.Contains(r.stdout, says) ||
			strings.Count(r.stdout, ": error: ") != 1) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Core gets flavors even if the provider config cannot have any. The images keep their mappings.
func TestMigrateOfALegacyConfig(t *testing.T) {
	inFolder(t, map[string]string{"hcloud.yaml": read(t, root+"/example/hcloud/cloudprofile-legacy.yaml")})
	r := runFor(table, "", "migrate", "-w", "hcloud.yaml")
	if changed := read(t, "hcloud.yaml"); r.status != 0 || strings.Count(changed, "architecture: [") != 3 || strings.Count(changed, "imageName:") != 2 {
		t.Errorf("%+v\n%s", r, changed)
	}
	if r = runFor(table, "", "lint", "hcloud.yaml"); !strings.Contains(r.stdout+r.stderr, "no errors, no warnings") {
		t.Errorf("%+v", r)
	}
	r = runFor(table, "", "migrate", "--provider-config", "hcloud.yaml")
	if r.status == 0 || !strings.Contains(r.stdout+r.stderr, "knows the legacy format only") {
		t.Errorf("%+v", r)
	}
}

// An import writes what a described cloud's provider config supports: flavors, the legacy format with flavors in core, or one image for
// all architectures.
func TestImportIntoDescribed(t *testing.T) {
	global := func(field, amd64, arm64 string) string {
		return "[{capabilities: {architecture: [amd64]}, " + field + ": " + amd64 + "}, {capabilities: {architecture: [arm64]}, " + field + ": " + arm64 + "}]"
	}
	const id = "6dd8a0f1-1877-4a64-8000-00000000007"
	regional := "[{capabilities: {architecture: [amd64]}, regions: [{name: eu01, id: " + id + "1}]}, " +
		"{capabilities: {architecture: [arm64]}, regions: [{name: eu01, id: " + id + "2}]}]"
	list := func(flavors string) string {
		return "apiVersion: capkit/v1\nkind: ImageList\nimages: [{name: gardenlinux, version: 1877.7.0, flavors: " + flavors + "}]\n"
	}
	for cloud, flavors := range map[string]string{
		"gdch": global("image", "a", "b"), "hcloud": global("imageName", "a", "a"), "ironcore": global("image", "a:1", "b:1"),
		"ironcore-metal": global("image", "a:1", "b:1"), "stackit": regional,
	} {
		for _, kind := range []string{"cloudprofile", "cloudprofile-legacy"} {
			inFolder(t, map[string]string{"profile.yaml": read(t, root+"/example/"+cloud+"/"+kind+".yaml"), "list.yaml": list(flavors)})
			before := read(t, "profile.yaml")
			if r := runFor(table, "", "import", "-w", "profile.yaml", "--from=list:list.yaml"); r.status != 0 || !strings.Contains(r.stderr, "1877.7.0: added") {
				t.Errorf("%s of %s: %+v", kind, cloud, r)
				continue
			}
			after := read(t, "profile.yaml")
			if r := runFor(table, "", "lint", "profile.yaml"); r.status != 0 {
				t.Errorf("%s of %s after the import: %+v\n%s", kind, cloud, r, after)
			}
			if strings.Count(after, "1877.7.0") < 2 || len(after) <= len(before) {
				t.Errorf("%s of %s is not in both halves:\n%s", kind, cloud, after)
			}
			if r := runFor(table, "", "import", "-w", "profile.yaml", "--from=list:list.yaml"); r.status != 0 || read(t, "profile.yaml") != after {
				t.Errorf("%s of %s changes when it is imported twice: %+v", kind, cloud, r)
			}
		}
	}
}

// An image for all architectures is replaced once, not twice.
func TestImportOneImageForAll(t *testing.T) {
	list := func(amd64, arm64 string) string {
		return "apiVersion: capkit/v1\nkind: ImageList\nimages: [{name: gardenlinux, version: 1877.5.0, flavors: " +
			"[{capabilities: {architecture: [amd64]}, imageName: " + amd64 + "}, {capabilities: {architecture: [arm64]}, imageName: " + arm64 + "}]}]\n"
	}
	before := read(t, root+"/example/hcloud/cloudprofile.yaml")
	inFolder(t, map[string]string{"profile.yaml": before, "same.yaml": list("new", "new"), "two.yaml": list("new", "other")})
	for args, says := range map[string]string{
		"--from=list:same.yaml":          "has another image than in the source; --replace replaces it [import-conflict]",
		"--from=list:two.yaml --replace": "the source has a different image for {architecture: [arm64]}, and the provider config one for all architectures",
	} {
		if r := runFor(table, "", append([]string{"import", "-w", "profile.yaml"}, strings.Fields(args)...)...); r.status != 1 || !strings.Contains(r.stderr, says) {
			t.Errorf("%s: %+v", args, r)
		}
		if read(t, "profile.yaml") != before {
			t.Errorf("%s has changed the file", args)
		}
	}
	r := runFor(table, "", "import", "-w", "profile.yaml", "--from=list:same.yaml", "--replace")
	if want := strings.Replace(before, "imageName: gardenlinux-1877.5.0", "imageName: new", 1); r.status != 0 || read(t, "profile.yaml") != want {
		t.Errorf("%+v\n%s", r, read(t, "profile.yaml"))
	}
}
