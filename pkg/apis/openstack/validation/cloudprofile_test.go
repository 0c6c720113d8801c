// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
)

// sound is a config that has what each needs.
const sound = `
keystoneURL: https://keystone.example.com/v3/
constraints:
  floatingPools: [{name: fp-pool-1}]
  loadBalancerProviders: [{name: haproxy}]
`

// check checks the sound config with other settings in it, in a CloudProfile with the regions europe and asia. Settings
// that are lists take the place of the sound one.
func check(t *testing.T, settings string) validation.Findings {
	t.Helper()
	base, other := map[string]any{}, map[string]any{}
	decode(t, sound, &base)
	decode(t, settings, &other)
	if constraints, found := other["constraints"].(map[string]any); found {
		maps.Copy(base["constraints"].(map[string]any), constraints)
		delete(other, "constraints")
	}
	maps.Copy(base, other)
	raw, err := json.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	var config v1alpha1.CloudProfileConfig
	decode(t, string(raw), &config)
	before := config.DeepCopy()
	found := validation.CloudProfileConfig(&config, []string{"europe", "asia"}, field.NewPath("config"))
	if !reflect.DeepEqual(before, &config) {
		t.Error("the config was changed")
	}
	return found
}

type table map[string]struct {
	settings string
	want     []string
}

func (tests table) run(t *testing.T) {
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { expect(t, check(t, tc.settings), tc.want) })
	}
}

func TestSound(t *testing.T) {
	table{
		"nothing else":       {"{}", nil},
		"what may be either": {"{rescanBlockStorageOnResize: true, ignoreVolumeAZ: true, useSNAT: false}", nil},
	}.run(t)
}

func TestFloatingPools(t *testing.T) {
	const at = " config.constraints.floatingPools"
	pools := func(list string) string { return "constraints: {floatingPools: " + list + "}" }
	table{
		"each form of pattern":        {pools(`[{name: "*"}, {name: "fp-*"}, {name: "*-fp"}, {name: fp}]`), nil},
		"every field":                 {pools(`[{name: fp}, {name: "fp-*", region: europe, domain: demo, defaultFloatingSubnet: "public-*", nonConstraining: true, loadBalancerClasses: [{name: a}]}]`), nil},
		"one name, differing":         {pools(`[{name: fp}, {name: fp, region: europe}, {name: fp, region: asia}, {name: fp, domain: demo}, {name: fp, region: europe, domain: demo}, {name: fp, region: europe, domain: dev}, {name: "fp*"}]`), nil},
		"none":                        {pools(`[]`), []string{"error FieldValueRequired" + at + " setting-missing"}},
		"no name":                     {pools(`[{region: europe}, {}]`), []string{"error FieldValueRequired" + at + "[0].name name-missing", "error FieldValueRequired" + at + "[1].name name-missing"}},
		"a blank name":                {pools(`[{name: " "}]`), []string{"error FieldValueRequired" + at + "[0].name name-missing"}},
		"the * within":                {pools(`[{name: "fp-*-pool"}]`), []string{"error FieldValueInvalid" + at + "[0].name floating-pool-pattern"}},
		"the * at both ends":          {pools(`[{name: "*fp*"}]`), []string{"error FieldValueInvalid" + at + "[0].name floating-pool-pattern"}},
		"the * twice":                 {pools(`[{name: "**"}, {name: "**fp"}, {name: "fp**"}, {name: "*f*p"}]`), []string{"error FieldValueInvalid" + at + "[0].name floating-pool-pattern", "error FieldValueInvalid" + at + "[1].name floating-pool-pattern", "error FieldValueInvalid" + at + "[2].name floating-pool-pattern", "error FieldValueInvalid" + at + "[3].name floating-pool-pattern"}},
		"twice":                       {pools(`[{name: fp}, {name: x}, {name: fp}]`), []string{"error FieldValueDuplicate" + at + "[2].name entry-duplicate"}},
		"twice, one nonConstraining":  {pools(`[{name: fp}, {name: fp, nonConstraining: true}]`), []string{"error FieldValueDuplicate" + at + "[1].name entry-duplicate"}},
		"twice for a region":          {pools(`[{name: fp, region: europe}, {name: fp, region: europe}, {name: x}]`), []string{"error FieldValueDuplicate" + at + "[1].name entry-duplicate"}},
		"twice for a domain":          {pools(`[{name: fp, domain: demo}, {name: fp, domain: demo}]`), []string{"error FieldValueDuplicate" + at + "[1].name entry-duplicate"}},
		"twice for both":              {pools(`[{name: x}, {name: fp, region: asia, domain: demo}, {name: fp, region: asia, domain: demo}]`), []string{"error FieldValueDuplicate" + at + "[2].name entry-duplicate"}},
		"empty settings":              {pools(`[{name: fp}, {name: fp, region: "", domain: " ", defaultFloatingSubnet: ""}]`), []string{"error FieldValueRequired" + at + "[1].region value-empty", "error FieldValueRequired" + at + "[1].domain value-empty", "error FieldValueRequired" + at + "[1].defaultFloatingSubnet value-empty"}},
		"blanks within":               {pools(`[{name: public pool, domain: my domain}, {name: x}]`), nil},
		"white space":                 {pools(`[{name: "fp ", region: " europe", domain: "demo\n", defaultFloatingSubnet: " a"}, {name: fp}]`), []string{"error FieldValueInvalid" + at + "[0].name value-format", "error FieldValueInvalid" + at + "[0].region value-format", "error FieldValueInvalid" + at + "[0].domain value-format", "error FieldValueInvalid" + at + "[0].defaultFloatingSubnet value-format"}},
		"white space, served":         {pools(`[{name: fp, region: " europe"}, {name: fp, region: asia}]`), []string{"error FieldValueInvalid" + at + "[0].region value-format"}},
		"other wildcards":             {pools(`[{name: "fp?"}, {name: "fp-[ab]"}, {name: "fp.*"}]`), lines(3, "warning FieldValueInvalid"+at+"[#].name name-suspicious")},
		"templates":                   {pools(`[{name: "{{ .Values.pool }}"}, {name: "fp-${region}"}, {name: <pool>}, {name: fp, domain: <domain>}]`), append(lines(3, "warning FieldValueInvalid"+at+"[#].name name-suspicious"), "warning FieldValueInvalid"+at+"[3].domain name-suspicious")},
		"a region that is unknown":    {pools(`[{name: fp}, {name: fp, region: eurpoe}]`), []string{"warning FieldValueNotSupported" + at + "[1].region region-unknown"}},
		"a region without pool":       {pools(`[{name: fp, region: europe}]`), []string{"warning FieldValueRequired" + at + " region-unserved"}},
		"a pool for one domain there": {pools(`[{name: fp, region: europe}, {name: fp, domain: demo}]`), nil},
		"classes":                     {pools(`[{name: fp, loadBalancerClasses: [{name: a, purpose: x}]}, {name: x, loadBalancerClasses: [{name: a}, {name: a, floatingSubnetID: "1234"}]}]`), []string{"error FieldValueNotSupported" + at + "[0].loadBalancerClasses[0].purpose value-not-supported", "error FieldValueDuplicate" + at + "[1].loadBalancerClasses[1].name entry-duplicate", "warning FieldValueInvalid" + at + "[1].loadBalancerClasses[1].floatingSubnetID openstack-id-format"}},
	}.run(t)
}

