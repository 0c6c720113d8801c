// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"strings"
	"testing"

	"github.com/capkit/capkit/test/cases"
)

// What a profile does not have for a Shoot is told from what it has: what nobody can write is left out, a pattern is
// named as one and never suggested. The choices stand at the end of the first error.
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
