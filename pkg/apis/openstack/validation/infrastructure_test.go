// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
)

const (
	id       = "2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70"
	inShoots = "{nodes: 10.250.0.0/16, pods: 100.96.0.0/11, services: 100.64.0.0/13, ipFamilies: [IPv4, IPv6]}"
)

// networksTable has configs that differ in networks, with what is found below config.networks, and errors elsewhere.
type networksTable map[string]struct {
	networks, networking string // "": inShoots
	want                 []string
}

func (tests networksTable) run(t *testing.T) {
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var config v1alpha1.InfrastructureConfig
			decode(t, "{floatingPoolName: fp, networks: "+tc.networks+"}", &config)
			var networking *v1beta1.Networking
			switch tc.networking {
			case "":
				tc.networking = inShoots
				fallthrough
			default:
				decode(t, tc.networking, &networking)
			}
			before := config.DeepCopy()
			found := validation.InfrastructureConfig(&config, networking, field.NewPath("config"))
			expect(t, found, tc.want)
			if !reflect.DeepEqual(before, &config) {
				t.Error("the config was changed")
			}
		})
	}
}

func TestWorkersNetwork(t *testing.T) {
	const at = " config.networks."
	networksTable{
		"within the nodes":                {"{workers: 10.250.1.0/24}", "", nil},
		"all of the nodes":                {"{workers: 10.250.0.0/16}", "", nil},
		"by its old name":                 {"{worker: 10.250.0.0/16}", "", []string{"warning FieldValueForbidden" + at + "worker setting-deprecated"}},
		"by both names":                   {"{worker: 10.250.0.0/16, workers: 10.250.0.0/16}", "", []string{"warning FieldValueForbidden" + at + "worker setting-deprecated"}},
		"two of them":                     {"{worker: 10.250.0.0/24, workers: 10.250.0.0/16}", "", []string{"error FieldValueForbidden" + at + "worker settings-exclusive"}},
		"none":                            {"{}", "", []string{"error FieldValueRequired" + at + "workers setting-missing"}},
		"an empty one":                    {`{workers: "", worker: ""}`, "", []string{"error FieldValueRequired" + at + "workers setting-missing"}},
		"an address":                      {"{workers: 10.250.0.0}", "", []string{"error FieldValueInvalid" + at + "workers value-format"}},
		"a text":                          {"{worker: nodes}", "", []string{"error FieldValueInvalid" + at + "worker value-format", "warning FieldValueForbidden" + at + "worker setting-deprecated"}},
		"a prefix that is too long":       {"{workers: 10.250.0.0/33}", "", []string{"error FieldValueInvalid" + at + "workers value-format"}},
		"an address within":               {"{workers: 10.250.1.7/24}", "", []string{"error FieldValueInvalid" + at + "workers value-format"}},
		"of IPv6":                         {"{workers: \"2001:db8::/64\"}", "", []string{"error FieldValueInvalid" + at + "workers value-format"}},
		"wider than the nodes":            {"{workers: 10.250.0.0/15}", "", []string{"error FieldValueInvalid" + at + "workers network-range"}},
		"beside the nodes":                {"{workers: 10.251.0.0/24}", "", []string{"error FieldValueInvalid" + at + "workers network-range"}},
		"by its old name, beside":         {"{worker: 10.251.0.0/24}", "", []string{"error FieldValueInvalid" + at + "worker network-range", "warning FieldValueForbidden" + at + "worker setting-deprecated"}},
		"not canonical, and beside":       {"{workers: 10.251.0.1/24}", "", []string{"error FieldValueInvalid" + at + "workers value-format", "error FieldValueInvalid" + at + "workers network-range"}},
		"among the pods and services":     {"{workers: 10.250.1.0/24}", "{nodes: 10.0.0.0/8, pods: 10.250.0.0/17, services: 10.250.1.128/25}", []string{"error FieldValueInvalid" + at + "workers network-range", "error FieldValueInvalid" + at + "workers network-range"}},
		"the rest is not known yet":       {"{workers: 10.250.1.0/24}", "{nodes: 10.250.0.0/16}", nil},
		"what Gardener itself reports":    {"{workers: 10.250.1.0/24}", "{nodes: nodes, pods: 1, services: \"\"}", nil},
		"no nodes":                        {"{workers: 10.250.1.0/24}", "{}", []string{"error FieldValueRequired spec.networking.nodes setting-missing"}},
		"empty nodes":                     {"{worker: 10.250.1.0/24}", "{nodes: \"\"}", []string{"error FieldValueRequired spec.networking.nodes setting-missing", "warning FieldValueForbidden" + at + "worker setting-deprecated"}},
		"no networks of the Shoot at all": {"{workers: 10.250.1.0/24}", "null", []string{"error FieldValueRequired spec.networking.nodes setting-missing"}},
	}.run(t)
}

