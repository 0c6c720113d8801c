// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/capkit/capkit/hack/artifact"
)

// The media types that Helm gives to a chart in a registry. They are constants of its client, which needs a lot more.
const (
	configMediaType = "application/vnd.cncf.helm.config.v1+json"
	layerMediaType  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// Write writes the package into a folder twice: as the file NAME-VERSION.tgz, and as the OCI layout NAME, whose tag is the
// version, from which any tool for OCI artifacts can copy it to a registry.
func (p Package) Write(folder string) error {
	file := fmt.Sprintf("%s-%s.tgz", p.Name, p.metadata.Version)
	if err := os.WriteFile(filepath.Join(folder, file), p.Archive, 0o644); err != nil {
		return err
	}
	artifact, err := p.Artifact()
	if err != nil {
		return err
	}
	path, err := layout.Write(filepath.Join(folder, p.Name), empty.Index)
	if err != nil {
		return err
	}
	return path.AppendImage(artifact, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": p.metadata.Version}))
}

// Artifact returns the package as it is in a registry.
func (p Package) Artifact() (v1.Image, error) {
	config, err := json.Marshal(p.metadata)
	if err != nil {
		return nil, err
	}
	manifest := v1.Manifest{Annotations: map[string]string{
		"org.opencontainers.image.title":       p.metadata.Name,
		"org.opencontainers.image.description": p.metadata.Description,
		"org.opencontainers.image.version":     p.metadata.Version,
	}}
	return artifact.New(manifest, artifact.Blob{MediaType: configMediaType, Content: config}, artifact.Blob{MediaType: layerMediaType, Content: p.Archive})
}
