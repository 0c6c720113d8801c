// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package constraints_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/utils/ptr"
)

// shootTable has changes of the Shoot, made by with, and what is found then. Its domain is "other".
type shootTable map[string]struct {
	shoot []string
	want  []string
}

func (tests shootTable) run(t *testing.T) {
	profile := compile(t, profileSpec)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			shoot := shootOf(t, with(t, shootSpec, tc.shoot...))
			before := shoot.DeepCopy()
			report := profile.CheckShoot(shoot, ptr.To("other"))
			expect(t, report, tc.want)
			if again := profile.CheckShoot(before, ptr.To("other")); !reflect.DeepEqual(report, again) || !reflect.DeepEqual(before, shoot) {
				t.Errorf("%v, then %v", report, again)
			}
		})
	}
}

const (
	infrastructureKind = "kind: InfrastructureConfig"
	controlPlaneKind   = "kind: ControlPlaneConfig"
	noPool             = "    floatingPoolName: fp-public\n"
)

func TestConfigsOfShoots(t *testing.T) {
	infrastructure := shootSpec[strings.Index(shootSpec, "  infrastructureConfig"):strings.Index(shootSpec, "  controlPlaneConfig")]
	controlPlane := shootSpec[strings.Index(shootSpec, "  controlPlaneConfig"):strings.Index(shootSpec, "  workers")]
	shootTable{
		"sound":              {nil, nil},
		"none":               {[]string{infrastructure, "", controlPlane, ""}, []string{"error Required controlPlaneConfig provider-config-missing", "error Required infrastructureConfig provider-config-missing"}},
		"null":               {[]string{infrastructure, "  infrastructureConfig: null\n", controlPlane, "  controlPlaneConfig: null\n"}, []string{"error Required controlPlaneConfig provider-config-missing", "error Required infrastructureConfig provider-config-missing"}},
		"another kind":       {[]string{infrastructureKind, "kind: Infrastructure"}, []string{"error NotSupported infrastructureConfig.kind provider-config-kind"}},
		"another version":    {[]string{"v1alpha1\n    " + controlPlaneKind, "v1\n    " + controlPlaneKind}, []string{"error NotSupported controlPlaneConfig.apiVersion provider-config-kind"}},
		"a list":             {[]string{infrastructure, "  infrastructureConfig: [{}]\n"}, []string{"error Invalid infrastructureConfig field-type"}},
		"a misspelt field":   {[]string{"floatingPoolName:", "floatingPoolname:"}, []string{"error Forbidden infrastructureConfig.floatingPoolname unknown-field"}},
		"an unknown field":   {[]string{noPool, "    colour: red\n"}, []string{"error Forbidden infrastructureConfig.colour unknown-field", "error Required infrastructureConfig.floatingPoolName setting-missing"}},
		"a list of networks": {[]string{"networks: {workers: 10.250.0.0/19}", "networks: [{workers: 10.250.0.0/19}]"}, []string{"error Invalid infrastructureConfig.networks field-type"}},
		"a number":           {[]string{"workers: 10.250.0.0/19", "workers: 10"}, []string{"error Invalid infrastructureConfig.networks.workers field-type"}},
		"the rest is checked": {[]string{"workers: 10.250.0.0/19", "worker: 1", "fp-public", "fp-none", "Provider: haproxy", "Provider: 5", controlPlaneKind, controlPlaneKind + "\n    zone: a"}, []string{
			"error Invalid controlPlaneConfig.loadBalancerProvider field-type", "error NotSupported infrastructureConfig.floatingPoolName floating-pool-not-allowed",
			"error Invalid infrastructureConfig.networks.worker field-type", "warning Forbidden controlPlaneConfig.zone setting-deprecated"}},
		"single settings": {[]string{"networks: {workers: 10.250.0.0/19}", "networks: {workers: 10.0.0.0/8, subnetId: a}", controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{}]\n    storage: {csiManila: {enabled: true}}"}, []string{
			"error Required controlPlaneConfig.loadBalancerClasses[0].name name-missing", "error Required infrastructureConfig.networks.id setting-missing", "error Invalid infrastructureConfig.networks.workers network-range",
			"warning Invalid controlPlaneConfig.storage.csiManila.enabled share-network-missing", "warning Invalid infrastructureConfig.networks.subnetId openstack-id-format"}},
		"no nodes":                {[]string{"nodes: 10.250.0.0/16, ", ""}, []string{"error Required spec.networking.nodes setting-missing"}},
		"no networking":           {[]string{"networking: {nodes: 10.250.0.0/16, pods: 100.96.0.0/11, services: 100.64.0.0/13}\n", ""}, []string{"error Required spec.networking.nodes setting-missing"}},
		"no version, an odd gate": {[]string{"kubernetes: {version: 1.33.2}", "kubernetes: {}", controlPlaneKind, controlPlaneKind + "\n    cloudControllerManager: {featureGates: {x: true}}"}, []string{"error Invalid controlPlaneConfig.cloudControllerManager.featureGates[x] feature-gate"}},
		"a region that is none":   {[]string{"region: europe", "region: venus", "fp-public", "fp-none"}, []string{"error NotSupported spec.region unknown-region"}},
		"a Shoot without workers": {[]string{shootSpec[strings.Index(shootSpec, "  workers:"):], "", "fp-public", "fp-none"}, nil},
	}.run(t)
}

