// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/test/cases"
)

// runShoots checks the Shoots of an archive. Their domain is "other".
func runShoots(t *testing.T, archive string) {
	t.Helper()
	run(t, archive, func(c *cases.Case) finding.Report {
		profile := profileOf(c)
		shoot, _ := shootsOf(c)
		before := shoot.DeepCopy()
		report := profile.ValidateShoot(shoot, ptr.To("other"))
		if again := profile.ValidateShoot(before, ptr.To("other")); !reflect.DeepEqual(report, again) || !reflect.DeepEqual(before, shoot) {
			c.T().Errorf("%v, then %v", report, again)
		}
		return report
	})
}

func TestConfigsOfShoots(t *testing.T) { runShoots(t, "configs") }

func TestFloatingPool(t *testing.T) { runShoots(t, "floating-pool") }

func TestLoadBalancerProvider(t *testing.T) { runShoots(t, "load-balancer-provider") }

func TestLoadBalancerClasses(t *testing.T) { runShoots(t, "load-balancer-classes") }

func TestZonesAndVolumes(t *testing.T) { runShoots(t, "zones-and-volumes") }

func TestWorkerConfigs(t *testing.T) { runShoots(t, "worker-configs") }

func TestRegionWithoutKeystone(t *testing.T) { runShoots(t, "region-without-keystone") }

// What a profile does not have for a Shoot is told from what it has: what nobody can write is left out, a pattern is named as
// one and never suggested. The choices stand at the end of the first error.
func TestChoices(t *testing.T) {
	cases.Run(t, "testdata/choices.txtar", func(c *cases.Case) string {
		shoot, _ := shootsOf(c)
		domain := strings.TrimSpace(c.Text("domain"))
		report := profileOf(c).ValidateShoot(shoot, &domain)
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
