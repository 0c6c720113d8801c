// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package image makes container images of the commands of this repository, without a container runtime: it compiles a
// command for each platform, and writes an OCI layout, a folder that any tool for container images can push to a registry.
// The same sources, built with the same version of Go, give the same digests on any machine.
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
)

// Platforms are those that images can be made for, in the order in which they are in the index.
var Platforms = []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}

const (
	// User is the user and the group as which the program runs. It has no name and no home: nothing asks for them.
	User = "65532:65532"
	// Source is where the sources are.
	Source = "https://github.com/capkit/capkit"
)

// Description is what an image says of itself.
type Description struct {
	// Name of the command, which becomes the entry point /NAME, and of the image without its registry.
	Name string
	// Title and Text say in a few words, and in a sentence, what the image is for.
	Title, Text string
	// Version of what is in it, without v: 0.1.0-dev+0123456789ab. What follows the plus is not in the tag.
	Version string
	// Revision is the commit; empty if it is not known.
	Revision string
	// Created is the time of the commit rather than that of the build, so that a build can be repeated.
	Created time.Time
}

// Of describes the image of a component, as far as that is the same for every version, and for every component of one program.
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

// All describes the images of all programs.
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

// annotations returns the annotations of manifests and index, and the labels of the image. Keys are those of the OCI.
func (d Description) annotations() map[string]string {
	all := map[string]string{
		"title":       d.Title,
		"description": d.Text,
		"licenses":    "Apache-2.0",
		"source":      Source,
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

// file is one in a layer. It belongs to root, and everybody may read it.
type file struct {
	path    string // absolute
	mode    int64
	content []byte
}

// build returns the image of a program: CA certificates, the program, and nothing else.
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

// layer returns a layer with a file and the folders above it. Their time is always the same, so a layer changes only if
// the content does.
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

// foldersAbove returns the folders that an absolute path needs, from above, as they are named in an archive: etc/, etc/ssl/.
func foldersAbove(name string) []string {
	var folders []string
	for folder := path.Dir(name); folder != "/"; folder = path.Dir(folder) {
		folders = append([]string{folder[1:] + "/"}, folders...)
	}
	return folders
}
