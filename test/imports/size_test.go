// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// providerLines is how much code a provider may take that reads and writes its config: the promise to those who write one.
// cloudLines is how much of it the file has that does so, where rules of the cloud's own and worker settings are in others.
const (
	providerLines = 190
	cloudLines    = 150
)

// codeLines counts the lines of Go source that hold more than white space and comments.
func codeLines(source []byte) int {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	s.Init(file, source, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // not written
		}
		for line := range strings.Count(literal, "\n") + 1 {
			lines[file.Line(pos)+line] = true
		}
	}
}

func TestProvidersAreSmall(t *testing.T) {
	for _, provider := range []string{"openstack", "local"} {
		files, err := filepath.Glob(filepath.Join(root, "pkg", provider, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			total += codeLines(source)
		}
		t.Logf("%s: %d lines of code", provider, total)
		if total > providerLines {
			t.Errorf("provider %s has %d lines of code, more than %d", provider, total, providerLines)
		}
	}
}

func TestProvidersOfCloudsAreSmaller(t *testing.T) {
	for _, cloud := range clouds(t) {
		if cloud == "openstack" { // which is the extension itself, and has all in one file
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, "pkg", cloud, "provider.go"))
		if err != nil {
			t.Fatal(err)
		}
		if lines := codeLines(source); lines > cloudLines {
			t.Errorf("provider.go of %s has %d lines of code, more than %d", cloud, lines, cloudLines)
		}
	}
}

func TestCodeLines(t *testing.T) {
	const source = "// Comment\n\npackage x // more\n\n/* block\nof lines */\nvar s = `a\n\nb`\n\nfunc f() {\n\t// nothing\n}\n"
	if n := codeLines([]byte(source)); n != 6 {
		t.Errorf("%d lines, want 6: package, three of the string, and two of the function", n)
	}
}