func TestLoadBalancerProviders(t *testing.T) {
	const at = " config.constraints.loadBalancerProviders"
	providers := func(list string) string { return "constraints: {loadBalancerProviders: " + list + "}" }
	table{
		"those of the guide":        {providers(`[{name: haproxy}, {name: f5, region: asia}, {name: haproxy, region: asia}]`), nil},
		"one for each region":       {providers(`[{name: f5, region: asia}, {name: f5, region: europe}]`), nil},
		"none":                      {providers(`[]`), []string{"error FieldValueRequired" + at + " setting-missing"}},
		"no name":                   {providers(`[{}, {region: asia}]`), []string{"error FieldValueRequired" + at + "[0].name name-missing", "error FieldValueRequired" + at + "[1].name name-missing"}},
		"twice":                     {providers(`[{name: f5}, {name: f5}]`), []string{"error FieldValueDuplicate" + at + "[1].name entry-duplicate"}},
		"twice for a region":        {providers(`[{name: f5}, {name: f5, region: asia}, {name: f5, region: asia}]`), []string{"error FieldValueDuplicate" + at + "[2].name entry-duplicate"}},
		"white space":               {providers(`[{name: " f5", region: "asia "}, {name: f5}]`), []string{"error FieldValueInvalid" + at + "[0].name value-format", "error FieldValueInvalid" + at + "[0].region value-format"}},
		"an empty region":           {providers(`[{name: f5}, {name: f5, region: ""}]`), []string{"error FieldValueRequired" + at + "[1].region value-empty"}},
		"a region that is unknown":  {providers(`[{name: f5}, {name: f5, region: Asia}]`), []string{"warning FieldValueNotSupported" + at + "[1].region region-unknown"}},
		"a region without provider": {providers(`[{name: f5, region: europe}]`), []string{"warning FieldValueRequired" + at + " region-unserved"}},
	}.run(t)
}

