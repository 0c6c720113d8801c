// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// extended is a provider with its own rules, one of which depends on the domain, and with worker settings whose change replaces machines.
type extended struct{ openstack.Provider }

// Rules returns its own rule, and a rule whose name is taken.
func (extended) Rules() []finding.Rule {
	return []finding.Rule{
		{Name: "extended-domain", Severity: finding.SeverityError, Means: "The domain is not the right one.", Repair: "Use another."},
		{Name: "no-image-fits", Severity: finding.SeverityWarning, Means: "Taken."},
	}
}

func (p extended) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[openstack.Image], finding.Report) {
	config, report := p.Provider.Decode(raw, at)
	config.Validator = oneDomain{}
	return config, report
}

// oneDomain requires Shoots to be in domain demo.
type oneDomain struct{}

func (oneDomain) ValidateCloudProfile(*v1beta1.CloudProfileSpec, *field.Path) finding.Report {
	return finding.Report{}
}

func (oneDomain) ValidateShoot(question provider.ShootQuestion) finding.Report {
	at := field.NewPath("spec", "region")
	switch {
	case question.Scope == nil:
		return finding.Report{Warnings: finding.List{finding.New("extended-domain", field.ErrorTypeInvalid, at, "", "not checked: the domain is not known")}}
	case *question.Scope != "demo":
		return finding.Failed(finding.New("extended-domain", field.ErrorTypeInvalid, at, *question.Scope, "the domain is not demo"))
	}
	return finding.Report{}
}

func (oneDomain) NeedsScope(*v1beta1.Shoot) bool { return true }

func (p extended) Workers() provider.Workers {
	return provider.WorkersOf(provider.WorkerConfig[v1alpha1.WorkerConfig]{
		Kind: p.Provider.Workers().Kind(), Capabilities: p.Provider.Workers().Definitions(),
		Requests: []provider.Request[v1alpha1.WorkerConfig]{{
			Setting: "trustedLaunch.enabled: true", Field: "trustedLaunch", Capability: openstack.TrustedLaunch, Values: []string{"enabled"},
			Asks: func(_ *provider.Pool, config *v1alpha1.WorkerConfig) bool {
				return config.TrustedLaunch != nil && config.TrustedLaunch.Enabled
			},
		}},
		RollingUpdate: []provider.Trigger[v1alpha1.WorkerConfig]{
			{Field: "serverGroup", Value: func(config *v1alpha1.WorkerConfig) string {
				if config.ServerGroup == nil {
					return ""
				}
				return config.ServerGroup.Policy
			}},
			{Field: "additionalSecurityGroups", Value: func(config *v1alpha1.WorkerConfig) string {
				return strings.Join(config.AdditionalSecurityGroups, ", ")
			}},
		},
	})
}

var extendedOnly = []cli.Provider{cli.For(extended{})}

func TestRulesOfProviders(t *testing.T) {
	general, all := cli.Rules(cli.For(local.Provider{})), cli.Rules(cli.For(local.Provider{}), cli.For(extended{}))
	if diff := cmp.Diff(cli.Rules(), general); diff != "" {
		t.Errorf("a provider without rules of its own: %s", diff)
	}
	// Two more rules are about capabilities that are only requested of machine types, of which it has one. Eleven are about the
	// inventories of its cloud.
	if len(all) != len(general)+3+11 || !slices.ContainsFunc(all, func(r finding.Rule) bool { return r.Name == "extended-domain" }) {
		t.Errorf("%d rules in general, %d with those of the provider", len(general), len(all))
	}
	if !slices.IsSortedFunc(all, func(a, b finding.Rule) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	for _, r := range all {
		if r.Name == "no-image-fits" && r.Severity != finding.SeverityError {
			t.Errorf("the provider has overwritten a rule: %+v", r)
		}
	}
}

func TestDomain(t *testing.T) {
	files := []string{examples + "/shoot.yaml", examples + "/cloudprofile.yaml"}
	for domain, want := range map[string]string{
		"":       "0 warning not checked: the domain is not known",
		"other":  "1 error the domain is not demo",
		" demo ": "1 error the domain is not demo", // not trimmed
		"demo":   "0",
	} {
		args := append([]string{"lint", "-o", "json"}, files...)
		if domain != "" {
			args = append(args, "--domain", domain)
		}
		r := runFor(extendedOnly, "", args...)
		got := []string{string(rune('0' + r.status))}
		for _, f := range decoded[report.Report](t, r).Findings {
			got = append(got, string(f.Severity), f.Message)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("--domain %q: %s", domain, diff)
		}
	}
}

// SARIF describes a provider's rules like any others.
func TestSARIFDescribesRulesOfProviders(t *testing.T) {
	r := runFor(extendedOnly, "", "lint", "-o", "sarif", "--domain=other", examples+"/shoot.yaml", examples+"/cloudprofile.yaml")
	log, err := sarif.FromString(r.stdout)
	if err != nil {
		t.Fatal(err, r.stderr)
	}
	rules := log.Runs[0].Tool.Driver.Rules
	if len(rules) != 1 || rules[0].ShortDescription == nil || *rules[0].ShortDescription.Text != "The domain is not the right one." {
		t.Errorf("%+v", rules)
	}
}

// Changes that are only possible with new machines.
func TestRollingUpdate(t *testing.T) {
	cases.Run(t, "testdata/rolling.txtar", commands(extendedOnly))
}

// scribbling returns a nil among its errors about references.
type scribbling struct{ openstack.Provider }

func (scribbling) ValidateReference(openstack.Image, *field.Path) field.ErrorList {
	return field.ErrorList{nil}
}

func TestImportWithANilAmongErrors(t *testing.T) {
	source := "--from=gardenlinux:" + filepath.Join(importExamples, "metadata")
	r := runFor([]cli.Provider{cli.For(scribbling{})}, "", "import", filepath.Join(importExamples, "openstack.yaml"), source)
	if r.status != 0 || !strings.Contains(r.stdout, "+++ b/") {
		t.Errorf("%+v", r)
	}
}
