// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"reflect"
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
