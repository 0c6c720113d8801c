// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

// Parts of profiles in the legacy format.
const (
	head       = "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nmetadata:\n  name: awkward\nspec:\n"
	kubernetes = "  kubernetes:\n    versions:\n    - version: 1.33.2\n"
	types      = "  machineTypes:\n  - name: small\n    cpu: \"4\"\n    gpu: \"0\"\n    memory: 8Gi\n" +
		"  - name: arm\n    cpu: \"4\"\n    gpu: \"0\"\n    memory: 8Gi\n    architecture: arm64\n"
	images = "  machineImages:\n  - name: linux\n    versions:\n    - version: 1.0.0\n" +
		"      architectures: [amd64, arm64]\n"
	stack = "    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\n    kind: CloudProfileConfig\n" +
		"    keystoneURL: https://keystone.example.com/v3/\n" +
		"    constraints: {floatingPools: [{name: fp}], loadBalancerProviders: [{name: haproxy}]}\n"
	ofOpenStack = "  type: openstack\n" + kubernetes + "  regions:\n  - name: europe\n" +
		"  - name: asia\n" + types + images + "  providerConfig:\n" + stack
	ofAWS = "  type: aws\n" + kubernetes + "  regions: [{name: eu-central-1}]\n" + types + images +
		"  providerConfig:\n    apiVersion: aws.provider.extensions.gardener.cloud/v1alpha1\n" +
		"    kind: CloudProfileConfig\n"
	ofGCP = "  type: gcp\n" + kubernetes + "  regions: [{name: europe-west1}]\n" + types + images +
		"  providerConfig:\n    apiVersion: gcp.provider.extensions.gardener.cloud/v1alpha1\n" +
		"    kind: CloudProfileConfig\n"
	ofAzure = "  type: azure\n" + kubernetes + "  regions: [{name: westeurope}]\n" + types + images +
		"  providerConfig:\n    apiVersion: azure.provider.extensions.gardener.cloud/v1alpha1\n" +
		"    kind: CloudProfileConfig\n" +
		"    countUpdateDomains: [{region: westeurope, count: 5}]\n" +
		"    countFaultDomains: [{region: westeurope, count: 3}]\n"
	ofAliCloud = "  type: alicloud\n" + kubernetes + "  regions: [{name: eu-central-1}]\n" +
		"  machineTypes: [{name: small, cpu: \"4\", gpu: \"0\", memory: 8Gi}]\n" +
		"  machineImages: [{name: linux, versions: [{version: 1.0.0}]}]\n" +
		"  providerConfig:\n    apiVersion: alicloud.provider.extensions.gardener.cloud/v1alpha1\n" +
		"    kind: CloudProfileConfig\n"
	ofLocal = "  type: local\n" + kubernetes + "  regions: [{name: local}]\n" + types + images +
		"  providerConfig:\n    apiVersion: local.provider.extensions.gardener.cloud/v1alpha1\n" +
		"    kind: CloudProfileConfig\n"

	stackImages = "    machineImages:\n    - name: linux\n      versions:\n      - version: 1.0.0\n        regions:\n" +
		"        - {name: europe, id: a}\n        - {name: asia, id: b}\n" +
		"        - {name: europe, id: c, architecture: arm64}\n        - {name: asia, id: d, architecture: arm64}\n"
	awsImages = "    machineImages:\n    - name: linux\n      versions:\n      - version: 1.0.0\n        regions:\n" +
		"        - name: eu-central-1\n          ami: ami-00000001\n        - name: eu-central-1\n" +
		"          ami: ami-00000002\n          architecture: arm64\n"
	plainStack = head + ofOpenStack + stackImages
	plainAWS   = head + ofAWS + awsImages
)

// replacing returns a function that replaces the first occurrence of a text. The test fails if there is none.
func replacing(t *testing.T) func(text, old, with string) string {
	return func(text, old, with string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("there is no %q", old)
		}
		return strings.Replace(text, old, with, 1)
	}
}

const noMachineType = ":11:3: error: Required value: must provide at least one machine type"

// awkwardFile is a realistic legacy profile. registered and flavors are the errors with which registering the architecture, and writing
// versions as flavors, are refused. Empty means that everything is kept.
type awkwardFile struct{ text, registered, flavors string }