func TestExistingNetworks(t *testing.T) {
	const at = " config.networks."
	const workers = "workers: 10.250.0.0/16, "
	networksTable{
		"a network":               {"{" + workers + "id: " + id + "}", "", nil},
		"a network and a subnet":  {"{" + workers + "id: " + id + ", subnetId: " + id + "}", "", nil},
		"a router":                {"{" + workers + "router: {id: " + id + "}}", "", nil},
		"names":                   {"{" + workers + "router: {id: r}, id: n, subnetId: s}", "", []string{"warning FieldValueInvalid" + at + "router.id openstack-id-format", "warning FieldValueInvalid" + at + "id openstack-id-format", "warning FieldValueInvalid" + at + "subnetId openstack-id-format"}},
		"no IDs":                  {"{" + workers + "router: {id: r/1}, id: \"n 1\", subnetId: \"{s}\"}", "", []string{"error FieldValueInvalid" + at + "router.id openstack-id", "error FieldValueInvalid" + at + "id openstack-id", "error FieldValueInvalid" + at + "subnetId openstack-id"}},
		"empty ones":              {"{" + workers + "router: {}, id: \"\", subnetId: \" \"}", "", []string{"error FieldValueRequired" + at + "router.id setting-missing", "error FieldValueRequired" + at + "id value-empty", "error FieldValueRequired" + at + "subnetId value-empty"}},
		"a subnet of no network":  {"{" + workers + "subnetId: " + id + "}", "", []string{"error FieldValueRequired" + at + "id setting-missing"}},
		"a subnet, and no CIDR":   {"{id: " + id + ", subnetId: " + id + "}", "", nil},
		"all that can exist":      {"{id: " + id + ", subnetId: " + id + ", router: {id: " + id + "}, securityGroupId: " + id + ", shareNetworkId: " + id + "}", "", nil},
		"of no network":           {"{" + workers + "securityGroupId: " + id + ", shareNetworkId: " + id + "}", "", []string{"error FieldValueRequired" + at + "id setting-missing", "error FieldValueRequired" + at + "id setting-missing"}},
		"two share networks":      {"{" + workers + "id: " + id + ", shareNetworkId: " + id + ", shareNetwork: {enabled: true}}", "", []string{"error FieldValueForbidden" + at + "shareNetworkId settings-exclusive"}},
		"one share network":       {"{" + workers + "id: " + id + ", shareNetworkId: " + id + ", shareNetwork: {enabled: false}}", "", nil},
		"a share network":         {"{" + workers + "shareNetwork: {enabled: true}}", "", nil},
		"a share network, off":    {"{" + workers + "shareNetwork: {}}", "", nil},
		"an empty subnet, no net": {"{" + workers + "subnetId: \"\"}", "", []string{"error FieldValueRequired" + at + "subnetId value-empty", "error FieldValueRequired" + at + "id setting-missing"}},
	}.run(t)
}

