// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/cluster/fakegarden"
	"github.com/capkit/capkit/internal/testing/cases"
)

func TestPlan(t *testing.T) { cases.Run(t, "testdata/plan.txtar", commands(providers)) }

// git runs git in a folder, without the machine's configuration.
func git(t *testing.T, folder string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// If the folder also contains OLD and NEW, they are not read as inputs again.
func TestPlanInAFolder(t *testing.T) {
	text := read(t, examples+"/cloudprofile.yaml")
	files := map[string]string{
		"old.yaml": text, "new.yaml": strings.ReplaceAll(text, "id: 1234-amd64-virt", "id: changed"), "shoots/shop.yaml": read(t, examples+"/shoot.yaml"),
	}
	inFolder(t, files)
	want := run(t, "", "plan", "old.yaml", "new.yaml", "shoots")
	contains(t, want.stdout, "boots id changed instead of id 1234-amd64-virt", "1 pool of Shoot garden-demo/shop")
	for _, args := range []string{"old.yaml new.yaml .", "./old.yaml shoots/../new.yaml . old.yaml"} {
		if r := run(t, "", append([]string{"plan"}, strings.Fields(args)...)...); r != want || r.status != 0 {
			t.Errorf("%s: %+v, want %+v", args, r, want)
		}
	}
}

// Versions that change alike are one line, apart from those in use.
func TestPlanOfManyVersions(t *testing.T) {
	text := read(t, examples+"/cloudprofile.yaml")
	with := func(further string) string {
		versions := ""
		for i := range 12 {
			versions += fmt.Sprintf("    - version: 1.%d.2\n%s", 33-i, further)
		}
		return strings.Replace(text, "    - version: 1.33.2\n", versions, 1)
	}
	inFolder(t, map[string]string{
		"old.yaml": with(""), "new.yaml": with("      classification: deprecated\n      expirationDate: 2100-01-31T00:00:00Z\n"),
		"shoot.yaml": read(t, examples+"/shoot.yaml"),
	})
	r := run(t, "", "plan", "old.yaml", "new.yaml", "shoot.yaml")
	contains(t, r.stdout, "  1.22.2, 1.23.2, 1.24.2, 1.25.2, 1.26.2, and 7 more: each is deprecated, and was supported\n"+
		"  1.22.2, 1.23.2, 1.24.2, 1.25.2, 1.26.2, and 6 more: each expires on 2100-01-31\n  1.33.2 expires on 2100-01-31\n    stuck")
}

// A file is compared with its earlier revision, from any working directory.
func TestPlanWithAnEarlierRevision(t *testing.T) {
	repository := t.TempDir()
	folder := filepath.Join(repository, "profiles")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	file, other := filepath.Join(folder, "profile.yaml"), filepath.Join(folder, "other.yaml")
	text := read(t, examples+"/cloudprofile.yaml")
	write(t, file, text)
	git(t, repository, "init", "-q", "-b", "main")
	git(t, repository, "add", ".")
	git(t, repository, "commit", "-q", "-m", "first")
	write(t, file, strings.ReplaceAll(text, "id: 1234-amd64-virt", "id: changed"))
	write(t, other, text)
	write(t, filepath.Join(folder, "it's.yaml"), text)

	for _, revision := range []string{"main", "HEAD"} {
		r := run(t, "", "plan", "--git", revision, file, examples+"/shoot.yaml")
		if want := "medium_4_8 in europe boots id changed instead of id 1234-amd64-virt"; r.status != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("%s: status %d: %s%s", revision, r.status, r.stdout, r.stderr)
		}
	}
	t.Chdir(folder)
	r := run(t, read(t, root+"/example/shoot.yaml"), "plan", "--git=main", "profile.yaml", "-")
	if !strings.Contains(r.stdout, "1 pool of Shoot garden-demo/shop") {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	for args, want := range map[string]string{
		"--git=nowhere profile.yaml": `git has no revision "nowhere": name a commit`,
		"--git=main other.yaml": `git has no other.yaml in revision "main": name a revision that has it; or, if it had another name there, ` +
			`hand that version over: git show main:./OLDNAME | capkit plan - other.yaml`,
		"--git=main other.yaml it's.yaml .": `| capkit plan - other.yaml 'it'\''s.yaml' .`,
		"--git=main it's.yaml":              `git show main:./OLDNAME | capkit plan - 'it'\''s.yaml'`,
		"--git=main none.yaml":              ": none.yaml: no such file or directory",
		"--git=main .":                      ". is a directory",
	} {
		if r := run(t, "", append([]string{"plan"}, strings.Fields(args)...)...); r.status != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: status %d: %s", args, r.status, r.stderr)
		}
	}
	outside := filepath.Join(t.TempDir(), "profile.yaml")
	write(t, outside, text)
	if r := run(t, "", "plan", "--git=main", outside); r.status != 2 || !strings.Contains(r.stderr, outside+" is in no git repository") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	t.Setenv("PATH", t.TempDir())
	if r := run(t, "", "plan", "--git=main", "profile.yaml"); r.status != 2 || !strings.Contains(r.stderr, "--git needs git") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
}

