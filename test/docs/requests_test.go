// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The workflow for GitHub and the job for GitLab compare each profile that a pull request updates with what it was, also one in a file that
// it moves. New profiles, removed ones, and profiles that the target branch has changed meanwhile, are not updates.
func TestPlansOfPullRequests(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct{ Steps []workflowStep }
	}
	var jobs map[string]struct{ Script []string }
	decode(t, "docs/examples/github-plan-workflow.yaml", &workflow)
	decode(t, "docs/examples/gitlab-ci.yaml", &jobs)
	var github []string
	for _, step := range workflow.Jobs["plan"].Steps {
		github = append(github, step.Run)
	}
	for name, tc := range map[string]struct {
		script   []string
		checkout string
	}{
		"GitHub": {github, "merged"},
		"GitLab": {jobs["capkit"].Script, "request"},
	} {
		t.Run(name, func(t *testing.T) {
			bash := pullRequest(t, tc.checkout)
			script := slices.DeleteFunc(slices.Clone(tc.script), func(s string) bool {
				return !strings.HasPrefix(s, "git ") && !strings.HasPrefix(s, "while ") && !strings.HasPrefix(s, "capkit plan ")
			})
			out, err := bash(strings.Join(script, "\n") + "\ncat comment.md")
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var profiles []string
			for _, match := range regexp.MustCompile("(?:\\A|\n\n)### (.*)\n").FindAllStringSubmatch(out, -1) {
				profiles = append(profiles, match[1])
			}
			slices.Sort(profiles)
			if want := []string{"CloudProfile `aws`", "CloudProfile `gcp`", "CloudProfile `openstack`"}; !slices.Equal(profiles, want) {
				t.Errorf("the comment is about %q: %s", profiles, out)
			}
			if strings.Count(out, "**locked** (1)") != 1 || !strings.Contains(out, "pool of Shoot garden-demo/shop") || strings.Contains(out, "Nothing changes") {
				t.Error(out)
			}
		})
	}
}

// pullRequest makes a repository with a pull request, and checks out its branch, request, or what it is merged into, merged. The function
// runs a script there.
func pullRequest(t *testing.T, checkout string) func(script string) (string, error) {
	t.Helper()
	bash := repository(t, map[string]string{
		"cloudprofiles/openstack.yaml": "example/cloudprofile.yaml",
		"cloudprofiles/aws.yaml":       "example/aws/cloudprofile.yaml",
		"cloudprofiles/gcp.yaml":       "example/gcp/cloudprofile.yaml",
		"cloudprofiles/azure.yaml":     "example/azure/cloudprofile.yaml",
		"cloudprofiles/alicloud.yaml":  "example/alicloud/cloudprofile.yaml",
		"shoots/shop.yaml":             "example/shoot.yaml",
	})
	out, err := bash(`git tag base
git switch -q -c request
mkdir "cloudprofiles/of Google"
git mv cloudprofiles/gcp.yaml "cloudprofiles/of Google/größer.yaml"
sed 's/name: alicloud$/name: new/' cloudprofiles/alicloud.yaml > cloudprofiles/new.yaml
sed -i.bak 's/classification: supported/classification: deprecated/' cloudprofiles/aws.yaml cloudprofiles/*/größer.yaml
sed -i.bak 's/bare_8_16/bare_8_32/' cloudprofiles/openstack.yaml
rm cloudprofiles/*.bak cloudprofiles/*/*.bak cloudprofiles/azure.yaml
git add -A
git commit -q -m request
git switch -q -c merged main
sed -i.bak 's/classification: supported/classification: deprecated/' cloudprofiles/alicloud.yaml
rm cloudprofiles/*.bak
git commit -q -a -m meanwhile
git merge -q --no-ff -m merged request
git switch -q ` + checkout)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bash
}

// repository makes a repository with copies of files, and a remote, origin. The function runs a script there, in which capkit is the command.
func repository(t *testing.T, files map[string]string) func(script string) (string, error) {
	t.Helper()
	folder, bin := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "capkit")) // TestMain
	}
	if err != nil {
		t.Fatal(err)
	}
	for file, from := range files {
		to := filepath.Join(folder, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(read(t, from)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bash := func(script string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CI_MERGE_REQUEST_DIFF_BASE_SHA=base", "RELEASES=releases",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := bash("git init -q -b main\ngit add .\ngit commit -q -m base\ngit init -q --bare .git/origin\ngit remote add origin .git/origin"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bash
}

// The workflow for imports opens a pull request for the release with the highest version, or for the one that is named, and for nothing else.
func TestImportWorkflow(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct{ Steps []workflowStep }
	}
	decode(t, "docs/examples/github-import-workflow.yaml", &workflow)
	script := "gh() { echo gh \"$2\"; cat said.txt; }\n" // in place of the program
	for _, step := range workflow.Jobs["import"].Steps {
		script += step.Run
	}
	metadata := "ali-gardener_prod-amd64.s3_metadata.yaml"
	bash := repository(t, map[string]string{
		"cloudprofiles/alicloud.yaml": "docs/examples/import/alicloud.yaml",
		"shoots/shop.yaml":            "example/alicloud/shoot.yaml",
		"releases/1592.9/" + metadata: "docs/examples/import/metadata/" + metadata,
		"releases/1877.3/" + metadata: "docs/examples/import/metadata/" + metadata,
	})
	for _, tc := range []struct{ release, branch string }{{"", "import-1877.3"}, {"RELEASE=1592.9\n", "import-1592.9"}} {
		out, err := bash(tc.release + script)
		if err != nil || !strings.Contains(out, "gh create") || !strings.Contains(out, "gardenlinux@1877.3.0: added") || strings.Contains(out, "No Shoots") {
			t.Errorf("%v: %s", err, out)
		}
		if out, err := bash("git -C .git/origin show --format= --name-only " + tc.branch); err != nil || out != "cloudprofiles/alicloud.yaml\n" {
			t.Errorf("%v: %s", err, out)
		}
		if out, err := bash(script); err != nil || strings.Contains(out, "gh") {
			t.Errorf("the same once more: %v: %s", err, out)
		}
		if out, err := bash("git switch -q main"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}
