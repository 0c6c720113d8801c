// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capkit/capkit/hack/images/image"
	"github.com/capkit/capkit/hack/program"
)

// Pushing the index also pushes the bills of materials and the provenance, which a registry lists for their image. A
// machine gets the image for its platform.
var _ = DescribeTable("A registry has the image, and what it consists of", func(ctx SpecContext, m *made, platform v1.Platform) {
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	DeferCleanup(server.Close)
	reference, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/capkit/" + m.Name + ":" + m.Tag())
	Expect(err).NotTo(HaveOccurred())
	index, _ := m.index()
	Expect(remote.WriteIndex(reference, index, remote.WithContext(ctx))).To(Succeed())

	local := m.read(platform)
	want, err := local.Digest()
	Expect(err).NotTo(HaveOccurred())
	pulled, err := remote.Image(reference, remote.WithContext(ctx), remote.WithPlatform(platform))
	Expect(err).NotTo(HaveOccurred())
	Expect(pulled.Digest()).To(Equal(want))

	referrers, err := remote.Referrers(reference.Context().Digest(want.String()), remote.WithContext(ctx))
	Expect(err).NotTo(HaveOccurred())
	manifest, err := referrers.IndexManifest()
	Expect(err).NotTo(HaveOccurred())
	found := map[string][]byte{}
	for _, descriptor := range manifest.Manifests {
		referrer, err := remote.Image(reference.Context().Digest(descriptor.Digest.String()), remote.WithContext(ctx))
		Expect(err).NotTo(HaveOccurred())
		manifest, err := referrer.Manifest()
		Expect(err).NotTo(HaveOccurred())
		found[manifest.ArtifactType] = layer(referrer)
	}
	bom, _ := m.attached(local, image.SBOMType)
	provenance, _ := m.attached(local, program.StatementType)
	Expect(found).To(Equal(map[string][]byte{image.SBOMType: bom, program.StatementType: provenance}))
}, each)
