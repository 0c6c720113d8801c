// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
)

// The longest and the shortest prefix of an IPv4 subnet, in bits.
const shortestPrefix, longestPrefix = 1, 32

// InfrastructureConfig checks an InfrastructureConfig. networking are the networks of its Shoot, nil if it has none.
// Whether there is a floating pool of that name is not looked at, since only its profile knows which there are.
func InfrastructureConfig(
	config *v1alpha1.InfrastructureConfig, networking *v1beta1.Networking, at *field.Path,
) finding.Report {
	n := networks{
		Networks: &config.Networks, at: at.Child("networks"), shoot: ptr.Deref(networking, v1beta1.Networking{}),
	}
	n.oneName(ruleFloatingPoolPattern, config.FloatingPoolName, at.Child("floatingPoolName"), "external network")
	subnet, path := config.FloatingPoolSubnetName, at.Child("floatingPoolSubnetName")
	n.trimmed(ptr.Deref(subnet, ""), path)
	if n.notEmpty(subnet, path) && n.Router != nil {
		n.Found(ruleSettingsExclusive, field.ErrorTypeForbidden, path, *subnet,
			"an existing router is attached to a subnet already; remove floatingPoolSubnetName, or %s", n.at.Child("router"))
	}
	if n.Router != nil {
		n.requiredID(n.Router.ID, n.at.Child("router", "id"), "router")
	}
	n.addresses()
	n.subnetPool()
	n.existing()
	n.families()
	if n.IPv6 != nil {
		n.ipv6(n.IPv6, n.at.Child("ipv6"))
	}
	return n.Report
}

// networks are those of a config that is checked, which stand at the path at.
type networks struct {
	findings
	*v1alpha1.Networks
	at *field.Path
	// shoot are the networks of the Shoot.
	shoot v1beta1.Networking
}

// addresses checks which addresses machines get: by workers, by its old name, or from a subnet pool.
func (n *networks) addresses() {
	workers, worker := n.at.Child("workers"), n.at.Child("worker")
	both := n.Workers != "" && n.Worker != ""
	switch {
	case n.Workers == "" && n.Worker == "" && n.SubnetPool == nil && n.SubnetID == nil:
		wrong := n.missing(workers, "say which addresses the machines get: write workers, the network of their subnet, as in %s, "+
			"or subnetPool, or subnetId", ipv4.example)
		*wrong = wrong.In(n.at.Child("subnetPool"), n.at.Child("subnetId"))
	case both && !sameNetwork(n.Workers, n.Worker):
		n.Found(ruleSettingsExclusive, field.ErrorTypeForbidden, worker, n.Worker,
			"worker is the old name of workers, and they say two things, %s and %s; remove one of the two",
			quote(n.Worker), quote(n.Workers))
	case both:
		n.Found(ruleSettingDeprecated, field.ErrorTypeForbidden, worker, n.Worker,
			"worker is the old name of workers, which says the same; remove worker, which changes nothing else")
	case n.Worker != "":
		n.Found(ruleSettingDeprecated, field.ErrorTypeForbidden, worker, n.Worker,
			"worker is called workers now; rename it, which changes nothing else")
	}
	if n.Worker != n.Workers {
		n.machines(n.Worker, worker)
	}
	n.machines(n.Workers, workers)
	written := cmp.Or(n.Workers, n.Worker)
	if written != "" && ptr.Deref(n.shoot.Nodes, "") == "" {
		n.missing(field.NewPath("spec", "networking", "nodes"),
			"write the network that the machines' subnet lies in; it can be the same, %s", written)
	}
}

// machines demands that the network of the machines, if it is given, lies within that of the Shoot's nodes, and outside
// those of its pods and services. What cannot be read of these Gardener itself reports.
func (n *networks) machines(text string, at *field.Path) {
	if text == "" {
		return
	}
	network, shoot := n.network(text, at, ipv4), field.NewPath("spec", "networking")
	if network == nil {
		return
	}
	if nodes := parsed(n.shoot.Nodes, shoot.Child("nodes")); nodes != nil && !network.within(nodes) {
		n.outOfPlace(network, "lie within", nodes)
	}
	n.apart(network, parsed(n.shoot.Pods, shoot.Child("pods")), parsed(n.shoot.Services, shoot.Child("services")))
}

