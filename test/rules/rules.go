// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package rules reads the cases of the rules. Each rule has an archive, pkg/check/testdata/rules/RULE.txtar, in the form of package
// internal/testing/cases:
//
//	-- example.yaml --
//	(a manifest that breaks the rule: example/broken/RULE.yaml is made of it, and docs/rules.md quotes it)
//	-- repair.diff --
//	(the smallest change of the example after which nothing is found)
//	-- example/want --
//	(what is found in the example)
//	-- refused: what is wrong/change.diff --
//	(another way to break the rule, as a change of the example; "warned" if the rule warns)
//	-- refused: what is wrong/want --
//	-- accepted: what is right/change.diff --
//	(what looks alike, and is right)
//	-- ratcheted: what an update leaves alone/change.diff --
//	(an update of the example that may pass: what the example had already is a warning)
//	-- ratcheted: what an update leaves alone/want --
//
// In the archive of an online rule before.yaml, or the file of that name beside the archives, has the objects as they are before. Each
// case is an update of them, and the repair is one of the first case. A change is a diff without line numbers, see [Changed].
//
// The rules of the command verify judge profiles by the inventory beside the archives, inventory.yaml.
//
// The test of the archives is test/rules/cases_test.go; with -update it writes what is found. test/admission writes the examples and
// their repairs to a real API.
package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

// The names of files in an archive.
const (
	Change = "change.diff" // of a case

	example = "example.yaml"
	before  = "before.yaml"
	repair  = "repair.diff"
	want    = "want"
	// beside lists files of the repository with what the objects refer to.
	beside = "beside"
)

// Dir returns the folder of the archives. root is the path of the repository.
func Dir(root string) string { return filepath.Join(root, "pkg", "check", "testdata", "rules") }

// Archive has the cases of a rule.
type Archive struct {
	rule, dir string
	files     []txtar.File
}

// Read reads the archive of a rule.
func Read(root, rule string) (*Archive, error) {
	dir := Dir(root)
	content, err := txtar.ParseFile(filepath.Join(dir, rule+".txtar"))
	if err != nil {
		return nil, err
	}
	return &Archive{rule, dir, content.Files}, nil
}

// file returns the text of a file; empty if there is none.
func (a *Archive) file(name string) string {
	for _, file := range a.files {
		if file.Name == name {
			return string(file.Data)
		}
	}
	return ""
}

// Example returns the manifest that breaks the rule; empty if the rule is online.
func (a *Archive) Example() string { return a.file(example) }

// Base returns what each case changes: the example or, if the rule is online, the objects as they are before.
func (a *Archive) Base() (string, error) {
	if text := a.Example(); text != "" {
		return text, nil
	}
	return a.Before()
}

// Before returns the objects of an online rule as they are before.
func (a *Archive) Before() (string, error) {
	if text := a.file(before); text != "" {
		return text, nil
	}
	text, err := os.ReadFile(filepath.Join(a.dir, before))
	return string(text), err
}

// Broken returns the manifests that break the rule: the example or, if the rule is online, what the first case makes of the objects.
func (a *Archive) Broken() (string, error) {
	if text := a.Example(); text != "" {
		return text, nil
	}
	objects, err := a.Before()
	if err != nil {
		return "", err
	}
	for _, file := range a.files {
		if name, found := strings.CutSuffix(file.Name, "/"+Change); found {
			broken, err := Changed(objects, string(file.Data))
			return broken, a.about(name, err)
		}
	}
	return "", a.about(Change, os.ErrNotExist)
}

// Repaired returns them with the repair.
func (a *Archive) Repaired() (string, error) {
	broken, err := a.Broken()
	if err != nil {
		return "", err
	}
	repaired, err := Changed(broken, a.file(repair))
	return repaired, a.about(repair, err)
}

// Report returns what is found in the example, one finding a line.
func (a *Archive) Report() string {
	return strings.ReplaceAll(a.file("example/"+want), "\n  ", " ")
}

// Files returns the paths of the files with what the objects refer to.
func (a *Archive) Files(root string) []string {
	var files []string
	for _, name := range strings.Fields(a.file(beside)) {
		files = append(files, filepath.Join(root, name))
	}
	return files
}

func (a *Archive) about(file string, err error) error {
	if err != nil {
		err = fmt.Errorf("rule %s: %s: %w", a.rule, file, err)
	}
	return err
}

// Changed applies a diff to a text. A line of the diff begins with - if it goes, with + if it comes, and with a blank if it stays.
// What goes or stays has to be in the text exactly once. An empty line is between places that are apart, and a line that begins with #
// is a remark.
func Changed(text, diff string) (string, error) {
	for place := range strings.SplitSeq(diff, "\n\n") {
		var old, changed strings.Builder
		for line := range strings.Lines(place) {
			line = strings.TrimSuffix(line, "\n") + "\n"
			switch mark, rest := line[0], line[1:]; mark {
			case '-':
				old.WriteString(rest)
			case '+':
				changed.WriteString(rest)
			case ' ':
				old.WriteString(rest)
				changed.WriteString(rest)
			case '#', '\n':
			default:
				return "", fmt.Errorf("no line of a diff: %s", line)
			}
		}
		// Whole lines only.
		in, lines := "\n"+text, "\n"+old.String()
		first := strings.Index(in, lines)
		if old.Len() == 0 || first < 0 || first != strings.LastIndex(in, lines) {
			return "", fmt.Errorf("is not there exactly once:\n%s", place)
		}
		text = (in[:first+1] + changed.String() + in[first+len(lines):])[1:]
	}
	return text, nil
}
