// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack"
)

// imagesOnly is the provider for OpenStack without its own rules, for tests that are about images: their profiles and
// Shoots have nothing else.
type imagesOnly struct{ openstack.Provider }

func (p imagesOnly) CloudProfileConfig(raw *runtime.RawExtension, at *field.Path) (consistency.CloudProfileConfig[openstack.Image], consistency.Report) {
	config, report := p.Provider.CloudProfileConfig(raw, at)
	config.Constraints = nil
	return config, report
}
