// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils/validation/cidr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
)

const (
	// OriginSettingDeprecated is the rule that a setting has another name now, or no effect.
	OriginSettingDeprecated = "setting-deprecated"
	// OriginIPv6NotEnabled is the rule that a Shoot has IPv6 addresses only if it says so among its IP families.
	OriginIPv6NotEnabled = "ipv6-not-enabled"
	// OriginFieldImmutable is the rule that something cannot be changed in a Shoot.
	OriginFieldImmutable = "field-immutable"
)

// The longest and the shortest prefix of an IPv4 subnet, in bits.
const shortestPrefix, longestPrefix = 1, 32

// InfrastructureConfig checks an InfrastructureConfig. networking are the networks of its Shoot, nil if it has none. Whether
// there is a floating pool of that name is not looked at, since only its profile knows which there are.
func InfrastructureConfig(config *v1alpha1.InfrastructureConfig, networking *v1beta1.Networking, at *field.Path) Findings {
	var found Findings
	networks, path := &config.Networks, at.Child("networks")
	found.oneName(OriginFloatingPoolPattern, config.FloatingPoolName, at.Child("floatingPoolName"), "external network")
	if config.FloatingPoolSubnetName != nil {
		found.trimmed(*config.FloatingPoolSubnetName, at.Child("floatingPoolSubnetName"))
	}
	if found.notEmpty(config.FloatingPoolSubnetName, at.Child("floatingPoolSubnetName")) && networks.Router != nil {
		found.fail(OriginSettingsExclusive, field.ErrorTypeForbidden, at.Child("floatingPoolSubnetName"), *config.FloatingPoolSubnetName,
			"an existing router is attached to a subnet already; remove floatingPoolSubnetName, or %s", path.Child("router"))
	}
	if networks.Router != nil {
		found.requiredID(networks.Router.ID, path.Child("router", "id"), "router")
	}
	found.addresses(networks, networking, path)
	found.subnetPool(networks, path)
	found.existing(networks, path)
	found.ipv6(networks, networking, path)
	return found
}

// requiredID checks an ID that has to be there.
func (f *Findings) requiredID(id string, at *field.Path, of string) {
	if strings.TrimSpace(id) == "" {
		f.fail(OriginSettingMissing, field.ErrorTypeRequired, at, nil, "write the ID of the %s", of)
		return
	}
	f.openStackID(&id, at, of)
}

// addresses checks which addresses machines get: by workers, by its old name, or from a subnet pool.
func (f *Findings) addresses(networks *v1alpha1.Networks, networking *v1beta1.Networking, at *field.Path) {
	workers, worker := at.Child("workers"), at.Child("worker")
	switch {
	case networks.Workers == "" && networks.Worker == "" && networks.SubnetPool == nil && networks.SubnetID == nil:
		f.fail(OriginSettingMissing, field.ErrorTypeRequired, workers, nil,
			"say which addresses the machines get: write workers, the network of their subnet, as in %s, or subnetPool, or subnetId", ipv4.example)
	case networks.Workers != "" && networks.Worker != "" && !sameNetwork(networks.Workers, networks.Worker):
		f.fail(OriginSettingsExclusive, field.ErrorTypeForbidden, worker, networks.Worker,
			"worker is the old name of workers, and they say two things, %s and %s; remove one of the two", quote(networks.Worker), quote(networks.Workers))
	case networks.Workers != "" && networks.Worker != "":
		f.warn(OriginSettingDeprecated, field.ErrorTypeForbidden, worker, networks.Worker, "worker is the old name of workers, which says the same; remove worker, which changes nothing else")
	case networks.Worker != "":
		f.warn(OriginSettingDeprecated, field.ErrorTypeForbidden, worker, networks.Worker, "worker is called workers now; rename it, which changes nothing else")
	}
	if networks.Worker != "" {
		if networks.Worker != networks.Workers {
			f.machines(networks.Worker, networking, worker)
		}
	}
	if networks.Workers != "" {
		f.machines(networks.Workers, networking, workers)
	}
	if (networks.Workers != "" || networks.Worker != "") && (networking == nil || networking.Nodes == nil || *networking.Nodes == "") {
		f.fail(OriginSettingMissing, field.ErrorTypeRequired, field.NewPath("spec", "networking", "nodes"), nil,
			"write the network that the machines' subnet lies in; it can be the same, %s", firstOf(networks.Workers, networks.Worker))
	}
}

// machines checks the network of the machines.
func (f *Findings) machines(text string, networking *v1beta1.Networking, at *field.Path) {
	if network := f.network(text, at, ipv4); network != nil && networking != nil {
		f.within(network, networking)
	}
}

