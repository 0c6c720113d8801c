// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"sigs.k8s.io/yaml"
)

// layout is an arrangement of manifests in a repository or in a dump.
type layout struct {
	name  string
	files map[string]string
	// input has the arguments. The default is the folder.
	input []string
	// status is the exit status of lint. Its output must contain all texts in says.
	status int
	says   []string
}

// kubectl returns manifests in the YAML output format of kubectl get: as a List.
func kubectl(manifests ...string) string {
	text := "apiVersion: v1\nitems:\n"
	for _, m := range manifests {
		first := "- "
		for line := range strings.Lines(m) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			text += first + line
			first = "  "
		}
	}
	return text + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
}

func asJSON(t *testing.T, manifest string) string {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func indented(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "    "); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// inUTF16 returns a text as PowerShell redirects it.
func inUTF16(text string) string {
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, utf16.Encode([]rune("\ufeff"+text))) // a buffer never fails
	return out.String()
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const (
	configMap     = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: b\n"
	chartYAML     = "apiVersion: v2\nname: landscape\nversion: 0.1.0\n"
	valuesYAML    = "profiles:\n  openstack:\n    enabled: true\n"
	chartTemplate = "{{- range $name, $p := .Values.profiles }}\napiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\n" +
		"metadata:\n  name: {{ $name }}\nspec:\n  type: {{ $p.type }}\n{{- end }}\n"
	one     = "1 object checked: no errors, no warnings"
	two     = "2 objects checked: no errors, no warnings"
	nothing = "no CloudProfile, NamespacedCloudProfile or Shoot among the inputs"
)

// landscapes returns two landscapes with a folder each, whose profiles have the same name.
func landscapes(profile, shoot string) map[string]string {
	return map[string]string{
		"dev/openstack.yaml": profile, "dev/shop.yaml": shoot,
		"prod/profiles/openstack.yaml": profile, "prod/projects/demo/shop.yaml": shoot,
	}
}

// layoutsOfRepositories returns typical layouts of repositories.
func layoutsOfRepositories(t *testing.T) []layout {
	profile, shoot := read(t, examples+"/cloudprofile.yaml"), read(t, examples+"/shoot.yaml")
	both := func(more map[string]string) map[string]string {
		files := map[string]string{"profile.yaml": profile, "shoot.yaml": shoot}
		for name, text := range more {
			files[name] = text
		}
		return files
	}
	return []layout{
		{name: "flat", files: both(nil), says: []string{two}},
		{name: "folders", files: map[string]string{"profiles/openstack.yml": profile, "projects/demo/shop.yaml": shoot}, says: []string{two}},
		{name: "a folder for each landscape", files: landscapes(profile, shoot), status: 1, says: []string{
			"prod/profiles/openstack.yaml:", "CloudProfile openstack is already described in dev/openstack.yaml:",
			"; or, if dev and prod are of two landscapes, run the command for each of them alone"}},
		{name: "one landscape of several", files: landscapes(profile, shoot), input: []string{"prod"}, says: []string{two}},
		{name: "twice in a folder", files: map[string]string{"l/a.yaml": profile, "l/b.yaml": profile, "c.yaml": shoot}, status: 1,
			says: []string{"l/b.yaml:", "; remove or rename one of the two [object-duplicate]"}},
		{name: "one file", files: map[string]string{"all.yaml": joined(profile, shoot)}, says: []string{two}},
		{name: "other kinds", files: both(map[string]string{"cm.yaml": configMap}), says: []string{two + "; 1 manifest of other kinds skipped"}},
		{name: "other kinds of Gardener", files: both(map[string]string{
			"p.yaml": "apiVersion: core.gardener.cloud/v1beta1\nkind: Project\nmetadata: {name: a}\n"}),
			says: []string{two + "; 1 manifest"}},
		{name: "chart", files: both(map[string]string{
			"chart/Chart.yaml": chartYAML, "chart/values.yaml": valuesYAML, "chart/templates/profile.yaml": chartTemplate}),
			says: []string{two, "skipped: chart: a Helm chart"}},
		{name: "chart with several values", files: both(map[string]string{
			"chart/Chart.yaml": chartYAML, "chart/values-dev.yaml": valuesYAML, "chart/values.prod.yaml": "a: [\n"}),
			says: []string{two, "skipped: chart: a Helm chart"}},
		{name: "chart alone", files: map[string]string{"Chart.yaml": chartYAML, "values.yaml": valuesYAML, "templates/a.yaml": chartTemplate}, status: 2,
			says: []string{nothing, ": a Helm chart: its templates and values are not manifests, check what helm template renders"}},
		{name: "chart with a plain template", files: both(map[string]string{
			"chart/Chart.yaml": chartYAML, "chart/templates/a.yaml": strings.ReplaceAll(profile, "openstack", "x")}),
			says: []string{two, "a Helm chart"}},
		{name: "chart with helpers and tests", files: both(map[string]string{
			"chart/Chart.yaml": chartYAML, "chart/templates/_helpers.tpl": "{{ define }}", "chart/templates/tests/a.yaml": chartTemplate}),
			says: []string{two, "a Helm chart"}},
		{name: "chart within a chart", files: both(map[string]string{
			"c/Chart.yaml": chartYAML, "c/charts/d/Chart.yaml": chartYAML, "c/charts/d/templates/a.yaml": chartTemplate}),
			says: []string{two, "skipped: c: a Helm chart", "skipped: c/charts/d: a Helm chart"}},
		{name: "manifests beside templates", files: map[string]string{"c/Chart.yaml": chartYAML, "c/examples/profile.yaml": profile},
			says: []string{one, "a Helm chart"}},
		{name: "templates without a chart", files: both(map[string]string{"tpl/a.yaml": chartTemplate}),
			says: []string{two, "skipped: tpl/a.yaml:1: a template"}},
		{name: "template among documents", files: map[string]string{"all.yaml": joined(profile, chartTemplate)},
			says: []string{one, "a template, with {{ }} in it"}},
		{name: "template that is named", files: map[string]string{"a.yaml": chartTemplate}, input: []string{"a.yaml"}, status: 1,
			says: []string{"a.yaml:", "{{ }} looks like a template: render it, and check the result"}},
		{name: "Jinja", files: both(map[string]string{"a.yaml.j2": "{% for %}", "b.yaml": "{% for p in profiles %}\n- {{ p }}\n{% endfor %}\n"}),
			says: []string{two, "skipped: b.yaml:1: a template"}},
		{name: "kustomization", files: both(map[string]string{"kustomization.yaml": "resources: [profile.yaml, shoot.yaml]\n"}),
			says: []string{two, "kustomization.yaml: a kustomization"}},
		{name: "kustomization with its kind", files: both(map[string]string{
			"kustomization.yml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [profile.yaml]\n"}),
			says: []string{two, "a kustomization"}},
		{name: "patches", files: both(map[string]string{
			"overlay/kustomization.yaml": "resources: [..]\npatches:\n- path: patch.yaml\n- patch: |-\n    - op: remove\n  target: {kind: Shoot}\n",
			"overlay/patch.yaml":         "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nmetadata:\n  name: openstack\nspec:\n  regions: []\n",
		}), says: []string{two, "skipped: overlay/kustomization.yaml: a kustomization: its patches are not manifests"}},
		{name: "strategic patches", files: both(map[string]string{
			"o/kustomization.yaml": "patchesStrategicMerge:\n- ../patches/a.yaml\n- |-\n  kind: Shoot\n",
			"patches/a.yaml":       "apiVersion: core.gardener.cloud/v1beta1\nkind: Shoot\nmetadata:\n  name: shop\n  namespace: garden-demo\n",
		}), says: []string{two, "a kustomization"}},
		{name: "JSON patches", files: both(map[string]string{
			"o/kustomization.yaml": "patchesJson6902:\n- path: p.yaml\n  target: {kind: Shoot}\n", "o/p.yaml": "- op: remove\n  path: /spec\n"}),
			says: []string{two, "a kustomization"}},
		{name: "JSON patch that nobody names", files: both(map[string]string{
			"p.yaml": "- op: add\n  path: /metadata/labels/core.gardener.cloud~1a\n  value: b\n"}),
			says: []string{two, "skipped: p.yaml:1: no Kubernetes object: this is a list"}},
		{name: "replacements and generators", files: both(map[string]string{
			"kustomization.yaml": "replacements:\n- path: r.yaml\ngenerators: [g.yaml]\n", "r.yaml": "a: b\n", "g.yaml": "c: [\n"}),
			says: []string{two, "a kustomization"}},
		{name: "kustomization that is broken", files: both(map[string]string{"kustomization.yaml": "patches: [\n"}),
			says: []string{two, "a kustomization"}},
		{name: "Flux", files: both(map[string]string{
			"k.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {path: ./x}\n"}),
			says: []string{two + "; 1 manifest"}},
		{name: "Argo CD", files: both(map[string]string{"a.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n"}),
			says: []string{two + "; 1 manifest"}},
		{name: "docker compose", files: both(map[string]string{"docker-compose.yaml": "services:\n  a:\n    image: b\n"}),
			says: []string{two + "; 1 manifest"}},
		{name: "workflows", files: both(map[string]string{"ci/a.yml": "on: push\non: pull_request\njobs: {}\n"}), says: []string{two + "; 1 manifest"}},
		{name: "GitLab", files: both(map[string]string{"ci.yml": "a:\n  script: !reference [b, script]\n"}), says: []string{two + "; 1 manifest"}},
		{name: "CloudFormation", files: both(map[string]string{"cf.yaml": "Resources:\n  A:\n    Value: !Sub \"${B}\"\n"}),
			says: []string{two + "; 1 manifest"}},
		{name: "Ansible", files: both(map[string]string{"play.yaml": "- hosts: all\n  tasks:\n  - name: \"{{ a }}\"\n"}),
			says: []string{two, "skipped: play.yaml:1: a template"}},
		{name: "vault", files: both(map[string]string{"v.yaml": "a: !vault |\n  $ANSIBLE_VAULT\n"}), says: []string{two + "; 1 manifest"}},
		{name: "SOPS", files: both(map[string]string{"s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nsops: {version: 3.9.0}\n"}),
			says: []string{two + "; 1 manifest"}},
		{name: "package.json", files: both(map[string]string{"package.json": `{"name": "a"}`}), says: []string{two + "; 1 manifest"}},
		{name: "JSON with comments", files: both(map[string]string{"tsconfig.json": "{\n  // no comment\n  \"a\": 1,\n}\n"}),
			says: []string{two, "skipped: tsconfig.json:1: it cannot be read"}},
		{name: "dashboards", files: both(map[string]string{"d.json": "[1, 2]"}), says: []string{two + "; 1 manifest"}},
		{name: "empty files", files: both(map[string]string{"a.yaml": "", "b.yaml": "---\n", "c.yaml": "# nothing\n", "d.json": "\n"}),
			says: []string{two + "\n"}},
		{name: "scalars", files: both(map[string]string{"a.yaml": "hello\n"}), says: []string{two + "; 1 manifest"}},
		{name: "binary", files: both(map[string]string{"a.yaml": "\x00\x01"}), says: []string{two, "skipped: a.yaml:1: it cannot be read"}},
		{name: "links of git", files: both(map[string]string{"a.yaml": "../profile.yaml"}), says: []string{two + "; 1 manifest"}},
		{name: "git large files", files: both(map[string]string{"a.yaml": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"}),
			says: []string{two}},
		{name: "conflict of git", files: both(map[string]string{"a.yaml": "<<<<<<< HEAD\n" + profile + "=======\n"}), status: 1,
			says: []string{"a.yaml:", "[syntax]"}},
		{name: "values that mention Gardener", files: both(map[string]string{
			"v/values.yaml": "providerConfig:\n  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\n"}),
			says: []string{two, "skipped: v/values.yaml:1: no Kubernetes object: apiVersion and kind are missing"}},
		{name: "something like an object", files: both(map[string]string{"a.yaml": "# a\nmetadata:\n  name: a\nspec: {}\n"}),
			says: []string{two + "; 1 manifest", "skipped: a.yaml:2: no Kubernetes object: apiVersion and kind are missing"}},
		{name: "a kind that is missing", files: both(map[string]string{
			"a.yaml": "apiVersion: core.gardener.cloud/v1beta1\nmetadata: {name: a}\n"}), status: 1,
			says: []string{"kind is missing [not-an-object]"}},
		{name: "a mistake in one of Gardener's", files: both(map[string]string{
			"a.yaml": "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\n  metadata: {}\n"}), status: 1,
			says: []string{"a.yaml:3:", "[syntax]"}},
		{name: "hidden folders", files: both(map[string]string{".terraform/a.yaml": "a: [\n", "node/.cache/b.yaml": "a: [\n"}), says: []string{two + "\n"}},
		{name: "ignored", files: both(map[string]string{".capkitignore": "drafts\n", "drafts/a.yaml": "kind: [\n"}), says: []string{two + "\n"}},
		{name: "no manifests at all", files: map[string]string{"README.md": "# a\n", "a/b.txt": "c"}, status: 2, says: []string{nothing, "--allow-empty"}},
		{name: "other kinds alone", files: map[string]string{"cm.yaml": configMap}, status: 2, says: []string{nothing + "; 1 document skipped"}},
	}
}

// layoutsOfDumps returns typical output of programs.
func layoutsOfDumps(t *testing.T) []layout {
	profile, shoot := read(t, examples+"/cloudprofile.yaml"), read(t, examples+"/shoot.yaml")
	live := strings.Replace(shoot, "  namespace: garden-demo\n",
		"  namespace: garden-demo\n  uid: a\n  resourceVersion: \"1\"\n  generation: 2\n"+
			"  managedFields:\n  - {manager: a, operation: Update, apiVersion: core.gardener.cloud/v1beta1, fieldsType: FieldsV1, fieldsV1: {\"f:spec\": {}}}\n", 1) +
		"status:\n  technicalID: shoot--demo--shop\n  ofTomorrow: {a: b}\n  conditions:\n  - {type: A, status: \"True\", ofTomorrow: 1}\n"
	file := func(text string) map[string]string { return map[string]string{"dump.yaml": text} }
	js := func(text string) map[string]string { return map[string]string{"dump.json": text} }
	list := `{"apiVersion":"v1","kind":"List","items":[` + asJSON(t, profile) + `,` + asJSON(t, live) + `]}`
	untyped := strings.NewReplacer(`"apiVersion":"core.gardener.cloud/v1beta1",`, "", `"kind":"Shoot",`, "").Replace(asJSON(t, live))
	answer := `{"kind":"ShootList","apiVersion":"core.gardener.cloud/v1beta1","metadata":{},"items":[` + untyped + `]}`
	return []layout{
		{name: "kubectl get", files: file(kubectl(profile, live)), says: []string{two}},
		{name: "kubectl get -o json", files: js(indented(t, list)), says: []string{two}},
		{name: "jq -c", files: js(list), says: []string{two}},
		{name: "jq .items[]", files: js(asJSON(t, profile) + "\n" + asJSON(t, live) + "\n"), says: []string{two}},
		{name: "an answer of the API server", files: map[string]string{"p.yaml": profile, "s.json": answer}, says: []string{two}},
		{name: "Lists in a List", files: file(kubectl(kubectl(profile), kubectl(live))), says: []string{two}},
		{name: "empty List", files: map[string]string{"p.yaml": profile, "l.yaml": kubectl()}, says: []string{one}},
		{name: "Lists of other kinds", files: map[string]string{"p.yaml": profile, "l.yaml": kubectl(configMap)}, says: []string{one + "; 1 manifest"}},
		{name: "several Lists", files: file(joined(kubectl(profile), kubectl(live))), says: []string{two}},
		{name: "from another system", files: file(strings.ReplaceAll(joined(profile, live), "\n", "\r\n")), says: []string{two}},
		{name: "byte order mark", files: map[string]string{"p.yaml": "\ufeff" + profile, "s.json": "\ufeff" + asJSON(t, live)}, says: []string{two}},
		{name: "UTF-16", files: map[string]string{"p.yaml": profile, "u.yaml": "\xff\xfea\x00"},
			says: []string{one, "skipped: u.yaml:1: it cannot be read"}},
		{name: "UTF-16 of ours", files: map[string]string{"p.yaml": profile, "u.yaml": inUTF16(live)}, status: 1,
			says: []string{"u.yaml:1:1: error: the text is UTF-16, as PowerShell may write it; write it as UTF-8: "}},
		{name: "markers all over", files: file("---\n---\n" + profile + "...\n---\n" + live + "---\n...\n"), says: []string{two}},
		{name: "directives", files: file("%YAML 1.1\n---\n" + profile + "...\n%YAML 1.1\n---\n" + live), says: []string{two}},
		{name: "no line end", files: file(strings.TrimSuffix(joined(profile, live), "\n")), says: []string{two}},
		{name: "JSON in a YAML file", files: file(asJSON(t, profile) + "\n---\n" + asJSON(t, live)), says: []string{two}},
		{name: "YAML in a JSON file", files: js(profile), says: []string{one}},
		{name: "comments", files: file("# a\n\n# b\n" + profile + "# c\n---\n# d\n" + live + "\n# e\n"), says: []string{two}},
		{name: "a status of tomorrow", files: map[string]string{"p.yaml": profile, "s.yaml": live}, says: []string{two}},
		{name: "standard input", files: file(""), input: []string{"-"}, status: 2, says: []string{nothing}},
		{name: "gzip in a folder", files: map[string]string{"p.yaml": profile, "s.yaml.gz": gzipped(t, shoot)}, says: []string{one + "\n"}},
		{name: "gzip that is named", files: map[string]string{"s.yaml.gz": gzipped(t, shoot)}, input: []string{"s.yaml.gz"}, status: 1,
			says: []string{"s.yaml.gz:1:1: error: the file is compressed by gzip; unpack it, or: gunzip -c FILE | capkit lint -"}},
		{name: "anchors in a List", files: file(strings.Replace(kubectl(profile, live), "region: europe", "region: &r europe", 1)), says: []string{two}},
		{name: "what a status needs", files: map[string]string{
			"p.yaml": profile, "n.yaml": read(t, examples+"/namespacedcloudprofile.yaml") + "status:\n  cloudProfileSpec: {ofTomorrow: 1}\n  ofTomorrow: 2\n"},
			says: []string{two}},
	}
}

func TestLayouts(t *testing.T) {
	all := append(layoutsOfRepositories(t), layoutsOfDumps(t)...)
	if len(all) < 60 {
		t.Errorf("%d layouts", len(all))
	}
	counts := regexp.MustCompile(`(\d+|no) objects? checked`)
	for _, l := range all {
		t.Run(l.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, text := range l.files {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, name, text)
			}
			if l.input == nil {
				l.input = []string{"."}
			}
			r := runFor(table, "", append([]string{"lint"}, l.input...)...)
			if r.status != l.status || r.status == 0 && !counts.MatchString(r.stderr) {
				t.Errorf("status %d", r.status)
			}
			contains(t, r.stdout+r.stderr, l.says...)
			if again := runFor(table, "", append([]string{"lint"}, l.input...)...); again != r {
				t.Error("another answer to the same question")
			}
		})
	}
}

// Every command that reads folders names the skipped files, whatever its answer, because they may have been meant.
func TestSkippedIsNamed(t *testing.T) {
	metadata, err := filepath.Abs(filepath.Join(importExamples, "metadata"))
	if err != nil {
		t.Fatal(err)
	}
	profile, child := read(t, examples+"/cloudprofile.yaml"), read(t, examples+"/namespacedcloudprofile.yaml")
	t.Chdir(t.TempDir())
	for _, folder := range []string{"d", "orphan", "empty"} {
		if err := errors.Join(os.Mkdir(folder, 0o750), os.Symlink("nowhere", folder+"/gone.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "d/profile.yaml", profile)
	write(t, "d/child.yaml", child)
	write(t, "orphan/child.yaml", child)
	for args, folders := range map[string][]string{
		"lint": {"d", "orphan", "empty"}, "lint --fix": {"d", "orphan", "empty"}, "report -o json": {"d", "empty"},
		"plan d/profile.yaml d/profile.yaml": {"d"}, "render": {"d", "orphan"}, "migrate --core-flavors": {"d", "orphan", "empty"},
		"import --from gardenlinux:" + metadata: {"d", "orphan", "empty"},
	} {
		for _, folder := range folders {
			if r := run(t, "", append(strings.Fields(args), folder)...); strings.Count(r.stderr, "skipped: "+folder+"/gone.yaml: ") != 1 {
				t.Errorf("%s %s: %+v", args, folder, r)
			}
		}
	}
}

// Few of many skipped files are named, and the number of the others.
func TestManySkipped(t *testing.T) {
	folder := t.TempDir()
	for i := range 30 {
		if err := os.Symlink("nowhere", fmt.Sprintf("%s/%02d.yaml", folder, i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"lint", folder}, {"lint", "--allow-empty", folder}} {
		if r := run(t, "", args...); strings.Count(r.stderr, "skipped: ") != 21 || !strings.Contains(r.stderr, "skipped: 10 more\n") {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
