// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package image builds container images of the commands of this repository, without a container runtime. It compiles a command for each
// platform, and writes an OCI layout, a folder that any tool for container images can push to a registry. The digests are reproducible:
// they depend only on the sources and the version of Go.
//
// Start with [Make].
package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/hack/program"
)

// Platforms are the platforms for which images can be built, in the order of the index.
var Platforms = []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}

// User has the user and group IDs of the program. They have no name and no home, which nothing needs.
const User = "65532:65532"

// Description describes an image.
type Description struct {
	// Name of the command, which becomes the entry point /NAME, and of the image without its registry.
	Name string
	// Title and Text describe the image's purpose in a few words, and in a sentence.
	Title, Text string
	// Version of the content, without v: 0.1.0-dev+0123456789ab. The part after the plus is not in the tag.
	Version string
	// Revision is the commit; empty if it is unknown.
	Revision string
	// Created is the time of the commit, not of the build, so that builds are reproducible.
	Created time.Time
}

// Of describes the image of a component, except for the version. Components with the same program have the same description.
func Of(c components.Component) Description {
	if c.Worker {
		return Description{
			Name: c.Program(), Title: "Worker controller of the Gardener extension for " + c.Title,
			Text: "Controller that makes machine classes and machine deployments of the worker pools of " + c.Title + " clusters in a Gardener installation",
		}
	}
	if c.Described {
		return Description{
			Name: c.Program(), Title: "Admission beside the Gardener extension of a cloud by description",
			Text: "Admission webhooks that check the CloudProfiles and Shoots of a cloud by description in a Gardener installation, beside those of its extension",
		}
	}
	d := Description{Name: c.Program(), Title: "Admission for the Gardener extension for " + c.Title}
	checked := "CloudProfiles and Shoots"
	if c.Credentials {
		checked = "CloudProfiles, Shoots and credentials"
	}
	d.Text = fmt.Sprintf("Admission webhooks that check the %s of %s in a Gardener installation", checked, c.Title)
	if c.Beside {
		d.Title = "Admission beside the Gardener extension for " + c.Title
		d.Text += ", beside those of the extension"
	}
	return d
}

// Command describes the image of the command capkit, for pipelines whose steps are images.
func Command() Description {
	return Description{
		Name: "capkit", Title: "capkit",
		Text: "Checks the machine images of Gardener CloudProfiles, and says which image a worker pool boots",
	}
}

// All returns the descriptions of all images.
func All() []Description {
	all := []Description{Command()}
	for _, c := range components.Programs() {
		all = append(all, Of(c))
	}
	return all
}

// Tag returns the tag of the image.
func (d Description) Tag() string {
	version, _, _ := strings.Cut(d.Version, "+")
	return "v" + version
}

// annotations returns the annotations of manifests and index, which are also the labels of the image. Keys are the OCI's.
func (d Description) annotations() map[string]string {
	all := map[string]string{
		"title":       d.Title,
		"description": d.Text,
		"licenses":    "Apache-2.0",
		"source":      program.Source,
		"version":     d.Version,
		"created":     d.Created.UTC().Format(time.RFC3339),
	}
	if d.Revision != "" {
		all["revision"] = d.Revision
	}
	prefixed := make(map[string]string, len(all))
	for key, value := range all {
		prefixed["org.opencontainers.image."+key] = value
	}
	return prefixed
}

// file is a file in a layer. It belongs to root, and is readable for everybody.
type file struct {
	path    string // absolute
	mode    int64
	content []byte
}

// build returns the image of a program, which has CA certificates and the program, and nothing else.
func build(d Description, platform v1.Platform, program []byte) (v1.Image, error) {
	certificates, err := certificates()
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: d.Created.UTC()}
	var layers []mutate.Addendum
	for _, f := range []file{
		{path: CertificatesPath, mode: 0o644, content: certificates},
		{path: "/" + d.Name, mode: 0o755, content: program},
	} {
		layer, err := layer(f)
		if err != nil {
			return nil, err
		}
		layers = append(layers, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "make images", Comment: f.path}})
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.ConfigFile(base, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Created: created,
		Config: v1.Config{User: User, Entrypoint: []string{"/" + d.Name}, WorkingDir: "/", Labels: d.annotations()},
		RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	if image, err = mutate.Append(image, layers...); err != nil {
		return nil, err
	}
	return mutate.Annotations(image, d.annotations()).(v1.Image), nil
}

// layer returns a layer with a file and the folders above it. Their time is constant, so that a layer changes only with the content.
func layer(f file) (v1.Layer, error) {
	buffer := &bytes.Buffer{}
	archive := tar.NewWriter(buffer)
	epoch := time.Unix(0, 0)
	for _, folder := range foldersAbove(f.path) {
		err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755, ModTime: epoch})
		if err != nil {
			return nil, err
		}
	}
	err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.path[1:], Mode: f.mode, Size: int64(len(f.content)), ModTime: epoch})
	if err != nil {
		return nil, err
	}
	if _, err := archive.Write(f.content); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buffer.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
}

// foldersAbove returns the folders above an absolute path, outermost first, as an archive names them: etc/, etc/ssl/.
func foldersAbove(name string) []string {
	var folders []string
	for folder := path.Dir(name); folder != "/"; folder = path.Dir(folder) {
		folders = append([]string{folder[1:] + "/"}, folders...)
	}
	return folders
}
