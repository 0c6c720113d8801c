// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package imports checks the import directions between the packages of this module.
package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/capkit/capkit/"
	root   = "../.."
	// anything stands for every package of this module.
	anything = "..."
)

// mayImport lists the packages of this module that a package may import outside of its tests. An entry that ends in /...
// covers everything below it; the longest match applies. The packages of clouds, below, need no entry. For any other new
// package, decide on its imports and add an entry.
var mayImport = map[string][]string{
	"pkg/words":            {},
	"pkg/versions":         {},
	"pkg/capability":       {"pkg/capability/texts", "pkg/finding", "pkg/words"},
	"pkg/capability/texts": {},
	"pkg/imageselector":    {"pkg/capability"},
	"pkg/strictjson":       {"pkg/fieldpath", "pkg/finding", "pkg/words"},
	"pkg/fieldpath":        {},
	"pkg/finding":          {"pkg/fieldpath"},
	"pkg/ratchet":          {"pkg/fieldpath", "pkg/finding", "pkg/capability"},
	"pkg/providerconfig": {
		"pkg/fieldpath", "pkg/finding", "pkg/capability", "pkg/imageselector", "pkg/strictjson", "pkg/words",
	},
	"pkg/inventory":       {"internal/strictyaml", "pkg/finding", "pkg/strictjson", "pkg/words"},
	"pkg/provider/policy": {"pkg/capability"},
	"pkg/provider":        {"pkg/provider/policy", "pkg/providerconfig", "pkg/finding", "pkg/capability", "pkg/imageselector", "pkg/strictjson"},
	"pkg/profile/entries": {"pkg/capability", "pkg/imageselector", "pkg/provider", "pkg/versions"},
	"pkg/profile/internal/onetoone": {
		"pkg/capability", "pkg/capability/texts", "pkg/fieldpath", "pkg/finding", "pkg/imageselector", "pkg/memo", "pkg/words",
	},
	"pkg/profile": {
		"pkg/profile/entries", "pkg/profile/internal/onetoone",
		"pkg/provider/policy",
		"pkg/gardenerrules", "pkg/memo", "pkg/versions",
		"pkg/finding", "pkg/provider", "pkg/capability", "pkg/capability/texts", "pkg/imageselector", "pkg/strictjson", "pkg/words",
		"pkg/fieldpath", "pkg/providerconfig",
	},
	"pkg/resolve": {
		"pkg/profile/entries",
		"pkg/finding", "pkg/gardenerrules", "pkg/provider", "pkg/capability", "pkg/capability/texts", "pkg/imageselector",
		"pkg/memo", "pkg/profile", "pkg/versions", "pkg/words",
	},
	"pkg/update": {
		"pkg/profile/entries",
		"pkg/provider/policy",
		"pkg/gardenerrules/shoots",
		"pkg/provider", "pkg/providerconfig", "pkg/capability", "pkg/capability/texts", "pkg/imageselector", "pkg/profile", "pkg/resolve",
		"pkg/maintenance", "pkg/gardenerrules", "pkg/memo", "pkg/versions",
	},
	"pkg/check": {
		"pkg/profile/entries",
		"pkg/provider/policy",
		"pkg/versions",
		"pkg/finding", "pkg/provider", "pkg/ratchet", "pkg/capability", "pkg/capability/texts", "pkg/imageselector", "pkg/profile", "pkg/resolve",
		"pkg/update", "pkg/namespaced", "pkg/words", "pkg/providerconfig", "pkg/maintenance", "pkg/memo",
	},
	"pkg/verify": {
		"pkg/profile/entries", "pkg/inventory", "pkg/profile", "pkg/provider", "pkg/finding", "pkg/imageselector", "pkg/capability",
		"pkg/capability/texts", "pkg/versions", "pkg/words",
	},
	"pkg/worker": {
		"pkg/provider/policy",
		"pkg/finding", "pkg/provider", "pkg/profile", "pkg/resolve", "pkg/imageselector", "pkg/capability", "pkg/words",
	},
	"pkg/worker/kit/command":     {"pkg/gardenerlib/logging"},
	"pkg/worker/kit":             {"pkg/worker", "pkg/provider", "pkg/capability"},
	"pkg/gardenerlib":            {"pkg/gardenerrules"},
	"pkg/gardenerlib/logging":    {},
	"pkg/render":                 {"pkg/profile", "pkg/provider", "pkg/strictjson", "pkg/providerconfig"},
	"pkg/namespaced":             {"pkg/provider", "pkg/render", "pkg/profile", "pkg/gardenerrules"},
	"pkg/gardenerrules":          {"pkg/versions"},
	"pkg/gardenerrules/inuse":    {"pkg/versions", "pkg/gardenerrules/shoots", "pkg/gardenerrules", "pkg/gardenerrules/releases"},
	"pkg/gardenerrules/releases": {},
	"pkg/gardenerrules/shoots":   {"pkg/versions", "pkg/gardenerrules", "pkg/memo"},
	"pkg/maintenance":            {"pkg/versions", "pkg/gardenerrules/shoots", "pkg/provider", "pkg/gardenerrules", "pkg/memo"},
	"pkg/memo":                   {},
	// The tests of extension authors import it.
	"pkg/provider/providertest": {"pkg/provider", "pkg/providerconfig", "pkg/finding", "pkg/capability", "pkg/imageselector", "pkg/fieldpath"},

	"pkg/apis/...":                  {},
	"pkg/apis/openstack/lookup":     {"pkg/apis/openstack/v1alpha1"},
	"pkg/apis/openstack/validation": {"pkg/apis/openstack/v1alpha1", "pkg/finding", "pkg/words", "pkg/fieldpath"},
	"pkg/described": {
		"internal/strictyaml", "pkg/fieldpath", "pkg/finding", "pkg/provider", "pkg/capability", "pkg/imageselector", "pkg/providerconfig", "pkg/words",
	},
	"pkg/local":                           {"pkg/finding", "pkg/provider", "pkg/imageselector", "pkg/providerconfig"},
	"pkg/openstack/machines/servergroups": {"pkg/apis/openstack/...", "pkg/words"},
	"pkg/openstack": {
		"pkg/fieldpath", "pkg/finding", "pkg/provider", "pkg/capability", "pkg/imageselector", "pkg/inventory", "pkg/apis/openstack/...",
		"pkg/openstack/rules", "pkg/providerconfig",
	},
	"pkg/openstack/machines": {
		"pkg/worker", "pkg/worker/kit", "pkg/profile", "pkg/finding", "pkg/provider", "pkg/capability", "pkg/imageselector", "pkg/apis/openstack/...",
		"pkg/openstack", "pkg/openstack/machines/servergroups", "pkg/words", "pkg/providerconfig",
	},
	"pkg/openstack/rules": {
		"pkg/finding", "pkg/gardenerrules", "pkg/provider", "pkg/capability", "pkg/imageselector", "pkg/inventory", "pkg/apis/openstack/...",
		"pkg/profile/entries", "pkg/words", "pkg/providerconfig",
	},

	"pkg/admission": {
		"pkg/profile", "pkg/resolve", "pkg/update", "pkg/check", "pkg/finding", "pkg/provider", "pkg/ratchet", "pkg/render", "pkg/namespaced", "pkg/imageselector",
		"pkg/capability", "pkg/strictjson", "pkg/maintenance", "pkg/gardenerrules", "pkg/gardenerrules/shoots",
		"pkg/gardenerlib", "pkg/gardenerlib/logging", "pkg/words", "pkg/fieldpath", "pkg/admission/internal/serving", "pkg/described",
	},
	"pkg/admission/internal/serving": {"pkg/words"},

	"pkg/cli": {"internal/cli/...", "pkg/finding", "pkg/provider", "pkg/words"},

	// Common parts of the command families.
	"internal/cli/command": {
		"internal/cli/manifest/folder", "internal/cli/report", "internal/cli/gardener", "pkg/described", "pkg/gardenerrules/releases",
		"pkg/provider", "pkg/words",
	},
	"internal/cli/landscape": {
		"internal/cli/settings", "internal/cli/command", "internal/cli/manifest", "internal/cli/cluster", "internal/cli/gardener",
		"pkg/gardenerrules/releases", "pkg/maintenance", "pkg/words",
	},
	"internal/cli/input": {
		"internal/cli/landscape", "internal/cli/settings", "internal/cli/command", "internal/cli/decoding", "internal/cli/manifest", "internal/cli/cluster",
		"internal/cli/gardener", "internal/cli/input/coreonly", "internal/cli/report",
		"pkg/capability", "pkg/check",
		"pkg/finding", "pkg/gardenerlib", "pkg/gardenerrules", "pkg/gardenerrules/shoots", "pkg/maintenance", "pkg/namespaced", "pkg/profile",
		"pkg/provider", "pkg/providerconfig", "pkg/resolve", "pkg/strictjson", "pkg/words",
	},
	"internal/cli/decoding":       {"internal/cli/manifest", "internal/cli/edit", "pkg/fieldpath", "pkg/finding", "pkg/strictjson", "pkg/words"},
	"internal/cli/input/coreonly": {"internal/cli/command", "pkg/capability", "pkg/finding", "pkg/imageselector", "pkg/provider"},
	"internal/cli/repair": {
		"internal/cli/checks", "internal/cli/input", "internal/cli/command", "internal/cli/manifest", "internal/cli/edit", "internal/cli/files",
		"internal/cli/report", "pkg/capability", "pkg/capability/texts", "pkg/fieldpath", "pkg/finding", "pkg/strictjson", "pkg/words",
	},
	"internal/cli/checks": {
		"internal/cli/input", "internal/cli/settings", "internal/cli/command", "internal/cli/manifest", "internal/cli/edit",
		"internal/cli/gardener", "internal/cli/landscape", "internal/cli/reserved",
		"internal/cli/report", "internal/cli/release", "internal/cli/transform", "pkg/capability", "pkg/capability/texts", "pkg/check", "pkg/finding",
		"pkg/gardenerrules", "pkg/imageselector", "pkg/profile/entries", "pkg/provider", "pkg/providerconfig", "pkg/resolve", "pkg/inventory", "pkg/verify",
		"pkg/strictjson", "pkg/words",
	},
	"internal/cli/inventories": {
		"internal/cli/input", "internal/cli/command", "internal/cli/manifest", "internal/cli/manifest/folder", "internal/cli/report", "pkg/finding", "pkg/inventory",
		"pkg/provider", "pkg/verify", "pkg/words",
	},
	"internal/cli/changes": {
		"internal/cli/input", "internal/cli/checks", "internal/cli/gardener", "pkg/capability", "pkg/check", "pkg/fieldpath", "pkg/finding",
		"pkg/gardenerlib", "pkg/gardenerrules/releases", "pkg/gardenerrules/inuse",
		"pkg/maintenance", "pkg/provider", "pkg/resolve", "pkg/update", "pkg/words",
	},
	"internal/cli/proof": {
		"internal/cli/changes", "internal/cli/checks", "internal/cli/edit", "internal/cli/files", "internal/cli/input", "internal/cli/landscape",
		"internal/cli/manifest", "internal/cli/report", "pkg/capability", "pkg/fieldpath", "pkg/finding", "pkg/provider",
	},
	"internal/cli/files":              {"internal/cli/command", "internal/cli/edit", "internal/cli/manifest", "internal/cli/report", "pkg/words"},
	"internal/cli/clouds":             {anything},
	"internal/cli/cluster":            {"internal/cli/manifest/folder"},
	"internal/cli/cluster/fakegarden": {},
	"internal/cli/gardener": {
		"pkg/namespaced", "pkg/finding", "pkg/gardenerrules", "pkg/gardenerrules/shoots", "pkg/gardenerrules/releases", "pkg/versions", "pkg/words",
	},
	"internal/cli/manifest":        {"internal/cli/manifest/cut", "internal/cli/manifest/folder", "internal/strictyaml", "pkg/fieldpath"},
	"internal/cli/manifest/cut":    {},
	"internal/cli/manifest/folder": {},
	"internal/cli/edit":            {"internal/strictyaml", "pkg/fieldpath"},
	"internal/cli/between":         {"internal/cli/edit", "pkg/capability/texts", "pkg/fieldpath"},
	"internal/cli/report":          {"pkg/finding", "pkg/words", "pkg/fieldpath"},
	"internal/cli/reserved":        {"internal/cli/gardener", "pkg/capability"},
	"internal/cli/transform": {
		"pkg/profile/entries", "internal/cli/between", "internal/cli/edit", "pkg/profile", "pkg/resolve", "pkg/provider", "pkg/imageselector",
		"pkg/capability", "pkg/capability/texts", "pkg/finding", "pkg/words", "pkg/providerconfig",
	},
	"internal/cli/transform/lifecycle": {"internal/cli/edit", "internal/cli/transform", "pkg/fieldpath", "pkg/provider", "pkg/versions"},

	"internal/cli/release": {
		"internal/cli/edit", "internal/cli/release/source", "internal/cli/transform", "pkg/capability", "pkg/capability/texts", "pkg/fieldpath",
		"pkg/finding", "pkg/imageselector", "pkg/inventory", "pkg/profile", "pkg/profile/entries", "pkg/provider", "pkg/providerconfig", "pkg/versions",
		"pkg/words",
	},
	"internal/cli/release/source": {
		"internal/cli/manifest", "internal/cli/manifest/folder", "pkg/capability", "pkg/finding", "pkg/inventory", "pkg/provider", "pkg/strictjson",
		"pkg/words",
	},

	// The command families do not import each other, except that the page and the language server show answers, and import
	// the facts of plan.
	"internal/cli/verify": {
		"internal/cli/checks", "internal/cli/input", "internal/cli/inventories", "internal/cli/command", "internal/cli/report", "pkg/finding",
	},
	"internal/cli/lint": {
		"internal/cli/checks", "internal/cli/input", "internal/cli/inventories", "internal/cli/command", "internal/cli/files", "internal/cli/repair",
		"internal/cli/report", "pkg/finding",
	},
	"internal/cli/lsp": {
		"internal/cli/lsp/...", "internal/cli/ask", "internal/cli/checks", "internal/cli/input", "internal/cli/command", "internal/cli/manifest",
		"internal/cli/report", "pkg/capability", "pkg/capability/texts", "pkg/finding", "pkg/resolve", "pkg/versions", "pkg/words",
	},
	"internal/cli/lsp/workspace": {
		"internal/cli/lsp/protocol", "internal/cli/lsp/text", "internal/cli/checks", "internal/cli/repair", "internal/cli/input", "internal/cli/command",
		"internal/cli/decoding", "internal/cli/manifest", "internal/cli/manifest/folder", "internal/cli/settings", "internal/cli/report",
		"internal/strictyaml", "pkg/finding", "pkg/words",
	},
	"internal/cli/lsp/protocol": {"internal/cli/lsp/text"},
	"internal/cli/lsp/text":     {},
	"internal/cli/rules": {
		"internal/cli/checks", "internal/cli/input", "internal/cli/command", "internal/cli/manifest", "internal/cli/report", "example", "pkg/finding",
	},
	"internal/cli/schema":   {"internal/cli/command", "internal/cli/input", "internal/cli/report", "pkg/provider", "pkg/words"},
	"internal/cli/settings": {"internal/cli/manifest/folder", "internal/cli/report", "internal/cli/gardener", "internal/strictyaml", "pkg/gardenerrules/releases"},
	"internal/cli/maintain": {
		"internal/cli/input", "internal/cli/command", "internal/cli/gardener", "internal/cli/report", "pkg/gardenerlib", "pkg/maintenance", "pkg/memo",
		"pkg/provider", "pkg/resolve", "pkg/words",
	},
	"internal/cli/ask": {
		"internal/cli/input", "internal/cli/command", "internal/cli/manifest", "internal/cli/gardener", "internal/cli/report",
		"pkg/capability", "pkg/capability/texts",
		"pkg/finding", "pkg/gardenerrules", "pkg/imageselector", "pkg/maintenance", "pkg/memo", "pkg/profile", "pkg/profile/entries", "pkg/provider",
		"pkg/resolve", "pkg/versions", "pkg/words",
	},
	"internal/cli/render": {
		"internal/cli/checks", "internal/cli/input", "internal/cli/command", "internal/cli/gardener", "internal/cli/report", "pkg/check", "pkg/finding",
	},
	"internal/cli/inventory": {
		"internal/cli/inventory/...", "internal/cli/command", "internal/cli/report", "pkg/inventory", "pkg/words",
	},
	"internal/cli/inventory/openstack":           {"internal/cli/manifest/folder", "pkg/inventory", "pkg/words"},
	"internal/cli/inventory/openstack/fakecloud": {},
	"internal/cli/inventory/printed":             {"internal/cli/inventory/openstack", "pkg/inventory", "pkg/words"},
	"internal/cli/plan": {
		"internal/cli/changes", "internal/cli/checks", "internal/cli/input", "internal/cli/command", "internal/cli/manifest", "internal/cli/report",
		"pkg/maintenance", "pkg/update", "pkg/words",
	},
	"internal/cli/importer": {
		"internal/cli/changes", "internal/cli/proof", "internal/cli/checks", "internal/cli/command", "internal/cli/edit", "internal/cli/files",
		"internal/cli/gardener", "internal/cli/input", "internal/cli/inventories", "internal/cli/manifest", "internal/cli/plan", "internal/cli/release",
		"internal/cli/release/source", "internal/cli/report", "pkg/finding", "pkg/words",
	},
	"internal/cli/migrate": {
		"internal/cli/changes", "internal/cli/proof", "internal/cli/transform", "internal/cli/transform/lifecycle", "internal/cli/input",
		"internal/cli/command", "internal/cli/manifest", "internal/cli/edit", "internal/cli/files", "internal/cli/report", "pkg/capability", "pkg/check",
		"pkg/fieldpath", "pkg/finding", "pkg/gardenerrules", "pkg/provider", "pkg/resolve", "pkg/versions", "pkg/words", "pkg/profile/entries",
	},
	"internal/cli/page": {
		"internal/cli/ask", "internal/cli/maintain", "internal/cli/page/...", "internal/cli/checks", "internal/cli/input", "internal/cli/command",
		"internal/cli/manifest", "internal/cli/report", "pkg/capability", "pkg/capability/texts", "pkg/gardenerrules", "pkg/imageselector", "pkg/maintenance",
		"pkg/memo", "pkg/provider", "pkg/resolve", "pkg/versions", "pkg/words",
	},
	"internal/cli/page/html": {"internal/cli/ask", "internal/cli/maintain", "internal/cli/report", "pkg/finding", "pkg/words"},

	"cmd/...":              {anything},
	"hack/...":             {anything},
	"internal/testing/...": {anything},
	"internal/strictyaml":  {"pkg/words"},
	"example":              {},
	"test/...":             {anything},
}

