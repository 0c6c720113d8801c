// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/capkit/capkit/hack/artifact"
	"github.com/capkit/capkit/hack/program"
)

// The media types of Helm charts in a registry. They are constants of Helm's client, which has many more dependencies.
const (
	configMediaType = "application/vnd.cncf.helm.config.v1+json"
	layerMediaType  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// Package is a packaged chart.
type Package struct {
	// Name of the chart.
	Name string
	// Archive is the chart as a .tgz.
	Archive []byte

	metadata *helmchart.Metadata
	// image is the repository of the chart's image; empty if it has none.
	image string
}

// Reference returns the package's reference in a registry.
func (p Package) Reference(o Options) string {
	return fmt.Sprintf("%s/charts/%s:%s", o.Registry, p.Name, o.Version)
}

// Write writes the package into a folder twice: as the file NAME-VERSION.tgz, and as the OCI layout NAME with the version as tag, from
// which any tool for OCI artifacts can copy it to a registry. It also writes NAME-VERSION.cdx.json, the bill of materials.
func (p Package) Write(folder string) error {
	materials, err := p.materials()
	if err != nil {
		return err
	}
	for extension, content := range map[string][]byte{"tgz": p.Archive, "cdx.json": materials} {
		file := fmt.Sprintf("%s-%s.%s", p.Name, p.metadata.Version, extension)
		if err := os.WriteFile(filepath.Join(folder, file), content, 0o644); err != nil {
			return err
		}
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
	made, err := layout.Write(filepath.Join(folder, p.Name), empty.Index)
	if err != nil {
		return err
	}
	return made.AppendImage(image, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": p.metadata.Version}))
}

// materials returns the bill of materials, as CycloneDX: the chart, and its image with the tag that it runs by default. The image has a
// bill of materials of its own.
func (p Package) materials() ([]byte, error) {
	about := cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: p.Name, Version: p.metadata.Version, Description: p.metadata.Description, BOMRef: p.Name,
		Hashes: program.Sum256(p.Archive), Licenses: program.Apache(),
	}
	images := []cdx.Component{} // never null, as the format demands
	if p.image != "" {
		reference := fmt.Sprintf("pkg:oci/%s?repository_url=%s&tag=%s", path.Base(p.image), url.QueryEscape(p.image), p.metadata.AppVersion)
		images = append(images, cdx.Component{
			Type: cdx.ComponentTypeContainer, Name: p.image, Version: p.metadata.AppVersion, PackageURL: reference, BOMRef: reference,
		})
	}
	return program.Encode(about, images, []cdx.Dependency{{Ref: about.BOMRef, Dependencies: program.References(images...)}})
}
