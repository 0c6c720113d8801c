// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/capkit/capkit/hack/artifact"
	"github.com/capkit/capkit/hack/program"
)

// SBOMType is the media type of a software bill of materials, and the artifact type of its manifest.
const SBOMType = "application/vnd.cyclonedx+json"

// nobody is a platform without machines. By convention, it marks entries of an index that are not images.
var nobody = &v1.Platform{OS: "unknown", Architecture: "unknown"}

// Make compiles commands for platforms, and writes their images below folder: the OCI layout folder/NAME for each command, and a bill of
// materials folder/NAME-OS-ARCH.cdx.json for each platform. root is the folder of the repository, ldflags are additional flags of the
// linker. Existing files are replaced. It returns the digests of the images, in their order.
func Make(
	ctx context.Context, root, ldflags, folder string, images []Description, platforms []v1.Platform,
) (digests []v1.Hash, err error) {
	programs, err := os.MkdirTemp("", "images-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(programs)) }()
	var names []string
	for _, d := range images {
		names = append(names, d.Name)
	}
	for _, platform := range platforms {
		fmt.Fprintf(os.Stderr, "compiling %s for %s, which takes minutes the first time\n", strings.Join(names, ", "), platform)
		if err := program.Compile(ctx, root, ldflags, programs, platform, names...); err != nil {
			return nil, err
		}
	}
	for _, d := range images {
		digest, err := Assemble(ctx, root, programs, folder, d, platforms)
		if err != nil {
			return nil, err
		}
		digests = append(digests, digest)
	}
	return digests, nil
}

// Assemble is Make with programs that are already compiled, at [program.Path].
func Assemble(ctx context.Context, root, programs, folder string, d Description, platforms []v1.Platform) (v1.Hash, error) {
	certificatesVersion, err := moduleVersion(ctx, root, certificatesModule)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return v1.Hash{}, err
	}
	for _, platform := range Platforms {
		if err := os.RemoveAll(materialsPath(folder, d, platform)); err != nil {
			return v1.Hash{}, err
		}
	}
	var images, referrers []mutate.IndexAddendum
	for _, platform := range platforms {
		content, err := program.Read(program.Path(programs, platform, d.Name), platform)
		if err != nil {
			return v1.Hash{}, err
		}
		image, err := build(d, platform, content)
		if err != nil {
			return v1.Hash{}, err
		}
		images = append(images, mutate.IndexAddendum{Add: plain{image}, Descriptor: v1.Descriptor{Platform: &platform}})
		bom, err := billOfMaterials(d, platform, image, content, certificatesVersion)
		if err != nil {
			return v1.Hash{}, err
		}
		if err := os.WriteFile(materialsPath(folder, d, platform), bom, 0o644); err != nil {
			return v1.Hash{}, err
		}
		referring, err := referrersOf(d, platform, image, bom)
		if err != nil {
			return v1.Hash{}, err
		}
		referrers = append(referrers, referring...)
	}
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), append(images, referrers...)...)
	return write(filepath.Join(folder, d.Name), d, mutate.Annotations(index, d.annotations()).(v1.ImageIndex))
}

// materialsPath returns the path of the bill of materials for a platform.
func materialsPath(folder string, d Description, platform v1.Platform) string {
	return filepath.Join(folder, fmt.Sprintf("%s-%s-%s.cdx.json", d.Name, platform.OS, platform.Architecture))
}

// plain is an image whose descriptor in an index is the usual one, without an artifact type, which would mark it as another artifact.
type plain struct{ v1.Image }

// Descriptor implements the interface that partial.Descriptor looks for.
func (p plain) Descriptor() (*v1.Descriptor, error) {
	descriptor, err := partial.Descriptor(p.Image)
	if err != nil {
		return nil, err
	}
	descriptor.ArtifactType = ""
	return descriptor, nil
}

// write replaces the layout in the folder by one with this index and its tag. The index also contains the referrers of the images, instead
// of the layout, so that even tools without support for referrers copy them.
func write(folder string, d Description, index v1.ImageIndex) (v1.Hash, error) {
	if err := os.RemoveAll(folder); err != nil {
		return v1.Hash{}, err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": d.Tag()})); err != nil {
		return v1.Hash{}, err
	}
	return index.Digest()
}

// referrersOf returns the referrers of an image: its bill of materials and its provenance. The provenance has the marks of BuildKit, so
// that BuildKit's tools show it.
func referrersOf(d Description, platform v1.Platform, image v1.Image, bom []byte) ([]mutate.IndexAddendum, error) {
	digest, err := image.Digest()
	if err != nil {
		return nil, err
	}
	provenance, err := program.Provenance(d.Version, d.Revision, map[string]string{"platform": platform.String()},
		program.Subject{Name: "pkg:oci/" + d.Name, Digest: map[string]string{digest.Algorithm: digest.Hex}})
	if err != nil {
		return nil, err
	}
	var referrers []mutate.IndexAddendum
	for _, r := range []struct {
		blob  artifact.Blob
		marks map[string]string
	}{
		{artifact.Blob{MediaType: SBOMType, Content: bom}, nil},
		{
			artifact.Blob{
				MediaType: program.StatementType, Content: provenance,
				Annotations: map[string]string{"in-toto.io/predicate-type": program.PredicateType},
			},
			map[string]string{"vnd.docker.reference.type": "attestation-manifest", "vnd.docker.reference.digest": digest.String()},
		},
	} {
		made, err := referrer(d, image, r.blob)
		if err != nil {
			return nil, err
		}
		referrers = append(referrers, mutate.IndexAddendum{
			Add: made, Descriptor: v1.Descriptor{Platform: nobody, ArtifactType: string(r.blob.MediaType), Annotations: r.marks},
		})
	}
	return referrers, nil
}

// referrer returns a manifest that refers to the image. It has one layer, whose media type is the artifact type.
func referrer(d Description, image v1.Image, layer artifact.Blob) (v1.Image, error) {
	subject, err := partial.Descriptor(image)
	if err != nil {
		return nil, err
	}
	// only the identity of the image, without a copy of its annotations
	subject = &v1.Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size}
	manifest := v1.Manifest{ArtifactType: string(layer.MediaType), Subject: subject, Annotations: d.annotations()}
	return artifact.New(manifest, artifact.Empty, layer)
}

// moduleVersion returns the version of a module that the repository requires.
func moduleVersion(ctx context.Context, root, module string) (string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", module)
	list.Dir, list.Stderr = root, os.Stderr
	output, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", module, err)
	}
	return strings.TrimSpace(string(output)), nil
}
