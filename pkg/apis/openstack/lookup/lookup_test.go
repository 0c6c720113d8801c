// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lookup_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

func decode[T any](t testing.TB, text string) (read T) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// guide returns the operator guide's example with all settings.
func guide(t testing.TB) *v1alpha1.CloudProfileConfig {
	t.Helper()
	text, err := os.ReadFile("../v1alpha1/testdata/guide-old-format-options.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config := decode[v1alpha1.CloudProfileConfig](t, string(text))
	return &config
}

func TestKeystone(t *testing.T) {
	type endpoint = lookup.Endpoint
	for name, tc := range map[string]struct {
		config string
		region string
		want   endpoint
		found  bool
	}{
		"one for all regions": {"keystoneURL: https://k", "europe", endpoint{URL: "https://k"}, true},
		"with certificates":   {"{keystoneURL: https://k, keystoneCACert: ca}", "europe", endpoint{"https://k", "ca"}, true},
		"one for the region": {
			"{keystoneURL: https://k, keystoneURLs: [{region: asia, url: https://a}, {region: europe, url: https://e}]}",
			"europe", endpoint{URL: "https://e"}, true,
		},
		"one for another region": {"{keystoneURL: https://k, keystoneURLs: [{region: asia, url: https://a}]}", "europe", endpoint{URL: "https://k"}, true},
		"for other regions only": {"{keystoneCACert: ca, keystoneURLs: [{region: asia, url: https://a}]}", "europe", endpoint{CACert: "ca"}, false},
		"certificates of the region": {
			"{keystoneCACert: ca, keystoneURLs: [{region: asia, url: https://a, caCert: asia}]}",
			"asia", endpoint{"https://a", "asia"}, true,
		},
		"certificates for all, in a region": {"{keystoneCACert: ca, keystoneURLs: [{region: asia, url: https://a}]}", "asia", endpoint{"https://a", "ca"}, true},
		"empty certificates of the region": {
			`{keystoneCACert: ca, keystoneURLs: [{region: asia, url: https://a, caCert: ""}]}`,
			"asia", endpoint{"https://a", "ca"}, true,
		},
		"certificates of another region": {
			"{keystoneURL: https://k, keystoneURLs: [{region: asia, url: https://a, caCert: asia}]}",
			"europe", endpoint{URL: "https://k"}, true,
		},
		"a region twice": {
			"keystoneURLs: [{region: asia, url: https://1}, {region: asia, url: https://2}]",
			"asia", endpoint{URL: "https://1"}, true,
		},
		"an empty one": {`keystoneURL: ""`, "europe", endpoint{}, false},
		"nothing":      {"{}", "europe", endpoint{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			config := decode[v1alpha1.CloudProfileConfig](t, tc.config)
			got, found := lookup.Keystone(&config, tc.region)
			if got != tc.want || found != tc.found {
				t.Errorf("got %+v, %t", got, found)
			}
		})
	}
	for region, want := range map[string]string{
		"europe": "https://europe.example.com/v3/", "asia": "https://asia.example.com/v3/", "africa": "https://url-to-keystone/v3/",
	} {
		if got, found := lookup.Keystone(guide(t), region); got.URL != want || !found {
			t.Errorf("%s: %+v", region, got)
		}
	}
}

func TestLoadBalancerProviders(t *testing.T) {
	for name, tc := range map[string]struct {
		providers string
		want      []string
	}{
		"for all regions":             {"[{name: octavia}, {name: haproxy}]", []string{"haproxy", "octavia"}},
		"for the region":              {"[{name: octavia}, {name: haproxy, region: asia}, {name: f5, region: asia}]", []string{"f5", "haproxy"}},
		"for the region, in front":    {"[{name: haproxy, region: asia}, {name: octavia}]", []string{"haproxy"}},
		"for another region":          {"[{name: octavia}, {name: haproxy, region: europe}]", []string{"octavia"}},
		"for another region only":     {"[{name: haproxy, region: europe}]", nil},
		"of one name in both":         {"[{name: haproxy}, {name: haproxy, region: asia}]", []string{"haproxy"}},
		"twice":                       {"[{name: haproxy}, {name: f5}, {name: haproxy}]", []string{"f5", "haproxy"}},
		"for a region without a name": {"[{name: haproxy, region: ''}, {name: f5}]", []string{"f5"}},
		"none":                        {"[]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			providers := decode[[]v1alpha1.LoadBalancerProvider](t, tc.providers)
			if diff := cmp.Diff(tc.want, lookup.LoadBalancerProviders(providers, "asia")); diff != "" {
				t.Error(diff)
			}
		})
	}
	for region, want := range map[string][]string{"asia": {"f5", "haproxy"}, "europe": {"haproxy"}} {
		if diff := cmp.Diff(want, lookup.LoadBalancerProviders(guide(t).Constraints.LoadBalancerProviders, region)); diff != "" {
			t.Error(region, diff)
		}
	}
}

// scopeName draws one of some names, or nil.
func scopeName(t *rapid.T, label string, names ...string) *string {
	i := rapid.IntRange(0, len(names)).Draw(t, label)
	if i == len(names) {
		return nil
	}
	return &names[i]
}