// alreadySaid reports a setting that is there beside another one, by which the machines have their addresses.
func (n *networks) alreadySaid(isThere bool, at, by *field.Path) {
	if isThere {
		n.Found(ruleSettingsExclusive, field.ErrorTypeForbidden, at, field.OmitValueType{},
			"%s says already which addresses the machines get; remove one of the two", by)
	}
}

// subnetPool checks the subnet pool that addresses are taken from, beside which nothing else says them.
func (n *networks) subnetPool() {
	pool, at := n.SubnetPool, n.at.Child("subnetPool")
	if pool == nil {
		return
	}
	n.alreadySaid(n.Workers != "", at, n.at.Child("workers"))
	n.alreadySaid(n.Worker != "", at, n.at.Child("worker"))
	n.alreadySaid(n.SubnetID != nil, at, n.at.Child("subnetId"))
	n.requiredID(pool.ID, at.Child("id"), "subnet pool")
	switch length := pool.PrefixLength; {
	case length == 0:
		n.missing(at.Child("prefixLength"),
			"write prefixLength, how many bits the prefix of the machines' subnet has, as in 24")
	case length < shortestPrefix || length > longestPrefix:
		n.Found(ruleValueOutOfRange, field.ErrorTypeInvalid, at.Child("prefixLength"), length,
			"prefixLength is %d; the prefix of a subnet has %d to %d bits", length, shortestPrefix, longestPrefix)
	}
}

func (n *networks) existing() {
	n.openStackID(n.ID, n.at.Child("id"), "network")
	n.existingIn(n.SubnetID, "subnetId", "subnet")
	n.existingIn(n.SecurityGroupID, "securityGroupId", "security group")
	n.existingIn(n.ShareNetworkID, "shareNetworkId", "share network")
	if n.ShareNetworkID != nil && createsShareNetwork(n.Networks) {
		n.Found(ruleSettingsExclusive, field.ErrorTypeForbidden, n.at.Child("shareNetworkId"), *n.ShareNetworkID,
			"%s creates a share network, so that no other one is used; remove one of the two",
			n.at.Child("shareNetwork", "enabled"))
	}
}

// existingIn checks the ID of what belongs to an existing network, which is then named, too.
func (n *networks) existingIn(id *string, name, of string) {
	n.openStackID(id, n.at.Child(name), of)
	if id != nil && n.ID == nil {
		n.missing(n.at.Child("id"), "write the ID of the network that %s %s is for, or remove %s", of, quote(*id), name)
	}
}

// families demands that machines have IPv4 addresses, and that it is known where those of IPv6 come from if there are any.
func (n *networks) families() {
	if !slices.Contains(n.shoot.IPFamilies, v1beta1.IPFamilyIPv6) {
		return
	}
	families := field.NewPath("spec", "networking", "ipFamilies")
	if !slices.Contains(n.shoot.IPFamilies, v1beta1.IPFamilyIPv4) {
		n.Found(ruleValueNotSupported, field.ErrorTypeInvalid, families, n.shoot.IPFamilies,
			"machines on OpenStack always have IPv4 addresses; write [IPv4, IPv6]")
	}
	if n.IPv6 == nil {
		n.missing(n.at.Child("ipv6"), "%s has IPv6: say where the IPv6 addresses come from, with subnetPoolID for example; "+
			"or write [IPv4] there", families)
	}
}

