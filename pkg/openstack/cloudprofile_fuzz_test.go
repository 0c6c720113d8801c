// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// configs are those that fuzzing starts from: those of the API types, and one with much that is wrong.
func configs(t testing.TB) (texts [][]byte) {
	t.Helper()
	files, err := filepath.Glob("../apis/openstack/v1alpha1/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append([]string{"testdata/bad-cloudprofileconfig.yaml"}, files...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		config, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, config)
	}
	return texts
}

// profileWith is a CloudProfile with a provider config.
func profileWith(config []byte) *v1beta1.CloudProfile {
	return &v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{
		Type:           "openstack",
		Regions:        []v1beta1.Region{{Name: "europe"}, {Name: "asia"}},
		MachineTypes:   []v1beta1.MachineType{{Name: "medium"}},
		MachineImages:  []v1beta1.MachineImage{{Name: "gl", Versions: []v1beta1.MachineImageVersion{{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1"}}}}},
		ProviderConfig: &runtime.RawExtension{Raw: config},
	}}
}

// severities are those of all rules there are.
func severities() map[string]finding.Severity {
	known := map[string]finding.Severity{}
	for _, rule := range slices.Concat(consistency.Rules(), openstack.Provider{}.Rules()) {
		known[rule.Name] = rule.Severity
	}
	return known
}

// FuzzCloudProfileConfig checks arbitrary provider configs: that never panics, comes to the same findings each time, each
// of a rule in the catalogue, and a config that can be read says the same after it was written and read again.
func FuzzCloudProfileConfig(f *testing.F) {
	for _, config := range configs(f) {
		f.Add(config)
	}
	known := severities()
	f.Fuzz(func(t *testing.T, data []byte) {
		profile := profileWith(data)
		_, report := consistency.ValidateCloudProfile(openstack.Provider{}, profile)
		_, again := consistency.ValidateCloudProfile(openstack.Provider{}, profile.DeepCopy())
		if diff := cmp.Diff(report, again); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
		wellFormed(t, report.Errors, known, finding.SeverityError)
		wellFormed(t, report.Warnings, known, finding.SeverityWarning)
		roundTrip(t, data)
	})
}

func wellFormed(t *testing.T, findings finding.List, known map[string]finding.Severity, severity finding.Severity) {
	t.Helper()
	for _, err := range findings {
		if known[err.Origin] != severity || err.Detail == "" || strings.Contains(err.Detail, "%!") || !strings.HasPrefix(err.Field, "spec") {
			t.Fatalf("%s of rule %s: %v", severity, err.Origin, err)
		}
	}
}

func roundTrip(t *testing.T, data []byte) {
	t.Helper()
	kind := schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")
	var first, second v1alpha1.CloudProfileConfig
	if errs := provider.Decode(&runtime.RawExtension{Raw: data}, kind, &first, field.NewPath("config")); len(errs) > 0 {
		return
	}
	written, err := json.Marshal(&first)
	if err != nil {
		t.Fatal(err)
	}
	if errs := provider.Decode(&runtime.RawExtension{Raw: written}, kind, &second, field.NewPath("config")); len(errs) > 0 {
		t.Fatalf("%q became %s: %v", data, written, errs)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Fatalf("%q became %s: %s", data, written, diff)
	}
	if again, _ := json.Marshal(&second); string(again) != string(written) {
		t.Fatalf("%s became %s", written, again)
	}
}

// What fuzzing starts from must reach the checks, or it starts from nothing.
func TestConfigsReachTheChecks(t *testing.T) {
	reached := map[string]bool{}
	for _, config := range configs(t) {
		_, report := consistency.ValidateCloudProfile(openstack.Provider{}, profileWith(config))
		for _, err := range slices.Concat(report.Errors, report.Warnings) {
			reached[err.Origin] = true
			if strings.Contains(err.Error.Error(), "topsecret") {
				t.Error(err)
			}
		}
	}
	for _, rule := range []string{
		"name-missing", "region-unknown", "region-unserved", "setting-missing", "value-empty", "value-format", "value-out-of-range", "value-not-supported",
		"entry-duplicate", "entry-repeated", "purpose-duplicate", "settings-exclusive", "openstack-id", "openstack-id-format", "floating-pool-pattern",
		"keystone-url", "keystone-insecure", "ca-certificate", "server-group-policy", "resolv-conf-option",
	} {
		if !reached[rule] {
			t.Errorf("nothing breaks rule %s", rule)
		}
	}
}
