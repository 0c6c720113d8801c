// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// providerLines is the number of code lines that a provider may take to read and write its config, as promised to extension
// authors. cloudLines is the limit for that file alone, if the cloud's own rules and worker settings are in other files.
const (
	providerLines = 190
	cloudLines    = 150
)

// codeLines counts the lines of Go source except blank lines and comments.
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
			continue // an automatic semicolon
		}
		for line := range strings.Count(literal, "\n") + 1 {
			lines[file.Line(pos)+line] = true
		}
	}
}

// The maximum numbers of exported names and of lines in a package, to keep it readable.
const (
	roomNames = 35
	roomLines = 3000
	// cliLines is the maximum number of lines in a package of the command.
	cliLines = 2000
)

func TestRoomsAreSmall(t *testing.T) {
	names, lines := map[string]int{}, map[string]int{}
	for _, folder := range []string{"/pkg", "/internal"} {
		if err := filepath.WalkDir(root+folder, func(path string, entry fs.DirEntry, err error) error {
			if entry != nil && path == root+"/internal/testing" {
				return fs.SkipDir
			}
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(entry.Name(), "zz_generated") {
				return err
			}
			room := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), root+string(filepath.Separator)))
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			names[room] += exported(parsed)
			lines[room] += strings.Count(string(source), "\n")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(names) < 50 {
		t.Errorf("only %d packages found", len(names))
	}
	for room := range names {
		if names[room] > roomNames {
			t.Errorf("%s exports %d names, more than %d", room, names[room], roomNames)
		}
		most := roomLines
		if strings.HasPrefix(room, "internal/cli/") {
			most = cliLines
		}
		if lines[room] > most {
			t.Errorf("%s has %d lines, more than %d", room, lines[room], most)
		}
	}
}

// exported counts the exported names in a file, without methods.
func exported(file *ast.File) int {
	var names []*ast.Ident
	for _, declared := range file.Decls {
		switch d := declared.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name)
				case *ast.ValueSpec:
					names = append(names, s.Names...)
				}
			}
		}
	}
	return len(slices.DeleteFunc(names, func(name *ast.Ident) bool { return !name.IsExported() }))
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
		if cloud == "openstack" { // it is the extension itself, with everything in one file
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
