// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package artifact makes what registries store besides container images: a manifest with a config and one layer.
package artifact

import (
	"bytes"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Blob is some content, with its media type. Annotations are those of its descriptor in the manifest; mostly it has none.
type Blob struct {
	MediaType   types.MediaType
	Content     []byte
	Annotations map[string]string
}

// Empty is the config of an artifact that has none.
var Empty = Blob{MediaType: "application/vnd.oci.empty.v1+json", Content: []byte("{}")}

// New returns an artifact, in the form in which go-containerregistry writes and pushes it. Of the manifest only artifact type,
// annotations and subject are read.
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

// core is what go-containerregistry needs to know of an image.
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