func TestSubnetPool(t *testing.T) {
	const at = " config.networks.subnetPool"
	networksTable{
		"alone":             {"{subnetPool: {id: " + id + ", prefixLength: 24}}", "", nil},
		"no nodes":          {"{subnetPool: {id: " + id + ", prefixLength: 24}}", "{}", nil},
		"of a network":      {"{id: " + id + ", subnetPool: {id: " + id + ", prefixLength: 24}}", "", nil},
		"the longest":       {"{subnetPool: {id: " + id + ", prefixLength: 32}}", "", nil},
		"the shortest":      {"{subnetPool: {id: " + id + ", prefixLength: 1}}", "", nil},
		"longer":            {"{subnetPool: {id: " + id + ", prefixLength: 33}}", "", []string{"error FieldValueInvalid" + at + ".prefixLength value-out-of-range"}},
		"shorter":           {"{subnetPool: {id: " + id + ", prefixLength: -1}}", "", []string{"error FieldValueInvalid" + at + ".prefixLength value-out-of-range"}},
		"empty":             {"{subnetPool: {}}", "", []string{"error FieldValueRequired" + at + ".id setting-missing", "error FieldValueRequired" + at + ".prefixLength setting-missing"}},
		"a name":            {"{subnetPool: {id: pool, prefixLength: 24}}", "", []string{"warning FieldValueInvalid" + at + ".id openstack-id-format"}},
		"beside a network":  {"{workers: 10.250.0.0/16, subnetPool: {id: " + id + ", prefixLength: 24}}", "", []string{"error FieldValueForbidden" + at + " settings-exclusive"}},
		"beside its old":    {"{worker: 10.250.0.0/16, subnetPool: {id: " + id + ", prefixLength: 24}}", "", []string{"error FieldValueForbidden" + at + " settings-exclusive", "warning FieldValueForbidden config.networks.worker setting-deprecated"}},
		"beside a subnet":   {"{id: " + id + ", subnetId: " + id + ", subnetPool: {id: " + id + ", prefixLength: 24}}", "", []string{"error FieldValueForbidden" + at + " settings-exclusive"}},
		"beside everything": {"{id: " + id + ", subnetId: " + id + ", workers: 10.250.0.0/16, subnetPool: {id: " + id + ", prefixLength: 24}}", "", []string{"error FieldValueForbidden" + at + " settings-exclusive", "error FieldValueForbidden" + at + " settings-exclusive"}},
	}.run(t)
}

func TestIPv6(t *testing.T) {
	const at = " config.networks.ipv6"
	v6 := func(fields string) string { return "{workers: 10.250.0.0/16, ipv6: {" + fields + "}}" }
	networksTable{
		"a subnet pool":         {v6("subnetPoolID: " + id), "", nil},
		"networks":              {v6(`nodeCIDR: "2001:db8:1::/64", podCIDR: "2001:db8:2::/56", serviceCIDR: "2001:db8:3::/108"`), "", nil},
		"everything":            {v6("subnetPoolID: " + id + `, nodeCIDR: "2001:db8:1::/64", podCIDR: "2001:db8:2::/56", serviceCIDR: "2001:db8:3::/108"`), "", nil},
		"nothing":               {v6(""), "", []string{"error FieldValueRequired" + at + " setting-missing"}},
		"of pods and services":  {v6(`podCIDR: "2001:db8:2::/56", serviceCIDR: "2001:db8:3::/108"`), "", []string{"error FieldValueRequired" + at + " setting-missing"}},
		"of the network":        {"{workers: 10.250.0.0/16, id: " + id + ", ipv6: {}}", "", nil},
		"not enabled":           {v6("subnetPoolID: " + id), "{nodes: 10.250.0.0/16, ipFamilies: [IPv4]}", []string{"warning FieldValueInvalid" + at + " ipv6-not-enabled"}},
		"not enabled, either":   {v6("subnetPoolID: " + id), "{nodes: 10.250.0.0/16}", []string{"warning FieldValueInvalid" + at + " ipv6-not-enabled"}},
		"a name":                {v6("subnetPoolID: pool"), "", []string{"warning FieldValueInvalid" + at + ".subnetPoolID openstack-id-format"}},
		"empty":                 {v6(`subnetPoolID: "", nodeCIDR: "", podCIDR: "", serviceCIDR: ""`), "", []string{"error FieldValueRequired" + at + ".subnetPoolID value-empty", "error FieldValueRequired" + at + ".nodeCIDR value-empty", "error FieldValueRequired" + at + ".podCIDR value-empty", "error FieldValueRequired" + at + ".serviceCIDR value-empty"}},
		"no networks":           {v6(`nodeCIDR: "2001:db8::", podCIDR: pods, serviceCIDR: "2001:db8::/129"`), "", []string{"error FieldValueInvalid" + at + ".nodeCIDR value-format", "error FieldValueInvalid" + at + ".podCIDR value-format", "error FieldValueInvalid" + at + ".serviceCIDR value-format"}},
		"of IPv4":               {v6(`nodeCIDR: 10.0.0.0/8`), "", []string{"error FieldValueInvalid" + at + ".nodeCIDR value-format"}},
		"not canonical":         {v6(`nodeCIDR: "2001:db8::1/64", podCIDR: "2001:DB8:1::/64", serviceCIDR: "2001:db8:2:0::/64"`), "", []string{"error FieldValueInvalid" + at + ".nodeCIDR value-format", "error FieldValueInvalid" + at + ".podCIDR value-format", "error FieldValueInvalid" + at + ".serviceCIDR value-format"}},
		"overlapping":           {v6(`nodeCIDR: "2001:db8::/32", podCIDR: "2001:db8:1::/48", serviceCIDR: "2001:db8::/32"`), "", []string{"error FieldValueInvalid" + at + ".podCIDR network-range", "error FieldValueInvalid" + at + ".serviceCIDR network-range", "error FieldValueInvalid" + at + ".serviceCIDR network-range"}},
		"overlapping, the last": {v6("subnetPoolID: " + id + `, podCIDR: "2001:db8:1::/48", serviceCIDR: "2001:db8:1:2::/64"`), "", []string{"error FieldValueInvalid" + at + ".serviceCIDR network-range"}},
	}.run(t)
}

