// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package docs checks that the documentation is true: commands print the quoted output, and the quoted code and manifests
// exist. It checks these blocks:
//
//   - console: lines that begin with "$ " are run. The lines after each are its whole output, with standard error last.
//     "$ echo $?" prints the exit status of the previous command. A line "[…]" stands for omitted lines.
//   - go: occurs, without changes, in a file of the examples for extension authors.
//   - yaml: occurs, apart from indentation, in a manifest of an example folder, or in the cases of a rule.
package docs

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/test/authors/acme"
)

var writes = flag.Bool("update", false, "rewrite the output that the documents quote")

// documents lists the documents that the tests read: these, and all pages below docs, which TestMain adds.
var documents = []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "MAINTAINERS.md"}

// programs maps the commands that documents may run to their providers.
var programs = map[string][]cli.Provider{
	"capkit":                                 clouds.All(),
	"go run ./cmd/capkit":                    clouds.All(),
	"go run ./test/authors/acme/capkit-acme": {cli.For(acme.Provider{})},
}

// fence matches a fenced block, with its language and text.
var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// blocks returns the text of the blocks in a language.
func blocks(t *testing.T, document, language string) []string {
	t.Helper()
	var found []string
	for _, match := range fence.FindAllStringSubmatch(read(t, document), -1) {
		if match[1] == language {
			found = append(found, match[2])
		}
	}
	return found
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// All paths are relative to the root of the repository. Under the name capkit, the program is the command.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "capkit" {
		os.Exit(cli.Run(os.Args, os.Stdin, os.Stdout, os.Stderr, clouds.All()...))
	}
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			documents = append(documents, path)
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	m.Run()
}

