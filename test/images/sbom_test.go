// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/hack/images/image"
	"github.com/capkit/capkit/hack/program"
)

// attached returns the only artifact of a type that refers to an image, and its manifest.
func (m *made) attached(subject v1.Image, artifactType string) ([]byte, *v1.Manifest) {
	GinkgoHelper()
	want, err := partial.Descriptor(subject)
	Expect(err).NotTo(HaveOccurred())
	index, manifest := m.index()
	var contents [][]byte
	var found *v1.Manifest
	for _, descriptor := range manifest.Manifests {
		candidate, err := index.Image(descriptor.Digest)
		Expect(err).NotTo(HaveOccurred())
		manifest, err := candidate.Manifest()
		Expect(err).NotTo(HaveOccurred())
		if manifest.Subject == nil || manifest.Subject.Digest != want.Digest || descriptor.ArtifactType != artifactType {
			continue
		}
		Expect(manifest.Subject).To(And(HaveField("Size", want.Size), HaveField("MediaType", want.MediaType)))
		Expect(manifest.ArtifactType).To(Equal(artifactType))
		found = manifest
		contents = append(contents, layer(candidate))
	}
	Expect(contents).To(HaveLen(1), "manifests that refer to the image")
	return contents[0], found
}

// layer returns the content of the only layer of an artifact.
func layer(artifact v1.Image) []byte {
	GinkgoHelper()
	layers, err := artifact.Layers()
	Expect(err).NotTo(HaveOccurred())
	Expect(layers).To(HaveLen(1))
	reader, err := layers[0].Compressed()
	Expect(err).NotTo(HaveOccurred())
	content, err := io.ReadAll(reader)
	Expect(err).NotTo(HaveOccurred())
	Expect(reader.Close()).To(Succeed())
	return content
}

func decode(content []byte) (bom cdx.BOM) {
	GinkgoHelper()
	Expect(cdx.NewBOMDecoder(bytes.NewReader(content), cdx.BOMFileFormatJSON).Decode(&bom)).To(Succeed())
	return bom
}

var _ = Describe("The bill of materials of an image", func() {
	DescribeTable("is attached to it, says which image it is of, and is beside the layout, too", func(m *made, platform v1.Platform) {
		subject := m.read(platform)
		content, manifest := m.attached(subject, image.SBOMType)
		Expect(manifest.ArtifactType).To(Equal(image.SBOMType))
		Expect(string(manifest.Layers[0].MediaType)).To(Equal(image.SBOMType))
		Expect(os.ReadFile(filepath.Join(m.folder, m.Name+"-linux-"+platform.Architecture+".cdx.json"))).To(Equal(content))
		digest, err := subject.Digest()
		Expect(err).NotTo(HaveOccurred())
		bom := decode(content)
		Expect(bom.Metadata.Component.PackageURL).To(Equal(
			"pkg:oci/" + m.Name + "@sha256%3A" + digest.Hex + "?arch=" + platform.Architecture + "&tag=v1.2.3",
		))
		// A time or serial number would prevent reproducible builds.
		Expect(bom.Metadata.Timestamp).To(BeEmpty())
		Expect(bom.SerialNumber).To(BeEmpty())
	}, each)

	DescribeTable("lists every module of the program with its version, and every file with its hash", func(m *made, platform v1.Platform) {
		subject := m.read(platform)
		content, _ := m.attached(subject, image.SBOMType)
		listed, hashes := map[string]string{}, map[string]string{}
		for _, component := range *decode(content).Components {
			Expect(listed).NotTo(HaveKey(component.Name), "listed twice")
			listed[component.Name] = component.Version
			if component.Hashes != nil {
				hashes[component.Name] = (*component.Hashes)[0].Value
			}
		}
		for _, path := range []string{m.Name, strings.TrimPrefix(image.CertificatesPath, "/")} {
			sum := sha256.Sum256(file(subject, path))
			Expect(hashes).To(HaveKeyWithValue("/"+path, hex.EncodeToString(sum[:])))
			delete(listed, "/"+path)
		}
		info, err := buildinfo.Read(bytes.NewReader(file(subject, m.Name)))
		Expect(err).NotTo(HaveOccurred())
		want := map[string]string{"std": strings.TrimPrefix(info.GoVersion, "go")}
		for _, module := range info.Deps {
			want[module.Path] = module.Version
			if strings.HasPrefix(module.Path, "github.com/capkit/capkit") {
				want[module.Path] = "v1.2.3+0123456789ab"
			}
		}
		Expect(listed).To(Equal(want))
	}, each)

	It("of the component has the version of Gardener that is in go.mod", func(ctx SpecContext) {
		list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "github.com/gardener/gardener")
		list.Dir = root
		version, err := list.Output()
		Expect(err).NotTo(HaveOccurred())
		content, _ := component.attached(component.read(here), image.SBOMType)
		Expect(*decode(content).Components).To(ContainElement(And(
			HaveField("Name", "github.com/gardener/gardener"), HaveField("Version", strings.TrimSpace(string(version))),
		)))
	})
})

var _ = Describe("The provenance of an image", func() {
	DescribeTable("is attached to it, as a registry and as BuildKit finds it, and is of this image alone", func(m *made, platform v1.Platform) {
		subject := m.read(platform)
		digest, err := subject.Digest()
		Expect(err).NotTo(HaveOccurred())
		content, manifest := m.attached(subject, program.StatementType)
		Expect(manifest.Layers[0].MediaType).To(BeEquivalentTo(program.StatementType))
		Expect(manifest.Layers[0].Annotations).To(HaveKeyWithValue("in-toto.io/predicate-type", program.PredicateType))
		_, index := m.index()
		Expect(index.Manifests).To(ContainElement(HaveField("Annotations", Equal(map[string]string{
			"vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": digest.String(),
		}))))
		var statement struct {
			Subject   []program.Subject
			Predicate struct {
				BuildDefinition struct{ ExternalParameters map[string]string }
			}
		}
		Expect(json.Unmarshal(content, &statement)).To(Succeed())
		Expect(statement.Subject).To(Equal([]program.Subject{{Name: "pkg:oci/" + m.Name, Digest: map[string]string{"sha256": digest.Hex}}}))
		Expect(statement.Predicate.BuildDefinition.ExternalParameters).To(Equal(map[string]string{
			"version": "1.2.3+0123456789ab", "platform": platform.String(),
		}))
	}, each)
})
