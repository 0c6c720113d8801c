// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ratchet_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/ratchet"
)

// An update may keep the error of one worker pool, but adds another one.
func ExampleExcuse() {
	check := func(shoot *v1beta1.Shoot) (report finding.Report) { // as check.Shoot does
		for i := range shoot.Spec.Provider.Workers {
			at := field.NewPath("spec", "provider", "workers").Index(i).Child("machine", "type")
			report.Errors = append(report.Errors, finding.New("machine-type-unknown", field.ErrorTypeNotSupported, at, "large", "no such type"))
		}
		return report
	}
	stored := &v1beta1.Shoot{Spec: v1beta1.ShootSpec{Provider: v1beta1.Provider{Workers: []v1beta1.Worker{{Name: "web"}}}}}
	updated := stored.DeepCopy()
	updated.Spec.Provider.Workers = []v1beta1.Worker{{Name: "db"}, {Name: "web"}}

	report := ratchet.Excuse(ratchet.Judged{Object: updated, Report: check(updated)}, ratchet.Judged{Object: stored, Report: check(stored)})
	fmt.Println("errors:", report.Errors)
	fmt.Println("warnings:", report.Warnings)
	// Output:
	// errors: [spec.provider.workers[0].machine.type: Unsupported value: "large": no such type]
	// warnings: [spec.provider.workers[1].machine.type: Unsupported value: "large": older than this update: no such type]
}