// A pull request may change several profiles. plan compares the first, and says which others are compared with nothing.
func TestPlanWithAnEarlierRevisionOfSeveral(t *testing.T) {
	text, child := read(t, examples+"/cloudprofile.yaml"), read(t, examples+"/namespacedcloudprofile.yaml")
	named := func(name string) string { return strings.Replace(text, "name: openstack", "name: "+name, 1) }
	inFolder(t, map[string]string{
		"a.yaml": named("a"), "b.yaml": named("b"), "c.yaml": named("c"), "profiles/d.yaml": named("d"), "shoots/shop.yaml": read(t, examples+"/shoot.yaml"),
	})
	git(t, ".", "init", "-q", "-b", "main")
	git(t, ".", "add", ".")
	git(t, ".", "commit", "-q", "-m", "first")
	for _, name := range []string{"b.yaml", "profiles/d.yaml", "shoots/shop.yaml"} {
		write(t, name, strings.ReplaceAll(read(t, name), "europe", "africa"))
	}
	write(t, "new.yaml", named("e")) // which the revision does not have
	r := run(t, "", strings.Fields("plan --git=main a.yaml b.yaml c.yaml new.yaml profiles shoots")...)
	want := "note: further profiles differ from main, and are taken as they are now: b.yaml, profiles/d.yaml; " +
		"compare each by itself: capkit plan --git=main b.yaml a.yaml c.yaml new.yaml profiles shoots\n"
	if r.status != 0 || r.stdout != "CloudProfile a: nothing changes\n" || !strings.Contains(r.stderr, want) {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	if r := run(t, "", strings.Fields("plan --git=main b.yaml a.yaml c.yaml shoots")...); strings.Contains(r.stderr, "differ") {
		t.Errorf("nothing else differs: %s", r.stderr)
	}
	// A NamespacedCloudProfile needs its parent.
	child = strings.Replace(child, "name: openstack", "name: a", 1)
	write(t, "child.yaml", child)
	git(t, ".", "add", ".")
	git(t, ".", "commit", "-q", "-m", "second")
	write(t, "child.yaml", strings.ReplaceAll(child, "4321", "9876"))
	r = run(t, "", strings.Fields("plan -o markdown --git main --webhook=true a.yaml child.yaml shoots")...)
	const suggested = "plan --git=main --output=markdown --webhook=true child.yaml a.yaml shoots"
	contains(t, r.stderr, "compare each by itself: capkit "+suggested+"\n")
	if r := run(t, "", strings.Fields(suggested)...); r.status != 0 || !strings.Contains(r.stdout, "NamespacedCloudProfile `garden-demo/team`") {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
}

// A pull request may bring a folder that git treats as a repository, and whose configuration names a program. It must not be run.
func TestPlanRunsNothingThatAManifestBrings(t *testing.T) {
	repository, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	folder := filepath.Join(repository, "profiles")
	git(t, repository, "init", "-q", "-b", "main", folder)
	write(t, filepath.Join(folder, "profile.yaml"), read(t, examples+"/cloudprofile.yaml"))
	git(t, folder, "add", ".")
	git(t, folder, "commit", "-q", "-m", "first")
	for _, setting := range [][]string{
		{"core.worktree", "."},
		{"core.repositoryFormatVersion", "1"},
		{"extensions.partialClone", "origin"}, // makes git fetch missing objects, with a program
		{"remote.origin.promisor", "true"},
		{"remote.origin.url", "ssh://host/path"},
		{"core.sshCommand", "echo >" + ran + " #"},
	} {
		git(t, folder, append([]string{"config"}, setting...)...)
	}
	hidden := filepath.Join(folder, ".git") // commits cannot contain it, but can contain its files beside the profile
	for _, name := range []string{"HEAD", "config", "refs"} {
		if err := os.Rename(filepath.Join(hidden, name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.RemoveAll(hidden), os.Mkdir(filepath.Join(folder, "objects"), 0o755)); err != nil {
		t.Fatal(err)
	}
	r := run(t, "", "plan", "--git=main", filepath.Join(folder, "profile.yaml"))
	if _, err := os.Stat(ran); r.status != 2 || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v: %+v", err, r)
	}
}

// A link is compared with its target's earlier content, and a file that became a link with its own earlier content.
func TestPlanWithEarlierLinks(t *testing.T) {
	repository, text := t.TempDir(), read(t, examples+"/cloudprofile.yaml")
	link := func(from, to string) {
		if err := errors.Join(os.RemoveAll(from), os.Symlink(to, from)); err != nil {
			t.Fatal(err)
		}
	}
	git(t, repository, "init", "-q", "-b", "main")
	t.Chdir(repository)
	for _, name := range []string{"profile.yaml", "own.yaml", "other.yaml"} {
		write(t, name, text)
	}
	link("link.yaml", "profile.yaml")
	link("further.yaml", filepath.Join(repository, "link.yaml"))
	git(t, repository, "add", ".")
	git(t, repository, "commit", "-q", "-m", "first")
	for _, name := range []string{"profile.yaml", "other.yaml"} {
		write(t, name, strings.ReplaceAll(text, "id: 1234-amd64-virt", "id: changed"))
	}
	link("own.yaml", "other.yaml")
	for _, name := range []string{"link.yaml", "further.yaml", "own.yaml"} {
		r := run(t, "", "plan", "--git=main", name)
		if want := "medium_4_8 in europe boots id changed instead of id 1234-amd64-virt"; r.status != 0 || !strings.Contains(r.stdout, want) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Errors about unreadable OLD and NEW describe the cause.
func TestPlanNamesWhatCannotBeRead(t *testing.T) {
	repository, text := t.TempDir(), read(t, examples+"/cloudprofile.yaml")
	broken := strings.Replace(text, "type: openstack", "type: [openstack", 1)
	git(t, repository, "init", "-q", "-b", "main")
	t.Chdir(repository)
	write(t, "broken.yaml", broken)
	write(t, "empty.yaml", "")
	git(t, repository, "add", ".")
	git(t, repository, "commit", "-q", "-m", "first")
	write(t, "broken.yaml", text)
	write(t, "empty.yaml", text)
	for args, want := range map[string]string{
		"--git=main broken.yaml":              "main:broken.yaml:8:3: error: not valid YAML",
		"--git=main empty.yaml":               "capkit: OLD has no profile, and NEW has CloudProfile openstack; main:empty.yaml is empty: give two versions",
		"--stdin-name=old.yaml - broken.yaml": "old.yaml:8:3: error: not valid YAML",
		"--stdin-name=new.yaml broken.yaml -": "new.yaml:8:3: error: not valid YAML",
		"- broken.yaml":                       "<stdin>:8:3: error: not valid YAML",
	} {
		if r := run(t, broken, append([]string{"plan"}, strings.Fields(args)...)...); r.status != 2 || !strings.HasPrefix(r.stderr, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// exampleGarden returns an API server with the example profiles and Shoots.
func exampleGarden(t *testing.T) *fakegarden.API {
	t.Helper()
	api := &fakegarden.API{}
	for file, into := range map[string]any{
		"cloudprofile": &api.CloudProfiles, "namespacedcloudprofile": &api.NamespacedCloudProfiles, "shoot": &api.Shoots,
	} {
		item := read(t, root+"/example/"+file+".yaml")
		if file == "shoot" {
			item = joined(item, read(t, root+"/example/shoot-namespaced.yaml"))
		}
		for _, text := range strings.Split(item, "---\n") {
			raw, err := yaml.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			items := append(itemsOf(t, into), raw)
			if err := json.Unmarshal([]byte("["+string(bytes.Join(items, []byte(",")))+"]"), into); err != nil {
				t.Fatal(err)
			}
		}
	}
	return api
}

// A profile is compared with the cluster's, for the Shoots that use it directly or through NamespacedCloudProfiles.
func TestPlanOfACluster(t *testing.T) {
	api := exampleGarden(t)
	kubeconfig := api.Start(t)
	text := read(t, root+"/example/cloudprofile.yaml")
	changed := filepath.Join(t.TempDir(), "changed.yaml")
	write(t, changed, patched(t, text, `[{op: remove, path: /spec/machineTypes/2}]`))
	whole := "locked (1): Gardener would reject all later updates of these Shoots\n  machine type bare_8_16: 2 pools of Shoots garden-demo/lab, garden-demo/shop\n"
	for _, tc := range []struct {
		args, want string
		status     int
	}{
		{"-A " + changed, whole, 1},
		{"-n garden-demo " + changed, whole, 1},
		{"-A --git=main " + changed, changed + " is in no git repository", 2},
		{"-A " + root + "/example/cloudprofile.yaml " + changed, whole, 1}, // OLD is a file, but the Shoots are not
		{"-A " + changed + " " + changed, "nothing changes", 0},
		{"--context=here " + changed, "4 gone", 0}, // no Shoots are requested
		{"--context=here " + changed + " " + root + "/example/shoot.yaml", "machine type bare_8_16: 1 pool of Shoot garden-demo/shop", 1},
		{"-A " + root + "/example/cloudprofile-legacy.yaml", "has no CloudProfile openstack-legacy to be updated", 2},
		{"-A " + root + "/example/namespacedcloudprofile.yaml", "NamespacedCloudProfile garden-demo/team: nothing changes", 0},
		{"-A", "no NEW given", 2},
		{"-A -n x " + changed, "use only one of them", 2},
	} {
		r := run(t, "", append([]string{"plan", "--kubeconfig", kubeconfig}, strings.Fields(tc.args)...)...)
		if r.status != tc.status || !strings.Contains(r.stdout+r.stderr, tc.want) {
			t.Errorf("%s: status %d\n%s%s", tc.args, r.status, r.stdout, r.stderr)
		}
	}
}

// webhooksRefused refuses the list of webhooks.
func webhooksRefused(path, _ string) *apierrors.StatusError {
	if !strings.HasSuffix(path, "/mutatingwebhookconfigurations") {
		return nil
	}
	return apierrors.NewForbidden(schema.GroupResource{Resource: "mutatingwebhookconfigurations"}, "", errors.New("no"))
}

// A flag is suggested only for commands that have it.
func TestUnknownWebhooksOfACluster(t *testing.T) {
	garden := exampleGarden(t)
	garden.Refuse = webhooksRefused
	kubeconfig := garden.Start(t)
	for command, has := range map[string]bool{
		"maintenance -A": true, "render -n garden-demo": false, "migrate -A " + root + "/example/cloudprofile-legacy.yaml": false,
	} {
		r := run(t, "", append(strings.Fields(command), "--kubeconfig="+kubeconfig)...)
		if !strings.Contains(r.stderr, "note: capkit's admission component is assumed not to be installed: the right to list ") ||
			strings.Contains(r.stderr, "--webhook") != has {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

// The predictions of maintenance for a cluster depend on capkit's components there, unless a flag overrides that.
func TestMaintenanceOfACluster(t *testing.T) {
	// The newest version has no image in the region of the Shoots.
	profile := patched(t, read(t, root+"/example/cloudprofile.yaml"), `
- op: add
  path: /spec/machineImages/0/versions/-
  value: {version: 1877.9.0, capabilityFlavors: [{architecture: [amd64]}]}
- op: add
  path: /spec/providerConfig/machineImages/0/versions/-
  value: {version: 1877.9.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, regions: [{name: asia, id: new}]}]}`)
	api := func(change func(*fakegarden.API)) string {
		garden := exampleGarden(t)
		if err := yaml.Unmarshal([]byte(profile), &garden.CloudProfiles[0]); err != nil {
			t.Fatal(err)
		}
		images := garden.CloudProfiles[0].Spec.MachineImages[0].Versions
		for i := range images {
			images[i].CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}} // by default
		}
		change(garden)
		return garden.Start(t)
	}
	// installed adds a configuration with a webhook of this name for a provider's objects.
	installed := func(name, provider string) func(*fakegarden.API) {
		return func(a *fakegarden.API) {
			a.Mutating = []admissionregistrationv1.MutatingWebhookConfiguration{{}, {Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name:           name,
				ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"provider.extensions.gardener.cloud/" + provider: "true"}},
			}}}}
		}
	}
	nothing := func(*fakegarden.API) {}
	maintenance := func(kubeconfig string, args ...string) result {
		return run(t, "", append([]string{"maintenance", "-A", "--kubeconfig", kubeconfig}, args...)...)
	}
	said := map[string]result{}
	for _, webhook := range []string{"false", "validating", "true"} {
		said[webhook] = maintenance(api(nothing), "--webhook="+webhook)
		for other, r := range said {
			if other != webhook && r.stdout == said[webhook].stdout {
				t.Errorf("the same with --webhook=%s and %s: %s", other, webhook, r.stdout)
			}
		}
	}
	refused := func(a *fakegarden.API) { a.Refuse = webhooksRefused }
	for name, tc := range map[string]struct {
		has      func(*fakegarden.API)
		as, note string
	}{
		"mutate-shoot":                      {installed("mutate-shoot.admission-openstack.x", "openstack"), "true", ""},
		"mutate-cloudprofile":               {installed("mutate-cloudprofile.admission-openstack.x", "openstack"), "validating", ""},
		"mutate-shoot for another provider": {installed("mutate-shoot.admission-aws.x", "aws"), "false", ""},
		"somebody else's":                   {installed("mutation.x", "openstack"), "false", ""},
		"nothing":                           {nothing, "false", ""},
		"what may not be read": {
			refused, "false", "note: capkit's admission component is assumed not to be installed: the right to list " +
				"mutatingwebhookconfigurations.admissionregistration.k8s.io is missing in context here (",
		},
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig := api(tc.has)
			r, want := maintenance(kubeconfig), said[tc.as]
			if r.stdout != want.stdout || r.status != want.status {
				t.Errorf("status %d, with --webhook=%s %d\n%s", r.status, tc.as, want.status, cmp.Diff(want.stdout, r.stdout))
			}
			if strings.Contains(r.stderr, "note: capkit's admission component") != (tc.note != "") || !strings.Contains(r.stderr, tc.note) {
				t.Error(r.stderr)
			}
			if r := maintenance(kubeconfig, "--webhook=validating"); r.stdout != said["validating"].stdout {
				t.Errorf("the flag does not count: %s", r.stdout)
			}
		})
	}
}

// itemsOf returns the items of a list as JSON.
func itemsOf(t *testing.T, list any) [][]byte {
	t.Helper()
	raw, err := json.Marshal(list)
	var items []json.RawMessage
	if err == nil {
		err = json.Unmarshal(raw, &items)
	}
	if err != nil {
		t.Fatal(err)
	}
	var texts [][]byte
	for _, item := range items {
		texts = append(texts, item)
	}
	return texts
}

// A Shoot that is selected for plan has the same changes as without other Shoots. If worker pools are selected, only these are left.
func TestPlanOfSomeShoots(t *testing.T) {
	old, shop := read(t, examples+"/cloudprofile.yaml"), read(t, examples+"/shoot.yaml")
	bank := strings.NewReplacer("name: shop", "name: bank", "region: europe", "region: asia", "europe-1a", "asia-1a", "europe-1b", "asia-1a",
		"version: 1.33.2", "version: 1.33.1").Replace(shop)
	inFolder(t, map[string]string{
		"old.yaml": old, "shop.yaml": shop, "bank.yaml": bank, "new.yaml": read(t, root+"/docs/examples/update.yaml"),
		"unused.yaml": strings.ReplaceAll(old, "      - version: 1877.5.0\n        capa", "      - version: 1877.7.0\n        capa"),
	})
	type planned struct {
		Changes []map[string]any
		Others  []string
	}
	for _, updated := range []string{"new.yaml", "unused.yaml"} {
		alone := runFor(providers, "", "plan", "-o", "json", "old.yaml", updated, "bank.yaml")
		for _, flags := range []string{"--shoot=bank", "--shoot=garden-demo/bank", "--region=asia"} {
			chosen := runFor(providers, "", "plan", "-o", "json", flags, "old.yaml", updated, "shop.yaml", "bank.yaml")
			if diff := cmp.Diff(alone.stdout, chosen.stdout); diff != "" || chosen.status != alone.status {
				t.Errorf("%s %s: status %d instead of %d: %s", flags, updated, chosen.status, alone.status, diff)
			}
		}
		all := decoded[planned](t, runFor(providers, "", "plan", "-o", "json", "old.yaml", updated, "shop.yaml", "bank.yaml"))
		web := decoded[planned](t, runFor(providers, "", "plan", "-o", "json", "--pool=web", "old.yaml", updated, "shop.yaml", "bank.yaml"))
		count := func(p planned, pool string) (n int) {
			for _, c := range p.Changes {
				then, _ := c["then"].([]any)
				for _, of := range append(c["pools"].([]any), then...) {
					if of.(map[string]any)["pool"] == pool {
						n++
					}
				}
			}
			return n
		}
		if count(all, "db") == 0 || count(web, "db") > 0 || count(web, "web") != count(all, "web") || len(all.Others) > len(web.Others) {
			t.Errorf("%s: of %v there is left %v", updated, all, web)
		}
	}
}

// The version of Gardener is the cluster's, unless a flag sets another one.
func TestGardenerVersionOfACluster(t *testing.T) {
	const gate, unknown = "disabled CloudProfileCapabilities feature gate", "note: Gardener is assumed to be v1.150: "
	for _, tc := range []struct {
		info, flags  string
		refused      bool
		want, wanted string // texts on standard output, and on standard error
	}{
		{"version: v1.150.0", "", false, "", ""},
		{"version: v1.145.0", "", false, gate, ""},
		{"version: v1.145.0", "--feature-gates=CloudProfileCapabilities=true", false, "", ""},
		{"version: v1.145.0", "--gardener-version=v1.146.0", false, "", ""},
		{"version: v1.145.0", "--gardener-version=v1.145.0", true, gate, ""},
		{"version: v1.151.0", "", false, "", "note: Gardener v1.151.0 is newer than the newest one that is known"},
		{"version: main", "", false, "", unknown},
		{"", "", true, "", unknown + "the right to get ConfigMap gardener-info in namespace gardener-system-public is missing in context here ("},
	} {
		garden := exampleGarden(t)
		garden.GardenerInfo = tc.info
		garden.Refuse = func(path, _ string) *apierrors.StatusError {
			if !tc.refused || !strings.HasSuffix(path, "/gardener-info") {
				return nil
			}
			if tc.flags != "" {
				t.Errorf("%s: it is asked for", tc.flags)
			}
			return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "gardener-info", errors.New("no"))
		}
		r := run(t, "", append([]string{"lint", "-A", "--kubeconfig", garden.Start(t)}, strings.Fields(tc.flags)...)...)
		if strings.Contains(r.stdout, gate) != (tc.want != "") || strings.Contains(r.stderr, "note: Gardener") != (tc.wanted != "") ||
			!strings.Contains(r.stderr, tc.wanted) {
			t.Errorf("%+v: status %d\n%s%s", tc, r.status, r.stdout, r.stderr)
		}
	}
}
