// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils/validation/cidr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// family is a version of IP, with an example of a network.
type family struct {
	name, example string
	of            func(cidr.CIDR) bool
}

var (
	ipv4 = family{"IPv4", "10.250.0.0/16", cidr.CIDR.IsIPv4}
	ipv6 = family{"IPv6", "2001:db8::/64", cidr.CIDR.IsIPv6}
)

// network demands that a text is the CIDR of a network of a family. It returns nil if there is nothing to compare.
func (f *findings) network(text string, at *field.Path, want family) cidr.CIDR {
	network := cidr.NewCIDR(text, at)
	switch {
	case !network.Parse():
		f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, text,
			"%s %s is no network; write its address and the length of its prefix, as in %s",
			last(at), quote(text), want.example)
		return nil
	case !want.of(network):
		f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, text,
			"%s %s must be an %s network, as in %s", last(at), quote(text), want.name, want.example)
		return nil
	case network.GetIPNet().String() != text:
		f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, text,
			"%s %s is not the address of a network; write %s", last(at), quote(text), network.GetIPNet())
	}
	return network
}

// within demands that a network lies within that of the Shoot's nodes, and outside those of its pods and services. What
// cannot be read of these Gardener itself reports.
func (f *findings) within(network cidr.CIDR, shoot *v1beta1.Networking) {
	at := field.NewPath("spec", "networking")
	if nodes := parsed(shoot.Nodes, at.Child("nodes")); nodes != nil && len(nodes.ValidateSubset(network)) > 0 {
		f.outOfPlace(network, "lie within", nodes)
	}
	f.apart(network, parsed(shoot.Pods, at.Child("pods")), parsed(shoot.Services, at.Child("services")))
}

// apart demands that a network does not overlap others, of which those that are nil do not count.
func (f *findings) apart(network cidr.CIDR, others ...cidr.CIDR) {
	for _, other := range others {
		if other != nil && len(other.ValidateNotOverlap(network)) > 0 {
			f.outOfPlace(network, "not overlap", other)
		}
	}
}

// outOfPlace says how a network must lie to another one.
func (f *findings) outOfPlace(network cidr.CIDR, must string, other cidr.CIDR) {
	f.Found(ruleNetworkRange, field.ErrorTypeInvalid, network.GetFieldPath(), network.GetCIDR(), "%s %s must %s %s, which is %s",
		last(network.GetFieldPath()), network.GetCIDR(), must, other.GetFieldPath(), other.GetCIDR())
}

// parsed returns a network; nil if there is none, or none that can be read.
func parsed(text *string, at *field.Path) cidr.CIDR {
	if text == nil {
		return nil
	}
	if network := cidr.NewCIDR(*text, at); network.Parse() {
		return network
	}
	return nil
}

// sameNetwork reports whether two texts mean the same, however the network is written.
func sameNetwork(a, b string) bool {
	x, y := parsed(&a, nil), parsed(&b, nil)
	return a == b || x != nil && y != nil && x.GetIPNet().String() == y.GetIPNet().String()
}
