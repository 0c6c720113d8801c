// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command charts packages the charts of this repository; make charts calls it. With -generate it writes, instead, what is
// committed: the versions of the charts, and the manifests in the folder example that register them; make generate does
// that. Run it from the root of the repository.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/capkit/capkit/hack/charts/chart"
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
	version, err := os.ReadFile("VERSION")
	if err != nil {
		return err
	}
	o := chart.Options{Version: strings.TrimSpace(string(version)), Registry: *registry}
	if *generate {
		if err := chart.SetVersion(".", o.Version); err != nil {
			return err
		}
		return write("example", o, nil)
	}
	return write(*folder, o, func(p chart.Package) error { return p.Write(*folder) })
}

// write writes the manifests that register the charts into a folder, and does something with each package.
func write(folder string, o chart.Options, each func(chart.Package) error) error {
	packages, err := chart.Load(".", o)
	if err != nil {
		return err
	}
	if each != nil { // what an earlier run has made
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, p := range packages {
		if each == nil {
			continue
		}
		if err := each(p); err != nil {
			return err
		}
		fmt.Printf("%s\t%s\t%s\n", filepath.Join(folder, p.Name), o.Version, p.Reference(o))
	}
	manifests, err := chart.Manifests(packages, o)
	if err != nil {
		return err
	}
	for name, content := range manifests {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
