// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Who pushes the index to a registry has pushed the bills of materials, and finds each by the image that it is of. A
// machine gets the image for its platform.
func TestPush(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	reference, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/capkit/" + described.Name + ":" + described.Tag())
	if err != nil {
		t.Fatal(err)
	}
	index, _ := index(t)
	if err := remote.WriteIndex(reference, index); err != nil {
		t.Fatal(err)
	}
	forEachPlatform(t, func(t *testing.T, platform v1.Platform, local v1.Image) {
		want, err := local.Digest()
		if err != nil {
			t.Fatal(err)
		}
		pulled, err := remote.Image(reference, remote.WithPlatform(platform))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := pulled.Digest(); err != nil || got != want {
			t.Errorf("the image in the registry is %s, want %s: %v", got, want, err)
		}
		referrers, err := remote.Referrers(reference.Context().Digest(want.String()))
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := referrers.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		if len(manifest.Manifests) != 1 {
			t.Fatalf("%d manifests refer to the image, want one", len(manifest.Manifests))
		}
		referrer, err := remote.Image(reference.Context().Digest(manifest.Manifests[0].Digest.String()))
		if err != nil {
			t.Fatal(err)
		}
		if bom, _ := attached(t, local); !bytes.Equal(bom, layer(t, referrer)) {
			t.Error("what refers to the image is not its bill of materials")
		}
	})
}