func TestFloatingPool(t *testing.T) {
	const at = "infrastructureConfig.floatingPoolName "
	shootTable{
		"of all":                  {[]string{"fp-public", "fp-classes"}, nil},
		"none":                    {[]string{"fp-public", "\"\""}, []string{"error Required " + at + "setting-missing"}},
		"left out":                {[]string{noPool, ""}, []string{"error Required " + at + "setting-missing"}},
		"unknown":                 {[]string{"fp-public", "fp-publik"}, []string{"error NotSupported " + at + "floating-pool-not-allowed"}},
		"a pattern":               {[]string{"fp-public", "\"fp-*\""}, []string{"error Invalid " + at + "floating-pool-pattern"}},
		"white space about it":    {[]string{"fp-public", "\" fp-public\""}, []string{"error Invalid " + at + "value-format"}},
		"white space only":        {[]string{"fp-public", "\" \""}, []string{"error Required " + at + "setting-missing"}},
		"of another domain":       {[]string{"fp-public", "fp-demo"}, []string{"error NotSupported " + at + "floating-pool-not-allowed"}},
		"of another region still": {[]string{"region: europe", "region: asia", "fp-public", "fp-demo", "haproxy", "f5", "[europe-1a]", "[asia-1a]", "[europe-1a, europe-1b]", "[asia-1a]"}, []string{"error NotSupported " + at + "floating-pool-not-allowed"}},
	}.run(t)
}

func TestLoadBalancerProvider(t *testing.T) {
	const at = "controlPlaneConfig.loadBalancerProvider "
	asia := []string{"region: europe", "region: asia", "[europe-1a]", "[asia-1a]", "[europe-1a, europe-1b]", "[asia-1a]"}
	shootTable{
		"another one":                  {[]string{"haproxy", "amphora"}, nil},
		"none":                         {[]string{"haproxy", "\"\""}, []string{"error Required " + at + "setting-missing"}},
		"white space about it":         {[]string{"haproxy", "\" haproxy\""}, []string{"error Invalid " + at + "value-format"}},
		"white space only":             {[]string{"haproxy", "\" \""}, []string{"error Required " + at + "setting-missing"}},
		"unknown":                      {[]string{"haproxy", "Haproxy"}, []string{"error NotSupported " + at + "load-balancer-provider-not-allowed"}},
		"of another region":            {[]string{"haproxy", "f5"}, []string{"error NotSupported " + at + "load-balancer-provider-not-allowed"}},
		"of the region":                {append(asia, "haproxy", "f5"), nil},
		"of all, where there are some": {asia, []string{"error NotSupported " + at + "load-balancer-provider-not-allowed"}},
	}.run(t)
}

