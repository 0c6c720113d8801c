// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package metal_test

import (
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
	"github.com/capkit/capkit/test/authors/answers"
	"github.com/capkit/capkit/test/authors/metal"
)

// mapped is the provider of an extension whose configuration maps one image.
var mapped = metal.Provider{Images: map[provider.ImageVersion]metal.Image{{Image: "ubuntu", Version: "24.4.0"}: {ID: "ubuntu-24.4.20261101"}}}

func TestLaws(t *testing.T) {
	config := providertest.Config{JSON: []byte(`{"apiVersion": "metal.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig"}`)}
	for _, cloud := range []metal.Provider{{}, mapped} {
		providertest.Laws(t, cloud, config)
		providertest.Laws(t, provider.Untyped(cloud), config)
	}
}

func TestAnswers(t *testing.T) {
	answers.Run(t, "answers.txtar", func(c *cases.Case) provider.Provider[metal.Image] {
		if strings.HasPrefix(c.Name, "mapped") {
			return mapped
		}
		return metal.Provider{}
	})
}
