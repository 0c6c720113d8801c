// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig_test

import (
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/providerconfig"
)

// The findings that all providers word alike.
func TestReadyMadeFindings(t *testing.T) {
	at := field.NewPath("x")
	for got, want := range map[string]string{
		providerconfig.ReferenceMissing(at, "the image ID").Error():           "x: Required value: the image ID is missing; write it as x, or remove the entry",
		providerconfig.NotSupported("r", at, "c", []string{"a", "b"}).Error(): `x: Unsupported value: "c": c is not supported here; write one of a, b`,
		providerconfig.NotSupported("r", at, "", []string{"a"}).Error():       `x: Unsupported value: "": "" is not supported here; write one of a`,
		providerconfig.Exclusive("r", at, "id", "urn").Error():                "x: Forbidden: id and urn exclude each other: keep one of them",
		providerconfig.FieldIgnored("r", at, "there is a flavor").String():    "x: Forbidden: x is ignored, because there is a flavor; remove it",
		providerconfig.FlavorArchitecture(at, "arm64").String(): "x: Forbidden: the architecture of a flavor is a capability: " +
			"remove it here, and write capabilities: {architecture: [arm64]} if the flavor has none",
		providerconfig.FlavorArchitecture(at, "ignore").String(): `x: Forbidden: the architecture of a flavor is a capability: ` +
			"remove it here, and write the one that the image has, as in capabilities: {architecture: [amd64]}",
	} {
		if got != want {
			t.Errorf("%s\ninstead of %s", got, want)
		}
	}
	if rule := providerconfig.Exclusive("r", at, "id", "urn").Origin; rule != "r" {
		t.Error(rule)
	}
}

func TestLegacyArchitecture(t *testing.T) {
	for want, capabilities := range map[string][]v1beta1.Capabilities{
		"amd64 true": {nil, {}, {"architecture": {"amd64"}}},
		"arm64 true": {{"architecture": {"arm64"}}},
		" false":     {{"architecture": {}}, {"architecture": {"amd64", "arm64"}}, {"network": {"fast"}}, {"architecture": {"arm64"}, "network": {"fast"}}},
	} {
		for _, c := range capabilities {
			architecture, err := providerconfig.LegacyArchitecture(c)
			if got := fmt.Sprint(architecture, " ", err == nil); got != want {
				t.Errorf("%v: %s, not %s", c, got, want)
			}
		}
	}
}