func TestLoadBalancerClasses(t *testing.T) {
	classes := func(pool, list string) []string {
		return []string{"fp-public", pool, controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: " + list}
	}
	const refused = "error NotSupported controlPlaneConfig.loadBalancerClasses[0] load-balancer-class-not-allowed"
	id := func(i, name string) string {
		return "warning Invalid controlPlaneConfig.loadBalancerClasses[" + i + "]." + name + " openstack-id-format"
	}
	shootTable{
		"a pool without classes":     {classes("fp-public", "[{name: a, floatingSubnetName: whatever}]"), nil},
		"those of the pool":          {classes("fp-classes", `[{name: internet, floatingSubnetID: "1234"}, {name: inner, purpose: private, subnetID: "7890", floatingNetworkID: "4567"}]`), []string{id("0", "floatingSubnetID"), id("1", "floatingNetworkID"), id("1", "subnetID")}},
		"in other letters":           {[]string{"fp-public", "fp-tags", controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: a, floatingSubnetTags: \"b, a\", floatingNetworkID: 2F8B94E7-7A3C-4F5E-9D0A-1B6C8D3E5F70}]"}, nil},
		"in the other way":           {[]string{"fp-public", "fp-tags", controlPlaneKind, controlPlaneKind + "\n    loadBalancerClasses: [{name: a, floatingSubnetTags: \"&a,b\", floatingNetworkID: 2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70}]"}, []string{refused}},
		"under other names":          {classes("fp-classes", `[{name: a, purpose: default, floatingSubnetID: "1234"}]`), []string{id("0", "floatingSubnetID")}},
		"without networks":           {classes("fp-classes", "[{name: internet}]"), []string{refused}},
		"with others":                {classes("fp-classes", "[{name: internet, floatingSubnetName: a}]"), []string{refused}},
		"with a part of them":        {classes("fp-classes", `[{name: inner, subnetID: "7890"}]`), []string{refused, id("0", "subnetID")}},
		"by another way":             {classes("fp-classes", `[{name: internet, floatingSubnetName: "1234"}]`), []string{refused}},
		"of a pool that is unknown":  {classes("fp-none", "[{name: internet, floatingSubnetName: a}]"), []string{"error Invalid controlPlaneConfig.loadBalancerClasses load-balancer-class-not-allowed", "error NotSupported infrastructureConfig.floatingPoolName floating-pool-not-allowed"}},
		"for the VPN, with networks": {classes("fp-classes", `[{name: a, purpose: vpn, floatingSubnetID: "1234"}]`), []string{"error Forbidden controlPlaneConfig.loadBalancerClasses[0].purpose load-balancer-class-not-allowed", id("0", "floatingSubnetID")}},
	}.run(t)
}

func TestZonesAndVolumes(t *testing.T) {
	shootTable{
		"no zone":               {[]string{"    zones: [europe-1a]\n", ""}, []string{"error Required workers[0].zones setting-missing"}},
		"an empty list":         {[]string{"zones: [europe-1a]", "zones: []"}, []string{"error Required workers[0].zones setting-missing"}},
		"unknown zones":         {[]string{"zones: [europe-1a, europe-1b]", "zones: [a, europe-1a, asia-1a]"}, []string{"error NotSupported workers[1].zones[0] unknown-zone", "error NotSupported workers[1].zones[2] unknown-zone"}},
		"a zone without name":   {[]string{"zones: [europe-1a]", "zones: [\"\"]"}, []string{"error Required workers[0].zones[0] setting-missing"}},
		"a zone twice":          {[]string{"zones: [europe-1a, europe-1b]", "zones: [europe-1a, europe-1b, europe-1a]"}, []string{"error Duplicate workers[1].zones[2] entry-duplicate"}},
		"a region without any":  {[]string{"region: europe", "region: mars"}, []string{"error NotSupported workers[0].zones[0] unknown-zone", "error NotSupported workers[1].zones[0] unknown-zone", "error NotSupported workers[1].zones[1] unknown-zone"}},
		"another volume type":   {[]string{"type: standard", "type: premium"}, nil},
		"an unknown one":        {[]string{"type: standard", "type: Standard"}, []string{"error NotSupported workers[0].volume.type unknown-volume-type"}},
		"an empty one":          {[]string{"type: standard", "type: \"\""}, []string{"error Required workers[0].volume.type unknown-volume-type"}},
		"no volume":             {[]string{"    volume: {type: standard, size: 20Gi}\n", ""}, nil},
		"data volumes":          {[]string{"    volume: {size: 20Gi}", "    volume: {size: 20Gi}\n    dataVolumes: [{name: a, size: 1Gi, type: standard}, {name: b, size: 1Gi, type: fast}, {name: c, size: 1Gi}]"}, []string{"error NotSupported workers[1].dataVolumes[1].type unknown-volume-type"}},
		"several pools, a rest": {[]string{"type: standard", "type: fast", "[europe-1a]", "[x]", "[europe-1a, europe-1b]", "[y]"}, []string{"error NotSupported workers[0].volume.type unknown-volume-type", "error NotSupported workers[0].zones[0] unknown-zone", "error NotSupported workers[1].zones[0] unknown-zone"}},
	}.run(t)
	expect(t, compile(t, with(t, profileSpec, "volumeTypes: [{name: standard, class: standard}, {name: premium, class: premium}]\n", "")).
		CheckShoot(shootOf(t, with(t, shootSpec, "type: standard", "type: whatever")), ptr.To("other")), nil)
	expect(t, compile(t, with(t, profileSpec, "regions: [{name: europe, zones: [{name: europe-1a}, {name: europe-1b}]}, {name: asia, zones: [{name: asia-1a}]}, {name: mars}]\n", "")).
		CheckShoot(shootOf(t, with(t, shootSpec, "[europe-1a]", "[whatever]")), ptr.To("other")), nil)
}

func TestWorkerConfigs(t *testing.T) {
	const policy = "serverGroup: {policy: anti-affinity}"
	const at = "workers[0].providerConfig."
	worker := func(settings ...string) []string {
		return []string{policy, strings.Join(settings, "\n      ")}
	}
	shootTable{
		"another policy":            {worker("serverGroup: {policy: affinity}"), nil},
		"an unknown one":            {worker("serverGroup: {policy: affintity}"), []string{"error NotSupported " + at + "serverGroup.policy server-group-not-allowed"}},
		"none":                      {worker("serverGroup: {}"), []string{"error Required " + at + "serverGroup.policy setting-missing"}},
		"affinity in several zones": {append(worker("serverGroup: {policy: affinity}"), "zones: [europe-1a]", "zones: [europe-1a, europe-1b]"), []string{"error Forbidden " + at + "serverGroup.policy server-group-not-allowed"}},
		"not allowed, in several":   {append(worker("serverGroup: {policy: soft-affinity}"), "zones: [europe-1a]", "zones: [europe-1a, europe-1b]"), []string{"error NotSupported " + at + "serverGroup.policy server-group-not-allowed"}},
		"white space":               {worker("serverGroup: {policy: \" \"}"), []string{"error Required " + at + "serverGroup.policy setting-missing"}},
		"others in several zones":   {[]string{"zones: [europe-1a]", "zones: [europe-1a, europe-1b]"}, nil},
		"a label of the pool":       {append(worker("machineLabels: [{name: a}, {name: b}]"), "- name: web\n", "- name: web\n    labels: {b: c}\n"), []string{"error Duplicate " + at + "machineLabels[1].name entry-duplicate"}},
		"wrong by itself":           {worker("machineLabels: [{value: a}]", "nodeTemplate: {capacity: {cpu: -1}}", "additionalSecurityGroups: [\"\"]"), []string{"error Required " + at + "additionalSecurityGroups[0] value-empty", "error Required " + at + "machineLabels[0].name name-missing", "error Invalid " + at + "nodeTemplate.capacity[cpu] node-template"}},
		"a group twice":             {worker("additionalSecurityGroups: [a, a]"), []string{"warning Duplicate " + at + "additionalSecurityGroups[1] entry-repeated"}},
		"what can be read":          {worker("serverGroup: {policy: none}", "colour: red"), []string{"error Forbidden " + at + "colour unknown-field", "error NotSupported " + at + "serverGroup.policy server-group-not-allowed"}},
		"of another kind":           {append(worker("serverGroup: {policy: none}"), "kind: WorkerConfig", "kind: Worker"), []string{"error NotSupported " + at + "kind provider-config-kind"}},
		"the policy is no text":     {worker("serverGroup: {policy: 5}"), []string{"error Invalid " + at + "serverGroup.policy field-type"}},
	}.run(t)
	expect(t, compile(t, with(t, profileSpec, "  serverGroupPolicies: [affinity, anti-affinity]\n", "")).CheckShoot(shootOf(t, shootSpec), ptr.To("other")), []string{"error NotSupported " + at + "serverGroup.policy server-group-not-allowed"})
}

// What a profile does not have for a Shoot is told from what it has: what nobody can write is left out, a pattern is named as
// one and never suggested.
func TestChoices(t *testing.T) {
	const pools = "    - {name: fp-public}\n"
	for name, tc := range map[string]struct {
		profile, shoot []string
		detail         string
	}{
		"a pattern":                {[]string{pools, "    - {name: fp-publi*}\n"}, []string{"fp-public", "fp-publ"}, "supported are fp-classes, names like fp-publi*, fp-tags"},
		"a pattern for all":        {[]string{pools, "    - {name: fp}\n    - {name: \"*\", domain: x}\n"}, []string{"fp-public", "\"\""}, "supported are any name, fp, fp-classes, fp-tags"},
		"names with blanks":        {[]string{pools, "    - {name: public pool}\n"}, []string{"fp-public", "x"}, `supported are fp-classes, fp-tags, "public pool"`},
		"no names":                 {[]string{pools, "    - {name: \"\"}\n    - {name: \" x\"}\n    - {name: a*b}\n", "    - {name: fp-classes, nonConstraining: true", "    - {name: \"\", nonConstraining: true", "    - {name: fp-tags,", "    - {name: \" fp-tags\","}, []string{"fp-public", "zzz"}, "ask its operator for one"},
		"providers without a name": {[]string{"[{name: haproxy}, {name: amphora}, {name: f5, region: asia}]", "[{name: \"\"}]"}, nil, "ask its operator for one"},
		"zones twice":              {[]string{"{name: europe-1a}, ", "{name: b}, {name: b}, {name: \"\"}, ", "{name: europe-1b}", "{name: b}"}, nil, "supported are b"},
		"policies for none":        {nil, []string{"serverGroup: {policy: anti-affinity}", "serverGroup: {}"}, "supported are affinity, anti-affinity"},
		"volume types without any": {[]string{"[{name: standard, class: standard}, {name: premium, class: premium}]", "[{name: \"\", class: standard}]"}, nil, "ask the operator of the profile for one"},
	} {
		t.Run(name, func(t *testing.T) {
			domain := "other"
			if name == "a pattern for all" {
				domain = "x"
			}
			report := compile(t, with(t, profileSpec, tc.profile...)).CheckShoot(shootOf(t, with(t, shootSpec, tc.shoot...)), &domain)
			if len(report.Errors) == 0 || !strings.HasSuffix(report.Errors[0].Detail, tc.detail) || strings.Contains(report.Errors[0].Detail, "mean") {
				t.Errorf("%v, not %s", report.Errors, tc.detail)
			}
		})
	}
}

func TestRegionWithoutKeystone(t *testing.T) {
	const one, each = "keystoneURL: https://keystone.example.com/v3/", "keystoneURLs: [{region: asia, url: https://keystone.example.com/v3/}]"
	asia := []string{"region: europe", "region: asia", "[europe-1a]", "[asia-1a]", "[europe-1a, europe-1b]", "[asia-1a]", "haproxy", "f5"}
	without := []string{"error NotSupported spec.region region-without-keystone"}
	for name, tc := range map[string]struct {
		keystone string
		shoot    []string
		want     []string
	}{
		"for all":            {one, nil, nil},
		"for the region":     {each, asia, nil},
		"for another region": {each, nil, without},
		"an empty one":       {"keystoneURL: \"\"", nil, without},
		"none":               {"useSNAT: true", asia, without},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, compile(t, with(t, profileSpec, one, tc.keystone)).CheckShoot(shootOf(t, with(t, shootSpec, tc.shoot...)), ptr.To("other")), tc.want)
		})
	}
}
