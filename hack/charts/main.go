// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command charts makes the charts of all components, and packages them; make charts calls it. With -generate it writes,
// instead, what is committed: the manifests in the folder example that install them; make generate does that. Run it from the root
// of the repository.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	folder := flag.String("o", filepath.Join("bin", "charts"), "folder of what is made")
	registry := flag.String("registry", chart.Registry, "where images and charts are: a host, and a path below it")
	generate := flag.Bool("generate", false, "write the files of the repository that depend on the version or the charts")
	flag.Parse()
	if flag.NArg() > 0 {
		return errors.New("usage: charts [-generate] [-o FOLDER] [-registry REGISTRY]")
	}
	o, err := chart.Default(".")
	if err != nil {
		return err
	}
	o.Registry = *registry
	if *generate {
		*folder = "example"
	} else if err := os.RemoveAll(*folder); err != nil { // what an earlier run has made
		return err
	}
	for _, c := range components.All() {
		packages, err := chart.Load(".", c, o)
		if err != nil {
			return err
		}
		manifests, err := chart.Manifests(c, packages, o)
		if err != nil {
			return err
		}
		if err := write(*folder, chart.ManifestFolder(c), manifests, !*generate, o, packages...); err != nil {
			return err
		}
	}
	for _, c := range components.Controllers() {
		p, err := chart.LoadController(".", c, o)
		if err != nil {
			return err
		}
		manifests, err := chart.ControllerManifests(c, p, o)
		if err != nil {
			return err
		}
		if err := write(*folder, chart.ControllerFolder(c), manifests, !*generate, o, p); err != nil {
			return err
		}
	}
	return nil
}

// write writes the manifests of a component into a folder within another one, and into that, if asked for, its packages.
func write(folder, within string, manifests map[string][]byte, packaged bool, o chart.Options, packages ...chart.Package) error {
	within = filepath.Join(folder, within)
	if err := os.MkdirAll(within, 0o755); err != nil {
		return err
	}
	for name, content := range manifests {
		if err := os.WriteFile(filepath.Join(within, name), content, 0o644); err != nil {
			return err
		}
	}
	for _, p := range packages {
		if !packaged {
			continue
		}
		if err := p.Write(folder); err != nil {
			return err
		}
		fmt.Printf("%s\t%s\t%s\n", filepath.Join(folder, p.Name), o.Version, p.Reference(o))
	}
	return nil
}