func TestDNSServers(t *testing.T) {
	table{
		"both families":  {"dnsServers: [10.10.10.11, \"2001:db8::1\", \"::\"]", nil},
		"empty":          {"dnsServers: []", nil},
		"no addresses":   {"dnsServers: [dns.example.com, \"\", \" 10.0.0.1\", 10.0.0.0/8, 10.0.0.256, 010.0.0.1, \"fe80::1%eth0\", \"10.0.0.1:53\"]", lines(8, "error FieldValueInvalid config.dnsServers[#] value-format")},
		"twice":          {"dnsServers: [10.0.0.1, 10.0.0.2, 10.0.0.1]", []string{"error FieldValueDuplicate config.dnsServers[2] entry-duplicate"}},
		"written twice":  {"dnsServers: [\"2001:db8::1\", \"2001:DB8:0::1\"]", []string{"error FieldValueDuplicate config.dnsServers[1] entry-duplicate"}},
		"twice and none": {"dnsServers: [x, x]", lines(2, "error FieldValueInvalid config.dnsServers[#] value-format")},
	}.run(t)
}

// lines repeats a finding, with numbers from 0.
func lines(n int, finding string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.ReplaceAll(finding, "#", string(rune('0'+i)))
	}
	return list
}

func TestScalars(t *testing.T) {
	table{
		"a domain":                   {"dhcpDomain: nodes.example.com", nil},
		"a domain of one name":       {"dhcpDomain: novalocal", nil},
		"a domain, fully qualified":  {"dhcpDomain: OpenStack.example.com.", nil},
		"a domain with an _":         {"dhcpDomain: _a.open_stack.example.com", nil},
		"a domain that is empty":     {"dhcpDomain: \"\"", []string{"error FieldValueRequired config.dhcpDomain value-empty"}},
		"a domain that is none":      {"dhcpDomain: a b", []string{"error FieldValueInvalid config.dhcpDomain value-format"}},
		"a domain that is a pattern": {"dhcpDomain: .example.com", []string{"error FieldValueInvalid config.dhcpDomain value-format"}},
		"a timeout":                  {"requestTimeout: 1m30s", nil},
		"no time":                    {"requestTimeout: 0s", []string{"error FieldValueInvalid config.requestTimeout value-out-of-range"}},
		"less than no time":          {"requestTimeout: -60s", []string{"error FieldValueInvalid config.requestTimeout value-out-of-range"}},
		"a limit":                    {"nodeVolumeAttachLimit: 1", nil},
		"no volumes":                 {"nodeVolumeAttachLimit: 0", []string{"error FieldValueInvalid config.nodeVolumeAttachLimit value-out-of-range"}},
		"less than no volumes":       {"nodeVolumeAttachLimit: -1", []string{"error FieldValueInvalid config.nodeVolumeAttachLimit value-out-of-range"}},
	}.run(t)
}

func TestServerGroupPolicies(t *testing.T) {
	const at = " config.serverGroupPolicies"
	table{
		"all of Nova": {"serverGroupPolicies: [affinity, anti-affinity, soft-affinity, soft-anti-affinity]", nil},
		"none":        {"serverGroupPolicies: []", nil},
		"empty ones":  {"serverGroupPolicies: [affinity, \"\", \" \"]", []string{"error FieldValueRequired" + at + "[1] value-empty", "error FieldValueRequired" + at + "[2] value-empty"}},
		"unknown":     {"serverGroupPolicies: [affintity, Anti-Affinity, rack]", lines(3, "warning FieldValueNotSupported"+at+"[#] server-group-policy")},
		"twice":       {"serverGroupPolicies: [affinity, affinity]", []string{"warning FieldValueDuplicate" + at + "[1] entry-repeated"}},
	}.run(t)
	found := check(t, "serverGroupPolicies: [affintity, antiAffinity, soft_anti-affinity, rack, \"a-very-long-one-"+strings.Repeat("x", 60)+"\"]")
	for i, meant := range []string{`mean "affinity"?`, `mean "anti-affinity"?`, `mean "soft-anti-affinity"?`, "", ""} {
		if detail := found.Warnings[i].Detail; strings.Contains(detail, "mean") != (meant != "") || !strings.Contains(detail, meant) {
			t.Errorf("%q, not %s", detail, meant)
		}
	}
}

