// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"embed"
	"encoding/base64"
	"text/template"
)

//go:embed extension.yaml controller-registration.yaml
var files embed.FS

var templates = template.Must(template.ParseFS(files, "*.yaml"))

// Manifests returns the manifests by which Gardener installs packages that [Load] has made, by file name: extension.yaml
// for gardener-operator, controller-registration.yaml for gardenlet.
func Manifests(packages []Package, o Options) (map[string][]byte, error) {
	data := map[string]string{
		"Image":       o.Registry + "/gardener-extension-admission-openstack",
		"Runtime":     packages[0].Reference(o),
		"Application": packages[1].Reference(o),
		"RawChart":    base64.StdEncoding.EncodeToString(packages[0].Archive),
	}
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
