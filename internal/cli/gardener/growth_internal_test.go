// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Each of many worker pools may have an error. They are not compared in pairs.
func TestManyWorkerPools(t *testing.T) {
	const pools = 1000
	shoot := &v1beta1.Shoot{}
	shoot.Spec.Provider.Workers = make([]v1beta1.Worker, pools)
	workers := field.NewPath("spec", "provider", "workers")
	var errs field.ErrorList
	for i := range pools {
		errs = append(errs, field.Duplicate(workers.Index(i).Child("name"), "web"))
	}
	errs = append(errs, field.NotSupported(workers.Index(1).Child("machine", "architecture"), "amd65", []string{"amd64"}))
	left := 0
	if allocations := testing.AllocsPerRun(1, func() { left = len(withoutTaken(shoot, append(field.ErrorList(nil), errs...))) }); allocations > 50*pools {
		t.Errorf("%v allocations", allocations)
	}
	if left != pools {
		t.Errorf("%d errors are left, not %d", left, pools)
	}
}
