// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// Output for CI systems shows findings beside the repository's lines, whatever the working directory of the command.

func TestPathsAreThoseOfTheRepository(t *testing.T) {
	profile := read(t, broken+"/provider-flavor-missing.yaml")
	inFolder(t, map[string]string{
		"landscapes/live/profile.yaml": profile,
		".git/HEAD":                    "ref: refs/heads/main\n",
	})
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{folder, folder + "/landscapes", folder + "/landscapes/live"} {
		t.Chdir(dir)
		for format, path := range map[string]string{
			"github": "file=landscapes/live/profile.yaml,line=",
			"gitlab": `"path": "landscapes/live/profile.yaml"`,
			"sarif":  `"uri": "landscapes/live/profile.yaml"`,
		} {
			if r := run(t, "", "lint", "-o", format, folder+"/landscapes"); !strings.Contains(r.stdout, path) || r.status != 1 {
				t.Errorf("%s in %s: %s%s", format, dir, r.stdout, r.stderr)
			}
		}
	}
	if err := os.RemoveAll(folder + "/.git"); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", "lint", "-o", "github", "."); !strings.Contains(r.stdout, "file=profile.yaml,line=") {
		t.Errorf("without a repository: %s", r.stdout)
	}
}

// Behind links are the files that a program can show. A file in a submodule is shown in the repository around it, and one in a worktree in
// that.
func TestPathsOfLinksAndSubmodules(t *testing.T) {
	profile := read(t, broken+"/provider-flavor-missing.yaml")
	inFolder(t, map[string]string{
		"profiles/a.yaml": profile, ".git/HEAD": "ref: refs/heads/main\n", "other/.git/HEAD": "", "other/b.yaml": profile,
		"part/profile.yaml": profile, "part/.git": "gitdir: ../.git/modules/part\n",
		"tree/profile.yaml": profile, "tree/.git": "gitdir: /elsewhere/.git/worktrees/tree\n",
	})
	if err := errors.Join(os.Symlink("profiles", "folder"), os.Symlink("profiles/a.yaml", "link.yaml"), os.Symlink("other/b.yaml", "b.yaml")); err != nil {
		t.Fatal(err)
	}
	for file, path := range map[string]string{
		"folder/a.yaml": "profiles/a.yaml", "folder": "profiles/a.yaml", "link.yaml": "profiles/a.yaml", "b.yaml": "b.yaml",
		"part/profile.yaml": "part/profile.yaml", "tree/profile.yaml": "profile.yaml",
	} {
		if r := run(t, "", "lint", "-o", "github", file); !strings.Contains(r.stdout, "file="+path+",line=") || r.status != 1 {
			t.Errorf("%s: %s%s", file, r.stdout, r.stderr)
		}
	}
}

// A Code Quality report has unique fingerprints, and no silenced findings.
func TestCodeQuality(t *testing.T) {
	type issue struct {
		Description string `json:"description"`
		CheckName   string `json:"check_name"`
		Fingerprint string `json:"fingerprint"`
		Severity    string `json:"severity"`
		Location    struct {
			Path  string              `json:"path"`
			Lines struct{ Begin int } `json:"lines"`
		} `json:"location"`
	}
	issues := decoded[[]issue](t, run(t, "", "lint", "-o", "gitlab", broken))
	if len(issues) < 50 {
		t.Fatalf("%d issues", len(issues))
	}
	seen := map[string]bool{}
	for _, i := range issues {
		if seen[i.Fingerprint] || i.Description == "" || i.CheckName == "" || i.Location.Path == "" || i.Location.Lines.Begin < 1 ||
			i.Severity != "major" && i.Severity != "minor" {
			t.Errorf("%+v", i)
		}
		seen[i.Fingerprint] = true
	}
	if r := run(t, "", "lint", "-o", "gitlab", "--disable=provider-flavor-missing", broken+"/provider-flavor-missing.yaml"); r.stdout != "[]\n" {
		t.Errorf("silenced: %s", r.stdout)
	}
}

func TestStandardInputHasAName(t *testing.T) {
	profile := read(t, broken+"/provider-flavor-missing.yaml")
	r := run(t, profile, "lint", "--stdin-name", "landscapes/live.yaml", "-")
	if !strings.HasPrefix(r.stdout, "landscapes/live.yaml:") || strings.Contains(r.stdout, "<stdin>") {
		t.Error(r.stdout)
	}
	r = run(t, strings.Replace(profile, "kind: CloudProfile\n", "kind: Cloudprofile\n", 1), "lint", "--fix", "--stdin-name=live.yaml", "-")
	contains(t, r.stderr, "would repair: live.yaml:")
	r = run(t, "apiVersion: v1\nkind: A\nkind: B\n", "select", "--stdin-name=x.yaml", "-")
	if !strings.HasPrefix(r.stderr, "x.yaml:3:1: error: ") {
		t.Error(r.stderr)
	}
}

func TestWhatIsSkippedCanFail(t *testing.T) {
	sound := read(t, examples+"/cloudprofile.yaml")
	inFolder(t, map[string]string{
		"sound.yaml": sound, "both/sound.yaml": sound, "both/template.yaml": "{{ x }}\n",
		"two.yaml": sound + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "skipped.yaml": "failOn: skipped\n",
		"warning.yaml": unknownRegion(t),
	})
	for args, status := range map[string]int{
		"--fail-on=skipped sound.yaml": 0, "--fail-on=skipped both": 1, "--fail-on=skipped two.yaml": 1, "--fail-on=warning both": 0,
		"--config=skipped.yaml two.yaml": 1, "--config=skipped.yaml sound.yaml": 0, "--fail-on=skipped warning.yaml": 1,
		"-q --fail-on=skipped both": 1,
	} {
		r := run(t, "", append([]string{"lint"}, strings.Fields(args)...)...)
		says := strings.Contains(r.stderr, "--fail-on=skipped: not all of the inputs were checked")
		if r.status != status || says != (status == 1 && !strings.Contains(args, "warning")) {
			t.Errorf("%s: status %d, %s", args, r.status, r.stderr)
		}
	}
	const why = "--fail-on=skipped: not all of the inputs were checked"
	verify := "verify --disable=cloud-image-inactive,cloud-image-missing,cloud-machine-type-size --inventory=" + root + "/docs/examples/inventory.yaml"
	for _, args := range []string{"lint --fix", "report", verify} {
		if r := run(t, "", append(strings.Fields(args), "--fail-on=skipped", "both")...); r.status != 1 || !strings.Contains(r.stderr, why) {
			t.Errorf("%s: status %d, %s", args, r.status, r.stderr)
		}
	}
	for format, want := range map[string]string{
		"junit": `<failure message="` + why + `"`, "github": "::error title=skipped::" + why + "\n", "sarif": `"text": "` + why + `"`,
	} {
		for args, says := range map[string]bool{"--fail-on=skipped both": true, "--fail-on=skipped sound.yaml": false, "both": false} {
			r := run(t, "", append([]string{"lint", "-o", format}, strings.Fields(args)...)...)
			if strings.Contains(r.stdout, want) != says {
				t.Errorf("%s as %s: %s", args, format, r.stdout)
			}
		}
	}
}
