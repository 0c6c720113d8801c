// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

const (
	abilities = "docs/authors/abilities.md"
	stability = "docs/authors/stability.md"
)

// row returns the table row whose first cell begins with a name, or the empty string if there is not exactly one.
func row(t *testing.T, document, name string) string {
	t.Helper()
	rows := regexp.MustCompile("(?m)^\\| `"+name+"`.*$").FindAllString(read(t, document), -1)
	if len(rows) != 1 {
		t.Errorf("%s has %d rows about %s", document, len(rows), name)
		return ""
	}
	return rows[0]
}

// typesOf returns the exported types that a package declares, by name.
func typesOf(t *testing.T, folder string) map[string]ast.Expr {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]ast.Expr{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.TypeSpec); is && spec.Name.IsExported() {
				types[spec.Name.Name] = spec.Type
			}
			return true
		})
	}
	return types
}

// The tables have each ability with the signatures of its methods, and each policy.
func TestAbilities(t *testing.T) {
	found := 0
	all := typesOf(t, "pkg/provider")
	maps.Copy(all, typesOf(t, "pkg/providerconfig"))
	for name, declared := range all {
		of, is := declared.(*ast.InterfaceType)
		if !is || name == "Provider" {
			continue
		}
		found++
		text := strings.ReplaceAll(row(t, abilities, name), "provider.", "")
		for _, method := range of.Methods.List {
			if len(method.Names) == 0 {
				continue // an embedded interface
			}
			var b strings.Builder
			if err := printer.Fprint(&b, token.NewFileSet(), method.Type); err != nil {
				t.Fatal(err)
			}
			if signature := method.Names[0].Name + strings.TrimPrefix(b.String(), "func"); !strings.Contains(text, "`"+signature+"`") {
				t.Errorf("%s: the row about %s does not have `%s`", abilities, name, signature)
			}
		}
	}
	policies := typesOf(t, "pkg/provider/policy")["Policies"].(*ast.StructType)
	for _, policy := range policies.Fields.List {
		row(t, abilities, policy.Names[0].Name)
	}
	if found < 9 || len(policies.Fields.List) < 3 {
		t.Errorf("there are %d abilities, and %d policies", found, len(policies.Fields.List))
	}
}

// packages returns the folders of the importable packages.
func packages(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir("pkg", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "internal") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			found = append(found, filepath.Dir(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// moduleOf returns the folder of a package's module, in the format of stability.md.
func moduleOf(folder string) string {
	for ; folder != "."; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return "`" + folder + "`"
		}
	}
	return "the root"
}

// stability.md lists each public package once, stable or not, in the row of its own module.
func TestPackagesThatAreStable(t *testing.T) {
	_, table, found := strings.Cut(read(t, stability), "\n## Packages\n")
	if !found {
		t.Fatalf("%s has no table of packages", stability)
	}
	said, module := map[string]string{}, ""
	for _, line := range regexp.MustCompile(`(?m)^\|.*$`).FindAllString(table, -1) {
		cells := strings.Split(line, "|")
		if name := strings.TrimSpace(cells[1]); name != "" {
			module = name
		}
		for _, cell := range cells[2:] {
			for _, match := range regexp.MustCompile("`(pkg/[a-z0-9/]+)`").FindAllStringSubmatch(cell, -1) {
				if said[match[1]] != "" {
					t.Errorf("%s names %s twice", stability, match[1])
				}
				said[match[1]] = module
			}
		}
	}
	all := packages(t)
	for _, folder := range all {
		if want := moduleOf(folder); said[folder] != want {
			t.Errorf("%s has %s in the row of %q, and not of %q", stability, folder, said[folder], want)
		}
		delete(said, folder)
	}
	if len(all) < 40 || len(said) > 0 {
		t.Errorf("%s names what is no package: %v; there are %d", stability, said, len(all))
	}
}

// The rules, metrics and targets on the pages about stability exist.
func TestNamesThatAreStable(t *testing.T) {
	rules, metrics := map[string]bool{}, read(t, "docs/operators/metrics.md")
	for _, rule := range cli.Rules(clouds.All()...) {
		rules[rule.Name] = true
	}
	for _, document := range []string{stability, "CHANGELOG.md", "SECURITY.md", "MAINTAINERS.md"} {
		for _, match := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(read(t, document), -1) {
			name := match[1]
			target, makes := strings.CutPrefix(name, "make ")
			switch {
			case regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`).MatchString(name) && !rules[name]:
				t.Errorf("%s: there is no rule %s", document, name)
			case strings.HasPrefix(name, "capkit_") && !strings.Contains(metrics, "| `"+name+"` |"):
				t.Errorf("%s: there is no metric %s", document, name)
			case makes && !strings.Contains(read(t, "Makefile"), "\n"+target+":"):
				t.Errorf("%s: the Makefile cannot %s", document, target)
			}
		}
	}
	if lines := strings.Count(read(t, stability), "\n"); lines > 70 {
		t.Errorf("%s has %d lines", stability, lines)
	}
}

// The changelog's first section is Unreleased, or the current version in the commit of a release. Each section has the
// format of Keep a Changelog.
func TestChangelog(t *testing.T) {
	headings := regexp.MustCompile(`(?m)^##+ .*$`).FindAllString(read(t, "CHANGELOG.md"), -1)
	first := "## [Unreleased]"
	if version := strings.TrimSpace(read(t, "VERSION")); !strings.HasSuffix(version, "-dev") {
		first = "## [" + version + "] - "
	}
	if len(headings) == 0 || !strings.HasPrefix(headings[0], first) {
		t.Errorf("it begins with %q", headings)
	}
	form := regexp.MustCompile(`^(## \[(Unreleased|\d+\.\d+\.\d+(-[0-9a-z.]+)?)\]( - \d{4}-\d\d-\d\d)?|` +
		`### (Upgrade|Added|Changed|Deprecated|Removed|Fixed|Security))$`)
	for _, heading := range headings {
		if !form.MatchString(heading) {
			t.Errorf("%q is no heading of a changelog", heading)
		}
	}
}
