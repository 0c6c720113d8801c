// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command pictures draws the documents' pictures into docs/pictures, from the examples and capkit's answers about them. Run it from the
// root of the repository.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
)

// pictures are the functions that draw the pictures, by file name.
var pictures = map[string]func() *canvas{
	"halves":         halves,
	"worker-pool":    workerPool,
	"matrix":         matrix,
	"request":        request,
	"floating-pools": floatingPools,
	"recording":      recording,
	"editor":         editor,
}

func main() {
	log.SetFlags(0)
	for name, draw := range pictures {
		if err := os.WriteFile(file(name), []byte(draw().String()), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// file returns the path of a picture.
func file(name string) string { return filepath.Join("docs", "pictures", name+".svg") }

// must returns the value. On an error, which means that an example does not suit its picture, the program ends.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// load reads the only document of a manifest.
func load[T any](file string) (object T) {
	if err := yaml.Unmarshal(must(os.ReadFile(file)), &object); err != nil {
		log.Fatalf("%s: %v", file, err)
	}
	return object
}

// compiled returns the CloudProfile of a manifest, which may have errors.
func compiled(file string) *profile.Profile[openstack.Image] {
	object := load[v1beta1.CloudProfile](file)
	p, _ := profile.Compile(openstack.Provider{}, &object.Spec, nil)
	return p
}

// written returns capabilities line by line, as in a manifest, in the order of the vocabulary. If name and values exceed the number of
// letters, the values get a line of their own.
func written(v *capability.Vocabulary, set v1beta1.Capabilities, letters int) (lines []string) {
	for _, definition := range v.Definitions() {
		values, found := set[definition.Name]
		if !found {
			continue
		}
		name, list := definition.Name+":", fmt.Sprintf("[%s]", strings.Join(values, ", "))
		if len(name+" "+list) > letters {
			lines = append(lines, name, "  "+list)
		} else {
			lines = append(lines, name+" "+list)
		}
	}
	return styled("mono", lines...)
}
