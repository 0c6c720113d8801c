// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Command schemas writes the definitions from which capkit schema builds JSON Schemas: the types of CloudProfile, NamespacedCloudProfile,
// Shoot and the provider configs, with the comments of their Go types. make generate calls it, in the root of the repository.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/capkit/capkit/pkg/local"
)

const (
	output  = "internal/cli/schema/definitions.json"
	corePkg = "github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// configs are the kinds of provider configs in the extensions.
var configs = []string{"CloudProfileConfig", "InfrastructureConfig", "ControlPlaneConfig", "WorkerConfig"}

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	folders, err := filepath.Glob("pkg/apis/*/v1alpha1")
	if err != nil || len(folders) == 0 {
		return errors.Join(errors.New("there are no types in pkg/apis: call it in the root of the repository"), err)
	}
	patterns := []string{corePkg, "./pkg/local"}
	for _, folder := range folders {
		patterns = append(patterns, "./"+folder)
	}
	packages, err := loader.LoadRoots(patterns...)
	if err != nil {
		return err
	}
	s := newSchemas()
	for _, pkg := range packages {
		s.parser.NeedPackage(pkg)
		if pkg.PkgPath == corePkg {
			for _, kind := range []string{"CloudProfile", "NamespacedCloudProfile", "Shoot"} {
				s.add(pkg, kind, v1beta1.SchemeGroupVersion.String())
			}
			continue
		}
		cloud, apiVersion := "local", local.ConfigKind.GroupVersion().String()
		if version := s.parser.GroupVersions[pkg]; version.Group != "" {
			cloud, apiVersion = strings.TrimSuffix(version.Group, ".provider.extensions.gardener.cloud"), version.String()
		}
		s.prefixes[pkg.PkgPath] = cloud + "."
		for _, kind := range configs {
			s.add(pkg, kind, apiVersion)
		}
	}
	all, err := s.definitions()
	if err != nil {
		return err
	}
	needed := map[string]*schema{}
	for id := range s.apiVersions {
		name, _ := s.name(id) // cannot fail: definitions has named it already
		reachable(all, name, needed)
	}
	for _, config := range knownOnly {
		openUp(needed, config)
	}
	return write(needed)
}

// openUp allows unknown fields in a config and in its parts. Parts that other definitions share are copied first.
func openUp(definitions map[string]*schema, config string) {
	parts := map[string]*schema{}
	reachable(definitions, config, parts)
	cloud, _, _ := strings.Cut(config, ".")
	for name, part := range parts {
		if part.AdditionalProperties != false {
			continue
		}
		if !strings.HasPrefix(name, cloud+".") {
			opened := *part
			part = &opened
			definitions[cloud+"."+name] = part
			for own, other := range parts {
				if !strings.HasPrefix(own, cloud+".") {
					continue
				}
				other.walk(func(s *schema) {
					if s.Ref == "#/definitions/"+name {
						s.Ref = "#/definitions/" + cloud + "." + name
					}
				})
			}
		}
		part.AdditionalProperties = nil
	}
}

// schemas collects the requested types, and all types that they refer to.
type schemas struct {
	parser *crd.Parser
	// prefixes of the names of definitions, by package path.
	prefixes map[string]string
	// apiVersions of the types that are objects.
	apiVersions map[crd.TypeIdent]string
}

func newSchemas() *schemas {
	collector := &markers.Collector{Registry: &markers.Registry{}}
	if err := (crd.Generator{}).RegisterMarkers(collector.Registry); err != nil {
		panic(err) // two of the library's markers have the same name
	}
	s := &schemas{
		parser:      &crd.Parser{Collector: collector, Checker: &loader.TypeChecker{}, AllowDangerousTypes: true},
		apiVersions: map[crd.TypeIdent]string{},
		prefixes: map[string]string{
			corePkg: "", "k8s.io/api/core/v1": "kubernetes.", "k8s.io/api/autoscaling/v1": "kubernetes.",
			"k8s.io/api/rbac/v1": "kubernetes.", "k8s.io/apimachinery/pkg/apis/meta/v1": "meta.",
			"k8s.io/apimachinery/pkg/types": "meta.", "k8s.io/apimachinery/pkg/api/resource": "meta.",
			"k8s.io/apimachinery/pkg/runtime": "meta.", "k8s.io/apimachinery/pkg/util/intstr": "meta.", "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1": "extensions.",
		},
	}
	crd.AddKnownTypes(s.parser)
	s.parser.PackageOverrides["k8s.io/apimachinery/pkg/apis/meta/v1"] = withoutOverride
	return s
}

// withoutOverride makes the parser read a package instead of using its built-in types, such as an ObjectMeta without fields.
func withoutOverride(p *crd.Parser, pkg *loader.Package) { p.AddPackage(pkg) }

// add requests the type of a kind in an API version, if the package has it.
func (s *schemas) add(pkg *loader.Package, kind, apiVersion string) {
	id := crd.TypeIdent{Package: pkg, Name: kind}
	if s.parser.Types[id] == nil {
		return
	}
	s.apiVersions[id] = apiVersion
	s.parser.NeedSchemaFor(id)
}

func (s *schemas) name(id crd.TypeIdent) (string, error) {
	prefix, known := s.prefixes[id.Package.PkgPath]
	if !known {
		return "", fmt.Errorf("the package of %s has no prefix in hack/schemas", id)
	}
	return prefix + id.Name, nil
}

func write(definitions map[string]*schema) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(definitions); err != nil {
		return err
	}
	return os.WriteFile(output, text.Bytes(), 0o644) //nolint:gosec // it is for everybody
}
