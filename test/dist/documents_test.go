// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

func TestManPages(t *testing.T) {
	documented := cli.Command(clouds.All()...)
	pages := []*cobra.Command{documented}
	for _, cmd := range documented.Commands() {
		if cmd.Name() != "help" && cmd.Name() != "completion" {
			pages = append(pages, cmd)
		}
	}
	found, err := os.ReadDir(filepath.Join(unpacked, "man", "man1"))
	if err != nil || len(found) != len(pages) {
		t.Errorf("%d pages of %d: %v", len(found), len(pages), err)
	}
	for _, cmd := range pages {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		text := string(read(t, unpacked, "man", "man1", name+".1"))
		want := []string{`" capkit` + "\n.SH NAME\n" + strings.ReplaceAll(name, "-", `\-`) + ` \- `, "\n.SH DESCRIPTION\n", "\n.SH SEE ALSO\n"}
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) { want = append(want, `\fB\-\-`+strings.ReplaceAll(flag.Name, "-", `\-`)+`\fR`) })
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %q", name, part)
			}
		}
		checkRoff(t, name, text)
	}
}

// macros are the man(7) macros in the pages.
var macros = []string{".TH", ".SH", ".PP", ".TP", ".B", ".BR", ".nf", ".fi"}

// escape matches the roff escapes in the pages, after a backslash.
var escape = regexp.MustCompile(`\\(f[BIR]|[-e&])`)

// checkRoff reports lines that roff would read neither as text nor as a macro.
func checkRoff(t *testing.T, name, text string) {
	t.Helper()
	fixed := false
	for line := range strings.Lines(text) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case word == ".nf":
			fixed = true
		case word == ".fi":
			fixed = false
		case strings.HasPrefix(word, "'"), strings.HasPrefix(word, ".") && !slices.Contains(macros, word):
			t.Errorf("%s: %q is no macro", name, line)
		}
		if strings.Contains(escape.ReplaceAllString(line, ""), `\`) {
			t.Errorf("%s: %q has a backslash that is no escape", name, line)
		}
	}
	if fixed {
		t.Errorf("%s ends in lines that are not filled", name)
	}
}

// complete returns bash's completions after some words, the last of which is incomplete.
func complete(t *testing.T, words ...string) string {
	t.Helper()
	// A replacement for the package bash-completion, which may be missing.
	const script = `
_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
__ltrim_colon_completions() { :; }
compopt() { :; }
source completions/capkit.bash
COMP_WORDS=(capkit "$@") COMP_CWORD=$# COMP_LINE="capkit $*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
__start_capkit
printf '%s\n' "${COMPREPLY[@]}"`
	bash := exec.CommandContext(t.Context(), "bash", append([]string{"--norc", "-c", script, "bash"}, words...)...)
	bash.Dir, bash.Env = unpacked, []string{"PATH=" + unpacked + ":/usr/bin:/bin"}
	output, err := bash.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return strings.TrimSpace(string(output))
}

func TestCompletions(t *testing.T) {
	for want, words := range map[string][]string{
		"plan":     {"pla"},
		"--region": {"select", "--reg"},
		"sarif":    {"lint", "-o", "sa"},
		"gardener": {"explain", "--order", "ga"},
		"breaking": {"plan", "--fail-on", "b"},
		"version":  {"help", "vers"},
	} {
		offered, _, _ := strings.Cut(complete(t, words...), " ") // an explanation may follow
		if offered = strings.TrimSuffix(offered, "="); offered != want {
			t.Errorf("%q is completed to %q, not %s", words, offered, want)
		}
	}
	for shell, file := range map[string]string{"bash": "capkit.bash", "zsh": "_capkit", "fish": "capkit.fish", "powershell": "capkit.ps1"} {
		if output, status := capkit(t, "capkit", "completion", shell); status != 0 || output != string(read(t, unpacked, "completions", file)) {
			t.Errorf("completion %s: status %d, and not what is in the archive", shell, status)
		}
	}
}

// kubectl completes a plugin through a program of this name, and passes it the arguments that cobra needs.
func TestCompletionOfPlugin(t *testing.T) {
	folder := t.TempDir()
	// A stand-in for kubectl, which finds a plugin by its first argument.
	const kubectl = "#!/bin/sh\nplugin=kubectl-$1\nshift\nexec \"$plugin\" \"$@\"\n"
	if err := os.WriteFile(filepath.Join(folder, "kubectl"), []byte(kubectl), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(unpacked, "capkit"), filepath.Join(folder, "kubectl-capkit")); err != nil {
		t.Fatal(err)
	}
	plugin := exec.CommandContext(t.Context(), filepath.Join(unpacked, "completions", "kubectl_complete-capkit"), "maint")
	plugin.Env = []string{"PATH=" + folder + ":/usr/bin:/bin"}
	output, err := plugin.Output()
	if err != nil || !strings.HasPrefix(string(output), "maintenance\t") {
		t.Errorf("%v: %s", err, output)
	}
}

// manifest has the fields of a krew manifest that krew validates.
type manifest struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             struct {
		Version, Homepage, ShortDescription, Description string
		Platforms                                        []struct {
			Selector         metav1.LabelSelector
			URI, SHA256, Bin string
			Files            []struct{ From, To string }
		}
	}
}

func TestKrew(t *testing.T) {
	var m manifest
	if err := yaml.UnmarshalStrict(read(t, packed, "capkit.yaml"), &m); err != nil {
		t.Fatal(err)
	}
	if m.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || m.Kind != "Plugin" || m.Metadata.Name != "capkit" ||
		m.Spec.Version != "v1.2.3" || m.Spec.Homepage == "" || m.Spec.Description == "" {
		t.Errorf("%+v", m)
	}
	if short := m.Spec.ShortDescription; short == "" || len(short) > 50 || strings.HasSuffix(short, ".") {
		t.Errorf("krew wants at most 50 characters: %q", short)
	}
	if len(m.Spec.Platforms) != 1 {
		t.Fatalf("%+v", m.Spec.Platforms)
	}
	p, archive := m.Spec.Platforms[0], "capkit_1.2.3_linux_"+runtime.GOARCH
	if want := "https://downloads.example.com/capkit/v1.2.3/" + archive + ".tar.gz"; p.URI != want {
		t.Errorf("%s, want %s", p.URI, want)
	}
	if sum := sha256.Sum256(read(t, packed, path.Base(p.URI))); p.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("the checksum is that of something else: %s", p.SHA256)
	}
	if got := fmt.Sprint(p.Selector.MatchLabels); got != "map[arch:"+runtime.GOARCH+" os:linux]" {
		t.Error(got)
	}
	// krew copies files out of the archive, and links bin.
	installed := map[string]bool{}
	for _, file := range p.Files {
		if _, err := os.Stat(filepath.Join(unpacked, "..", file.From)); err != nil {
			t.Error(err)
		}
		installed[path.Join(file.To, path.Base(file.From))] = true
	}
	if !installed[p.Bin] || !installed["LICENSE"] {
		t.Errorf("%v is installed, and run is %s", installed, p.Bin)
	}
}
