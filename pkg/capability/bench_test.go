// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
)

// BenchmarkRequest compiles what worker pools ask for. An ordinary pool costs no allocation, another one costs one.
func BenchmarkRequest(b *testing.B) {
	v, errs := capability.Compile([]v1beta1.CapabilityDefinition{
		amd64, {Name: "acme-trusted", Values: trusted.Values}, {Name: "hypervisor", Values: []string{"baremetal", "virtualized"}},
	}, nil, trusted, launch)
	if len(errs) > 0 {
		b.Fatal(errs)
	}
	ordinary := capability.Worker{}.Requirements(nil)
	for _, bc := range []struct {
		name         string
		requirements []capability.Requirement
	}{
		{"nothing", nil},
		{"ordinary", ordinary},
		{"in place", capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate}.Requirements(nil)},
		{"provider", append(ordinary[:2:2], capability.Requirement{Capability: "acme-trusted", Values: []string{"on"}})},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, unmet := v.Request(bc.requirements); len(unmet) > 0 {
					b.Fatal(unmet)
				}
			}
		})
	}
}
