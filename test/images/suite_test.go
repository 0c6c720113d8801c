// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package images tests container images: it reads back the output of make images, and runs the image contents of the
// admission component beside a real Gardener API. The component is compiled only for the platform of this machine. A tiny
// program tests several platforms.
//
//   - images_test.go: the images
//   - program_test.go: the programs in them
//   - sbom_test.go: the bills of materials
//   - push_test.go: the images in a registry
package images

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/hack/images/image"
	"github.com/capkit/capkit/hack/program"
	"github.com/capkit/capkit/test/suite"
)

const (
	root = "../.."
	// ldflags are the Makefile's flags that set the version of the programs.
	ldflags = "-X k8s.io/component-base/version.gitVersion=v1.2.3+0123456789ab -X github.com/capkit/capkit/pkg/cli.Version=1.2.3+0123456789ab"
)

// made is an image that the suite builds.
type made struct {
	image.Description
	// root is the root of the module with the command, and sources are the paths below it that the command is compiled from.
	root      string
	sources   []string
	platforms []v1.Platform
	// programs is the folder of the programs, and folder the folder of the layout.
	programs, folder string
	// digest is the digest of the index.
	digest v1.Hash
}

// sources are the paths that the workspace is compiled from. Go needs the go.mod even of modules that a program does not use.
var sources = []string{"cmd", "hack", "internal", "pkg", "test", "go.mod", "go.sum", "go.work", "go.work.sum"}

var (
	amd, arm  = image.Platforms[0], image.Platforms[1]
	here      = v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	component = &made{
		Description: described(image.Of(components.OpenStack)), platforms: []v1.Platform{here},
		root: root, sources: sources,
	}
	command = &made{
		Description: described(image.Command()), platforms: []v1.Platform{here},
		root: root, sources: sources,
	}
	tiny = &made{
		Description: described(image.Description{Name: "tiny", Title: "Tiny", Text: "A tiny program"}), platforms: []v1.Platform{amd, arm},
		root: "testdata/tiny", sources: []string{"cmd", "go.mod"},
	}
)

// each has a table entry for every image and platform.
var each = []TableEntry{
	Entry("(component, this machine)", component, here),
	Entry("(command, this machine)", command, here),
	Entry("(tiny program, amd64)", tiny, amd),
	Entry("(tiny program, arm64)", tiny, arm),
}

func described(d image.Description) image.Description {
	d.Version, d.Revision, d.Created = "1.2.3+0123456789ab", "0123456789abcdef", time.Unix(1700000000, 0)
	return d
}

func TestImages(t *testing.T) { suite.Run(t, "test/images", "garden") }

var _ = BeforeSuite(func(ctx SpecContext) {
	for _, m := range []*made{component, command, tiny} {
		m.programs, m.folder = GinkgoT().TempDir(), GinkgoT().TempDir()
		for _, platform := range m.platforms {
			Expect(m.compile(ctx, m.root, platform, m.programs)).To(Succeed())
		}
		var err error
		m.digest, err = m.assemble(ctx, m.programs, m.folder, m.platforms...)
		Expect(err).NotTo(HaveOccurred())
	}
})

// compile compiles the program from the sources in a folder.
func (m *made) compile(ctx context.Context, root string, platform v1.Platform, programs string) error {
	return program.Compile(ctx, root, ldflags, programs, platform, m.Name)
}

// assemble builds the image from the programs in a folder.
func (m *made) assemble(ctx context.Context, programs, folder string, platforms ...v1.Platform) (v1.Hash, error) {
	return image.Assemble(ctx, root, programs, folder, m.Description, platforms)
}

// index reads the index of the image and its manifest.
func (m *made) index() (v1.ImageIndex, *v1.IndexManifest) {
	GinkgoHelper()
	top, err := layout.ImageIndexFromPath(filepath.Join(m.folder, m.Name))
	Expect(err).NotTo(HaveOccurred())
	index, err := top.ImageIndex(m.digest)
	Expect(err).NotTo(HaveOccurred())
	manifest, err := index.IndexManifest()
	Expect(err).NotTo(HaveOccurred())
	return index, manifest
}

// read returns the image for a platform.
func (m *made) read(platform v1.Platform) v1.Image {
	GinkgoHelper()
	index, manifest := m.index()
	for _, descriptor := range manifest.Manifests {
		if descriptor.Platform.Equals(platform) {
			img, err := index.Image(descriptor.Digest)
			Expect(err).NotTo(HaveOccurred())
			return img
		}
	}
	Fail("the index has no image for " + platform.String())
	return nil
}

// walk visits the entries of all layers, from the bottom up.
func walk(img v1.Image, visit func(*tar.Header, io.Reader)) {
	GinkgoHelper()
	layers, err := img.Layers()
	Expect(err).NotTo(HaveOccurred())
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		Expect(err).NotTo(HaveOccurred())
		for archive := tar.NewReader(content); ; {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			Expect(err).NotTo(HaveOccurred())
			visit(header, archive)
		}
		Expect(content.Close()).To(Succeed())
	}
}

// file returns the content of a file in the image. The path has no leading slash.
func file(img v1.Image, path string) []byte {
	GinkgoHelper()
	var content []byte
	walk(img, func(header *tar.Header, reader io.Reader) {
		if header.Name == path {
			var err error
			content, err = io.ReadAll(reader)
			Expect(err).NotTo(HaveOccurred())
		}
	})
	Expect(content).NotTo(BeEmpty(), "the image has no %s", path)
	return content
}