// subnetPool checks the subnet pool that addresses are taken from, beside which nothing else says them.
func (f *Findings) subnetPool(networks *v1alpha1.Networks, at *field.Path) {
	pool, path := networks.SubnetPool, at.Child("subnetPool")
	if pool == nil {
		return
	}
	for _, other := range []struct {
		is   bool
		name string
	}{{networks.Workers != "", "workers"}, {networks.Worker != "", "worker"}, {networks.SubnetID != nil, "subnetId"}} {
		if other.is {
			f.fail(OriginSettingsExclusive, field.ErrorTypeForbidden, path, field.OmitValueType{},
				"%s says already which addresses the machines get; remove one of the two", at.Child(other.name))
		}
	}
	f.requiredID(pool.ID, path.Child("id"), "subnet pool")
	if pool.PrefixLength == 0 {
		f.fail(OriginSettingMissing, field.ErrorTypeRequired, path.Child("prefixLength"), nil,
			"write prefixLength, how many bits the prefix of the machines' subnet has, as in 24")
	} else if pool.PrefixLength < shortestPrefix || pool.PrefixLength > longestPrefix {
		f.fail(OriginValueOutOfRange, field.ErrorTypeInvalid, path.Child("prefixLength"), pool.PrefixLength,
			"prefixLength is %d; the prefix of a subnet has %d to %d bits", pool.PrefixLength, shortestPrefix, longestPrefix)
	}
}

// existing checks what exists already.
func (f *Findings) existing(networks *v1alpha1.Networks, at *field.Path) {
	f.openStackID(networks.ID, at.Child("id"), "network")
	for _, e := range []struct {
		id       *string
		name, of string
	}{
		{networks.SubnetID, "subnetId", "subnet"},
		{networks.SecurityGroupID, "securityGroupId", "security group"},
		{networks.ShareNetworkID, "shareNetworkId", "share network"},
	} {
		f.openStackID(e.id, at.Child(e.name), e.of)
		if e.id != nil && networks.ID == nil {
			f.fail(OriginSettingMissing, field.ErrorTypeRequired, at.Child("id"), nil,
				"write the ID of the network that %s %s is for, or remove %s", e.of, quote(*e.id), e.name)
		}
	}
	if s := networks.ShareNetwork; networks.ShareNetworkID != nil && s != nil && s.Enabled {
		f.fail(OriginSettingsExclusive, field.ErrorTypeForbidden, at.Child("shareNetworkId"), *networks.ShareNetworkID,
			"%s creates a share network, so that no other one is used; remove one of the two", at.Child("shareNetwork", "enabled"))
	}
}

// existingIPv6 checks the IPv6 subnet that exists already.
func (f *Findings) existingIPv6(networks *v1alpha1.Networks, in *field.Path) {
	config, at := networks.IPv6, in.Child("ipv6")
	f.openStackID(config.NodeSubnetID, at.Child("nodeSubnetId"), "subnet")
	if config.NodeSubnetID == nil {
		return
	}
	for _, other := range []struct {
		is bool
		at *field.Path
	}{{config.SubnetPoolID != nil, at.Child("subnetPoolID")}, {config.NodeCIDR != nil, at.Child("nodeCIDR")}} {
		if other.is {
			f.fail(OriginSettingsExclusive, field.ErrorTypeForbidden, other.at, field.OmitValueType{},
				"%s says already which addresses the machines get; remove one of the two", at.Child("nodeSubnetId"))
		}
	}
	for _, needed := range []struct {
		is bool
		at *field.Path
	}{{config.PodCIDR != nil, at.Child("podCIDR")}, {config.ServiceCIDR != nil, at.Child("serviceCIDR")}, {networks.SubnetID != nil, in.Child("subnetId")}} {
		if !needed.is {
			f.fail(OriginSettingMissing, field.ErrorTypeRequired, needed.at, nil, "an existing IPv6 subnet needs %s; write it, or remove %s", last(needed.at), at.Child("nodeSubnetId"))
		}
	}
}

