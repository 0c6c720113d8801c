// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package constraints_test

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
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack/constraints"
)

const poolList = `    - {name: fp-public}
    - {name: fp-demo, domain: demo, region: europe}
    - {name: fp-classes, nonConstraining: true, loadBalancerClasses: [{name: internet, floatingSubnetID: "1234"}, {name: inner, purpose: private, subnetID: "7890", floatingNetworkID: "4567"}]}
    - {name: fp-tags, nonConstraining: true, loadBalancerClasses: [{name: tags, floatingSubnetTags: "a,b", floatingNetworkID: 2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70}]}
`

// What nobody knows the domain of is refused if no domain will do, and otherwise only warned about.
func TestDomains(t *testing.T) {
	const (
		refused = "error NotSupported infrastructureConfig.floatingPoolName floating-pool-not-allowed"
		open    = "warning Invalid infrastructureConfig.floatingPoolName floating-pool-domain"
		class   = "error NotSupported controlPlaneConfig.loadBalancerClasses[0] load-balancer-class-not-allowed"
		without = "error Invalid controlPlaneConfig.loadBalancerClasses load-balancer-class-not-allowed"
		either  = "warning Invalid controlPlaneConfig.loadBalancerClasses[0] floating-pool-domain"
	)
	const classes = ", loadBalancerClasses: [{name: a, floatingSubnetName: a}]"
	for name, tc := range map[string]struct {
		pools, pool, classes string
		// what is found for nobody knows whom, and for single domains
		unknown []string
		known   map[string][]string
	}{
		"for all":                            {"[{name: fp}]", "fp", "", nil, map[string][]string{"": nil, "a": nil}},
		"for none":                           {"[{name: fp}, {name: fp-a, domain: a}]", "fp-b", "", []string{refused}, map[string][]string{"": {refused}, "a": {refused}}},
		"for one":                            {"[{name: fp}, {name: fp-a, domain: a}]", "fp-a", "", []string{open}, map[string][]string{"a": nil, "b": {refused}, "": {refused}}},
		"for all but one":                    {"[{name: fp}, {name: fp-a, domain: a}]", "fp", "", []string{open}, map[string][]string{"a": {refused}, "b": nil, "": nil}},
		"for all, by two entries":            {"[{name: fp}, {name: \"f*\", domain: a}]", "fp", "", nil, map[string][]string{"a": nil, "b": nil}},
		"for a domain elsewhere":             {"[{name: fp}, {name: fp-a, domain: a, region: asia}]", "fp", "", nil, map[string][]string{"a": nil, "b": nil}},
		"one more for a domain":              {"[{name: fp}, {name: fp-a, domain: a, nonConstraining: true}]", "fp", "", nil, map[string][]string{"a": nil, "b": nil}},
		"for each of several":                {"[{name: fp-a, domain: a}, {name: fp-*, domain: b}]", "fp-a", "", []string{open}, map[string][]string{"a": nil, "b": nil, "c": {refused}}},
		"classes for all":                    {"[{name: fp, loadBalancerClasses: [{name: x, floatingSubnetName: a}]}]", "fp", classes, nil, map[string][]string{"a": nil}},
		"classes for none":                   {"[{name: fp, loadBalancerClasses: [{name: x}]}, {name: fp, domain: a, loadBalancerClasses: [{name: y}]}]", "fp", classes, []string{class}, map[string][]string{"a": {class}, "b": {class}}},
		"classes for one":                    {"[{name: fp, loadBalancerClasses: [{name: x}]}, {name: fp, domain: a, loadBalancerClasses: [{name: y, floatingSubnetName: a}]}]", "fp", classes, []string{either}, map[string][]string{"a": nil, "b": {class}}},
		"a pool for one, its classes":        {"[{name: fp}, {name: fp-a, domain: a, loadBalancerClasses: [{name: x}]}]", "fp-a", classes, []string{class, open}, map[string][]string{"a": {class}, "b": {without, refused}}},
		"a pool for one, classes for it":     {"[{name: fp}, {name: fp-a, domain: a, loadBalancerClasses: [{name: x, floatingSubnetName: a}]}]", "fp-a", classes, []string{open}, map[string][]string{"a": nil, "b": {without, refused}}},
		"no pools":                           {"[]", "fp", classes, []string{without, refused}, map[string][]string{"": {without, refused}}},
		"a domain that looks like no domain": {"[{name: fp, domain: \"?\"}, {name: fp, domain: \"\"}]", "fp", "", []string{open}, map[string][]string{"?": nil, "": nil, "??": {refused}}},
	} {
		t.Run(name, func(t *testing.T) {
			profile := compile(t, with(t, profileSpec, "floatingPools:\n"+poolList, "floatingPools: "+tc.pools+"\n"))
			shoot := shootOf(t, with(t, shootSpec, "fp-public", tc.pool, "    loadBalancerProvider: haproxy", "    loadBalancerProvider: haproxy\n"+indent(tc.classes)))
			expect(t, profile.CheckShoot(shoot, nil), tc.unknown)
			for domain, want := range tc.known {
				expect(t, profile.CheckShoot(shoot, &domain), want)
			}
		})
	}
}

func indent(classes string) string {
	if classes == "" {
		return ""
	}
	return "    " + classes[len(", "):]
}

// Property: what is found for an unknown domain follows from what is found for each domain. An error is one for all of
// them; a warning stands where they differ.
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
		shoot.Spec.Provider.InfrastructureConfig = raw(fmt.Sprintf("{kind: InfrastructureConfig, floatingPoolName: %s}", rapid.SampledFrom([]string{"a", "ab", "b"}).Draw(t, "chosen")))
		shoot.Spec.Provider.ControlPlaneConfig = raw("{kind: ControlPlaneConfig, loadBalancerClasses: [{name: c, subnetID: \"1\"}]}")
		found := func(domain *string) (refused, open []string) {
			report := constraints.Of(config).CheckShoot(consistency.ShootQuestion{Shoot: shoot, Profile: &v1beta1.CloudProfileSpec{}, Domain: domain})
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
		if !constraints.Of(config).DependsOnDomain(shoot) && (len(open) > 0 || count[pool]%len(domains) != 0 || count[class]%len(domains) != 0) {
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