// clouds returns the clouds whose wire types are in this module. Each may have its own packages, which ofCloud covers.
func clouds(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob(root + "/pkg/apis/*/v1alpha1")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no wire types: %v", err)
	}
	var names []string
	for _, folder := range folders {
		names = append(names, filepath.Base(filepath.Dir(folder)))
	}
	return names
}

// ofCloud returns the permitted imports of a cloud's package, if the package is one.
func ofCloud(cloud, name string) (imports []string, found bool) {
	if !within("pkg/"+cloud, name) && !within("pkg/"+cloud+"/...", name) {
		return nil, false
	}
	return []string{
		"pkg/fieldpath", "pkg/finding", "pkg/provider", "pkg/providerconfig", "pkg/capability", "pkg/imageselector", "pkg/inventory", "pkg/words",
		"pkg/apis/" + cloud + "/...", "pkg/" + cloud + "/...",
	}, true
}

// pure lists packages whose transitive dependencies must not include a forbidden one.
var (
	pure = []string{ // and the package of each cloud
		"pkg/capability", "pkg/imageselector", "pkg/strictjson", "pkg/fieldpath", "pkg/finding", "pkg/providerconfig", "pkg/provider", "pkg/ratchet", "pkg/profile",
		"pkg/resolve", "pkg/update", "pkg/check", "pkg/namespaced", "pkg/worker",
		"pkg/gardenerrules", "pkg/gardenerrules/inuse", "pkg/render", "internal/cli/transform", "pkg/apis/openstack/validation",
		"pkg/openstack/rules", "pkg/local",
	}
	forbidden = []string{"sigs.k8s.io/controller-runtime", "k8s.io/client-go"}
)

