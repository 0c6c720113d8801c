// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// extended is a provider with rules of its own, one of which depends on the domain, and with worker settings whose change
// replaces machines.
type extended struct{ openstack.Provider }

// Rules returns a rule of its own, and one with a name that is taken.
func (extended) Rules() []finding.Rule {
	return []finding.Rule{
		{Name: "extended-domain", Severity: finding.SeverityError, Means: "The domain is not the right one.", Repair: "Use another."},
		{Name: consistency.RuleNoImage, Severity: finding.SeverityWarning, Means: "Taken."},
	}
}

func (p extended) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[openstack.Image], finding.Report) {
	config, report := p.Provider.Decode(raw, at)
	config.Validator = oneDomain{}
	return config, report
}

// oneDomain validates profiles whose Shoots must be of the domain demo.
type oneDomain struct{}

func (oneDomain) ValidateCloudProfile(*v1beta1.CloudProfileSpec, *field.Path) finding.Report {
	return finding.Report{}
}

func (oneDomain) ValidateShoot(question provider.ShootQuestion) finding.Report {
	at := field.NewPath("spec", "region")
	switch {
	case question.Scope == nil:
		return finding.Warned(finding.New("extended-domain", field.ErrorTypeInvalid, at, "", "not checked: the domain is not known"))
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
	if len(all) != len(general)+1 || !slices.ContainsFunc(all, func(r finding.Rule) bool { return r.Name == "extended-domain" }) {
		t.Errorf("%d rules in general, %d with those of the provider", len(general), len(all))
	}
	if !slices.IsSortedFunc(all, func(a, b finding.Rule) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
	for _, r := range all {
		if r.Name == consistency.RuleNoImage && r.Severity != finding.SeverityError {
			t.Errorf("the provider has overwritten a rule: %+v", r)
		}
	}
}

func TestDomain(t *testing.T) {
	files := []string{examples + "/shoot.yaml", examples + "/cloudprofile.yaml"}
	for domain, want := range map[string]string{
		"":       "0 warning not checked: the domain is not known",
		"other":  "1 error the domain is not demo",
		" demo ": "1 error the domain is not demo", // as it is given
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

func TestCompletionOfTheDomain(t *testing.T) {
	if r := run(t, "", "__complete", "lint", "--domain", ""); !strings.HasPrefix(r.stdout, ":4\n") { // no files
		t.Errorf("%q", r.stdout)
	}
}

// SARIF describes a rule of the provider like any other.
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

// rollingShoot has a pool with settings whose change replaces machines, one without a config, and one whose config has errors.
const rollingShoot = `apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: rolling, namespace: garden-demo}
spec:
  cloudProfile: {kind: CloudProfile, name: openstack}
  region: europe
  provider:
    type: openstack
    workers:
    - name: grouped
      machine: {type: medium_4_8, image: {name: gardenlinux, version: 1877.5.0}}
      providerConfig:
        apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
        kind: WorkerConfig
        serverGroup: {policy: soft-anti-affinity}
    - name: plain
      machine: {type: medium_4_8, image: {name: gardenlinux, version: 1877.5.0}}
    - name: misspelt
      machine: {type: medium_4_8, image: {name: gardenlinux, version: 1877.5.0}}
      providerConfig:
        apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
        kind: WorkerConfig
        servergroup: {policy: soft-anti-affinity}
    - name: refused-and-misspelt
      machine: {type: medium_4_8, image: {name: gardenlinux, version: 1.0.0}}
      providerConfig:
        apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
        kind: WorkerConfig
        servergroup: {policy: soft-anti-affinity}
`

func TestRollingUpdateOfShoots(t *testing.T) {
	r := runFor(extendedOnly, rollingShoot, "explain", "-o", "json", examples+"/cloudprofile.yaml", "-")
	got := map[string][]provider.Rolling{}
	for _, e := range decoded[struct{ Pools []answer }](t, r).Pools {
		got[e.Pool] = e.RollingUpdate
	}
	want := map[string][]provider.Rolling{
		"grouped":              {{Field: "serverGroup", Value: "soft-anti-affinity"}, {Field: "additionalSecurityGroups"}},
		"plain":                {{Field: "serverGroup"}, {Field: "additionalSecurityGroups"}},
		"misspelt":             nil,
		"refused-and-misspelt": nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	text := runFor(extendedOnly, rollingShoot, "explain", examples+"/cloudprofile.yaml", "-").stdout
	for _, group := range []string{"soft-anti-affinity", "none"} {
		sentence := "\nIn its providerConfig, a change of serverGroup (" + group + ") or additionalSecurityGroups (none) " +
			"replaces the pool's machines, one after the other.\n"
		if strings.Count(text, sentence) != 1 {
			t.Error(text)
		}
	}
}

// A question by flags has a providerConfig only if it is given.
func TestRollingUpdateOfQuestions(t *testing.T) {
	question := append([]string{"explain", "-o", "json", examples + "/cloudprofile.yaml"}, flavorQuestion...)
	const config = "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: WorkerConfig\nadditionalSecurityGroups: [a, b]\n"
	for name, tc := range map[string]struct {
		providers []cli.Provider
		args      []string
		want      []provider.Rolling
	}{
		"no config": {extendedOnly, question, nil},
		"config": {
			extendedOnly, append(question, "--worker-config=-"), []provider.Rolling{{Field: "serverGroup"}, {Field: "additionalSecurityGroups", Value: "a, b"}},
		},
	} {
		e := decoded[answer](t, runFor(tc.providers, config, tc.args...))
		if diff := cmp.Diff(tc.want, e.RollingUpdate); diff != "" {
			t.Error(name, diff)
		}
	}
}

// A provider whose workers have nothing of the kind is explained as before.
func TestNoRollingUpdate(t *testing.T) {
	r := run(t, "", "explain", "-o", "json", examples+"/cloudprofile-local.yaml",
		"--image=local", "--version=1.0.0", "--machine-type=arm-medium", "--region=local")
	if strings.Contains(r.stdout, "rollingUpdate") {
		t.Error(r.stdout)
	}
}
