// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
)

// BenchmarkRequest compiles worker pools' requirements. An ordinary pool costs no allocation, any other costs one.
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

// BenchmarkFits compares the two implementations of [capability.Set.Fits] with the same flavors, machine type and request. One handles
// eight capabilities at a time, if none has more than eight values; the other handles one after the other.
func BenchmarkFits(b *testing.B) {
	values := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}
	for _, bc := range []struct {
		name   string
		values []string
	}{{"eight at a time", values[:8]}, {"one after the other", values}} {
		v, errs := capability.Compile([]v1beta1.CapabilityDefinition{
			{Name: "a", Values: values[:2]}, {Name: "b", Values: values[:2]}, {Name: "c", Values: values[:2]},
			{Name: "d", Values: values[:2]}, {Name: "e", Values: bc.values},
		}, nil)
		if len(errs) > 0 {
			b.Fatal(errs)
		}
		flavor, _ := v.Flavor(caps{"a": {"1"}, "c": {"2"}}, nil, nil)
		machine, _ := v.Set(caps{"a": {"1"}, "b": {"2"}}, nil)
		request, _ := v.Request(capability.Worker{}.Requirements(nil))
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !flavor.Fits(machine, request) {
					b.Fatal("does not fit")
				}
			}
		})
	}
}