// heavy lists the packages of Gardener that make up most of a program's size. Of the public packages, only those in
// mayImportHeavy may import them.
var heavy = []string{
	"github.com/gardener/gardener/pkg/api", "github.com/gardener/gardener/pkg/api/core/validation", "github.com/gardener/gardener/pkg/apis/core",
	"github.com/gardener/gardener/pkg/controllermanager/...", "github.com/gardener/gardener/pkg/utils/gardener", "github.com/gardener/gardener/plugin/...",
}

var mayImportHeavy = []string{"pkg/admission", "internal/cli/gardener", "pkg/gardenerlib"}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// list returns the packages of this repository, without their tests.
func list(t *testing.T) []goPackage {
	t.Helper()
	readDirectories(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", module+"...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// readDirectories reads all directories. go test then records them as inputs, and does not reuse a cached result after a source change.
func readDirectories(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// within reports whether an entry, which may end in /..., covers a package.
func within(entry, name string) bool {
	prefix, below := strings.CutSuffix(entry, "...")
	return entry == name || below && strings.HasPrefix(name, prefix)
}

// allowed returns the imports of the longest entry that covers the package.
func allowed(name string) (imports []string, found bool) {
	longest := ""
	for entry := range mayImport {
		if within(entry, name) && len(entry) > len(longest) {
			longest, found = entry, true
		}
	}
	return mayImport[longest], found
}

func TestImports(t *testing.T) {
	checked := 0
	clouds, pure := clouds(t), slices.Clone(pure)
	for _, cloud := range clouds {
		pure = append(pure, "pkg/"+cloud)
	}
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains(pure, name) {
			checked++
			checkPurity(t, p)
		}
		imports, found := allowed(name)
		for _, cloud := range clouds {
			if own, isOwn := ofCloud(cloud, name); isOwn && !found {
				imports, found = own, true
			}
		}
		if !found {
			t.Errorf("%s is not in the table of this test: add it, with what it may import", name)
			continue
		}
		for _, imported := range p.Imports {
			own, isOwn := strings.CutPrefix(imported, module)
			if isOwn && !slices.ContainsFunc(imports, func(entry string) bool { return within(entry, own) }) {
				t.Errorf("%s must not import %s, only %v", name, own, imports)
			}
			isHeavy := slices.ContainsFunc(heavy, func(entry string) bool { return within(entry, imported) })
			if isHeavy && (strings.HasPrefix(name, "pkg/") || strings.HasPrefix(name, "internal/")) && !slices.Contains(mayImportHeavy, name) {
				t.Errorf("%s must not import %s, only %v", name, imported, mayImportHeavy)
			}
		}
	}
	if checked != len(pure) {
		t.Errorf("%d of %v found", checked, pure)
	}
}

// checkPurity checks all dependencies of a package.
func checkPurity(t *testing.T, p goPackage) {
	t.Helper()
	for _, dep := range p.Deps {
		for _, f := range forbidden {
			if within(f+"/...", dep) || dep == f {
				t.Errorf("%s depends on %s: go mod why -m says how", p.ImportPath, dep)
			}
		}
	}
}

func TestTheTableItself(t *testing.T) {
	for name, want := range map[string]bool{
		"pkg/capability": true, "pkg/capability/more": false, "pkg/util": false, "cmd/capkit": true, "cmds": false,
		"pkg/apis/openstack/v1alpha1": true, "internal/x": false,
	} {
		if _, found := allowed(name); found != want {
			t.Errorf("%s: found is %t", name, found)
		}
	}
	if imports, _ := allowed("pkg/apis/openstack/validation"); len(imports) != 4 {
		t.Errorf("the longest entry must count, not %v", imports)
	}
	for name, want := range map[string]bool{"pkg/acme": true, "pkg/acme/rules": true, "pkg/acmes": false, "pkg/apis/acme/v1alpha1": false} {
		if _, found := ofCloud("acme", name); found != want {
			t.Errorf("%s of acme: found is %t", name, found)
		}
	}
}
