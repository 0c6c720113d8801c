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
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/capkit/capkit/hack/artifact"
)

// The media types that Helm gives to a chart in a registry. They are constants of its client, which needs a lot more.
const (
	configMediaType = "application/vnd.cncf.helm.config.v1+json"
	layerMediaType  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

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

// Write writes the package into a folder twice: as the file NAME-VERSION.tgz, and as the OCI layout NAME, whose tag is the
// version, from which any tool for OCI artifacts can copy it to a registry.
func (p Package) Write(folder string) error {
	file := fmt.Sprintf("%s-%s.tgz", p.Name, p.metadata.Version)
	if err := os.WriteFile(filepath.Join(folder, file), p.Archive, 0o644); err != nil {
		return err
	}
	config, err := json.Marshal(p.metadata)
	if err != nil {
		return err
	}
	manifest := v1.Manifest{Annotations: map[string]string{
		"org.opencontainers.image.title":       p.metadata.Name,
		"org.opencontainers.image.description": p.metadata.Description,
		"org.opencontainers.image.version":     p.metadata.Version,
	}}
	image, err := artifact.New(manifest,
		artifact.Blob{MediaType: configMediaType, Content: config}, artifact.Blob{MediaType: layerMediaType, Content: p.Archive})
	if err != nil {
		return err
	}
	path, err := layout.Write(filepath.Join(folder, p.Name), empty.Index)
	if err != nil {
		return err
	}
	return path.AppendImage(image, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": p.metadata.Version}))
}
