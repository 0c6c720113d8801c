// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package chart packages the charts of this repository, and writes the manifests by which Gardener installs them. The same
// charts give the same bytes, whoever makes them, and when.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
)

// Registry is where images and charts are, as far as this repository knows: a host that nobody has.
const Registry = "registry.example.com/capkit"

// folders of the charts, below the root of the repository.
var folders = []string{
	"charts/gardener-extension-admission-openstack/charts/runtime",
	"charts/gardener-extension-admission-openstack/charts/application",
}

// Options say what is written into packages.
type Options struct {
	// Version of the charts, without v.
	Version string
	// Registry in place of the one that the charts name.
	Registry string
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

// Load packages the charts of the repository in the folder root: first the one for the runtime cluster, then the one for
// the virtual garden.
func Load(root string, o Options) ([]Package, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var packages []Package
	for _, folder := range folders {
		p, err := load(filepath.Join(root, filepath.FromSlash(folder)), o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

func load(folder string, o Options) (Package, error) {
	c, err := loader.LoadDir(folder)
	if err != nil {
		return Package{}, err
	}
	c.Metadata.Version, c.Metadata.AppVersion = o.Version, "v"+o.Version
	// Helm writes the values as they are in the file.
	for _, file := range c.Raw {
		file.Data = bytes.ReplaceAll(file.Data, []byte(Registry), []byte(o.Registry))
	}
	resetTimes(c)

	archive, err := save(c)
	return Package{Name: c.Name(), Archive: archive, metadata: c.Metadata}, err
}

// save returns what Helm, which only writes files, would write.
func save(c *helmchart.Chart) (archive []byte, err error) {
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

// resetTimes leaves nothing of when the files were written.
func resetTimes(c *helmchart.Chart) {
	epoch := time.Unix(0, 0)
	c.ModTime, c.SchemaModTime = epoch, epoch
	for _, file := range c.Raw {
		file.ModTime = epoch
	}
	for _, file := range c.Templates {
		file.ModTime = epoch
	}
	for _, file := range c.Files {
		file.ModTime = epoch
	}
}

var versions = regexp.MustCompile(`(?m)^(version|appVersion): (v?).*$`)

// SetVersion writes the version into the charts of the repository in the folder root.
func SetVersion(root, version string) error {
	for _, folder := range folders {
		path := filepath.Join(root, filepath.FromSlash(folder), util.ChartfileName)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content = versions.ReplaceAll(content, []byte("$1: ${2}"+version))
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
