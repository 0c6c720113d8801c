// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build editor

package editor

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capkit/capkit/test/debian"
)

// patience limits the duration of the test.
const patience = 10 * time.Minute

// seen is what the script in testdata recorded in Neovim.
type seen struct {
	Diagnostics []struct {
		Line, Column int
		Code         string
		Message      string
	}
	Hover      string
	Actions    []string
	Completion []string
	Definition []int
	Frames     []frame
	Error      string
}

// frame is the content of the screen at some time.
type frame struct {
	Title string   `json:"title"`
	Lines []string `json:"lines"`
}

// frames is the file that docs/pictures/editor.svg is drawn from.
const frames = "../../hack/pictures/editor.json"

var update = flag.Bool("update", false, "write the frames of the picture")

// neovim returns the program and its environment, from Debian packages in the cache.
func neovim(ctx context.Context, t *testing.T) (program string, environment []string) {
	t.Helper()
	root, err := debian.Cached(ctx, "neovim", []string{"neovim"}, func(what string) { t.Log(what) })
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "usr/bin/nvim"), []string{
		"LD_LIBRARY_PATH=" + debian.Libraries(root), "VIMRUNTIME=" + filepath.Join(root, "usr/share/nvim/runtime"),
	}
}

// Neovim opens a file with a mistake, shows the diagnostic, applies the repair, and saves the repaired file.
func TestNeovim(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	folder := t.TempDir()
	capkit := filepath.Join(folder, "capkit")
	if err := debian.Run(ctx, nil, "go", "build", "-ldflags=-w", "-o", capkit, "../../cmd/capkit"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../example/broken/unknown-field.yaml")
	if err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(folder, "workspace")
	if err := os.MkdirAll(workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	file, result := filepath.Join(workspace, "profile.yaml"), filepath.Join(folder, "result.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/drive.lua")
	if err != nil {
		t.Fatal(err)
	}
	program, environment := neovim(ctx, t)
	cmd := exec.CommandContext(ctx, program, "--headless", "-u", "NONE", "-n", "-S", script)
	cmd.Dir = workspace
	cmd.Env = append(append(os.Environ(), environment...), "CAPKIT="+capkit, "RESULT="+result, "XDG_CACHE_HOME="+folder, "XDG_STATE_HOME="+folder)
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	content, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	if err := json.Unmarshal(content, &s); err != nil || s.Error != "" {
		t.Fatalf("%v: %s %s", err, s.Error, said)
	}
	if len(s.Diagnostics) != 1 || s.Diagnostics[0].Code != "unknown-field" || s.Diagnostics[0].Line != line(string(text), "keyStoneURL") ||
		s.Diagnostics[0].Column != 4 || !strings.Contains(s.Diagnostics[0].Message, "did you mean") {
		t.Errorf("%+v", s.Diagnostics)
	}
	after, err := os.ReadFile(file)
	if want := strings.Replace(string(text), "keyStoneURL:", "keystoneURL:", 1); err != nil || string(after) != want {
		t.Errorf("%v: it is saved as\n%s", err, after)
	}
	if !slices.Contains(s.Actions, "keyStoneURL is now keystoneURL") || !strings.Contains(s.Hover, "`gardenlinux@1877.5.0`") ||
		!slices.Equal(s.Completion, []string{"hypervisor"}) || !slices.Equal(s.Definition, []int{line(string(text), "\n      - version:")}) {
		t.Errorf("%+v", s)
	}
	shown, err := json.MarshalIndent(s.Frames, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	shown = append(shown, '\n')
	if *update {
		if err := os.WriteFile(frames, shown, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := os.ReadFile(frames); err != nil || string(stored) != string(shown) {
		t.Errorf("%v: the picture shows something else, see make editor-picture:\n%s", err, shown)
	}
}

// line returns the zero-based number of the first line that contains a text.
func line(text, part string) int {
	before, _, _ := strings.Cut(text, part)
	return strings.Count(before, "\n") + strings.Count(part, "\n")
}
