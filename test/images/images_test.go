// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/hack/images/image"
	"github.com/capkit/capkit/hack/program"
)

// annotations returns the annotations of an image, which occur in three places.
func (m *made) annotations() map[string]string {
	return map[string]string{
		"org.opencontainers.image.created":     "2023-11-14T22:13:20Z",
		"org.opencontainers.image.description": m.Text,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.revision":    "0123456789abcdef",
		"org.opencontainers.image.source":      "https://github.com/capkit/capkit",
		"org.opencontainers.image.title":       m.Title,
		"org.opencontainers.image.version":     "1.2.3+0123456789ab",
	}
}

// files returns the paths of the files below a folder.
func files(folder string) []string {
	GinkgoHelper()
	var found []string
	Expect(filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			path, err = filepath.Rel(folder, path)
			found = append(found, path)
		}
		return err
	})).To(Succeed())
	return found
}

var _ = Describe("A layout", func() {
	DescribeTable("has one thing in it for a tool that pushes: the index by its tag", func(m *made, platforms ...string) {
		top, err := layout.ImageIndexFromPath(filepath.Join(m.folder, m.Name))
		Expect(err).NotTo(HaveOccurred())
		manifest, err := top.IndexManifest()
		Expect(err).NotTo(HaveOccurred())
		Expect(manifest.Manifests).To(ConsistOf(And(
			HaveField("Digest", m.digest), HaveField("MediaType", types.OCIImageIndex),
			HaveField("Annotations", HaveKeyWithValue("org.opencontainers.image.ref.name", "v1.2.3")),
		)))
		_, index := m.index()
		Expect(index.Annotations).To(Equal(m.annotations()))
		var found []string
		for _, descriptor := range index.Manifests {
			found = append(found, descriptor.Platform.String()+" "+descriptor.ArtifactType)
		}
		for range m.platforms {
			platforms = append(platforms, "unknown/unknown "+image.SBOMType, "unknown/unknown "+program.StatementType)
		}
		Expect(found).To(Equal(platforms))
	},
		Entry("for one platform", component, here.String()+" "),
		Entry("for two platforms", tiny, "linux/amd64 ", "linux/arm64 "),
	)

	It("is the same if it is made of the same programs, whatever was in the folder before", func(ctx SpecContext) {
		folder := GinkgoT().TempDir()
		stray := filepath.Join(folder, tiny.Name, "blobs", "sha256", "stray")
		Expect(os.MkdirAll(filepath.Dir(stray), 0o755)).To(Succeed())
		Expect(os.WriteFile(stray, nil, 0o600)).To(Succeed())
		Expect(tiny.assemble(ctx, tiny.programs, folder, amd, arm)).To(Equal(tiny.digest))
		Expect(files(folder)).To(Equal(files(tiny.folder)))
	})

	It("leaves nothing of a platform that is not asked for any more", func(ctx SpecContext) {
		folder, again := GinkgoT().TempDir(), GinkgoT().TempDir()
		digest, err := tiny.assemble(ctx, tiny.programs, folder, arm)
		Expect(err).NotTo(HaveOccurred())
		Expect(digest).NotTo(Equal(tiny.digest))
		Expect(os.CopyFS(again, os.DirFS(tiny.folder))).To(Succeed())
		Expect(tiny.assemble(ctx, tiny.programs, again, arm)).To(Equal(digest))
		Expect(files(again)).To(Equal(files(folder)))
	})

	It("is not made of a program for another platform", func(ctx SpecContext) {
		folder := GinkgoT().TempDir()
		wrong := program.Path(folder, amd, tiny.Name)
		Expect(os.MkdirAll(filepath.Dir(wrong), 0o755)).To(Succeed())
		Expect(os.Link(program.Path(tiny.programs, arm, tiny.Name), wrong)).To(Succeed())
		_, err := tiny.assemble(ctx, folder, GinkgoT().TempDir(), amd, arm)
		Expect(err).To(MatchError(ContainSubstring("GOARCH=arm64, not amd64")))
	})
})

var _ = Describe("The platforms of make images", func() {
	DescribeTable("are those that are named, in the order of the index", func(list string, want ...v1.Platform) {
		Expect(program.ParsePlatforms(image.Platforms, list)).To(Equal(want))
	},
		Entry("one", "linux/arm64", arm),
		Entry("both", "linux/amd64,linux/arm64", amd, arm),
		Entry("both the other way round", "linux/arm64,linux/amd64", amd, arm),
	)

	DescribeTable("are refused by name if there is no such platform", func(ctx SpecContext, list, want string) {
		command := exec.CommandContext(ctx, "go", "run", "./hack/images", "-version=1.2.3", "-o="+GinkgoT().TempDir(), "-platforms="+list)
		command.Dir = root
		output, err := command.CombinedOutput()
		Expect(err).To(HaveOccurred())
		Expect(string(output)).To(ContainSubstring(want))
	},
		Entry("unknown", "linux/amd64,linux/s390x", `platform "linux/s390x" is not one of linux/amd64, linux/arm64`),
		Entry("none", "", `platform "" is not one of linux/amd64, linux/arm64`),
	)
})

var _ = Describe("An image", func() {
	DescribeTable("is valid and says what it is", func(m *made, platform v1.Platform) {
		img := m.read(platform)
		Expect(validate.Image(img)).To(Succeed())
		config, err := img.ConfigFile()
		Expect(err).NotTo(HaveOccurred())
		Expect(config.OS).To(Equal(platform.OS))
		Expect(config.Architecture).To(Equal(platform.Architecture))
		Expect(config.Created.Time).To(BeTemporally("==", time.Unix(1700000000, 0)))
		Expect(config.Config).To(Equal(v1.Config{
			User: "65532:65532", WorkingDir: "/", Entrypoint: []string{"/" + m.Name}, Labels: m.annotations(),
		}))
		manifest, err := img.Manifest()
		Expect(err).NotTo(HaveOccurred())
		Expect(manifest.MediaType).To(Equal(types.OCIManifestSchema1))
		Expect(manifest.Config.MediaType).To(Equal(types.OCIConfigJSON))
		Expect(manifest.Annotations).To(Equal(m.annotations()))
	}, each)

	DescribeTable("has the program and the certificates, which nobody but root can change, and nothing else", func(m *made, platform v1.Platform) {
		var found []string
		walk(m.read(platform), func(header *tar.Header, _ io.Reader) {
			found = append(found, fmt.Sprintf("%s %04o %d:%d %d", header.Name, header.Mode, header.Uid, header.Gid, header.ModTime.Unix()))
		})
		Expect(found).To(Equal([]string{
			"etc/ 0755 0:0 0", "etc/ssl/ 0755 0:0 0", "etc/ssl/certs/ 0755 0:0 0", "etc/ssl/certs/ca-certificates.crt 0644 0:0 0",
			m.Name + " 0755 0:0 0",
		}))
	}, each)

	DescribeTable("has certificates where Go finds them, and Go can read every one", func(m *made, platform v1.Platform) {
		rest, count := file(m.read(platform), "etc/ssl/certs/ca-certificates.crt"), 0
		for {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				break
			}
			count++
			certificate, err := x509.ParseCertificate(block.Bytes)
			Expect(err).NotTo(HaveOccurred())
			Expect(certificate.IsCA).To(BeTrue(), "%s", certificate.Subject)
		}
		Expect(bytes.TrimSpace(rest)).To(BeEmpty())
		Expect(count).To(BeNumerically(">=", 100))
	}, each)
})
