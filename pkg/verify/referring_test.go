// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// referring is a cloud whose configs have one image, with one reference for all regions.
type referring struct {
	provider.Provider[any]
	ref any
}

func (r referring) Decode(*runtime.RawExtension, *field.Path) (provider.Config[any], finding.Report) {
	at := field.NewPath("spec", "providerConfig", "image")
	return provider.Config[any]{Images: []imageselector.Image[any]{{Name: "linux", Path: at, Versions: []imageselector.Version[any]{{
		Version: "1.0.0", Legacy: true, Path: at, Flavors: []imageselector.Flavor[any]{{
			Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}, Global: &imageselector.Global[any]{Ref: r.ref, Path: at}, Path: at,
		}},
	}}}}}, finding.Report{}
}

func (referring) ValidateReference(any, *field.Path) field.ErrorList { return nil }
