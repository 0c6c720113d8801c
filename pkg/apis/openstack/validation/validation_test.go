// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

var at = field.NewPath("config")

// TestObjects runs the archives of testdata.
func TestObjects(t *testing.T) {
	for name, check := range map[string]func(c *cases.Case) finding.Report{
		"sound": cloudProfile, "floating-pools": cloudProfile, "load-balancer-providers": cloudProfile,
		"keystone": cloudProfile, "dns-servers": cloudProfile, "scalars": cloudProfile, "resolv-conf-options": cloudProfile,
		"server-group-policies": cloudProfile, "storage-classes": cloudProfile, "load-balancer-classes": loadBalancerClasses,
		"workers-network": infrastructure, "existing-networks": infrastructure, "subnet-pool": infrastructure,
		"ipv6": infrastructure, "floating-pool-subnet-name": infrastructure, "infrastructure-update": update,
		"control-plane": controlPlane, "node-template": worker, "machine-labels": worker, "security-groups": worker,
	} {
		t.Run(name, func(t *testing.T) {
			cases.Run(t, filepath.Join("testdata", name+".txtar"), func(c *cases.Case) string {
				return cases.Report(c.T(), check(c))
			})
		})
	}
}

func cloudProfile(c *cases.Case) finding.Report {
	config := read[v1alpha1.CloudProfileConfig](c, "config.yaml")
	return unchanged(c, config, checked(config))
}

// checked checks a config in a CloudProfile with the regions europe and asia.
func checked(config *v1alpha1.CloudProfileConfig) func() finding.Report {
	return func() finding.Report { return validation.CloudProfileConfig(config, []string{"europe", "asia"}, at) }
}

func loadBalancerClasses(c *cases.Case) finding.Report {
	config := sound(c.T(), "{}")
	c.Decode("classes.yaml", &config.Constraints.FloatingPools[0].LoadBalancerClasses)
	return unchanged(c, config, checked(config))
}

func infrastructure(c *cases.Case) finding.Report {
	config := read[v1alpha1.InfrastructureConfig](c, "config.yaml")
	networking := *read[*v1beta1.Networking](c, "networking.yaml")
	return unchanged(c, config, func() finding.Report { return validation.InfrastructureConfig(config, networking, at) })
}

func update(c *cases.Case) finding.Report {
	old, config := read[v1alpha1.InfrastructureConfig](c, "old.yaml"), read[v1alpha1.InfrastructureConfig](c, "new.yaml")
	return finding.Report{Errors: validation.InfrastructureConfigUpdate(old, config, true, at)}
}

func controlPlane(c *cases.Case) finding.Report {
	config, networks := read[v1alpha1.ControlPlaneConfig](c, "config.yaml"), *read[*v1alpha1.Networks](c, "networks.yaml")
	return unchanged(c, config, func() finding.Report {
		return validation.ControlPlaneConfig(config, networks, strings.TrimSpace(c.Text("version")), nil, at)
	})
}

func worker(c *cases.Case) finding.Report {
	config := read[v1alpha1.WorkerConfig](c, "config.yaml")
	return unchanged(c, config, func() finding.Report { return validation.WorkerConfig(config, at) })
}

func read[T any](c *cases.Case, file string) *T {
	c.T().Helper()
	into := new(T)
	c.Decode(file, into)
	return into
}

// unchanged fails if a check modifies its config.
func unchanged[C any, P interface {
	*C
	DeepCopy() *C
}](c *cases.Case, config P, check func() finding.Report) finding.Report {
	c.T().Helper()
	before := config.DeepCopy()
	found := check()
	if !reflect.DeepEqual(before, (*C)(config)) {
		c.T().Error("the config was changed")
	}
	return found
}

// sound returns a config with the required fields and these settings, which may override them.
func sound(t *testing.T, settings string) *v1alpha1.CloudProfileConfig {
	t.Helper()
	config := &v1alpha1.CloudProfileConfig{}
	for _, text := range []string{
		"{keystoneURL: https://k/v3, constraints: {floatingPools: [{name: fp}], loadBalancerProviders: [{name: haproxy}]}}",
		settings,
	} {
		if err := yaml.UnmarshalStrict([]byte(text), config); err != nil {
			t.Fatal(err)
		}
	}
	return config
}

