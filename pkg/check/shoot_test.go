// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
)

func shoot(t *testing.T, text string) *v1beta1.Shoot {
	t.Helper()
	return &v1beta1.Shoot{Spec: *given.Decoded[v1beta1.ShootSpec](t, text)}
}

func shootOf(c *cases.Case, name string) *v1beta1.Shoot {
	s := &v1beta1.Shoot{}
	c.Decode(name, &s.Spec)
	return s
}

func TestCheckShoot(t *testing.T) {
	checkShoots(t, "../resolve/testdata/pools.yaml", "testdata/shoots.txtar")
}

// checkShoots checks the Shoot of each case against the profile in a file.
func checkShoots(t *testing.T, path, archive string) {
	t.Helper()
	p := given.Profile(t, path)
	cases.Run(t, archive, func(c *cases.Case) string {
		s := shootOf(c, "shoot.yaml")
		before := s.DeepCopy()
		report := check.Shoot(p, s, nil)
		catalogue.Check(c.T(), report.Errors)
		if len(report.Warnings) > 0 {
			c.T().Error(report.Warnings)
		}
		if !reflect.DeepEqual(before, s) {
			c.T().Error("the Shoot was changed")
		}
		return cases.Fold(given.Plainly(report.Errors)...)
	})
}

// An unchanged pool may keep errors that a profile update has caused; a changed pool may not.
func TestRatchetOfShoots(t *testing.T) { ratchetShoots(t, "testdata/ratchet-shoots.txtar") }

// ratchetShoots updates the Shoot of each case; without after.yaml it stays as it is.
func ratchetShoots(t *testing.T, archive string) {
	t.Helper()
	p := given.Profile(t, "../resolve/testdata/pools.yaml")
	cases.Run(t, archive, func(c *cases.Case) string {
		was, is := shootOf(c, "before.yaml"), shootOf(c, "before.yaml")
		if c.Has("after.yaml") {
			is = shootOf(c, "after.yaml")
		}
		report := excused(check.Shoot(p, is, nil), check.Shoot(p, was, nil), is, was)
		catalogue.Check(c.T(), report.Errors)
		return cases.Fold(given.Plainly(report.Errors)...)
	})
}