// ipv6 checks where IPv6 addresses come from: those of the machines from a subnet pool, from a network that is given,
// or from the existing network, which may have its own.
func (n *networks) ipv6(config *v1alpha1.IPv6, at *field.Path) {
	if config.SubnetPoolID == nil && config.NodeCIDR == nil && config.NodeSubnetID == nil && n.ID == nil {
		n.missing(at, "say where the IPv6 addresses of the machines come from: write subnetPoolID or nodeCIDR; "+
			"or remove ipv6")
	}
	if !slices.Contains(n.shoot.IPFamilies, v1beta1.IPFamilyIPv6) {
		n.Found(ruleIPv6NotEnabled, field.ErrorTypeInvalid, at, field.OmitValueType{}, "spec.networking.ipFamilies does "+
			"not have IPv6, so that pods and services get no IPv6 addresses; write [IPv4, IPv6] there, or remove ipv6")
	}
	n.openStackID(config.SubnetPoolID, at.Child("subnetPoolID"), "subnet pool")
	n.existingIPv6(config, at)
	if config.NodeCIDR != nil && config.SubnetPoolID == nil && config.NodeSubnetID == nil {
		n.needed(config.PodCIDR, at.Child("podCIDR"), "without a subnet pool the pods need a network of their own; write %s, or subnetPoolID")
		n.needed(config.ServiceCIDR, at.Child("serviceCIDR"),
			"without a subnet pool the services need a network of their own; write %s, or subnetPoolID")
	}
	var others []*subnet
	for _, given := range []struct {
		text *string
		name string
	}{{config.NodeCIDR, "nodeCIDR"}, {config.PodCIDR, "podCIDR"}, {config.ServiceCIDR, "serviceCIDR"}} {
		if !n.notEmpty(given.text, at.Child(given.name)) {
			continue
		}
		if network := n.network(*given.text, at.Child(given.name), ipv6); network != nil {
			n.apart(network, others...)
			others = append(others, network)
		}
	}
}

func (n *networks) existingIPv6(config *v1alpha1.IPv6, at *field.Path) {
	subnet := at.Child("nodeSubnetId")
	n.openStackID(config.NodeSubnetID, subnet, "subnet")
	if config.NodeSubnetID == nil {
		return
	}
	n.alreadySaid(config.SubnetPoolID != nil, at.Child("subnetPoolID"), subnet)
	n.alreadySaid(config.NodeCIDR != nil, at.Child("nodeCIDR"), subnet)
	why := "an existing IPv6 subnet needs %s; write it, or remove " + subnet.String()
	n.needed(config.PodCIDR, at.Child("podCIDR"), why)
	n.needed(config.ServiceCIDR, at.Child("serviceCIDR"), why)
	n.needed(n.SubnetID, n.at.Child("subnetId"), why)
}

// needed demands a value. why has a place for the name of its field.
func (n *networks) needed(value *string, at *field.Path, why string) {
	if value == nil {
		n.missing(at, why, fieldpath.Last(at))
	}
}

// InfrastructureConfigUpdate reports what an update changes that cannot be changed: everything, but that a share network can
// be had later on.
// A network that is written in another way, or under the other one of its two names, is the same. complete reports
// whether all of the old config could be read; if not, what it seems not to have may have been there. What every
// config needs and the new one lacks is not reported here.
func InfrastructureConfigUpdate(old, config *v1alpha1.InfrastructureConfig, complete bool, at *field.Path) finding.List {
	var f findings
	keeps := func(at *field.Path, was, is string, needed bool) {
		lost := is == "" && needed
		if !lost && (complete || was != "") && !sameNetwork(was, is) {
			f.Found(RuleFieldImmutable, field.ErrorTypeInvalid, at, is,
				"%s cannot be changed: it was %s and would be %s; put the old value back, or create a new Shoot",
				fieldpath.Last(at), cmp.Or(was, "not set"), cmp.Or(is, "not set"))
		}
	}
	optional := func(at *field.Path, was, is *string) { keeps(at, ptr.Deref(was, ""), ptr.Deref(is, ""), false) }
	keeps(at.Child("floatingPoolName"), old.FloatingPoolName, config.FloatingPoolName, true)
	optional(at.Child("floatingPoolSubnetName"), old.FloatingPoolSubnetName, config.FloatingPoolSubnetName)
	was, is, path := &old.Networks, &config.Networks, at.Child("networks")
	router := func(n *v1alpha1.Networks) string { return ptr.Deref(n.Router, v1alpha1.Router{}).ID }
	keeps(path.Child("router", "id"), router(was), router(is), false)
	workers := path.Child("workers")
	if is.Workers == "" && is.Worker != "" {
		workers = path.Child("worker")
	}
	needsWorkers := is.SubnetPool == nil && is.SubnetID == nil
	keeps(workers, cmp.Or(was.Workers, was.Worker), cmp.Or(is.Workers, is.Worker), needsWorkers)
	keeps(path.Child("subnetPool"), inWords(was.SubnetPool), inWords(is.SubnetPool), false)
	optional(path.Child("id"), was.ID, is.ID)
	optional(path.Child("subnetId"), was.SubnetID, is.SubnetID)
	optional(path.Child("securityGroupId"), was.SecurityGroupID, is.SecurityGroupID)
	optional(path.Child("shareNetworkId"), was.ShareNetworkID, is.ShareNetworkID)
	if createsShareNetwork(was) && !createsShareNetwork(is) {
		f.Found(RuleFieldImmutable, field.ErrorTypeForbidden, path.Child("shareNetwork", "enabled"), field.OmitValueType{},
			"the share network has been created, and would never be deleted; leave shareNetwork.enabled: true")
	}
	wasV6, isV6, v6 := ptr.Deref(was.IPv6, v1alpha1.IPv6{}), ptr.Deref(is.IPv6, v1alpha1.IPv6{}), path.Child("ipv6")
	optional(v6.Child("subnetPoolID"), wasV6.SubnetPoolID, isV6.SubnetPoolID)
	optional(v6.Child("nodeCIDR"), wasV6.NodeCIDR, isV6.NodeCIDR)
	optional(v6.Child("nodeSubnetId"), wasV6.NodeSubnetID, isV6.NodeSubnetID)
	optional(v6.Child("podCIDR"), wasV6.PodCIDR, isV6.PodCIDR)
	optional(v6.Child("serviceCIDR"), wasV6.ServiceCIDR, isV6.ServiceCIDR)
	return f.Errors
}

