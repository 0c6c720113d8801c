// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/capkit/capkit/hack/charts/chart"
)

func TestWhatNoRegistryHas(t *testing.T) {
	for want, o := range map[string]chart.Options{
		"write it without https://": {Version: "1.2.3", Registry: "https://registry.example.com/capkit"},
		`registry "": write a host`: {Version: "1.2.3"},
		`registry "a b": write`:     {Version: "1.2.3", Registry: "a b"},
		`registry "capkit": write`:  {Version: "1.2.3", Registry: "capkit"},
		`version "1.2.3+x"`:         {Version: "1.2.3+x", Registry: chart.Registry},
	} {
		if _, err := chart.Load(filepath.Join("..", ".."), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %s", err, want)
		}
	}
}

// TestReproducible: copies of the charts that were made at another time give the same packages, artifacts and manifests.
func TestReproducible(t *testing.T) {
	o := chart.Options{Version: "1.2.3", Registry: chart.Registry}
	copied := t.TempDir()
	if err := os.CopyFS(filepath.Join(copied, "charts"), os.DirFS(filepath.Join("..", "..", "charts"))); err != nil {
		t.Fatal(err)
	}
	one, other := written(t, filepath.Join("..", ".."), o), written(t, copied, o)
	if len(one) < 2*5 || !maps.EqualFunc(one, other, bytes.Equal) {
		t.Errorf("%d files, %d files, not all the same", len(one), len(other))
	}
}

// written returns the files that make charts writes.
func written(t *testing.T, root string, o chart.Options) map[string][]byte {
	t.Helper()
	packages, err := chart.Load(root, o)
	if err != nil {
		t.Fatal(err)
	}
	files, err := chart.Manifests(packages, o)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, p := range packages {
		if err := p.Write(folder); err != nil {
			t.Fatal(err)
		}
	}
	err = filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		files[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestPackages: a package has the version and the registry that it is made for, and everything that is in the folder.
func TestPackages(t *testing.T) {
	o := chart.Options{Version: "1.2.3", Registry: "registry.example.com/mirror"}
	packages, err := chart.Load(filepath.Join("..", ".."), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		loaded, err := loader.LoadArchive(bytes.NewReader(p.Archive))
		if err != nil {
			t.Fatal(err)
		}
		if loaded.Metadata.Version != "1.2.3" || loaded.Metadata.AppVersion != "v1.2.3" {
			t.Errorf("%s has versions %s and %s", p.Name, loaded.Metadata.Version, loaded.Metadata.AppVersion)
		}
		if loaded.Schema == nil || len(loaded.Templates) == 0 {
			t.Errorf("%s has no schema, or no templates", p.Name)
		}
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(packages[0].Archive))
	if err != nil {
		t.Fatal(err)
	}
	image, _ := loaded.Values["image"].(map[string]any)
	if want := "registry.example.com/mirror/gardener-extension-admission-openstack"; image["repository"] != want {
		t.Errorf("the image is %v, want %s", image["repository"], want)
	}
}