func TestFloatingPoolSubnetName(t *testing.T) {
	for name, tc := range map[string]struct {
		config string
		want   []string
	}{
		"alone":            {"{floatingPoolSubnetName: \"public-*\", networks: {workers: 10.250.0.0/16}}", nil},
		"empty":            {"{floatingPoolSubnetName: \"\", networks: {workers: 10.250.0.0/16, router: {id: " + id + "}}}", []string{"error FieldValueRequired config.floatingPoolSubnetName value-empty"}},
		"white space":      {"{floatingPoolName: \" fp\", floatingPoolSubnetName: \"a \", networks: {workers: 10.250.0.0/16}}", []string{"error FieldValueInvalid config.floatingPoolName value-format", "error FieldValueInvalid config.floatingPoolSubnetName value-format"}},
		"blanks within":    {"{floatingPoolName: the pool, floatingPoolSubnetName: the subnet, networks: {workers: 10.250.0.0/16}}", nil},
		"a pattern":        {"{floatingPoolName: \"fp-*\", networks: {workers: 10.250.0.0/16}}", []string{"error FieldValueInvalid config.floatingPoolName floating-pool-pattern"}},
		"beside a router":  {"{floatingPoolSubnetName: a, networks: {workers: 10.250.0.0/16, router: {id: " + id + "}}}", []string{"error FieldValueForbidden config.floatingPoolSubnetName settings-exclusive"}},
		"all wrong, order": {"{floatingPoolSubnetName: a, networks: {router: {}, subnetId: s/, ipv6: {}}}", []string{"error FieldValueForbidden config.floatingPoolSubnetName settings-exclusive", "error FieldValueRequired config.networks.router.id setting-missing", "error FieldValueInvalid config.networks.subnetId openstack-id", "error FieldValueRequired config.networks.id setting-missing", "error FieldValueRequired config.networks.ipv6 setting-missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			var config v1alpha1.InfrastructureConfig
			decode(t, tc.config, &config)
			var networking v1beta1.Networking
			decode(t, inShoots, &networking)
			expect(t, validation.InfrastructureConfig(&config, &networking, field.NewPath("config")), tc.want)
		})
	}
}