// awkward returns such profiles by their difficulty.
func awkward(t *testing.T) map[string]awkwardFile {
	t.Helper()
	replaced := replacing(t)
	return map[string]awkwardFile{
		"anchors of what stays": {text: replaced(replaced(plainStack, "- name: europe\n", "- name: &eu europe\n"),
			"{name: europe, id: a}", "{name: *eu, id: a}")},
		"an anchor of a scalar that moves": {
			text: replaced(replaced(plainStack, "{name: europe, id: a}", "{name: europe, id: &id a}"),
				"{name: asia, id: b}", "{name: asia, id: *id}"),
		},
		"an anchor whose alias would come before it": {
			text: replaced(replaced(replaced(plainStack, "        - {name: asia, id: b}\n", ""),
				"{name: europe, id: c,", "{name: europe, id: &id c,"),
				"        - {name: asia, id: d,", "        - {name: asia, id: *id}\n        - {name: asia, id: d,"),
			flavors: ":36:9: error: the file is written in a way that cannot be changed without changing more than has to",
		},
		"anchors above mappings and lists": {
			text: replaced(replaced(replaced(replaced("--- &all\n"+plainAWS, "spec:\n", "spec: &spec\n"), "  providerConfig:\n", "  providerConfig: &config\n"),
				"    machineImages:\n    - name: linux\n", "    machineImages: &images # here\n    # the first\n    - &linux\n      name: linux\n"),
				"        regions:\n", "        regions: &regions\n"),
		},
		"a list of regions by alias": {
			text: replaced(plainStack, "      versions:\n      - version: 1.0.0\n        regions:\n",
				"      versions:\n      - version: 1.0.0\n        regions: &all\n") +
				"    - name: other\n      versions:\n      - version: 1.0.0\n        regions: *all\n",
			flavors: ":37:18: error: what has to change is used by an alias (*all) as well",
		},
		"a merge key in a region": {
			text: head + ofAWS + "    machineImages:\n    - name: linux\n      versions:\n      - version: 1.0.0\n" +
				"        regions:\n" +
				"        - &here {name: eu-central-1, ami: ami-00000001}\n" +
				"        - {<<: *here, ami: ami-00000002, architecture: arm64}\n",
			flavors: ":34:11: error: what has to change is used by an alias (*here) as well",
		},
		"a merge key of machine types": {
			text: replaced(replaced(plainStack, "  - name: small\n", "  - &small\n    name: small\n"),
				"  - name: arm\n    cpu: \"4\"\n    gpu: \"0\"\n    memory: 8Gi\n", "  - <<: *small\n    name: arm\n"),
		},
		"everything in flow style": {
			text: "{apiVersion: core.gardener.cloud/v1beta1, kind: CloudProfile, metadata: {name: awkward}, spec: {type: local, regions: [{name: local}],\n" +
				"  kubernetes: {versions: [{version: 1.33.2}]}, machineTypes: [{name: small, cpu: \"4\", gpu: \"0\", memory: 8Gi}],\n" +
				"  machineImages: [{name: linux, versions: [{version: 1.0.0}]}], providerConfig: {\n" +
				"    apiVersion: local.provider.extensions.gardener.cloud/v1alpha1, kind: CloudProfileConfig,\n" +
				"    machineImages: [{name: linux, versions: [{version: 1.0.0, image: 'registry.example.com/node:1'}]}]}}}\n",
		},
		"JSON in one line": {
			text: `{"apiVersion":"core.gardener.cloud/v1beta1","kind":"CloudProfile","metadata":{"name":"awkward"},"spec":{"type":"local",` +
				`"regions":[{"name":"local"}],"kubernetes":{"versions":[{"version":"1.33.2"}]},"machineTypes":[{"name":"small","cpu":"4","gpu":"0",` +
				`"memory":"8Gi"}],"machineImages":[{"name":"linux","versions":[{"version":"1.0.0"}]}],"providerConfig":{"apiVersion":` +
				`"local.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig","machineImages":[{"name":"linux","versions":` +
				`[{"version":"1.0.0","image":"registry.example.com/node:1"}]}]}}}`,
		},
		"comments everywhere": {
			text: replaced(replaced(strings.ReplaceAll(plainAWS, "\n", " # here\n"), "kind: CloudProfile # here\n",
				"# above\n\n# apart\n\nkind: CloudProfile # here\n"),
				"        - name: eu-central-1 # here\n          ami: ami-00000002 # here\n",
				"        # the new one\n        - # of arm64\n          # name\n          name: eu-central-1 # here\n"+
					"\n          # image\n          ami: ami-00000002 # here\n"),
		},
		"a comment between the brackets": {
			text: head + ofAWS + "    machineImages:\n    - name: linux\n      versions:\n      - version: 1.0.0\n" +
				"        regions: [\n" +
				"          {name: eu-central-1, ami: ami-00000001}, # amd64\n" +
				"          {name: eu-central-1, ami: ami-00000002, architecture: arm64},\n        ]\n",
		},
		"a comment between the brackets of versions": {
			text: head + ofAWS + "    machineImages:\n    - name: linux\n      versions: [\n        # the only one\n" +
				"        {version: 1.0.0, regions: [{name: eu-central-1, ami: ami-00000001}, {name: eu-central-1, ami: ami-00000002, architecture: arm64}]}]\n",
			flavors: ":32:9: error: the brackets around this comment have to change; move the comment out of them",
		},
		"CRLF": {text: strings.ReplaceAll(plainStack, "\n", "\r\n")},
		"CRLF in some lines": {text: replaced(replaced(plainAWS, "spec:\n", "spec:\r\n"),
			"        regions:\n", "        regions:\r\n")},
		"a byte order mark":          {text: "\ufeff" + plainStack},
		"a byte order mark and CRLF": {text: "\ufeff" + strings.ReplaceAll(plainAWS, "\n", "\r\n")},
		"no line break at the end":   {text: strings.TrimSuffix(plainAWS, "\n")},
		"tabs in comments and behind values": {text: replaced(replaced(plainStack, "  type: openstack\n",
			"  type: openstack\t#\ttabbed\n"), "{name: asia, id: d, architecture: arm64}",
			"{name: asia,\tid: d, architecture: arm64}\t# last")},
		"a key twice": {
			text:       replaced(plainStack, "  type: openstack\n", "  type: openstack\n  type: openstack\n"),
			registered: ":7:3: error: ", flavors: ":7:3: error: ",
		},
		"block scalars": {
			text: replaced(plainStack, "  name: awkward\n", "  name: awkward\n  annotations:\n    text: |\n"+
				"      # no comment\n      - version: 1.0.0\n\n    more: >+\n      spec:\n\n\n    last: |2-\n        x\n"),
		},
		"a folded reference": {
			text: head + ofGCP + "    machineImages:\n    - name: linux\n      versions:\n      - version: 1.0.0\n" +
				"        image: >-\n" +
				"          projects/p/global/images/one\n      - version: 1.0.0\n        architecture: arm64\n" +
				"        image: projects/p/global/images/two\n",
			flavors: "",
		},
		"a line of 4000 characters": {
			text: replaced(plainAWS, "ami-00000001\n", "ami-00000001 # "+strings.Repeat("x", 4000)+"\n"),
		},
		"several documents": {
			text: "# first\n---\n" + plainStack + "--- # second\n" + replaced(plainAWS, "name: awkward",
				"name: other") + "...\n---\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n",
		},
		"directives": {text: "%YAML 1.1\n---\n" + plainAWS + "...\n"},
		"a List": {
			text: "apiVersion: v1\nkind: List\nitems:\n- " + strings.TrimSuffix(strings.ReplaceAll(plainStack, "\n",
				"\n  "), "  ") +
				"-\n  " + strings.TrimSuffix(strings.ReplaceAll(replaced(plainAWS, "name: awkward", "name: other"),
				"\n", "\n  "), "  "),
		},
		"a List of JSON": {
			text: `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": "awkward"},
 "spec": {"type": "local", "regions": [{"name": "local"}], "kubernetes": {"versions": [{"version": "1.33.2"}]},
  "machineTypes": [{"name": "small", "cpu": "4", "gpu": "0", "memory": "8Gi"}],
			"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0"}]}],
  "providerConfig": {"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
   "machineImages": [{"name": "linux", "versions": [{"version": "1.0.0", "image": "registry.example.com/node:1"}]}]}}}]}
`,
		},
		"quotes with quotes in them": {
			text: replaced(replaced(plainStack, "{name: europe, id: a}", `{"name": 'europe', id: "\x61"}`),
				"  name: awkward\n", "  name: awkward\n  annotations: {a: \"{ \\\"#\\\" 'b'\", b: 'it''s: # ]'}\n"),
		},
		"keys in quotes": {
			text: replaced(replaced(plainAWS, "          ami: ami-00000001\n", "          \"ami\": ami-00000001\n"),
				"        regions:\n", "        'regions':\n"),
		},
		"a question mark before a key": {text: replaced(plainAWS, "        regions:\n", "        ? regions\n        :\n"),
			flavors: ":33:11: error: a key behind a question mark has to change; write it as regions: with its value"},
		"dashes in lines of their own": {
			text: replaced(replaced(plainAWS, "      - version: 1.0.0\n", "      -\n        version: 1.0.0\n"),
				"        - name: eu-central-1\n          ami: ami-00000001\n",
				"        -\n          ami: ami-00000001\n          name: eu-central-1\n"),
		},
		"lists in lists' lines": {
			text: head + ofGCP + "    machineImages:\n        - versions:\n" +
				"              - {version: 1.0.0, image: projects/p/global/images/one}\n" +
				"              - {version: 1.0.0, image: projects/p/global/images/two, architecture: arm64}\n" +
				"          name: linux\n",
		},
		"Azure's flags": {
			text: head + ofAzure + "    machineImages:\n    - name: linux\n      versions:\n" +
				"      - version: 1.0.0 # plain\n        urn: sap:linux:greatest:1.0.0\n" +
				"        acceleratedNetworking: true\n" +
				"      - {version: 1.0.0, urn: 'sap:linux:arm:1.0.0', architecture: arm64, acceleratedNetworking: true}\n",
		},
		"AliCloud in brackets": {
			text: head + ofAliCloud + "    machineImages: [{name: linux, versions: [{version: 1.0.0, regions: [{name: eu-central-1, " +
				"id: m-00000000000000000001}]}]}] # all\n",
		},
		"one image for all architectures": {
			text: head + ofLocal + "    machineImages:\n    - name: linux # once\n      versions:\n" +
				"      - {version: 1.0.0, image: 'registry.example.com/node:1'} # twice\n",
		},
		"versions that look like numbers": {
			text: strings.ReplaceAll(plainAWS, "- version: 1.0.0", "- version: \"1.0\""),
		},
		"null and nothing": {
			text: replaced(replaced(plainStack, "  regions:\n", "  caBundle: null\n  seedSelector:\n  regions:\n"),
				"        regions:\n", "        image: ~\n        regions:\n"),
		},
		"no image at all": {registered: noMachineType, flavors: noMachineType, text: replaced(head, "spec:\n",
			"spec: # empty\n") + "  type: local\n" + kubernetes + "  regions: [{name: local}]\n" +
			"  machineTypes: []\n  machineImages: []\n"},
		"a tag": {text: replaced(plainAWS, "          ami: ami-00000001\n",
			"          ami: !!str ami-00000001\n")},
	}
}

