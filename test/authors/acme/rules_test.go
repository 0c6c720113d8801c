// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme_test

import (
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/test/authors/acme"
)

func TestCatalogue(t *testing.T) {
	rules := cli.Rules(cli.For(acme.Provider{}))
	for _, name := range []string{
		acme.RuleTemplate, acme.RuleFastNetwork, acme.RuleMachines, acme.RuleMachineType, acme.RuleVolumes, acme.RuleToken,
	} {
		if !slices.ContainsFunc(rules, func(r finding.Rule) bool { return r.Name == name && r.Object != "" && r.Means != "" && r.Repair != "" }) {
			t.Errorf("%s is not described", name)
		}
	}
}

func TestMaxMachines(t *testing.T) {
	profile := compiled(t) // its maximum is 20
	for maximum, want := range map[int32]string{10: "", 11: acme.RuleMachines} {
		shoot := shootOf(
			v1beta1.Worker{Name: "web", Maximum: 10, Machine: machine("m.large", "1877.5.0")},
			v1beta1.Worker{Name: "db", Maximum: maximum, Machine: machine("m.large", "1877.5.0")},
		)
		got := ""
		for _, err := range check.Shoot(profile, shoot, nil).Errors {
			got += err.Origin
			if err.Field != "spec.provider.workers" {
				t.Errorf("at %s", err.Field)
			}
		}
		if got != want {
			t.Errorf("%d more: got %q, want %q", maximum, got, want)
		}
	}
}

func TestCredentials(t *testing.T) {
	for token, want := range map[string]int{"": 1, "s3cret": 0} {
		if _, errs := (acme.Provider{}).ValidateCredentials(map[string][]byte{"token": []byte(token)}, field.NewPath("data")); len(errs) != want {
			t.Errorf("%q: %v", token, errs)
		}
	}
}
