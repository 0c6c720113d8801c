// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package chart makes the charts of the components of templates, packages them, and writes the manifests by which Gardener installs
// them. The same files give the same bytes, whoever makes them, and when.
//
// The template of all admission components is the folder charts/admission, with a chart for each [Kind]; a worker controller has one
// of its own. What stands in it in [[ double brackets ]] is filled in here, as Go's text/template does; what stands in {{ braces }} is
// Helm's, and is filled in when a chart is installed.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/capkit/capkit/hack/components"
)

// Registry is where images and charts are, as far as this repository knows: a host that nobody has.
const Registry = "registry.example.com/capkit"

// These are the folder of all templates, below the root of the repository, and the one in it of admission components.
const (
	folder          = "charts"
	admissionFolder = "admission"
)

// Kind is one of the charts that each admission component has.
type Kind string

const (
	// Runtime is the chart for the runtime cluster: the component itself.
	Runtime Kind = "runtime"
	// Application is the chart for the virtual garden: the rights of the component there.
	Application Kind = "application"
)

// Options say what is written into packages.
type Options struct {
	// Version of the charts, without v.
	Version string
	// Registry of the images.
	Registry string
}

// Default returns the options for the version in the file VERSION of the repository in the folder root, and for [Registry].
func Default(root string) (Options, error) {
	version, err := os.ReadFile(filepath.Join(root, "VERSION"))
	return Options{Version: strings.TrimSpace(string(version)), Registry: Registry}, err
}

// check returns an error if no registry could have what is called so.
func (o Options) check() error {
	if strings.Contains(o.Registry, "://") {
		return fmt.Errorf("registry %q: write it without %s://", o.Registry, strings.Split(o.Registry, "://")[0])
	}
	if _, err := name.NewRepository(o.Registry+"/charts", name.StrictValidation); err != nil {
		return fmt.Errorf("registry %q: write a host and a path, as in %s: %w", o.Registry, Registry, err)
	}
	if _, err := name.NewTag(Registry+"/charts:"+o.Version, name.StrictValidation); err != nil {
		return fmt.Errorf("version %q: %w", o.Version, err)
	}
	return nil
}

// Package is a chart that is packaged.
type Package struct {
	// Name of the chart.
	Name string
	// Archive is the chart as a .tgz.
	Archive []byte

	metadata *helmchart.Metadata
}

// Reference is where in a registry the package belongs.
func (p Package) Reference(o Options) string {
	return fmt.Sprintf("%s/charts/%s:%s", o.Registry, p.Name, o.Version)
}

// Load packages the charts of an admission component, of the template in the repository in the folder root: first the one for the
// runtime cluster, then the one for the virtual garden.
func Load(root string, c components.Component, o Options) ([]Package, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var packages []Package
	for _, kind := range []Kind{Runtime, Application} {
		files, err := Files(root, c, kind, o)
		if err != nil {
			return nil, err
		}
		p, err := load(files)
		if err != nil {
			return nil, fmt.Errorf("the %s chart for %s: %w", kind, c.Type, err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// LoadController packages the chart of a worker controller in the repository in the folder root.
func LoadController(root string, c components.Controller, o Options) (Package, error) {
	if err := o.check(); err != nil {
		return Package{}, err
	}
	files, err := ControllerFiles(root, c, o)
	if err != nil {
		return Package{}, err
	}
	p, err := load(files)
	if err != nil {
		return Package{}, fmt.Errorf("the chart of %s: %w", c.Name(), err)
	}
	return p, nil
}

func load(files []*archive.BufferedFile) (Package, error) {
	made, err := loader.LoadFiles(files)
	if err != nil {
		return Package{}, err
	}
	made.ModTime, made.SchemaModTime = epoch, epoch // nothing of when it was made
	content, err := save(made)
	return Package{Name: made.Name(), Archive: content, metadata: made.Metadata}, err
}

// epoch is the time of all files.
var epoch = time.Unix(0, 0)

// Files returns the files of a chart for an admission component, in the order of their names, as Helm reads them from a folder.
func Files(root string, c components.Component, kind Kind, o Options) ([]*archive.BufferedFile, error) {
	return fill(filepath.Join(root, folder, admissionFolder, string(kind)), struct {
		components.Component
		Options
	}{c, o})
}

// ControllerFiles is [Files] for a worker controller.
func ControllerFiles(root string, c components.Controller, o Options) ([]*archive.BufferedFile, error) {
	return fill(filepath.Join(root, folder, c.Name()), struct {
		components.Controller
		Options
	}{c, o})
}

// fill returns the files in a folder, with data filled in.
func fill(top string, data any) ([]*archive.BufferedFile, error) {
	var files []*archive.BufferedFile
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		t, err := template.New(path).Delims("[[", "]]").Option("missingkey=error").Parse(string(content))
		if err != nil {
			return err
		}
		var filled bytes.Buffer
		if err := t.Execute(&filled, data); err != nil {
			return err
		}
		within, err := filepath.Rel(top, path)
		files = append(files, &archive.BufferedFile{Name: filepath.ToSlash(within), ModTime: epoch, Data: filled.Bytes()})
		return err
	})
	return files, err
}

// save returns what Helm, which only writes files, would write.
func save(c *helmchart.Chart) (content []byte, err error) {
	temporary, err := os.MkdirTemp("", "charts-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	path, err := util.Save(c, temporary)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
