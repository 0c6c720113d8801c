// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/clouds"
)

// A change of a type, here or in the extension, requires a change of the list and its version.
func TestFields(t *testing.T) {
	lists, err := filepath.Glob("../../pkg/apis/*/v1alpha1")
	if err != nil || len(lists) == 0 {
		t.Fatalf("no wire types: %v", err)
	}
	for _, folder := range lists {
		t.Run(filepath.Base(filepath.Dir(folder)), func(t *testing.T) {
			_, want := upstream(t, folder)
			if diff := cmp.Diff(want, typesIn(t, folder).fields()); diff != "" {
				t.Errorf("testdata/upstream.txt has (-), the types have (+):\n%s", diff)
			}
		})
	}
}

// A warning about an unknown field names the version up to which the fields are known, which is the version of the list.
func TestKnownUpTo(t *testing.T) {
	checked := 0
	for _, cloud := range clouds.All() {
		known := cloud.Workers().KnownUpTo()
		if known == "" {
			continue
		}
		checked++
		if version, _ := upstream(t, filepath.Join("../../pkg/apis", cloud.Type(), "v1alpha1")); version != known {
			t.Errorf("%s: a WorkerConfig is known up to %q, and the list is of %q", cloud.Type(), known, version)
		}
	}
	if checked == 0 {
		t.Error("no cloud says up to which version its WorkerConfig is known")
	}
}

// upstream reads a list: the extension's version, and its sorted fields.
func upstream(t *testing.T, folder string) (version string, fields []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "testdata", "upstream.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if heading, found := strings.CutPrefix(line, "# "); found && version == "" {
			version = heading
		} else if line != "" {
			fields = append(fields, strings.TrimPrefix(line, "+ "))
		}
	}
	slices.Sort(fields)
	return version, fields
}

// types has the types of a package by name, parsed from its source, because there is no list of the packages.
type types map[string]ast.Expr

func typesIn(t *testing.T, folder string) types {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := types{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				found[spec.Name.Name] = spec.Type
			}
			return true
		})
	}
	return found
}

// fields returns the sorted paths of all fields, starting from kinds, with their types. A kind is a struct with a TypeMeta.
func (all types) fields() []string {
	var fields []string
	for name, definition := range all {
		if s, ok := definition.(*ast.StructType); ok && slices.ContainsFunc(s.Fields.List, isTypeMeta) {
			all.walk(name, s, &fields)
		}
	}
	slices.Sort(fields)
	return fields
}

func isTypeMeta(f *ast.Field) bool {
	selector, ok := f.Type.(*ast.SelectorExpr)
	return ok && len(f.Names) == 0 && selector.Sel.Name == "TypeMeta"
}

// walk appends the fields at a path and below. It ignores pointers.
func (all types) walk(path string, at ast.Expr, fields *[]string) {
	switch at := at.(type) {
	case *ast.StarExpr:
		all.walk(path, at.X, fields)
	case *ast.ArrayType:
		all.walk(path+"[]", at.Elt, fields)
	case *ast.StructType:
		for _, field := range at.Fields.List {
			if isTypeMeta(field) {
				continue
			}
			name := jsonName(field)
			if name == "" {
				all.walk(path, field.Type, fields)
			} else {
				all.walk(path+"."+name, field.Type, fields)
			}
		}
	case *ast.Ident:
		if definition, found := all[at.Name]; found {
			all.walk(path, definition, fields)
		} else {
			*fields = append(*fields, path+" "+at.Name)
		}
	case *ast.SelectorExpr:
		*fields = append(*fields, path+" "+at.Sel.Name)
	case *ast.MapType:
		*fields = append(*fields, fmt.Sprintf("%s map[%s]%s", path, at.Key, at.Value))
	default:
		*fields = append(*fields, fmt.Sprintf("%s: a %T, which this test does not know", path, at))
	}
}

// jsonName returns the JSON name of a field, or the empty string if it is inlined.
func jsonName(field *ast.Field) string {
	if field.Tag == nil {
		return "(no JSON tag)"
	}
	name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
	return name
}