func TestResolvConfOptions(t *testing.T) {
	const at = " config.resolvConfOptions"
	table{
		"those of the guide":       {"resolvConfOptions: [rotate, \"timeout:1\"]", nil},
		"at the bounds":            {"resolvConfOptions: [\"ndots:0\", \"timeout:30\", \"attempts:5\"]", nil},
		"beyond the bounds":        {"resolvConfOptions: [\"ndots:16\", \"timeout:0\", \"attempts:-1\", \"attempts:6\"]", lines(4, "warning FieldValueInvalid"+at+"[#] resolv-conf-option")},
		"numbers":                  {"resolvConfOptions: [\"rotate:1\", timeout, \"timeout:\", \"timeout:1s\", \"ndots:2:3\"]", lines(5, "warning FieldValueInvalid"+at+"[#] resolv-conf-option")},
		"unknown":                  {"resolvConfOptions: [rotat, search, \":\"]", lines(3, "warning FieldValueInvalid"+at+"[#] resolv-conf-option")},
		"several in one, the last": {"resolvConfOptions: [\"rotate timeout:1\", \" edns0\", \"use-vc\\trotat\"]", []string{"warning FieldValueInvalid" + at + "[0] resolv-conf-option", "warning FieldValueInvalid" + at + "[2] resolv-conf-option", "warning FieldValueInvalid" + at + "[2] resolv-conf-option"}},
		"twice":                    {"resolvConfOptions: [rotate, debug, debug rotate]", []string{"warning FieldValueInvalid" + at + "[2] resolv-conf-option", "warning FieldValueDuplicate" + at + "[2] entry-repeated", "warning FieldValueDuplicate" + at + "[2] entry-repeated"}},
		"the line of the file":     {"resolvConfOptions: [options rotate]", []string{"warning FieldValueInvalid" + at + "[0] resolv-conf-option"}},
		"empty ones":               {"resolvConfOptions: [\"\", \" \"]", lines(2, "error FieldValueRequired"+at+"[#] value-empty")},
		"more than one line":       {"resolvConfOptions: [\"rotate\\nnameserver 10.0.0.1\", \"rotate\\r\", \"rotate\\0\"]", lines(3, "error FieldValueInvalid"+at+"[#] value-format")},
	}.run(t)
}

func TestEverythingWrongInOrder(t *testing.T) {
	expect(t, check(t, `
keystoneURL: ftp://keystone.example.com
keystoneCACert: none
keystoneForceInsecure: true
keystoneURLs: [{region: mars}]
constraints: {floatingPools: [], loadBalancerProviders: [{name: f5, region: venus}, {}]}
dnsServers: [x]
dhcpDomain: ""
requestTimeout: 0s
nodeVolumeAttachLimit: 0
serverGroupPolicies: [""]
resolvConfOptions: [x]
storageClasses: [{name: A}, {reclaimPolicy: x}]
`), []string{
		"error FieldValueRequired config.constraints.floatingPools setting-missing",
		"error FieldValueRequired config.constraints.loadBalancerProviders[1].name name-missing",
		"error FieldValueInvalid config.dnsServers[0] value-format",
		"error FieldValueRequired config.dhcpDomain value-empty",
		"error FieldValueInvalid config.keystoneURL keystone-url",
		"error FieldValueInvalid config.keystoneCACert ca-certificate",
		"error FieldValueRequired config.keystoneURLs[0].url setting-missing",
		"error FieldValueInvalid config.requestTimeout value-out-of-range",
		"error FieldValueInvalid config.nodeVolumeAttachLimit value-out-of-range",
		"error FieldValueRequired config.serverGroupPolicies[0] value-empty",
		"error FieldValueInvalid config.storageClasses[0].name value-format",
		"error FieldValueRequired config.storageClasses[1].name name-missing",
		"error FieldValueNotSupported config.storageClasses[1].reclaimPolicy value-not-supported",
		"warning FieldValueNotSupported config.constraints.loadBalancerProviders[0].region region-unknown",
		"warning FieldValueInvalid config.keystoneForceInsecure keystone-insecure",
		"warning FieldValueNotSupported config.keystoneURLs[0].region region-unknown",
		"warning FieldValueInvalid config.resolvConfOptions[0] resolv-conf-option",
	})
}

// The zero config lacks what each needs, and nothing else is said about it; a profile need not have regions.
func TestNothing(t *testing.T) {
	expect(t, validation.CloudProfileConfig(&v1alpha1.CloudProfileConfig{}, nil, field.NewPath("config")), []string{
		"error FieldValueRequired config.constraints.floatingPools setting-missing",
		"error FieldValueRequired config.constraints.loadBalancerProviders setting-missing",
		"error FieldValueRequired config.keystoneURL setting-missing",
	})
}
