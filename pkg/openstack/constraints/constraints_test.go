// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package constraints_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack"
)

// profileSpec is the spec of a CloudProfile; tests replace a part of it.
const profileSpec = `
type: openstack
kubernetes: {versions: [{version: 1.33.2}]}
machineCapabilities: [{name: architecture, values: [amd64]}]
machineTypes: [{name: medium, cpu: "4", gpu: "0", memory: 8Gi}]
machineImages: [{name: gl, versions: [{version: 1.0.0}]}]
volumeTypes: [{name: standard, class: standard}, {name: premium, class: premium}]
regions: [{name: europe, zones: [{name: europe-1a}, {name: europe-1b}]}, {name: asia, zones: [{name: asia-1a}]}, {name: mars}]
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages: [{name: gl, versions: [{version: 1.0.0, capabilityFlavors: [{image: gl-1}]}]}]
  keystoneURL: https://keystone.example.com/v3/
  serverGroupPolicies: [affinity, anti-affinity]
  constraints:
    floatingPools:
    - {name: fp-public}
    - {name: fp-demo, domain: demo, region: europe}
    - {name: fp-classes, nonConstraining: true, loadBalancerClasses: [{name: internet, floatingSubnetID: "1234"}, {name: inner, purpose: private, subnetID: "7890", floatingNetworkID: "4567"}]}
    - {name: fp-tags, nonConstraining: true, loadBalancerClasses: [{name: tags, floatingSubnetTags: "a,b", floatingNetworkID: 2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70}]}
    loadBalancerProviders: [{name: haproxy}, {name: amphora}, {name: f5, region: asia}]
`

// shootSpec is the spec of a Shoot that may have everything in it.
const shootSpec = `
region: europe
kubernetes: {version: 1.33.2}
networking: {nodes: 10.250.0.0/16, pods: 100.96.0.0/11, services: 100.64.0.0/13}
provider:
  type: openstack
  infrastructureConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: InfrastructureConfig
    floatingPoolName: fp-public
    networks: {workers: 10.250.0.0/19}
  controlPlaneConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: ControlPlaneConfig
    loadBalancerProvider: haproxy
  workers:
  - name: web
    machine: {type: medium, image: {name: gl, version: 1.0.0}}
    volume: {type: standard, size: 20Gi}
    zones: [europe-1a]
    providerConfig:
      apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
      kind: WorkerConfig
      serverGroup: {policy: anti-affinity}
  - name: db
    machine: {type: medium, image: {name: gl, version: 1.0.0}}
    volume: {size: 20Gi}
    zones: [europe-1a, europe-1b]
`

// with replaces parts of a text, each of which has to be there: what follows an odd argument takes its place.
func with(t *testing.T, text string, changes ...string) string {
	t.Helper()
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("%q is not in the text", changes[i])
		}
		text = strings.Replace(text, changes[i], changes[i+1], 1)
	}
	return text
}

func compile(t *testing.T, spec string) *consistency.Profile[openstack.Image] {
	t.Helper()
	profile := &v1beta1.CloudProfileSpec{}
	if err := yaml.UnmarshalStrict([]byte(spec), profile); err != nil {
		t.Fatal(err)
	}
	compiled, _ := consistency.Compile(openstack.Provider{}, profile, field.NewPath("spec"))
	return compiled
}

func shootOf(t *testing.T, spec string) *v1beta1.Shoot {
	t.Helper()
	shoot := &v1beta1.Shoot{}
	if err := yaml.UnmarshalStrict([]byte(spec), &shoot.Spec); err != nil {
		t.Fatal(err)
	}
	return shoot
}

// expect compares a report with lines of severity, type, path and rule, where paths begin below spec.provider.
func expect(t *testing.T, report consistency.Report, want []string) {
	t.Helper()
	var got []string
	add := func(severity string, list field.ErrorList) {
		for _, err := range list {
			path := strings.TrimPrefix(err.Field, "spec.provider.")
			got = append(got, severity+" "+strings.TrimPrefix(string(err.Type), "FieldValue")+" "+path+" "+err.Origin)
			if err.Detail == "" || strings.Contains(err.Detail, "%!") {
				t.Errorf("not for a reader: %v", err)
			}
		}
	}
	add("error", report.Errors)
	add("warning", report.Warnings)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v\n(-want +got)\n%s", report, diff)
	}
}