// profilesOf returns the CloudProfiles in a text as YAML without anchors, in order.
func profilesOf(t *testing.T, text string) (profiles []string) {
	t.Helper()
	for document := range strings.SplitSeq("\n"+strings.TrimPrefix(text, "\ufeff"), "\n---") {
		if strings.HasPrefix(document, "\n%") {
			continue
		}
		document, _, _ = strings.Cut(document, "\n...")
		var object map[string]any
		if err := yaml.Unmarshal([]byte(strings.TrimPrefix(document, " # second")), &object); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		items := []any{any(object)}
		if object["kind"] == "List" {
			items, _ = object["items"].([]any)
		}
		for _, item := range items {
			if item.(map[string]any)["kind"] != "CloudProfile" {
				continue
			}
			profile, err := yaml.Marshal(item)
			if err != nil {
				t.Fatal(err)
			}
			profiles = append(profiles, string(profile))
		}
	}
	return profiles
}

// commentsOf returns the sorted comments of such a text.
func commentsOf(text string) (comments []string) {
	for line := range strings.Lines(text) {
		if at := strings.Index(line, "#"); at >= 0 && !strings.Contains(line, "'b'") && !strings.Contains(line,
			"it''s") {
			comments = append(comments, strings.TrimSpace(line[at:]))
		}
	}
	slices.Sort(comments)
	return comments
}

