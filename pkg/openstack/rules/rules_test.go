// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/ratchet"
)

// read returns a manifest of testdata as JSON.
func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	document, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func decode(t testing.TB, document []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(document, into); err != nil {
		t.Fatal(err)
	}
}

// subject is the subject of a case.
type subject struct {
	profile *profile.Profile[openstack.Image]
	// shoot is the Shoot of testdata with the case's changes, and updated is its update.
	shoot, updated *v1beta1.Shoot
}

// subjectOf returns the subject of a case. Its profile is that of testdata with the case's changes.
func subjectOf(c *cases.Case) subject {
	c.T().Helper()
	spec, shoot, updated := &v1beta1.CloudProfileSpec{}, &v1beta1.Shoot{}, &v1beta1.Shoot{}
	decode(c.T(), c.Patch(read(c.T(), "profile.yaml"), "profile.patch.yaml"), spec)
	document := c.Patch(read(c.T(), "shoot.yaml"), "shoot.patch.yaml")
	decode(c.T(), document, &shoot.Spec)
	decode(c.T(), c.Patch(document, "update.patch.yaml"), &updated.Spec)
	profile, _ := profile.Compile(openstack.Provider{}, spec, field.NewPath("spec"))
	return subject{profile, shoot, updated}
}

// run checks each case of an archive in testdata. Paths are relative to spec.provider. A check must not modify a Shoot.
func run(t *testing.T, archive string, judge func(subject) finding.Report) {
	t.Helper()
	cases.Run(t, filepath.Join("testdata", archive+".txtar"), func(c *cases.Case) string {
		s := subjectOf(c)
		shoot, updated := s.shoot.DeepCopy(), s.updated.DeepCopy()
		report := judge(s)
		if diff := cmp.Diff(shoot, s.shoot) + cmp.Diff(updated, s.updated); diff != "" {
			c.T().Errorf("a Shoot was changed: %s", diff)
		}
		if diff := cmp.Diff(report, judge(s)); diff != "" {
			c.T().Error(diff)
		}
		return lines(c.T(), report)
	})
}

func lines(t testing.TB, report finding.Report) string {
	t.Helper()
	return strings.NewReplacer(" FieldValue", " ", " spec.provider.", " ").Replace(cases.Report(t, report))
}

// Settings that a Shoot of domain "other" may not have.
func TestShoots(t *testing.T) {
	for _, archive := range []string{
		"configs", "region-without-keystone", "floating-pool", "load-balancer-provider", "load-balancer-classes", "zones",
		"volumes", "worker-configs", "server-groups", "machine-labels",
	} {
		t.Run(archive, func(t *testing.T) {
			run(t, archive, func(s subject) finding.Report { return check.Shoot(s.profile, s.shoot, ptr.To("other")) })
		})
	}
}

func TestShootUpdate(t *testing.T) {
	run(t, "update", func(s subject) finding.Report {
		return openstack.Provider{}.ValidateShootUpdate(s.updated, s.shoot)
	})
}

// An update may keep an error that the profile has caused since, if it leaves the faulty part alone (semantics S10).
func TestRatchetOfShoots(t *testing.T) {
	run(t, "ratchet", func(s subject) finding.Report {
		judged := func(shoot *v1beta1.Shoot) ratchet.Judged {
			return ratchet.Judged{Object: shoot, Report: check.Shoot(s.profile, shoot, ptr.To("other"))}
		}
		return ratchet.Excuse(judged(s.updated), judged(s.shoot))
	})
}

// If the domain is unknown, a Shoot is refused if no domain would do. Otherwise there is only a warning.
func TestDomains(t *testing.T) {
	cases.Run(t, "testdata/domains.txtar", func(c *cases.Case) string {
		s := subjectOf(c)
		var found strings.Builder
		judge := func(label string, domain *string) {
			for line := range strings.Lines(lines(c.T(), check.Shoot(s.profile, s.shoot, domain))) {
				fmt.Fprintf(&found, "%s: %s\n", label, strings.TrimSuffix(line, "\n"))
			}
		}
		judge("unknown", nil)
		var domains []string
		c.Decode("domains.yaml", &domains)
		for _, domain := range domains {
			judge(strconv.Quote(domain), &domain)
		}
		return found.String()
	})
}

// An error lists the valid choices at its end. It omits choices that cannot be written, and marks patterns instead of suggesting them.
func TestChoices(t *testing.T) {
	cases.Run(t, "testdata/choices.txtar", func(c *cases.Case) string {
		s := subjectOf(c)
		report := check.Shoot(s.profile, s.shoot, ptr.To(strings.TrimSpace(c.Text("domain"))))
		if len(report.Errors) == 0 {
			return "no error"
		}
		detail := report.Errors[0].Detail
		if strings.Contains(detail, "mean") {
			c.T().Error(detail)
		}
		_, choices, _ := strings.Cut(detail, "; ")
		return choices
	})
}

func TestRolling(t *testing.T) {
	for name, tc := range map[string]struct{ config, group, labels, securityGroups, trusted string }{
		"no config": {config: "null"},
		"nothing":   {config: "{kind: WorkerConfig}"},
		"everything": {`{kind: WorkerConfig, serverGroup: {policy: affinity}, machineLabels: [
			{name: b, value: x, triggerRollingOnUpdate: true}, {name: c, value: y},
			{name: a, value: z, triggerRollingOnUpdate: true}, {name: d, triggerRollingOnUpdate: false}],
			additionalSecurityGroups: [w, v], trustedLaunch: {enabled: true}}`,
			"affinity", "a=z, b=x", "v, w", "enabled"},
	} {
		t.Run(name, func(t *testing.T) {
			pool := provider.Pool{}
			if tc.config != "null" {
				pool.Config = raw(tc.config)
			}
			want := []provider.Rolling{
				{Field: "serverGroup", Value: tc.group}, {Field: "machineLabels", Value: tc.labels},
				{Field: "additionalSecurityGroups", Value: tc.securityGroups}, {Field: "trustedLaunch", Value: tc.trusted},
			}
			if diff := cmp.Diff(want, openstack.Provider{}.Workers().Rolling(pool)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
