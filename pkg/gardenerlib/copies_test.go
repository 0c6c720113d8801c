// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerlib_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var updating = flag.Lookup("update")

const copiesFile = "testdata/copies.yaml"

// copied is a function of Gardener that we copy.
type copied struct {
	// Copies are our functions, as PACKAGE.FUNCTION or PACKAGE.TYPE.METHOD, where PACKAGE is a path.
	Copies []string `json:"copies"`
	// File is the function's file in module github.com/gardener/gardener.
	File string `json:"file"`
	// Symbol is FUNCTION or TYPE.METHOD.
	Symbol string `json:"symbol"`
	// SHA256 is the hash of its source, without its doc comment.
	SHA256 string `json:"sha256"`
}

// Gardener's source in this build is the source that the copies follow.
func TestCopies(t *testing.T) {
	copies, upstream, files := read(t), gardener(t), map[string]map[string]string{}
	for i := range copies {
		c := &copies[i]
		if files[c.File] == nil {
			files[c.File] = functions(t, filepath.Join(upstream, c.File))
		}
		source, found := files[c.File][c.Symbol]
		if !found {
			t.Errorf("%s has no %s any more: read what has become of it, repair %s, and its entry in %s",
				c.File, c.Symbol, strings.Join(c.Copies, " and "), copiesFile)
			continue
		}
		sum := sha256.Sum256([]byte(source))
		if hash := hex.EncodeToString(sum[:]); hash != c.SHA256 && updating.Value.String() != "true" {
			t.Errorf("%s in %s is not what %s was written after: read what has changed, repair the copy, "+
				"then run go test ./pkg/gardenerlib -run TestCopies -update",
				c.Symbol, c.File, strings.Join(c.Copies, " and "))
		} else {
			c.SHA256 = hash
		}
	}
	if (updating.Value.String() == "true") && !t.Failed() {
		write(t, copies)
	}
}

func TestCopiesExist(t *testing.T) {
	ours := map[string]map[string]string{}
	for _, c := range read(t) {
		for _, name := range c.Copies {
			name, symbol, _ := strings.Cut(name, ".")
			if ours[name] == nil {
				ours[name] = functionsOf(t, filepath.Join("../..", name))
			}
			if _, found := ours[name][symbol]; !found {
				t.Errorf("%s has no %s, the copy of %s in %s", name, symbol, c.Symbol, c.File)
			}
		}
	}
}

// gardener returns the directory of Gardener's module.
func gardener(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gardener/gardener").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// functionsOf returns the source of a package's functions and methods.
func functionsOf(t *testing.T, directory string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		maps.Copy(all, functions(t, file))
	}
	return all
}

// functions returns the source of a file's functions and methods.
func functions(t *testing.T, file string) map[string]string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return nil
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, declared := range parsed.Decls {
		if f, is := declared.(*ast.FuncDecl); is {
			found[receiver(f)+f.Name.Name] = string(source[files.Position(f.Pos()).Offset:files.Position(f.End()).Offset])
		}
	}
	return found
}

// receiver returns a method's type with a dot; empty for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, is := of.(*ast.StarExpr); is {
		of = pointer.X
	}
	if generic, is := of.(*ast.IndexExpr); is {
		of = generic.X
	}
	name, _ := of.(*ast.Ident)
	return name.Name + "."
}

func read(t *testing.T) []copied {
	t.Helper()
	var copies []copied
	text, err := os.ReadFile(copiesFile)
	if err == nil {
		err = yaml.UnmarshalStrict(text, &copies)
	}
	if err != nil || len(copies) == 0 {
		t.Fatalf("no copies: %v", err)
	}
	return copies
}

func write(t *testing.T, copies []copied) {
	t.Helper()
	text, err := yaml.Marshal(copies)
	if err == nil {
		err = os.WriteFile(copiesFile, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