// A duplicate version does not prevent registering capabilities. It is refused if its flavors would be merged.
func TestMigrateAnImageVersionTwice(t *testing.T) {
	twice := plainAWS + strings.SplitAfterN(awsImages, "versions:\n", 2)[1]
	const same = "linux@1.0.0: {architecture: [amd64]} is the same flavor"
	registered := runFor(clouds.All(), twice, "migrate", "-")
	if registered.status != 0 || strings.Contains(registered.stderr, same) || !strings.Contains(registered.stdout, "+  machineCapabilities:\n") {
		t.Errorf("%+v", registered)
	}
	if joined := runFor(clouds.All(), twice, "migrate", "--provider-config", "-"); joined.status != 1 || joined.stdout != "" ||
		!strings.Contains(joined.stderr, ":32:9: error: after the migration: "+same) {
		t.Errorf("%+v", joined)
	}
}

// The error is about the profile with the obstacle, also if the file has others.
func TestMigrateNamesTheProfileWithTheObstacle(t *testing.T) {
	obstacle := awkward(t)["a comment between the brackets of versions"].text
	other := strings.Replace(plainAWS, "name: awkward", "name: other", 1)
	for name, text := range map[string]string{"first": obstacle + "---\n" + other, "last": other + "---\n" + obstacle} {
		answer := decoded[struct {
			Findings []struct{ Object struct{ Name string } }
		}](t,
			runFor(clouds.All(), text, "migrate", "--provider-config", "-o=json", "-"))
		if len(answer.Findings) != 1 || answer.Findings[0].Object.Name != "awkward" {
			t.Errorf("%s: %+v", name, answer)
		}
	}
}