func TestInfrastructureConfigUpdate(t *testing.T) {
	const full = "floatingPoolSubnetName: a, networks: {router: {id: r}, workers: 10.250.0.0/16, id: n, subnetId: s, ipv6: {subnetPoolID: p, nodeCIDR: n, podCIDR: p, serviceCIDR: s}}"
	const pool = "networks: {subnetPool: {id: p, prefixLength: 24}}"
	changed := func(fields ...string) []string {
		var want []string
		for _, name := range fields {
			want = append(want, "error FieldValueInvalid config."+name+" field-immutable")
		}
		return want
	}
	for name, tc := range map[string]struct {
		old, config string
		want        []string
	}{
		"nothing":                         {"floatingPoolName: a, " + full, "floatingPoolName: a, " + full, nil},
		"the floating pool":               {"floatingPoolName: a", "floatingPoolName: b", changed("floatingPoolName")},
		"its subnet":                      {"floatingPoolSubnetName: a", "floatingPoolSubnetName: b", changed("floatingPoolSubnetName")},
		"the router":                      {"networks: {router: {id: a}}", "networks: {router: {id: b}}", changed("networks.router.id")},
		"workers":                         {"networks: {workers: 10.0.0.0/16}", "networks: {workers: 10.0.0.0/17}", changed("networks.workers")},
		"worker":                          {"networks: {worker: 10.0.0.0/16}", "networks: {worker: 10.0.0.0/17}", changed("networks.worker")},
		"worker, renamed":                 {"networks: {worker: 10.0.0.0/16}", "networks: {workers: 10.0.0.0/16}", nil},
		"workers, renamed back":           {"networks: {workers: 10.0.0.0/16}", "networks: {worker: 10.0.0.0/16}", nil},
		"workers, under both names":       {"networks: {workers: 10.0.0.0/16}", "networks: {workers: 10.0.0.0/16, worker: 10.0.0.0/16}", nil},
		"worker, renamed and changed":     {"networks: {worker: 10.0.0.0/16}", "networks: {workers: 10.0.0.0/17}", changed("networks.workers")},
		"workers, written in another way": {"networks: {workers: 10.0.0.7/16}", "networks: {workers: 10.0.0.0/16}", nil},
		"the subnet pool":                 {"networks: {subnetPool: {id: a, prefixLength: 24}}", "networks: {subnetPool: {id: b, prefixLength: 24}}", changed("networks.subnetPool")},
		"its prefix":                      {"networks: {subnetPool: {id: a, prefixLength: 24}}", "networks: {subnetPool: {id: a, prefixLength: 25}}", changed("networks.subnetPool")},
		"the network":                     {"networks: {id: a}", "networks: {id: b}", changed("networks.id")},
		"the subnet":                      {"networks: {subnetId: a}", "networks: {subnetId: b}", changed("networks.subnetId")},
		"IPv6":                            {"networks: {ipv6: {subnetPoolID: a}}", "networks: {ipv6: {subnetPoolID: b, nodeCIDR: \"::/64\", podCIDR: x, serviceCIDR: y}}", changed("networks.ipv6.subnetPoolID", "networks.ipv6.nodeCIDR", "networks.ipv6.podCIDR", "networks.ipv6.serviceCIDR")},
		"the share network":               {"networks: {}", "networks: {shareNetwork: {enabled: true}}", nil},
		"the share network, switched off": {"networks: {shareNetwork: {enabled: true}}", "networks: {shareNetwork: {enabled: false}}", nil},
		"everything that was not there": {"{}", "floatingPoolName: a, " + full, changed("floatingPoolName", "floatingPoolSubnetName", "networks.router.id", "networks.workers", "networks.id", "networks.subnetId",
			"networks.ipv6.subnetPoolID", "networks.ipv6.nodeCIDR", "networks.ipv6.podCIDR", "networks.ipv6.serviceCIDR")},
		"everything that was there": {full, pool, changed("floatingPoolSubnetName", "networks.router.id", "networks.workers", "networks.subnetPool", "networks.id", "networks.subnetId",
			"networks.ipv6.subnetPoolID", "networks.ipv6.nodeCIDR", "networks.ipv6.podCIDR", "networks.ipv6.serviceCIDR")},
	} {
		t.Run(name, func(t *testing.T) {
			var old, config v1alpha1.InfrastructureConfig
			decode(t, "{"+trimBraces(tc.old)+"}", &old)
			decode(t, "{"+trimBraces(tc.config)+"}", &config)
			expect(t, validation.Findings{Errors: validation.InfrastructureConfigUpdate(&old, &config, true, field.NewPath("config"))}, tc.want)
		})
	}
}

func trimBraces(text string) string {
	if text == "{}" {
		return ""
	}
	return text
}
