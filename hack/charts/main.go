// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command charts packages the charts of all components; make charts calls it. With -generate it instead writes the committed manifests that
// install them, in the folder example; make generate does that. Run it from the root of the repository.
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
	} else if err := os.RemoveAll(*folder); err != nil { // the output of an earlier run
		return err
	}
	for _, c := range append(components.All(), components.Controllers()...) {
		if err := write(*folder, c, o, !*generate); err != nil {
			return err
		}
	}
	return nil
}

// write writes the manifests of a component into a folder, and its packages if packaged is set.
func write(folder string, c components.Component, o chart.Options, packaged bool) error {
	packages, err := chart.Load(".", c, o)
	if err != nil {
		return err
	}
	manifests, err := chart.Manifests(c, packages, o)
	if err != nil {
		return err
	}
	within := filepath.Join(folder, chart.ManifestFolder(c))
	if err := os.MkdirAll(within, 0o755); err != nil {
		return err
	}
	for name, content := range manifests {
		if err := os.WriteFile(filepath.Join(within, name), content, 0o644); err != nil {
			return err
		}
	}
	if !packaged {
		return nil
	}
	for _, p := range packages {
		if err := p.Write(folder); err != nil {
			return err
		}
		fmt.Printf("%s\t%s\t%s\n", filepath.Join(folder, p.Name), o.Version, p.Reference(o))
	}
	return nil
}