// ipv6 checks where IPv6 addresses come from: those of the machines from a subnet pool, from a network that is given, or
// from the existing network, which may have its own.
func (f *Findings) ipv6(networks *v1alpha1.Networks, networking *v1beta1.Networking, in *field.Path) {
	config, at := networks.IPv6, in.Child("ipv6")
	if config == nil {
		return
	}
	if config.SubnetPoolID == nil && config.NodeCIDR == nil && config.NodeSubnetID == nil && networks.ID == nil {
		f.fail(OriginSettingMissing, field.ErrorTypeRequired, at, nil,
			"say where the IPv6 addresses of the machines come from: write subnetPoolID or nodeCIDR; or remove ipv6")
	}
	if networking == nil || !slices.Contains(networking.IPFamilies, v1beta1.IPFamilyIPv6) {
		f.warn(OriginIPv6NotEnabled, field.ErrorTypeInvalid, at, field.OmitValueType{},
			"spec.networking.ipFamilies does not have IPv6, so that pods and services get no IPv6 addresses; write [IPv4, IPv6] there, or remove ipv6")
	}
	f.openStackID(config.SubnetPoolID, at.Child("subnetPoolID"), "subnet pool")
	f.existingIPv6(networks, in)
	var before []cidr.CIDR
	for _, n := range []struct {
		text *string
		name string
	}{{config.NodeCIDR, "nodeCIDR"}, {config.PodCIDR, "podCIDR"}, {config.ServiceCIDR, "serviceCIDR"}} {
		if !f.notEmpty(n.text, at.Child(n.name)) {
			continue
		}
		if network := f.network(*n.text, at.Child(n.name), ipv6); network != nil {
			f.apart(network, before...)
			before = append(before, network)
		}
	}
}

// InfrastructureConfigUpdate reports what an update changes that cannot be changed: everything but the share network. A
// network that is written in another way, or under the other one of its two names, is the same. complete reports whether all
// of the old config could be read; if not, what it seems not to have may have been there. What every config needs and the
// new one lacks is not reported here.
func InfrastructureConfigUpdate(old, config *v1alpha1.InfrastructureConfig, complete bool, at *field.Path) finding.List {
	var found Findings
	before := identities(old, at)
	for i, is := range identities(config, at) {
		was := before[i]
		lost := is.value == "" && is.needed
		if !lost && (complete || was.value != "") && !sameNetwork(was.value, is.value) {
			found.immutable(is.at, was.value, is.value)
		}
	}
	return found.Errors
}

// immutable reports that something was changed which cannot be changed.
func (f *Findings) immutable(at *field.Path, was, is string) {
	f.fail(OriginFieldImmutable, field.ErrorTypeInvalid, at, is,
		"%s cannot be changed: it was %s and would be %s; put the old value back, or create a new Shoot", last(at), orNone(was), orNone(is))
}

// identity is a part of an InfrastructureConfig that cannot be changed, as text; empty if it is not there.
type identity struct {
	at    *field.Path
	value string
	// needed reports whether the config needs it.
	needed bool
}

func identities(config *v1alpha1.InfrastructureConfig, at *field.Path) []identity {
	networks, path := config.Networks, at.Child("networks")
	router, pool := "", ""
	if networks.Router != nil {
		router = networks.Router.ID
	}
	if networks.SubnetPool != nil {
		pool = fmt.Sprintf("%s with a prefix of %d bits", networks.SubnetPool.ID, networks.SubnetPool.PrefixLength)
	}
	v6 := v1alpha1.IPv6{}
	if networks.IPv6 != nil {
		v6 = *networks.IPv6
	}
	workers := path.Child("workers")
	if networks.Workers == "" && networks.Worker != "" {
		workers = path.Child("worker")
	}
	return []identity{
		{at.Child("floatingPoolName"), config.FloatingPoolName, true},
		{at.Child("floatingPoolSubnetName"), text(config.FloatingPoolSubnetName), false},
		{path.Child("router", "id"), router, false},
		{workers, firstOf(networks.Workers, networks.Worker), networks.SubnetPool == nil && networks.SubnetID == nil},
		{path.Child("subnetPool"), pool, false},
		{path.Child("id"), text(networks.ID), false},
		{path.Child("subnetId"), text(networks.SubnetID), false},
		{path.Child("securityGroupId"), text(networks.SecurityGroupID), false},
		{path.Child("shareNetworkId"), text(networks.ShareNetworkID), false},
		{path.Child("ipv6", "subnetPoolID"), text(v6.SubnetPoolID), false},
		{path.Child("ipv6", "nodeCIDR"), text(v6.NodeCIDR), false},
		{path.Child("ipv6", "nodeSubnetId"), text(v6.NodeSubnetID), false},
		{path.Child("ipv6", "podCIDR"), text(v6.PodCIDR), false},
		{path.Child("ipv6", "serviceCIDR"), text(v6.ServiceCIDR), false},
	}
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func orNone(value string) string {
	if value == "" {
		return "not set"
	}
	return value
}
