// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/finding"
)

// Typical mistakes by operators, extension authors and shoot owners, made in the examples, with lint's findings. The findings alone must
// make clear what to change.
func TestMistakes(t *testing.T) {
	found := regexp.MustCompile(`(?m): (error|warning): .* \[([a-z-]+)\]$`)
	rules := map[string]finding.Rule{}
	for _, rule := range cli.Rules(table...) {
		rules[rule.Name] = rule
	}
	cases.Run(t, "testdata/mistakes.txtar", func(c *cases.Case) string {
		dir := t.TempDir()
		var files []string
		mistake := c.Text("mistake")
		file, rest, _ := strings.Cut(mistake, "\n")
		folder := filepath.Dir(file) // that of a cloud, or of OpenStack
		inputs := []string{filepath.Join(folder, "cloudprofile.yaml"), filepath.Join(folder, "shoot.yaml")}
		if !slices.Contains(inputs, file) {
			inputs = append(inputs, file)
		}
		for _, name := range inputs {
			content, err := os.ReadFile("../../example/" + name)
			if err != nil {
				t.Fatal(err)
			}
			text := string(content)
			if name == file {
				text = withMistakes(c.T(), text, rest)
			}
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
			files = append(files, path)
		}
		r := runFor(table, "", append([]string{"lint", "--quiet"}, files...)...)
		if r.stdout == "" || r.stderr != "" || r.status > 1 {
			t.Errorf("exit status %d, and on standard error: %s", r.status, r.stderr)
		}
		for _, said := range found.FindAllStringSubmatch(r.stdout, -1) {
			if rule := rules[said[2]]; !strings.Contains(rule.Severities(), said[1]) {
				t.Errorf("%s is %s in the catalogue and %s in lint", said[2], rule.Severities(), said[1])
			}
		}
		return strings.ReplaceAll(r.stdout, dir+string(filepath.Separator), "")
	})
}

// withMistakes replaces parts of a text. Each change is an old text, a line with =>, and a new text, up to a line with --.
func withMistakes(t *testing.T, text, changes string) string {
	t.Helper()
	for change := range strings.SplitSeq(changes, "--\n") {
		old, replacement, found := strings.Cut(change, "=>\n")
		if !found || !strings.Contains(text, old) {
			t.Fatalf("there is no %q", old)
		}
		text = strings.Replace(text, old, replacement, 1)
	}
	return text
}