func expect(t *testing.T, found finding.Report, want ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(want, "\n"), cases.Report(t, found)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A message suggests a similar valid value, if there is one.
func TestWhatWasMeant(t *testing.T) {
	for setting, meant := range map[string]string{
		"{serverGroupPolicies: [affintity]}":                                       `mean "affinity"?`,
		"{serverGroupPolicies: [antiAffinity]}":                                    `mean "anti-affinity"?`,
		"{serverGroupPolicies: [soft_anti-affinity]}":                              `mean "soft-anti-affinity"?`,
		"{serverGroupPolicies: [rack]}":                                            "",
		"{serverGroupPolicies: [a-very-long-one-" + strings.Repeat("x", 60) + "]}": "",
		"{storageClasses: [{name: a, volumeBindingMode: WaitForFirstCustomer}]}":   `mean "WaitForFirstConsumer"?`,
		"{storageClasses: [{name: a, volumeBindingMode: waitforfirstpod}]}":        `mean "WaitForFirstConsumer"?`,
		"{storageClasses: [{name: a, volumeBindingMode: WaitForever}]}":            "",
		"{storageClasses: [{name: a, volumeBindingMode: Wait}]}":                   "",
	} {
		report := checked(sound(t, setting))()
		found := append(report.Errors, report.Warnings...)
		if len(found) != 1 || !strings.Contains(found[0].Detail, meant) ||
			strings.Contains(found[0].Detail, "mean") != (meant != "") {
			t.Errorf("%s: %v", setting, found)
		}
	}
}

// The message about two load balancer classes with the same purpose says where each gets it.
func TestAdviceAboutAPurpose(t *testing.T) {
	const at = "config.constraints.floatingPools[0].loadBalancerClasses[0]"
	for classes, want := range map[string]string{
		"[{name: a, purpose: default}, {name: b, purpose: default}]": at + " has that purpose; remove purpose: default here, or remove the purpose there",
		"[{name: a, purpose: private}, {name: private}]":             at + " has that purpose; rename this class, or remove the purpose there",
		"[{name: default}, {name: b, purpose: default}]":             at + " is one already, by its name; remove purpose: default here, or rename that class",
	} {
		found := checked(sound(t, "{constraints: {floatingPools: [{name: fp, loadBalancerClasses: "+classes+"}]}}"))().Errors
		if len(found) != 1 || !strings.HasSuffix(found[0].Detail, want) {
			t.Errorf("%s: %v", classes, found)
		}
	}
}

func TestEverythingWrongInOrder(t *testing.T) {
	expect(t, checked(sound(t, `
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
`))(),
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
	)
}

// An empty config lacks only the required fields; a profile need not have regions.
func TestNothing(t *testing.T) {
	expect(t, validation.CloudProfileConfig(&v1alpha1.CloudProfileConfig{}, nil, at),
		"error FieldValueRequired config.constraints.floatingPools setting-missing",
		"error FieldValueRequired config.constraints.loadBalancerProviders setting-missing",
		"error FieldValueRequired config.keystoneURL setting-missing",
	)
}

func TestImageID(t *testing.T) {
	for id, valid := range map[string]bool{
		"1234": true, "1234-amd64": true, "2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70": true, "ami_1.2:x": true, "": true,
		strings.Repeat("a", 255): true, " ": false, "a b": false, " 1234": false, "1234\n": false, "{id}": false,
		"a/b": false, "a\\b": false, "a?b": false, "\"1234\"": false, "a,b": false, "\x00": false, "a\u200bb": false,
		strings.Repeat("a", 256): false, "\xff": false,
	} {
		want := "error FieldValueInvalid config.id openstack-id"
		if valid {
			want = ""
		}
		expect(t, finding.Report{Errors: finding.Of(validation.ImageID(id, at))}, want)
	}
}

func TestImageIDFormats(t *testing.T) {
	for id, fine := range map[string]bool{
		"": true, "1234": true, "1234-amd64": true, "2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70": true, "gl-todo": true,
		"2f8b94e77a3c4f5e9d0a1b6c8d3e5f70": true, "a-b-c": true, "TODO": false, "xxx": false, "change-me": false,
		"2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f7": false, "2f8b94e7-7a3c-4f5e-9d0aa-1b6c8d3e5f70": false,
	} {
		want := "warning FieldValueInvalid config[1].id openstack-id-format"
		if fine {
			want = ""
		}
		regions := []v1alpha1.RegionIDMapping{{ID: "1234"}, {ID: id}}
		expect(t, finding.Report{Warnings: validation.ImageIDFormats(regions, at)}, want)
	}
}

// Names, labels and security groups may have the maximum length of OpenStack.
func TestLengths(t *testing.T) {
	full := strings.Repeat("ä", 255)
	expect(t, validation.WorkerConfig(&v1alpha1.WorkerConfig{
		MachineLabels:            []v1alpha1.MachineLabel{{Name: full, Value: full}, {Name: full + "a", Value: full + "b"}},
		AdditionalSecurityGroups: []string{full, full + "a"},
	}, at),
		"error FieldValueTooLong config.machineLabels[1].name value-out-of-range",
		"error FieldValueTooLong config.machineLabels[1].value value-out-of-range",
		"error FieldValueTooLong config.additionalSecurityGroups[1] value-out-of-range",
	)
}

// The number of errors is limited.
func TestNobodyReadsThatMuch(t *testing.T) {
	config := &v1alpha1.WorkerConfig{
		MachineLabels: make([]v1alpha1.MachineLabel, 1e5), AdditionalSecurityGroups: make([]string, 1e5),
	}
	if n := len(validation.WorkerConfig(config, at).Errors); n < 1000 || n > 1100 {
		t.Errorf("%d errors", n)
	}
}

// An error behind any number of warnings is still reported.
func TestWarningsHideNoError(t *testing.T) {
	config := &v1alpha1.WorkerConfig{}
	for i := range finding.Most {
		name := fmt.Sprint(i)
		config.AdditionalSecurityGroups = append(config.AdditionalSecurityGroups, name, name)
	}
	config.AdditionalSecurityGroups = append(config.AdditionalSecurityGroups, strings.Repeat("x", 256))
	if report := validation.WorkerConfig(config, at); len(report.Warnings) != finding.Most || len(report.Errors) != 1 {
		t.Errorf("%d warnings, %v", len(report.Warnings), report.Errors)
	}
}
