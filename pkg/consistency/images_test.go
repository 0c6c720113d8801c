// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// imagesOnly is the provider for OpenStack without its own rules, for tests that are about images: their profiles and
// Shoots have nothing else.
type imagesOnly struct{ openstack.Provider }

func (p imagesOnly) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[openstack.Image], finding.Report) {
	config, report := p.Provider.Decode(raw, at)
	config.Validator = nil
	return config, report
}
