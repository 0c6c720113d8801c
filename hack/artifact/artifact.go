// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package artifact builds OCI artifacts other than container images: a manifest with a config and one layer.
package artifact

import (
	"bytes"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Blob is content with its media type. Annotations are written into its descriptor in the manifest; usually there are none.
type Blob struct {
	MediaType   types.MediaType
	Content     []byte
	Annotations map[string]string
}

// Empty is the config of an artifact without one.
var Empty = Blob{MediaType: "application/vnd.oci.empty.v1+json", Content: []byte("{}")}

// New returns an artifact in the form that go-containerregistry writes and pushes. It uses only artifact type, annotations and subject of
// the given manifest.
func New(manifest v1.Manifest, config, layer Blob) (v1.Image, error) {
	manifest.SchemaVersion, manifest.MediaType = 2, types.OCIManifestSchema1
	var err error
	if manifest.Config, err = config.descriptor(); err != nil {
		return nil, err
	}
	content, err := layer.descriptor()
	if err != nil {
		return nil, err
	}
	manifest.Layers = []v1.Descriptor{content}
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(core{manifest: raw, config: config.Content, layer: static.NewLayer(layer.Content, layer.MediaType)})
}

func (b Blob) descriptor() (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(b.Content))
	return v1.Descriptor{MediaType: b.MediaType, Digest: digest, Size: size, Annotations: b.Annotations}, err
}

// core implements partial.CompressedImageCore.
type core struct {
	manifest, config []byte
	layer            v1.Layer
}

// MediaType implements partial.CompressedImageCore.
func (c core) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawManifest implements partial.CompressedImageCore.
func (c core) RawManifest() ([]byte, error) { return c.manifest, nil }

// RawConfigFile implements partial.CompressedImageCore.
func (c core) RawConfigFile() ([]byte, error) { return c.config, nil }

// LayerByDigest implements partial.CompressedImageCore.
func (c core) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return c.layer, nil }