func inWords(pool *v1alpha1.SubnetPool) string {
	if pool == nil {
		return ""
	}
	return fmt.Sprintf("%s with a prefix of %d bits", pool.ID, pool.PrefixLength)
}

// family is a version of IP, with an example of a network.
type family struct {
	name, example string
	of            func(netip.Addr) bool
}

var (
	ipv4 = family{"IPv4", "10.250.0.0/16", netip.Addr.Is4}
	ipv6 = family{"IPv6", "2001:db8::/64", netip.Addr.Is6}
)

// subnet is a network as it is written, and where.
type subnet struct {
	netip.Prefix
	text string
	at   *field.Path
}

// network demands that a text is the CIDR of a network of a family. It returns nil if there is nothing to compare.
func (f *findings) network(text string, at *field.Path, want family) *subnet {
	network := parsed(&text, at)
	switch {
	case network == nil:
		f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, text,
			"%s %s is not a network; write its address and the length of its prefix, as in %s",
			fieldpath.Last(at), quote(text), want.example)
		return nil
	case !want.of(network.Addr()):
		f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, text,
			"%s %s must be an %s network, as in %s", fieldpath.Last(at), quote(text), want.name, want.example)
		return nil
	case network.Masked().String() != text:
		f.Found(ruleValueFormat, field.ErrorTypeInvalid, at, text,
			"%s %s is not the address of a network; write %s", fieldpath.Last(at), quote(text), network.Masked())
	}
	return network
}

// apart demands that a network does not overlap others, of which those that are nil do not count.
func (f *findings) apart(network *subnet, others ...*subnet) {
	for _, other := range others {
		if other != nil && other.Overlaps(network.Prefix) {
			f.outOfPlace(network, "not overlap", other)
		}
	}
}

func (f *findings) outOfPlace(network *subnet, must string, other *subnet) {
	f.Found(ruleNetworkRange, field.ErrorTypeInvalid, network.at, network.text, "%s %s must %s %s, which is %s",
		fieldpath.Last(network.at), network.text, must, other.at, other.text)
}

// within reports whether all addresses of a network are those of another one, too.
func (s *subnet) within(other *subnet) bool {
	return s.Bits() >= other.Bits() && other.Contains(s.Addr())
}

// parsed returns a network; nil if there is none, or none that can be read.
func parsed(text *string, at *field.Path) *subnet {
	if text == nil {
		return nil
	}
	network, err := netip.ParsePrefix(*text)
	if err != nil {
		return nil
	}
	return &subnet{network, *text, at}
}

// sameNetwork reports whether two texts mean the same, however the network is written.
func sameNetwork(a, b string) bool {
	x, y := parsed(&a, nil), parsed(&b, nil)
	return a == b || x != nil && y != nil && x.Masked() == y.Masked()
}
