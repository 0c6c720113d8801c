// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package images tests the container image of the admission component: what make images writes is read back, and what is in
// it runs beside a real Gardener API.
//
//   - program_test.go: the program in the image
//   - sbom_test.go: what the image says it consists of
//   - push_test.go: what a registry makes of it
package images

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/capkit/capkit/hack/images/image"
	"github.com/capkit/capkit/test/garden"
)

const (
	root = "../.."
	// ldflags is how the Makefile tells the program its version.
	ldflags = "-X k8s.io/component-base/version.gitVersion=v1.2.3+0123456789ab"
)

var (
	// described is what the image of the tests says of itself.
	described = describe()
	// programs is the folder of the programs, and images that of the layout.
	programs, images string
	// digest is that of the index of the image.
	digest v1.Hash
)

func describe() image.Description {
	d := image.AdmissionOpenStack
	d.Version, d.Revision, d.Created = "1.2.3+0123456789ab", "0123456789abcdef", time.Unix(1700000000, 0)
	return d
}

func TestMain(m *testing.M) { garden.Main(m, run) }

func run(m *testing.M) (status int, err error) {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "images-test-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	programs, images = filepath.Join(folder, "programs"), filepath.Join(folder, "images")
	for _, platform := range image.Platforms {
		if err := image.Compile(ctx, root, described.Name, ldflags, platform, image.ProgramPath(programs, platform)); err != nil {
			return 1, err
		}
	}
	if digest, err = image.Assemble(ctx, root, programs, images, described); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// index reads the index of the image, and its manifest.
func index(t *testing.T) (v1.ImageIndex, *v1.IndexManifest) {
	t.Helper()
	path, err := layout.FromPath(filepath.Join(images, described.Name))
	if err != nil {
		t.Fatal(err)
	}
	top, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	index, err := top.ImageIndex(digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	return index, manifest
}

// read returns the image for a platform.
func read(t *testing.T, platform v1.Platform) v1.Image {
	t.Helper()
	index, manifest := index(t)
	for _, descriptor := range manifest.Manifests {
		if descriptor.Platform.Equals(platform) {
			image, err := index.Image(descriptor.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return image
		}
	}
	t.Fatalf("the index has no image for %s", platform)
	return nil
}

// forEachPlatform runs a test with the image of each platform.
func forEachPlatform(t *testing.T, test func(*testing.T, v1.Platform, v1.Image)) {
	t.Helper()
	for _, platform := range image.Platforms {
		t.Run(platform.Architecture, func(t *testing.T) { test(t, platform, read(t, platform)) })
	}
}

// A tool that pushes the layout finds one thing in it: the index, by its tag.
func TestLayout(t *testing.T) {
	top, err := layout.ImageIndexFromPath(filepath.Join(images, described.Name))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has %d entries, want one", len(manifest.Manifests))
	}
	entry := manifest.Manifests[0]
	if entry.Digest != digest || entry.MediaType != types.OCIImageIndex || entry.Annotations["org.opencontainers.image.ref.name"] != "v1.2.3" {
		t.Errorf("the layout has %+v, want the index %s as v1.2.3", entry, digest)
	}
	var platforms []string
	_, indexManifest := index(t)
	for _, descriptor := range indexManifest.Manifests {
		platforms = append(platforms, strings.TrimSpace(descriptor.Platform.String()+" "+descriptor.ArtifactType))
	}
	want := []string{"linux/amd64", "linux/arm64", "unknown/unknown " + image.SBOMType, "unknown/unknown " + image.SBOMType}
	if diff := cmp.Diff(want, platforms); diff != "" {
		t.Errorf("platforms (-want, +got):\n%s", diff)
	}
	if diff := cmp.Diff(annotations, indexManifest.Annotations); diff != "" {
		t.Errorf("annotations of the index (-want, +got):\n%s", diff)
	}
}

// annotations are what the image says of itself in three places.
var annotations = map[string]string{
	"org.opencontainers.image.created":     "2023-11-14T22:13:20Z",
	"org.opencontainers.image.description": image.AdmissionOpenStack.Text,
	"org.opencontainers.image.licenses":    "Apache-2.0",
	"org.opencontainers.image.revision":    "0123456789abcdef",
	"org.opencontainers.image.source":      "https://github.com/capkit/capkit",
	"org.opencontainers.image.title":       image.AdmissionOpenStack.Title,
	"org.opencontainers.image.version":     "1.2.3+0123456789ab",
}

func TestConfig(t *testing.T) {
	forEachPlatform(t, func(t *testing.T, platform v1.Platform, image v1.Image) {
		if err := validate.Image(image); err != nil {
			t.Error(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.OS != platform.OS || config.Architecture != platform.Architecture {
			t.Errorf("the image is for %s/%s", config.OS, config.Architecture)
		}
		if want := time.Unix(1700000000, 0); !config.Created.Equal(want) {
			t.Errorf("created at %s, want %s", config.Created, want)
		}
		want := v1.Config{
			User: "65532:65532", WorkingDir: "/", Entrypoint: []string{"/gardener-extension-admission-openstack"}, Labels: annotations,
		}
		if diff := cmp.Diff(want, config.Config); diff != "" {
			t.Errorf("config (-want, +got):\n%s", diff)
		}
		manifest, err := image.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		if manifest.MediaType != types.OCIManifestSchema1 || manifest.Config.MediaType != types.OCIConfigJSON {
			t.Errorf("media types %s and %s", manifest.MediaType, manifest.Config.MediaType)
		}
		if diff := cmp.Diff(annotations, manifest.Annotations); diff != "" {
			t.Errorf("annotations of the manifest (-want, +got):\n%s", diff)
		}
	})
}

// The image has the program and the certificates, which nobody but root can change, and nothing else.
func TestFiles(t *testing.T) {
	forEachPlatform(t, func(t *testing.T, _ v1.Platform, image v1.Image) {
		var files []string
		walk(t, image, func(header *tar.Header, _ io.Reader) {
			files = append(files, fmt.Sprintf("%s %04o %d:%d %d", header.Name, header.Mode, header.Uid, header.Gid, header.ModTime.Unix()))
		})
		want := []string{
			"etc/ 0755 0:0 0", "etc/ssl/ 0755 0:0 0", "etc/ssl/certs/ 0755 0:0 0", "etc/ssl/certs/ca-certificates.crt 0644 0:0 0",
			"gardener-extension-admission-openstack 0755 0:0 0",
		}
		if diff := cmp.Diff(want, files); diff != "" {
			t.Errorf("files (-want, +got):\n%s", diff)
		}
	})
}

// walk calls a function for each entry of the layers, from below.
func walk(t *testing.T, image v1.Image, visit func(*tar.Header, io.Reader)) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for archive := tar.NewReader(content); ; {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			visit(header, archive)
		}
		if err := content.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// file returns the content of a file of the image; its path is without the first slash.
func file(t *testing.T, image v1.Image, path string) []byte {
	t.Helper()
	var content []byte
	walk(t, image, func(header *tar.Header, reader io.Reader) {
		if header.Name == path {
			var err error
			if content, err = io.ReadAll(reader); err != nil {
				t.Fatal(err)
			}
		}
	})
	if len(content) == 0 {
		t.Fatalf("the image has no %s", path)
	}
	return content
}

// Go finds the certificates where they are, and can read every one of them.
func TestCertificates(t *testing.T) {
	forEachPlatform(t, func(t *testing.T, _ v1.Platform, image v1.Image) {
		content := file(t, image, "etc/ssl/certs/ca-certificates.crt")
		rest, count := content, 0
		for {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				break
			}
			count++
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if !certificate.IsCA {
				t.Errorf("%s is not a CA", certificate.Subject)
			}
		}
		if len(bytes.TrimSpace(rest)) > 0 || count < 100 {
			t.Errorf("%d certificates, then %d bytes of something else", count, len(rest))
		}
	})
}

// The same programs become the same image, whatever was in the folder before.
func TestAssembledAgain(t *testing.T) {
	folder := t.TempDir()
	stray := filepath.Join(folder, described.Name, "blobs", "sha256", "stray")
	if err := os.MkdirAll(filepath.Dir(stray), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := image.Assemble(t.Context(), root, programs, folder, described)
	if err != nil {
		t.Fatal(err)
	}
	if again != digest {
		t.Errorf("digest %s, before %s", again, digest)
	}
	if diff := cmp.Diff(list(t, images), list(t, folder)); diff != "" {
		t.Errorf("files (-first, +second):\n%s", diff)
	}
}

// list returns the files below a folder.
func list(t *testing.T, folder string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			path, err = filepath.Rel(folder, path)
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A program that was built another way is not put into an image.
func TestOtherProgramsAreRefused(t *testing.T) {
	folder := t.TempDir()
	amd, arm := image.Platforms[0], image.Platforms[1]
	if err := os.Link(image.ProgramPath(programs, arm), image.ProgramPath(folder, amd)); err != nil {
		t.Fatal(err)
	}
	_, err := image.Assemble(t.Context(), root, folder, t.TempDir(), described)
	if err == nil || !strings.Contains(err.Error(), "GOARCH=arm64, not amd64") {
		t.Errorf("a program for arm64 in the place of amd64: %v", err)
	}
}
