// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// Paths of other worker pools are not parsed: four times as many pools cause four times as many allocations, not sixteen times.
func TestWithoutSaidTakesWorkInProportion(t *testing.T) {
	allocations := map[int]float64{}
	for _, pools := range []int{50, 200} {
		var found []report.Finding
		var errs field.ErrorList
		for i := range pools {
			pool := fmt.Sprintf("spec.provider.workers[%d]", i)
			found = append(found, report.Finding{Severity: finding.SeverityError, Field: pool + ".machine.type"})
			for _, at := range []string{pool, pool + ".volume"} {
				errs = append(errs, (&field.Error{Field: at}).WithOrigin(gardener.RuleAdmission))
			}
		}
		allocations[pools] = testing.AllocsPerRun(1, func() {
			if left := withoutSaid(append(field.ErrorList(nil), errs...), found); len(left) != pools {
				t.Fatal(left)
			}
		})
	}
	if allocations[200] > 5*allocations[50] {
		t.Error(allocations)
	}
}
