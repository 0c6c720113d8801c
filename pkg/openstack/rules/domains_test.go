// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack/rules"
	"github.com/capkit/capkit/pkg/provider"
)

// Property: the findings for an unknown domain follow from the findings for each domain. An error applies to all domains; a warning means
// that they differ.
func TestUnknownDomainIsAnyDomain(t *testing.T) {
	names, domains := []string{"a", "ab", "a*", "*b", "*"}, []string{"x", "y", "z"}
	rapid.Check(t, func(t *rapid.T) {
		config := &v1alpha1.CloudProfileConfig{}
		for range rapid.IntRange(0, 5).Draw(t, "pools") {
			pool := v1alpha1.FloatingPool{Name: rapid.SampledFrom(names).Draw(t, "name")}
			if rapid.Bool().Draw(t, "regional") {
				pool.Region = ptr.To(rapid.SampledFrom([]string{"europe", "asia"}).Draw(t, "region"))
			}
			if rapid.Bool().Draw(t, "of a domain") {
				pool.Domain = ptr.To(rapid.SampledFrom(domains[:2]).Draw(t, "domain"))
			}
			if rapid.Bool().Draw(t, "more") {
				pool.NonConstraining = ptr.To(true)
			}
			for _, subnet := range rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2"}), 0, 2).Draw(t, "classes") {
				pool.LoadBalancerClasses = append(pool.LoadBalancerClasses, v1alpha1.LoadBalancerClass{Name: "c", SubnetID: &subnet})
			}
			config.Constraints.FloatingPools = append(config.Constraints.FloatingPools, pool)
		}
		shoot := &v1beta1.Shoot{}
		shoot.Spec.Region = "europe"
		chosen := rapid.SampledFrom([]string{"a", "ab", "b"}).Draw(t, "chosen")
		shoot.Spec.Provider.InfrastructureConfig = raw(fmt.Sprintf("{kind: InfrastructureConfig, floatingPoolName: %s}", chosen))
		shoot.Spec.Provider.ControlPlaneConfig = raw("{kind: ControlPlaneConfig, loadBalancerClasses: [{name: c, subnetID: \"1\"}]}")
		found := func(domain *string) (refused, open []string) {
			report := rules.Extension{}.Of(config).ValidateShoot(provider.ShootQuestion{Shoot: shoot, Profile: &v1beta1.CloudProfileSpec{}, Scope: domain})
			for _, err := range report.Errors {
				if err.Origin == "floating-pool-not-allowed" || err.Origin == "load-balancer-class-not-allowed" {
					refused = append(refused, err.Field)
				}
			}
			for _, warning := range report.Warnings {
				if warning.Origin == "floating-pool-domain" {
					open = append(open, warning.Field)
				}
			}
			return refused, open
		}
		refused, open := found(nil)
		const pool, class = "spec.provider.infrastructureConfig.floatingPoolName", "spec.provider.controlPlaneConfig.loadBalancerClasses[0]"
		count, allowed := map[string]int{}, 0
		for _, domain := range domains {
			errs, warnings := found(&domain)
			if len(warnings) > 0 {
				t.Fatalf("%s is known: %v", domain, warnings)
			}
			for _, path := range errs {
				count[path]++
			}
			if !slices.Contains(errs, pool) {
				allowed++
			}
		}
		for path, of := range map[string]int{pool: len(domains), class: allowed} {
			all, none := count[path] == of && of > 0, count[path] == 0
			if slices.Contains(refused, path) != all || slices.Contains(open, path) != (!all && !none) {
				t.Fatalf("%s: refused for %d of %d domains, and without a domain %v, open %v", path, count[path], of, refused, open)
			}
		}
		needs := rules.Extension{}.Of(config).(provider.ScopedValidator).NeedsScope(shoot)
		if !needs && (len(open) > 0 || count[pool]%len(domains) != 0 || count[class]%len(domains) != 0) {
			t.Fatal("it depends on the domain, and is said not to")
		}
	})
}

func raw(text string) *runtime.RawExtension {
	data, err := yaml.YAMLToJSON([]byte("{apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, " + text[1:]))
	if err != nil {
		panic(err)
	}
	return &runtime.RawExtension{Raw: data}
}
