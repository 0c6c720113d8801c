// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/test/cases"
)

// sound is a config that has what each needs.
const sound = `
keystoneURL: https://keystone.example.com/v3/
constraints:
  floatingPools: [{name: fp-pool-1}]
  loadBalancerProviders: [{name: haproxy}]
`

// check checks a config in a CloudProfile with the regions europe and asia.
func check(t *testing.T, config *v1alpha1.CloudProfileConfig) validation.Findings {
	t.Helper()
	before := config.DeepCopy()
	found := validation.CloudProfileConfig(config, []string{"europe", "asia"}, field.NewPath("config"))
	if !reflect.DeepEqual(before, config) {
		t.Error("the config was changed")
	}
	return found
}

// runConfigs checks the CloudProfileConfigs of an archive.
func runConfigs(t *testing.T, archive string) {
	t.Helper()
	run(t, archive, func(c *cases.Case) validation.Findings {
		var config v1alpha1.CloudProfileConfig
		c.Decode("config.yaml", &config)
		return check(c.T(), &config)
	})
}

func TestSound(t *testing.T) { runConfigs(t, "sound") }

func TestFloatingPools(t *testing.T) { runConfigs(t, "floating-pools") }

func TestLoadBalancerProviders(t *testing.T) { runConfigs(t, "load-balancer-providers") }

func TestDNSServers(t *testing.T) { runConfigs(t, "dns-servers") }

func TestScalars(t *testing.T) { runConfigs(t, "scalars") }

func TestServerGroupPolicies(t *testing.T) {
	runConfigs(t, "server-group-policies")
	var config v1alpha1.CloudProfileConfig
	decode(t, sound, &config)
	config.ServerGroupPolicies = []string{"affintity", "antiAffinity", "soft_anti-affinity", "rack", "a-very-long-one-" + strings.Repeat("x", 60)}
	found := check(t, &config)
	for i, meant := range []string{`mean "affinity"?`, `mean "anti-affinity"?`, `mean "soft-anti-affinity"?`, "", ""} {
		if detail := found.Warnings[i].Detail; strings.Contains(detail, "mean") != (meant != "") || !strings.Contains(detail, meant) {
			t.Errorf("%q, not %s", detail, meant)
		}
	}
}

func TestResolvConfOptions(t *testing.T) { runConfigs(t, "resolv-conf-options") }

func TestEverythingWrongInOrder(t *testing.T) {
	var config v1alpha1.CloudProfileConfig
	decode(t, `
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
`, &config)
	expect(t, check(t, &config), []string{
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
