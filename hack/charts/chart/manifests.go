// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"embed"
	"encoding/base64"
	"text/template"

	"github.com/capkit/capkit/hack/components"
)

//go:embed extension.yaml controller-registration.yaml controller/extension.yaml controller/controller-registration.yaml
var files embed.FS

var (
	templates           = template.Must(template.ParseFS(files, "*.yaml"))
	controllerTemplates = template.Must(template.ParseFS(files, "controller/*.yaml"))
)

// Manifests returns the manifests by which Gardener installs packages that [Load] has made for an admission component, by file name:
// extension.yaml for gardener-operator, controller-registration.yaml for gardenlet. They belong into the folder that
// [ManifestFolder] returns.
func Manifests(c components.Component, packages []Package, o Options) (map[string][]byte, error) {
	data := struct {
		components.Component
		Folder, Image, Runtime, Application, RawChart string
	}{
		Component:   c,
		Folder:      ManifestFolder(c),
		Image:       o.Registry + "/" + c.Name(),
		Runtime:     packages[0].Reference(o),
		Application: packages[1].Reference(o),
		RawChart:    base64.StdEncoding.EncodeToString(packages[0].Archive),
	}
	return execute(templates, data)
}

// ControllerManifests returns the manifests by which Gardener installs the package that [LoadController] has made for a worker
// controller, by file name, as [Manifests] does. They belong into the folder that [ControllerFolder] returns.
func ControllerManifests(c components.Controller, p Package, o Options) (map[string][]byte, error) {
	return execute(controllerTemplates, struct {
		components.Controller
		Folder, Image, Chart, RawChart string
	}{
		Controller: c,
		Folder:     ControllerFolder(c),
		Image:      o.Registry + "/" + c.Name(),
		Chart:      p.Reference(o),
		RawChart:   base64.StdEncoding.EncodeToString(p.Archive),
	})
}

// execute fills in each of the templates.
func execute(templates *template.Template, data any) (map[string][]byte, error) {
	manifests := map[string][]byte{}
	for _, t := range templates.Templates() {
		var manifest bytes.Buffer
		if err := t.Execute(&manifest, data); err != nil {
			return nil, err
		}
		manifests[t.Name()] = manifest.Bytes()
	}
	return manifests, nil
}

// ManifestFolder is where the manifests of a component are, below the folder bin/charts and in the same way below the folder
// example: those of the OpenStack extension's own component are in that folder itself, others in one named after their provider
// type. It is empty, or ends in a slash.
func ManifestFolder(c components.Component) string {
	if c.Beside {
		return c.Type + "/"
	}
	return ""
}

// ControllerFolder is where the manifests of a worker controller are, below the folder bin/charts and in the same way below the
// folder example.
func ControllerFolder(c components.Controller) string { return "worker-" + c.Type + "/" }
