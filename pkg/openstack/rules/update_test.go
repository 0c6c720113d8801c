// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/ratchet"
	"github.com/capkit/capkit/test/cases"
)

func TestShootUpdate(t *testing.T) {
	run(t, "update", func(c *cases.Case) finding.Report {
		old, updated := shootsOf(c)
		wasOld, wasUpdated := old.DeepCopy(), updated.DeepCopy()
		report := openstack.Provider{}.ValidateShootUpdate(updated, old)
		if diff := cmp.Diff(wasOld, old) + cmp.Diff(wasUpdated, updated); diff != "" {
			c.T().Errorf("a Shoot was changed: %s", diff)
		}
		return report
	})
}

// An update is not blamed for what the profile has lost since, as long as it leaves that alone (semantics S10).
func TestRatchetOfShoots(t *testing.T) {
	run(t, "ratchet", func(c *cases.Case) finding.Report {
		profile := profileOf(c)
		old, updated := shootsOf(c)
		domain := ptr.To("other")
		return ratchet.Excuse(
			ratchet.Judged{Object: updated, Report: profile.ValidateShoot(updated, domain)},
			ratchet.Judged{Object: old, Report: profile.ValidateShoot(old, domain)},
		)
	})
}
