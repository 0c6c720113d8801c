// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/consistency"
)

func shoot(t *testing.T, text string) *v1beta1.Shoot {
	t.Helper()
	s := &v1beta1.Shoot{}
	if err := yaml.UnmarshalStrict([]byte(text), &s.Spec); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheckShoot(t *testing.T) {
	p := profileOfPools(t)
	const (
		good    = "{name: good, machine: {type: virt, image: {name: gl, version: 10.0.0}}}"
		misfit  = "{name: misfit, machine: {type: bare, image: {name: gl, version: 10.0.0}}}"
		unknown = "{name: unknown, machine: {type: huge, image: {name: gl, version: 10.0.0}}}"
		open    = "{name: open, machine: {type: virt}}"
		partial = "{name: partial, machine: {type: virt, image: {name: gl, version: '10'}}}"
	)
	for name, tc := range map[string]struct {
		shoot string
		want  []string
	}{
		"no workers":                           {"region: mars", nil},
		"good":                                 {"{region: europe, provider: {workers: [" + good + "]}}", nil},
		"left to Gardener":                     {"{region: europe, provider: {workers: [" + open + ", " + partial + "]}}", nil},
		"another region":                       {"{region: mars, provider: {workers: [" + good + ", " + misfit + "]}}", []string{"Invalid spec.provider.workers[1].machine.type no-image-fits", "NotSupported spec.region unknown-region"}},
		"another provider type":                {"{region: mars, provider: {type: openstak, workers: [" + misfit + "]}}", []string{"Invalid spec.provider.type provider-type-mismatch"}},
		"no region":                            {"{provider: {workers: [" + good + "]}}", []string{"NotSupported spec.region unknown-region"}},
		"every pool, at its place":             {"{region: europe, provider: {workers: [" + unknown + ", " + good + ", " + misfit + "]}}", []string{"NotSupported spec.provider.workers[0].machine.type unknown-machine-type", "Invalid spec.provider.workers[2].machine.type no-image-fits"}},
		"a machine type, for all its openness": {"{region: europe, provider: {workers: [{name: w, machine: {type: huge}}]}}", []string{"NotSupported spec.provider.workers[0].machine.type unknown-machine-type"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := shoot(t, tc.shoot)
			before := s.DeepCopy()
			report := p.CheckShoot(s, nil)
			checkFindings(t, report.Errors)
			if diff := cmp.Diff(tc.want, plainly(report.Errors)); diff != "" || len(report.Warnings) > 0 {
				t.Error(diff, report.Warnings)
			}
			if !reflect.DeepEqual(before, s) {
				t.Error("the Shoot was changed")
			}
		})
	}
}

// Ten pools are reported in their order, not in that of their numbers as text.
func TestPoolsAreReportedInOrder(t *testing.T) {
	s := shoot(t, "{region: europe}")
	for range 11 {
		s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, v1beta1.Worker{Machine: v1beta1.Machine{Type: "huge"}})
	}
	errs := profileOfPools(t).CheckShoot(s, nil).Errors
	if len(errs) != 11 || errs[2].Field != "spec.provider.workers[2].machine.type" || errs[10].Field != "spec.provider.workers[10].machine.type" {
		t.Error(errs)
	}
}

func TestPoolsOf(t *testing.T) {
	pools := consistency.PoolsOf(shoot(t, "{region: europe, provider: {workers: [{name: a, machine: {type: m}}, {name: b, machine: {type: n}}]}}"))
	if len(pools) != 2 || pools[1].Name != "b" || pools[1].Region != "europe" || pools[1].Path.String() != "spec.provider.workers[1]" {
		t.Error(pools)
	}
	if pools := consistency.PoolsOf(&v1beta1.Shoot{}); len(pools) > 0 {
		t.Error(pools)
	}
}

// A pool that did not change is not to blame for a profile that has moved on; one that did is.
func TestRatchetOfShoots(t *testing.T) {
	p := profileOfPools(t)
	const before = "{region: europe, provider: {workers: [{name: w, machine: {type: bare, image: {name: gl, version: 10.0.0}}, maximum: 1}]}}"
	for after, want := range map[string]int{
		before: 0,
		"{region: europe, provider: {workers: [{name: v, machine: {type: virt}}, {name: w, machine: {type: bare, image: {name: gl, version: 10.0.0}}, maximum: 3}]}}": 0,
		"{region: europe, provider: {workers: [{name: w, machine: {type: huge, image: {name: gl, version: 10.0.0}}}]}}":                                               1,
		"{region: europe, provider: {workers: [{name: v, machine: {type: bare, image: {name: gl, version: 10.0.0}}}]}}":                                               1,
		"{region: europe, provider: {workers: [{name: w, machine: {type: bare, image: {name: gl, version: 10.0.1}}}]}}":                                               1,
	} {
		is, was := shoot(t, after), shoot(t, before)
		if got := consistency.Ratchet(p.CheckShoot(is, nil), p.CheckShoot(was, nil), is, was); len(got.Errors) != want {
			t.Errorf("%s: %v", after, got)
		}
	}
}