// The contents of any file are kept, or it is refused with the line that prevents that. It is never corrupted.
func TestMigrateAwkwardFiles(t *testing.T) {
	byType := map[string]cli.Provider{}
	for _, cloud := range clouds.All() {
		byType[cloud.Type()] = cloud
	}
	// images returns the images of all profiles in a text.
	images := func(t *testing.T, text string) (all []map[string]any) {
		for _, profile := range profilesOf(t, text) {
			var object struct{ Spec struct{ Type string } }
			if err := yaml.Unmarshal([]byte(profile), &object); err != nil {
				t.Fatal(err)
			}
			all = append(all, booted(t, byType[object.Spec.Type], profile))
		}
		return all
	}
	for name, c := range awkward(t) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "profile.yaml")
			for _, step := range []struct{ flag, refused string }{{"", c.registered}, {"--provider-config",
				c.flavors}} {
				write(t, file, c.text)
				args := slices.DeleteFunc([]string{"migrate", "-w", file, step.flag},
					func(arg string) bool { return arg == "" })
				r := runFor(clouds.All(), "", args...)
				if step.refused != "" {
					if r.status != 1 || !strings.Contains(r.stderr, step.refused) || read(t, file) != c.text {
						t.Errorf("%s is not refused by %q: %+v\n%s", step.flag, step.refused, r, read(t, file))
					}
					continue
				}
				changed := read(t, file)
				if r.status != 0 || !strings.Contains(changed, "machineCapabilities") {
					t.Errorf("%s: %+v\n%s", step.flag, r, changed)
					continue
				}
				if was, is := images(t, c.text), images(t, changed); !reflect.DeepEqual(was, is) {
					t.Errorf("%s: other images: %v, not %v\n%s", step.flag, is, was, changed)
				}
				if was, is := commentsOf(c.text), commentsOf(changed); !reflect.DeepEqual(was, is) {
					t.Errorf("%s: comments %q, not %q\n%s", step.flag, is, was, changed)
				}
				if was, is := blankLines(c.text), blankLines(changed); was != is {
					t.Errorf("%s: %d blank lines, not %d\n%s", step.flag, is, was, changed)
				}
				if again := runFor(clouds.All(), "", args...); again.status != 0 || read(t, file) != changed {
					t.Errorf("%s, once more: %+v\n%s", step.flag, again, read(t, file))
				}
				back := runFor(clouds.All(), "", "migrate", "-w", "--back", file)
				if strings.Contains(back.stderr, "says more than an architecture") {
					continue
				}
				if now := read(t, file); back.status != 0 || !reflect.DeepEqual(images(t, now), images(t,
					c.text)) || step.flag == "" && now != c.text && !strings.Contains(c.text, "type: local") {
					t.Errorf("%s, and back: %+v\n%s", step.flag, back, now)
				}
			}
		})
	}
}
