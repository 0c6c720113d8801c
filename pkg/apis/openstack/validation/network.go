// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils/validation/cidr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// OriginNetworkRange is the rule that networks lie within one another, or apart, where they have to.
const OriginNetworkRange = "network-range"

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
func (f *Findings) network(text string, at *field.Path, want family) cidr.CIDR {
	network := cidr.NewCIDR(text, at)
	switch {
	case !network.Parse():
		f.fail(OriginValueFormat, field.ErrorTypeInvalid, at, text, "%s %s is no network; write its address and the length of its prefix, as in %s", last(at), quote(text), want.example)
		return nil
	case !want.of(network):
		f.fail(OriginValueFormat, field.ErrorTypeInvalid, at, text, "%s %s must be an %s network, as in %s", last(at), quote(text), want.name, want.example)
		return nil
	case network.GetIPNet().String() != text:
		f.fail(OriginValueFormat, field.ErrorTypeInvalid, at, text, "%s %s is not the address of a network; write %s", last(at), quote(text), network.GetIPNet())
	}
	return network
}

// within demands that a network lies within that of the Shoot's nodes, and outside those of its pods and services. What
// cannot be read of these Gardener itself reports.
func (f *Findings) within(network cidr.CIDR, shoot *v1beta1.Networking) {
	at := field.NewPath("spec", "networking")
	if nodes := optional(shoot.Nodes, at.Child("nodes")); nodes != nil && len(nodes.ValidateSubset(network)) > 0 {
		f.fail(OriginNetworkRange, field.ErrorTypeInvalid, network.GetFieldPath(), network.GetCIDR(),
			"%s %s must lie within %s, which is %s", last(network.GetFieldPath()), network.GetCIDR(), nodes.GetFieldPath(), nodes.GetCIDR())
	}
	f.apart(network, optional(shoot.Pods, at.Child("pods")), optional(shoot.Services, at.Child("services")))
}

// apart demands that a network does not overlap others, of which those that are nil do not count.
func (f *Findings) apart(network cidr.CIDR, others ...cidr.CIDR) {
	if network == nil {
		return
	}
	for _, other := range others {
		if other != nil && len(other.ValidateNotOverlap(network)) > 0 {
			f.fail(OriginNetworkRange, field.ErrorTypeInvalid, network.GetFieldPath(), network.GetCIDR(),
				"%s %s must not overlap %s, which is %s", last(network.GetFieldPath()), network.GetCIDR(), other.GetFieldPath(), other.GetCIDR())
		}
	}
}

// optional returns a network; nil if there is none.
func optional(text *string, at *field.Path) cidr.CIDR {
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
	x, y := optional(&a, nil), optional(&b, nil)
	return a == b || x != nil && y != nil && x.GetIPNet().String() == y.GetIPNet().String()
}