func TestConsole(t *testing.T) {
	for _, document := range documents {
		for _, block := range blocks(t, document, "console") {
			got := replay(t, document, block)
			if diff := cmp.Diff(block, got); diff != "" && !*writes {
				t.Errorf("%s (run go test ./test/docs -update after a change that is meant): %s", document, diff)
			} else if diff != "" {
				rewritten := strings.Replace(read(t, document), block, got, 1)
				if err := os.WriteFile(document, []byte(rewritten), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// replay runs the commands of a block, and returns the block with their actual output.
func replay(t *testing.T, document, block string) string {
	t.Helper()
	var b strings.Builder
	status := 0
	for part := range strings.SplitAfterSeq(strings.ReplaceAll(block, "\n$ ", "\n\x00$ "), "\x00") {
		line, quoted, _ := strings.Cut(strings.TrimSuffix(part, "\x00"), "\n")
		b.WriteString(line + "\n")
		command := strings.TrimPrefix(line, "$ ")
		if command == "echo $?" {
			fmt.Fprintln(&b, status)
			continue
		}
		var output string
		if output, status = run(t, document, command); shortens(quoted, output) {
			output = quoted
		}
		b.WriteString(output)
	}
	return b.String()
}

const leftOut = "[…]\n"

// shortens reports whether a quotation is the output with some of its lines replaced by leftOut.
func shortens(quoted, output string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(quoted), regexp.QuoteMeta(leftOut), `(?:.*\n)+`)
	return strings.Contains(quoted, leftOut) && quoted != leftOut && regexp.MustCompile("^"+pattern+"$").MatchString(output)
}

// run runs a command, and returns its output and exit status.
func run(t *testing.T, document, command string) (output string, status int) {
	t.Helper()
	for name, providers := range programs {
		args, found := strings.CutPrefix(command, name+" ")
		if !found {
			continue
		}
		var stdout, stderr bytes.Buffer
		status = cli.Run(append([]string{"capkit"}, strings.Fields(args)...), strings.NewReader(""), &stdout, &stderr, providers...)
		output = stdout.String() + stderr.String()
		if strings.HasPrefix(name, "go run ") && status != 0 {
			output += fmt.Sprintf("exit status %d\n", status) // as go run prints it
		}
		return output, status
	}
	t.Fatalf("%s: cannot run %q", document, command)
	return "", 0
}

// A reader's first commands exist, and the command prints what the README promises. The demo must succeed wherever the
// tests run; continuous integration runs it.
func TestSetUp(t *testing.T) {
	commands := blocks(t, "README.md", "sh")
	if !slices.Contains(commands, "make demo\nmake test\n") {
		t.Errorf("there is no block that runs make demo and make test: %q", commands)
	}
	for _, target := range []string{"demo", "demo-reserved", "demo-worker", "test", "up", "down", "install", "help", "verify"} {
		if !strings.Contains(read(t, "Makefile"), "\n"+target+":") {
			t.Errorf("the Makefile cannot %q", target)
		}
	}
	command, found := strings.CutPrefix(strings.TrimSpace(commands[0]), `make install && "$(go env GOPATH)/bin/`)
	if !found {
		t.Fatalf("this does not install and run capkit: %s", commands[0])
	}
	output, status := run(t, "README.md", strings.Replace(command, `"`, "", 1))
	if *writes {
		rewritten := regexp.MustCompile("prints `[0-9]+ objects checked[^`]*`").
			ReplaceAllLiteralString(read(t, "README.md"), "prints `"+strings.TrimSpace(output)+"`")
		if err := os.WriteFile("README.md", []byte(rewritten), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if quoted := "prints `" + strings.TrimSpace(output) + "`"; status != 0 || !strings.Contains(read(t, "README.md"), quoted) {
		t.Errorf("%s: status %d, %s", command, status, output)
	}
}

// The README is short, and shows an output of the command on its first screen.
func TestReadmeIsShort(t *testing.T) {
	text := read(t, "README.md")
	if words := len(strings.Fields(text)); words > 900 {
		t.Errorf("%d words; move what not everybody needs to a page of docs", words)
	}
	before, _, found := strings.Cut(text, "\n$ capkit lint ")
	if lines := strings.Count(before, "\n"); !found || lines > 30 {
		t.Errorf("the first output stands after %d lines", lines)
	}
}

func TestCode(t *testing.T) {
	sources := contents(t, ".go", "test/authors")
	for _, document := range documents {
		for _, block := range blocks(t, document, "go") {
			if !contains(sources, block) {
				t.Errorf("%s: not in the example:\n%s", document, block)
			}
		}
	}
}

func TestManifests(t *testing.T) {
	manifests := contents(t, ".yaml", "example", "docs/examples", "test/authors", "pkg/described/builtin")
	manifests = append(manifests, contents(t, ".txtar", "pkg/check/testdata/rules")...)
	for i := range manifests {
		manifests[i] = flush(manifests[i])
	}
	for _, document := range documents {
		for _, block := range blocks(t, document, "yaml") {
			if !contains(manifests, flush(block)) {
				t.Errorf("%s: not in an example:\n%s", document, block)
			}
		}
	}
}

// flush removes the indentation of all lines.
func flush(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], " ")
	}
	return strings.Join(lines, "")
}

// contains reports whether a text is part of one of the texts, and begins and ends at line ends.
func contains(texts []string, part string) bool {
	for _, text := range texts {
		if strings.Contains("\n"+text, "\n"+part) {
			return true
		}
	}
	return false
}

// contents returns the contents of the files below directories that have a suffix.
func contents(t *testing.T, suffix string, directories ...string) []string {
	t.Helper()
	var texts []string
	for _, directory := range directories {
		err := filepath.WalkDir(directory, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, suffix) {
				texts = append(texts, read(t, path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

func TestExamplesAreClean(t *testing.T) {
	if output, status := run(t, "docs/examples", "capkit lint --fail-on=warning docs/examples"); status != 0 {
		t.Error(output)
	}
}

var (
	link      = regexp.MustCompile(`\]\(([^):]+)\)`) // no colon: relative
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInName = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// Relative links lead to existing files and headings.
func TestLinks(t *testing.T) {
	for _, document := range documents {
		for _, match := range link.FindAllStringSubmatch(fence.ReplaceAllString(read(t, document), ""), -1) {
			file, anchor, _ := strings.Cut(match[1], "#")
			target := filepath.Join(filepath.Dir(document), file)
			if file == "" {
				target = document
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", document, err)
			} else if anchor != "" && !anchors(t, target)[anchor] {
				t.Errorf("%s: %s has no heading %q", document, target, anchor)
			}
		}
	}
}

// anchors returns the anchors of a document's headings.
func anchors(t *testing.T, document string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(read(t, document), ""), -1) {
		name := notInName.ReplaceAllString(strings.ToLower(match[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}
