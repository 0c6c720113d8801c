// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/authors/acme"
)

func TestProvider(t *testing.T) {
	if err := provider.Check(acme.Provider{}); err != nil {
		t.Error(err)
	}
}

func TestWorkerSettings(t *testing.T) {
	for settings, want := range map[string][]string{
		"":                               nil,
		"confidential: {}":               nil,
		"confidential: {enabled: false}": nil,
		"confidential: {enabled: true}":  {"acme-confidential enabled at workers[0].providerConfig.confidential"},
	} {
		pool := provider.Pool{Config: workerConfig(t, settings), Path: field.NewPath("workers").Index(0)}
		requirements, report := acme.Provider{}.Workers().Requirements(pool)
		var got []string
		for _, r := range requirements {
			got = append(got, r.Capability+" "+strings.Join(r.Values, ",")+" at "+r.Because.String())
		}
		if diff := cmp.Diff(want, got); diff != "" || len(report.Errors) > 0 {
			t.Errorf("%q: %v %s", settings, report.Errors, diff)
		}
	}
}

func workerConfig(t *testing.T, settings string) *runtime.RawExtension {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte("apiVersion: acme.provider.extensions.gardener.cloud/v1alpha1\nkind: WorkerConfig\n" + settings))
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: raw}
}

func TestWorkerRequests(t *testing.T) {
	offered, withdrawn := compiled(t), cloudProfile(t, "cloudprofile.yaml")
	withdrawn.Spec.MachineCapabilities = withdrawn.Spec.MachineCapabilities[:2] // all but acme-confidential
	unregistered, _ := profile.Compile(acme.Provider{}, &withdrawn.Spec, field.NewPath("spec"))
	const setting = "spec.provider.workers[0].providerConfig.confidential"
	for _, c := range []struct {
		name, machineType, version, settings string
		profile                              *profile.Profile[acme.Template]
		rule, at                             string // empty if it is admitted
	}{
		{"offered", "m.large", "1877.5.0", "confidential: {enabled: true}", offered, "", ""},
		{"not asked for", "m.small", "1592.9.0", "confidential: {enabled: false}", offered, "", ""},
		{"no image declares it", "m.large", "1592.9.0", "confidential: {enabled: true}", offered, "worker-request-unmet", setting},
		{"the machine type cannot", "m.small", "1877.5.0", "confidential: {enabled: true}", offered, "worker-request-unmet", setting},
		{"not registered", "m.large", "1877.5.0", "confidential: {enabled: true}", unregistered, "worker-capability-not-registered", setting},
		{"misspelt", "m.large", "1877.5.0", "confidental: {enabled: true}", offered, "unknown-field", "spec.provider.workers[0].providerConfig.confidental"},
	} {
		shoot := shootOf(v1beta1.Worker{
			Name: "vault", Machine: machine(c.machineType, c.version), ProviderConfig: workerConfig(t, c.settings),
		})
		rule, at := "", ""
		for _, err := range check.Shoot(c.profile, shoot, nil).Errors {
			rule, at = rule+err.Origin, at+err.Field
		}
		if rule != c.rule || at != c.at {
			t.Errorf("%s: got %q at %q, want %q at %q", c.name, rule, at, c.rule, c.at)
		}
	}
}

// The webhook gives the same answers as the checks.
func TestShoot(t *testing.T) {
	if warnings, err := acme.ValidateShoot(object[v1beta1.Shoot](t, "shoot.yaml"), compiled(t)); len(warnings) > 0 || err != nil {
		t.Error(warnings, err)
	}
}
