// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/capkit/capkit/hack/images/image"
)

// attached returns the only bill of materials that refers to an image, and the manifest that has it.
func attached(t *testing.T, subject v1.Image) ([]byte, *v1.Manifest) {
	t.Helper()
	want, err := partial.Descriptor(subject)
	if err != nil {
		t.Fatal(err)
	}
	index, manifest := index(t)
	var boms [][]byte
	var found *v1.Manifest
	for _, descriptor := range manifest.Manifests {
		candidate, err := index.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := candidate.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		if manifest.Subject == nil || manifest.Subject.Digest != want.Digest {
			continue
		}
		if manifest.Subject.Size != want.Size || manifest.Subject.MediaType != want.MediaType {
			t.Errorf("it refers to %+v, want %+v", manifest.Subject, want)
		}
		if descriptor.ArtifactType != image.SBOMType {
			t.Errorf("the index calls it %q", descriptor.ArtifactType)
		}
		found = manifest
		boms = append(boms, layer(t, candidate))
	}
	if len(boms) != 1 {
		t.Fatalf("%d manifests refer to the image", len(boms))
	}
	return boms[0], found
}

// layer returns the content of the only layer of an artifact.
func layer(t *testing.T, artifact v1.Image) []byte {
	t.Helper()
	layers, err := artifact.Layers()
	if err != nil {
		t.Fatal(err)
	}
	if len(layers) != 1 {
		t.Fatalf("%d layers", len(layers))
	}
	reader, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err := errors.Join(err, reader.Close()); err != nil {
		t.Fatal(err)
	}
	return content
}

func decode(t *testing.T, content []byte) cdx.BOM {
	t.Helper()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(content), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	return bom
}

// The bill of materials of a platform is attached to its image, says which image it is of, and is beside the layout, too.
func TestBillOfMaterials(t *testing.T) {
	forEachPlatform(t, func(t *testing.T, platform v1.Platform, subject v1.Image) {
		content, manifest := attached(t, subject)
		if manifest.ArtifactType != image.SBOMType || manifest.Layers[0].MediaType != image.SBOMType {
			t.Errorf("artifact type %q, layer of type %q", manifest.ArtifactType, manifest.Layers[0].MediaType)
		}
		beside, err := os.ReadFile(filepath.Join(images, described.Name+"-linux-"+platform.Architecture+".cdx.json"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(content, beside) {
			t.Error("the file beside the layout is another one")
		}
		bom := decode(t, content)
		digest, err := subject.Digest()
		if err != nil {
			t.Fatal(err)
		}
		want := "pkg:oci/gardener-extension-admission-openstack@sha256%3A" + digest.Hex + "?arch=" + platform.Architecture + "&tag=v1.2.3"
		if got := bom.Metadata.Component.PackageURL; got != want {
			t.Errorf("it is of %s, want %s", got, want)
		}
		if bom.Metadata.Timestamp != "" || bom.SerialNumber != "" {
			t.Errorf("it has time %q and serial number %q, so no other build can be the same", bom.Metadata.Timestamp, bom.SerialNumber)
		}
	})
}

// The bill of materials lists every module of the program, with its version, and every file of the image, with its hash.
func TestMaterials(t *testing.T) {
	forEachPlatform(t, func(t *testing.T, _ v1.Platform, subject v1.Image) {
		content, _ := attached(t, subject)
		listed, hashes := map[string]string{}, map[string]string{}
		for _, component := range *decode(t, content).Components {
			if _, twice := listed[component.Name]; twice {
				t.Errorf("%s is listed twice", component.Name)
			}
			listed[component.Name] = component.Version
			if component.Hashes != nil {
				hashes[component.Name] = (*component.Hashes)[0].Value
			}
		}
		program := file(t, subject, described.Name)
		info, err := buildinfo.Read(bytes.NewReader(program))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"std": strings.TrimPrefix(info.GoVersion, "go"), "github.com/gardener/gardener": gardenerVersion(t)}
		for _, module := range info.Deps {
			want[module.Path] = module.Version
		}
		for name, version := range want {
			if listed[name] != version {
				t.Errorf("%s is listed with version %q, want %s", name, listed[name], version)
			}
		}
		if len(listed) != len(want)+2 { // and the two files
			t.Errorf("%d components are listed, want %d", len(listed), len(want)+2)
		}
		for _, path := range []string{described.Name, strings.TrimPrefix(image.CertificatesPath, "/")} {
			sum := sha256.Sum256(file(t, subject, path))
			if got := hashes["/"+path]; got != hex.EncodeToString(sum[:]) {
				t.Errorf("/%s has the hash %x, and %q is listed", path, sum, got)
			}
		}
	})
}

// gardenerVersion returns the version of Gardener in go.mod.
func gardenerVersion(t *testing.T) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", "github.com/gardener/gardener")
	list.Dir = root
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(output))
}
