// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider/providertest"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/ratchet"
)

func kindOf(name string) schema.GroupVersionKind {
	return schema.GroupVersion(v1alpha1.GroupVersion).WithKind(name)
}

// configs returns the configs of the API types, and others with many faults.
func configs(t testing.TB, kinds ...string) (all [][]byte) {
	t.Helper()
	for _, kind := range kinds {
		for _, config := range providertest.Configs(t, kindOf(kind), "..", "../../apis/openstack/v1alpha1/testdata") {
			all = append(all, config.JSON)
		}
	}
	return all
}

// FuzzShootConfigs checks Shoots with arbitrary configs, and their updates. The check never panics, and is deterministic; each finding
// has a rule in the catalogue. A decodable config survives a round trip.
func FuzzShootConfigs(f *testing.F) {
	for _, seed := range []string{"", "null", "[]", "{", `"text"`} {
		f.Add([]byte(seed), "1.33.2", "other")
	}
	for _, seed := range configs(f, "InfrastructureConfig", "ControlPlaneConfig", "WorkerConfig", "CloudProfileConfig") {
		f.Add(seed, "1.33.2", "other")
	}
	spec := &v1beta1.CloudProfileSpec{}
	base := &v1beta1.Shoot{}
	decode(f, read(f, "profile.yaml"), spec)
	decode(f, read(f, "shoot.yaml"), &base.Spec)
	profile, _ := profile.Compile(openstack.Provider{}, spec, field.NewPath("spec"))
	f.Fuzz(func(t *testing.T, config []byte, version, domain string) {
		shoot := base.DeepCopy()
		shoot.Spec.Kubernetes.Version = version
		provider := &shoot.Spec.Provider
		for _, place := range []**runtime.RawExtension{
			&provider.InfrastructureConfig, &provider.ControlPlaneConfig, &provider.Workers[0].ProviderConfig,
		} {
			*place = &runtime.RawExtension{Raw: config}
		}
		for _, of := range []*string{nil, ptr.To(domain)} {
			report := check.Shoot(profile, shoot, of)
			if diff := cmp.Diff(report, check.Shoot(profile, shoot, of)); diff != "" {
				t.Fatalf("%q: %s", config, diff)
			}
			wellFormed(t, report)
			judged := ratchet.Judged{Object: shoot, Report: report}
			ratcheted := ratchet.Excuse(judged, judged)
			if len(ratcheted.Errors) > 0 {
				t.Fatalf("%q: what was there before is no excuse: %v", config, ratcheted.Errors)
			}
		}
		wellFormed(t, openstack.Provider{}.ValidateShootUpdate(shoot, base))
		wellFormed(t, openstack.Provider{}.ValidateShootUpdate(base, shoot))
		if same := (openstack.Provider{}).ValidateShootUpdate(shoot, shoot); len(same.Errors)+len(same.Warnings) > 0 {
			t.Fatalf("%q: nothing is changed: %v", config, same)
		}
		stable[v1alpha1.InfrastructureConfig](t, config, "InfrastructureConfig")
		stable[v1alpha1.ControlPlaneConfig](t, config, "ControlPlaneConfig")
		stable[v1alpha1.WorkerConfig](t, config, "WorkerConfig")
	})
}

// FuzzCloudProfileConfig is the same for CloudProfiles.
func FuzzCloudProfileConfig(f *testing.F) {
	for _, config := range configs(f, "CloudProfileConfig", "WorkerConfig") {
		f.Add(config)
	}
	f.Fuzz(func(t *testing.T, config []byte) {
		report := checked(config)
		if diff := cmp.Diff(report, checked(slices.Clone(config))); diff != "" {
			t.Fatalf("%q: %s", config, diff)
		}
		wellFormed(t, report)
		stable[v1alpha1.CloudProfileConfig](t, config, "CloudProfileConfig")
	})
}

// checked checks a provider config in a CloudProfile.
func checked(config []byte) finding.Report {
	version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1"}}
	_, report := check.CloudProfile(openstack.Provider{}, &v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{
		Type:           "openstack",
		Regions:        []v1beta1.Region{{Name: "europe"}, {Name: "asia"}},
		MachineTypes:   []v1beta1.MachineType{{Name: "medium"}},
		MachineImages:  []v1beta1.MachineImage{{Name: "gl", Versions: []v1beta1.MachineImageVersion{version}}},
		ProviderConfig: &runtime.RawExtension{Raw: config},
	}})
	return report
}

// The seeds of the fuzz tests must reach the checks.
func TestConfigsReachTheChecks(t *testing.T) {
	reached := map[string]bool{}
	for _, config := range configs(t, "CloudProfileConfig") {
		report := checked(config)
		for _, err := range slices.Concat(report.Errors, report.Warnings) {
			reached[err.Origin] = true
			if strings.Contains(err.String(), "topsecret") {
				t.Error(err)
			}
		}
	}
	for _, rule := range []string{
		"name-missing", "region-unknown", "region-unserved", "setting-missing", "value-empty", "value-format",
		"value-out-of-range", "value-not-supported", "entry-duplicate", "entry-repeated", "purpose-duplicate",
		"settings-exclusive", "openstack-id", "openstack-id-format", "floating-pool-pattern", "keystone-url",
		"keystone-insecure", "ca-certificate", "server-group-policy", "resolv-conf-option",
	} {
		if !reached[rule] {
			t.Errorf("nothing breaks rule %s", rule)
		}
	}
}

var severities = func() map[string]finding.Severity {
	known := map[string]finding.Severity{}
	for _, rule := range slices.Concat(check.Rules(), openstack.Provider{}.Rules()) {
		known[rule.Name] = rule.Severity
	}
	return known
}()

// wellFormed requires that findings are sorted, and that each has a rule and a text.
func wellFormed(t *testing.T, report finding.Report) {
	t.Helper()
	for severity, list := range map[finding.Severity]finding.List{
		finding.SeverityError: report.Errors, finding.SeverityWarning: report.Warnings,
	} {
		for i, err := range list {
			if severities[err.Origin] != severity || err.Detail == "" || strings.Contains(err.Detail, "%!") ||
				!strings.HasPrefix(err.Field, "spec") {
				t.Fatalf("%s of rule %q: %v", severity, err.Origin, err)
			}
			if i > 0 && fieldpath.Compare(list[i-1].Field, err.Field) > 0 {
				t.Fatalf("%s stands before %s", list[i-1].Field, err.Field)
			}
		}
	}
}

// stable requires that a decodable config survives a round trip.
func stable[C any, P interface {
	*C
	schema.ObjectKind
}](t *testing.T, data []byte, kind string) {
	t.Helper()
	first, second := P(new(C)), P(new(C))
	if len(providerconfig.Decode(&runtime.RawExtension{Raw: data}, kindOf(kind), first, nil)) > 0 {
		return
	}
	written, err := json.Marshal(first)
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if errs := providerconfig.Decode(&runtime.RawExtension{Raw: written}, kindOf(kind), second, nil); len(errs) > 0 {
		t.Fatalf("%q was written as %q: %v", data, written, errs)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Fatalf("%q was written as %q: %s", data, written, diff)
	}
	if again, err := json.Marshal(second); err != nil || string(again) != string(written) {
		t.Fatalf("%q was written as %q, then as %q: %v", data, written, again, err)
	}
}
