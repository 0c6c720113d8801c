// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
)

func TestControlPlaneConfig(t *testing.T) {
	const gates = "cloudControllerManager: {featureGates: {%s}}"
	for name, tc := range map[string]struct {
		config, networks, version string
		want                      []string
	}{
		"nothing":                   {"{}", "{}", "1.33.2", nil},
		"classes":                   {"loadBalancerClasses: [{name: a, purpose: default}, {name: b, purpose: private}]", "{}", "1.33.2", nil},
		"classes that are wrong":    {"loadBalancerClasses: [{name: a}, {name: a, purpose: x}]", "{}", "1.33.2", []string{"error FieldValueDuplicate config.loadBalancerClasses[1].name entry-duplicate", "error FieldValueNotSupported config.loadBalancerClasses[1].purpose value-not-supported"}},
		"a class for the VPN":       {"loadBalancerClasses: [{name: a, purpose: vpn}]", "{}", "1.33.2", []string{"error FieldValueForbidden config.loadBalancerClasses[0].purpose load-balancer-class-not-allowed"}},
		"a provider":                {"loadBalancerProvider: haproxy", "{}", "1.33.2", nil},
		"no provider's name":        {"loadBalancerProvider: haproxy*", "{}", "1.33.2", []string{"error FieldValueInvalid config.loadBalancerProvider value-format"}},
		"a provider, white space":   {"loadBalancerProvider: \"haproxy \"", "{}", "1.33.2", []string{"error FieldValueInvalid config.loadBalancerProvider value-format"}},
		"a zone":                    {"zone: europe-1a", "{}", "1.33.2", []string{"warning FieldValueForbidden config.zone setting-deprecated"}},
		"feature gates":             {fmt.Sprintf(gates, "AppArmor: true"), "{}", "1.20.0", nil},
		"no feature gates":          {fmt.Sprintf(gates, ""), "{}", "1.33.2", nil},
		"nothing of it":             {"cloudControllerManager: {}", "{}", "1.33.2", nil},
		"unknown feature gates":     {fmt.Sprintf(gates, "b: true, a: false, c: true"), "{}", "1.33.2", []string{"error FieldValueInvalid config.cloudControllerManager.featureGates[a] feature-gate", "error FieldValueInvalid config.cloudControllerManager.featureGates[b] feature-gate", "error FieldValueInvalid config.cloudControllerManager.featureGates[c] feature-gate"}},
		"of another version":        {fmt.Sprintf(gates, "AppArmor: true"), "{}", "1.33.2", []string{"error FieldValueForbidden config.cloudControllerManager.featureGates[AppArmor] feature-gate"}},
		"a part of a version":       {fmt.Sprintf(gates, "AppArmor: true"), "{}", "1.33", []string{"error FieldValueForbidden config.cloudControllerManager.featureGates[AppArmor] feature-gate"}},
		"locked to a value":         {fmt.Sprintf(gates, "AppArmor: false"), "{}", "1.32.0", []string{"error FieldValueForbidden config.cloudControllerManager.featureGates[AppArmor] feature-gate"}},
		"locked to this value":      {fmt.Sprintf(gates, "AppArmor: true"), "{}", "1.32.0", nil},
		"no version":                {fmt.Sprintf(gates, "AppArmor: true, a: true"), "{}", "", []string{"error FieldValueInvalid config.cloudControllerManager.featureGates[a] feature-gate"}},
		"a version that is none":    {fmt.Sprintf(gates, "AppArmor: true, a: true"), "{}", "latest", []string{"error FieldValueInvalid config.cloudControllerManager.featureGates[a] feature-gate"}},
		"Manila":                    {"storage: {csiManila: {enabled: true}}", "{shareNetwork: {enabled: true}}", "1.33.2", nil},
		"Manila, off":               {"storage: {csiManila: {enabled: false}}", "{}", "1.33.2", nil},
		"Manila, not at all":        {"storage: {}", "{}", "1.33.2", nil},
		"Manila without network":    {"storage: {csiManila: {enabled: true}}", "{}", "1.33.2", []string{"warning FieldValueInvalid config.storage.csiManila.enabled share-network-missing"}},
		"Manila, the network off":   {"storage: {csiManila: {enabled: true}}", "{shareNetwork: {enabled: false}}", "1.33.2", []string{"warning FieldValueInvalid config.storage.csiManila.enabled share-network-missing"}},
		"Manila, networks unknown":  {"storage: {csiManila: {enabled: true}}", "null", "1.33.2", nil},
		"everything wrong in order": {"loadBalancerClasses: [{purpose: vpn}], zone: a, storage: {csiManila: {enabled: true}}, " + fmt.Sprintf(gates, "a: true"), "{}", "1.33.2", []string{"error FieldValueRequired config.loadBalancerClasses[0].name name-missing", "error FieldValueForbidden config.loadBalancerClasses[0].purpose load-balancer-class-not-allowed", "error FieldValueInvalid config.cloudControllerManager.featureGates[a] feature-gate", "warning FieldValueForbidden config.zone setting-deprecated", "warning FieldValueInvalid config.storage.csiManila.enabled share-network-missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			var config v1alpha1.ControlPlaneConfig
			decode(t, "{"+trimBraces(tc.config)+"}", &config)
			var networks *v1alpha1.Networks
			decode(t, tc.networks, &networks)
			expect(t, validation.ControlPlaneConfig(&config, networks, tc.version, field.NewPath("config")), tc.want)
		})
	}
}
