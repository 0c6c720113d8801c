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

//go:embed admission worker
var templates embed.FS

// Manifests returns the manifests with which Gardener installs a component's packages, made by [Load], by file name: extension.yaml for
// gardener-operator, controller-registration.yaml for gardenlet. They belong into the folder that [ManifestFolder] returns.
func Manifests(c components.Component, packages []Package, o Options) (map[string][]byte, error) {
	data := struct {
		components.Component
		Folder, Image, RawChart string
		References              []string
	}{
		Component: c, Folder: ManifestFolder(c), Image: o.Registry + "/" + c.Program(),
		RawChart: base64.StdEncoding.EncodeToString(packages[0].Archive),
	}
	for _, p := range packages {
		data.References = append(data.References, p.Reference(o))
	}
	folder := "admission"
	if c.Worker {
		folder = "worker"
	}
	parsed, err := template.ParseFS(templates, folder+"/*.yaml")
	if err != nil {
		return nil, err
	}
	manifests := map[string][]byte{}
	for _, t := range parsed.Templates() {
		var manifest bytes.Buffer
		if err := t.Execute(&manifest, data); err != nil {
			return nil, err
		}
		manifests[t.Name()] = manifest.Bytes()
	}
	return manifests, nil
}

// ManifestFolder returns the folder of a component's manifests, below bin/charts and also below example. The manifests of the OpenStack
// extension's own admission component are in that folder itself, those of other admission components in a folder named after the provider
// type, and those of worker controllers in worker-TYPE. The result is empty, or ends in a slash.
func ManifestFolder(c components.Component) string {
	switch {
	case c.Worker:
		return "worker-" + c.Type + "/"
	case c.Beside:
		return c.Type + "/"
	}
	return ""
}
