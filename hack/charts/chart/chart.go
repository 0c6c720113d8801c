// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package chart packages the charts of the components, and generates the manifests with which Gardener installs them. Packages are
// reproducible: they depend on the files only.
//
// The folder charts has ordinary charts, which anybody can copy. Components differ only in a few values and in the names of the charts. A
// component's packages have its own values as defaults.
package chart

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/hack/program"
)

// Registry is the default registry of images and charts: a host that does not exist.
const Registry = "registry.example.com/capkit"

// Kind is a chart of a component.
type Kind string

const (
	// Runtime is an admission component's chart for the runtime cluster, with the component itself.
	Runtime Kind = "runtime"
	// Application is an admission component's chart for the virtual garden, with the component's rights there.
	Application Kind = "application"
	// Worker is the chart of a worker controller.
	Worker Kind = "worker"
)

// Options are the values that are written into packages.
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

// check returns an error if no registry accepts a chart with these options.
func (o Options) check() error {
	if scheme, _, found := strings.Cut(o.Registry, "://"); found {
		return fmt.Errorf("registry %q: write it without %s://", o.Registry, scheme)
	}
	if _, err := name.NewRepository(o.Registry+"/charts", name.StrictValidation); err != nil {
		return fmt.Errorf("registry %q: write a host and a path, as in %s: %w", o.Registry, Registry, err)
	}
	if _, err := name.NewTag(Registry+"/charts:"+o.Version, name.StrictValidation); err != nil {
		return fmt.Errorf("version %q: %w", o.Version, err)
	}
	return nil
}

// Load packages the charts of a component; root is the folder of the repository. An admission component has two: the one for the runtime
// cluster, then the one for the virtual garden.
func Load(root string, c components.Component, o Options) ([]Package, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var packages []Package
	kinds := []Kind{Runtime, Application}
	if c.Worker {
		kinds = []Kind{Worker}
	}
	for _, kind := range kinds {
		files, err := Files(root, c, kind, o)
		if err != nil {
			return nil, err
		}
		p, err := load(files)
		if err != nil {
			return nil, fmt.Errorf("the %s chart of %s: %w", kind, c.Name(), err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// load packages a chart with Helm, which can only write files.
func load(files []*archive.BufferedFile) (Package, error) {
	made, err := loader.LoadFiles(files)
	if err != nil {
		return Package{}, err
	}
	folder, err := os.MkdirTemp("", "charts-")
	if err != nil {
		return Package{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path, err := util.Save(made, folder)
	if err != nil {
		return Package{}, err
	}
	content, err := os.ReadFile(path)
	image, _ := made.Values["image"].(map[string]any)
	repository, _ := image["repository"].(string)
	return Package{Name: made.Name(), Archive: content, metadata: made.Metadata, image: repository}, err
}

// epoch is the modification time of all files, so that packages do not depend on the real one.
var epoch = time.Unix(0, 0)

// Files returns the files of a component's chart, ordered by name, as Helm reads them from a folder.
func Files(root string, c components.Component, kind Kind, o Options) ([]*archive.BufferedFile, error) {
	folder := path.Join("charts", "admission", string(kind))
	if kind == Worker {
		folder = path.Join("charts", c.Program())
	}
	found, err := program.Files(root, folder)
	if err != nil {
		return nil, err
	}
	var files []*archive.BufferedFile
	for _, at := range found {
		below := strings.TrimPrefix(at, folder+"/")
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(at)))
		if err == nil {
			content, err = set(content, own(c, kind, o)[below])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		files = append(files, &archive.BufferedFile{Name: below, ModTime: epoch, Data: content})
	}
	return files, nil
}

// setting is the value of a key in a YAML file. The key includes its indentation.
type setting struct{ key, value string }

// own returns the settings in which a component's chart differs, by file. Users who copy a chart write the same.
func own(c components.Component, kind Kind, o Options) map[string][]setting {
	metadata := []setting{{"version", o.Version}, {"appVersion", "v" + o.Version}}
	image := setting{"  repository", o.Registry + "/" + c.Program()}
	if kind == Worker {
		return map[string][]setting{
			"Chart.yaml":  append(metadata, setting{"name", c.Release()}, setting{"description", "The " + c.Short() + ", in a seed"}),
			"values.yaml": {{"  name", c.Release()}, image},
		}
	}
	values := []setting{
		{"  type", c.Type}, {"  title", c.Title}, {"  beside", strconv.FormatBool(c.Beside)},
		{"  described", strconv.FormatBool(c.Described)}, {"  credentials", strconv.FormatBool(c.Credentials)},
		{"  workerSettings", strconv.FormatBool(c.WorkerSettings)},
	}
	description := "The rights of the " + c.Short() + ", in the virtual garden"
	if kind == Runtime {
		description = "The " + c.Short() + ", in the runtime cluster of a garden"
		values = append(values, image)
	}
	return map[string][]setting{
		"Chart.yaml":  append(metadata, setting{"name", c.Release() + "-" + string(kind)}, setting{"description", description}),
		"values.yaml": values,
	}
}

// set returns a file with the settings changed. Each key must occur in it exactly once.
func set(file []byte, settings []setting) ([]byte, error) {
	for _, s := range settings {
		line := regexp.MustCompile("(?m)^" + s.key + ": .*$")
		if found := len(line.FindAll(file, -1)); found != 1 {
			return nil, fmt.Errorf("%q is %d times in the file, and not once", strings.TrimSpace(s.key)+":", found)
		}
		file = line.ReplaceAllLiteral(file, []byte(s.key+": "+s.value))
	}
	return file, nil
}
