// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
)

// flavor, machine and request compile a side and a pool.
func (w *world) flavor(f side) capability.Set {
	s, _ := w.v.Flavor(f.declared, f.undeclared, nil)
	return s
}

func (w *world) machine(p pool) capability.Set {
	s, _ := w.v.Set(p.machine, nil)
	return s
}

func (w *world) request(p pool) capability.Set {
	s, _ := w.v.Request(p.asked)
	return s
}

func (w *world) drawSide(t *rapid.T) side { return side{w.drawDeclared(t), w.drawUndeclared(t)} }

func TestFitsIsWhatFlavorMachineAndRequestShare(t *testing.T) {
	fitting, narrow, requested := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		f, p := w.drawSide(t), w.drawPool(t)
		flavor, machine, request := w.flavor(f), w.machine(p), w.request(p)
		want := w.conflicts(f, p)
		if flavor.Fits(machine, request) != (len(want) == 0) {
			t.Fatalf("%+v, %+v: fits is %t, conflicts are %v", f, p, flavor.Fits(machine, request), want)
		}
		var got []string
		for _, c := range flavor.Conflicts(machine, request) {
			got = append(got, c.Capability)
			w.checkConflict(t, f, p, c)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v, %+v: conflicts in %v, want %v", f, p, got, want)
		}
		switch {
		case len(want) > 0:
			narrow++
		case request != w.request(pool{}):
			requested++
		default:
			fitting++
		}
	})
	if min(fitting, narrow, requested) == 0 {
		t.Errorf("%d fit, %d fit a request, %d do not: one of these never happens", fitting, requested, narrow)
	}
}

// checkConflict compares a conflict with the model.
func (w *world) checkConflict(t *rapid.T, f side, p pool, c capability.Conflict) {
	d, _ := w.definition(c.Capability) // a flavor may have values that are defined but not registered; they come last
	unregistered := slices.DeleteFunc(slices.Clone(d.Values), func(value string) bool {
		return slices.Contains(w.values(d.Name), value)
	})
	inOrder := func(values []string) []string {
		return slices.DeleteFunc(slices.Concat(w.values(c.Capability), unregistered), func(value string) bool {
			return !slices.Contains(values, value)
		})
	}
	want := capability.Conflict{
		Capability: c.Capability, Cause: capability.CauseMachine,
		Offer: inOrder(w.ofFlavor(f, p, c.Capability)), Need: inOrder(w.ofMachine(p, c.Capability)),
	}
	meets := func(others []string) bool {
		return slices.ContainsFunc(want.Offer, func(value string) bool { return slices.Contains(others, value) })
	}
	if asked, asks := w.asks(p, c.Capability); asks {
		want.Asked, want.Undeclared = asked, w.leavesOut(f, c.Capability)
		switch {
		case !meets(asked) && (want.Undeclared || meets(want.Need)):
			want.Cause = capability.CauseWorker
		case meets(want.Need):
			want.Cause = capability.CauseBoth
		}
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Fatalf("%+v, %+v: %s", f, p, diff)
	}
}

func TestNothingRequestedIsNoCondition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		flavor, machine := w.flavor(w.drawSide(t)), w.machine(w.drawPool(t))
		nothing, unmet := w.v.Request(nil)
		if len(unmet) > 0 {
			t.Fatal(unmet)
		}
		for _, request := range []capability.Set{{}, nothing} {
			fits := flavor.Fits(machine, request)
			if flavor.Compatible(machine) != fits || machine.Compatible(flavor) != fits {
				t.Fatalf("%s on %s", flavor, machine)
			}
			if flavor.Effective(machine, request) != flavor.Effective(machine, capability.Set{}) {
				t.Fatalf("%s on %s: %s", flavor, machine, flavor.Effective(machine, request))
			}
		}
	})
}

func TestIntersect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		p, q := w.drawPool(t), w.drawPool(t)
		a, b := w.machine(p), w.machine(q)
		for _, name := range w.names() {
			want := slices.DeleteFunc(slices.Clone(w.values(name)), func(value string) bool {
				return !slices.Contains(w.ofMachine(p, name), value) || !slices.Contains(w.ofMachine(q, name), value)
			})
			if got := a.Intersect(b).Values(name); !slices.Equal(got, want) {
				t.Fatalf("%s of %s and %s: %v, want %v", name, a, b, got, want)
			}
		}
		if a.Intersect(b) != b.Intersect(a) || a.Intersect(a) != a || a.Intersect(w.v.All()) != a {
			t.Fatal("intersecting must not depend on the order, and keeps what both have")
		}
	})
}

func TestEffectiveIsWhatAllShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		f, p := w.drawSide(t), w.drawPool(t)
		effective := w.flavor(f).Effective(w.machine(p), w.request(p))
		printed := effective.Capabilities()
		for _, name := range w.names() {
			want := w.effective(f, p, name)
			if got := effective.Values(name); !slices.Equal(got, want) {
				t.Fatalf("%+v, %+v: %s is %v, want %v", f, p, name, got, want)
			}
			if values, there := printed[name]; there && !slices.Equal(values, want) ||
				!there && !w.leavesOut(f, name) && w.matters(p, name) || there && !w.matters(p, name) {
				t.Fatalf("%+v, %+v: %s is printed as %s", f, p, name, effective)
			}
		}
	})
}

func TestRequestsSayWhatCannotBeMet(t *testing.T) {
	ignored := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		p := w.drawPool(t)
		var want []string
		for _, q := range p.asked {
			if w.v.Ignores(q) != w.ignores(q) {
				t.Fatalf("%+v: ignores %+v: %t, want %t", w.v.WorkerCapabilities(), q, w.v.Ignores(q), w.ignores(q))
			}
			if w.v.Moot(q) != w.moot(q) {
				t.Fatalf("%+v: %+v is moot: %t, want %t", w.v.WorkerCapabilities(), q, w.v.Moot(q), w.moot(q))
			}
			if d, _ := w.definition(q.Capability); w.v.MachineTypesOnly(q.Capability) != d.MachineTypesOnly {
				t.Fatalf("%+v: of machine types only: %t", d, w.v.MachineTypesOnly(q.Capability))
			}
			switch {
			case w.ignores(q):
				ignored++
			case !w.meets(q):
				want = append(want, q.Setting)
			}
		}
		request, unmet := w.v.Request(p.asked)
		var got []string
		for _, q := range unmet {
			got = append(got, q.Setting)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: %v, want %v", p.asked, got, want)
		}
		for _, name := range w.names() {
			if asked, _ := w.asks(p, name); !slices.Equal(request.Values(name), asked) && w.matters(p, name) {
				t.Fatalf("%+v: %s is %v, want %v", p.asked, name, request.Values(name), asked)
			}
		}
		met := slices.DeleteFunc(slices.Clone(p.asked), func(q capability.Requirement) bool { return !w.meets(q) })
		if again, _ := w.v.Request(rapid.Permutation(slices.Concat(met, met)).Draw(t, "again")); again != request {
			t.Fatal("order and repetition of requirements mean something, or those that cannot be met do")
		}
	})
	if ignored == 0 {
		t.Error("nothing is ever ignored")
	}
}

// Two sets are equal if their flavors support the same; no pool distinguishes them.
func TestFlavorsAreEqualIfTheySayTheSame(t *testing.T) {
	equal := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		a, p := w.drawSide(t), w.drawPool(t)
		b := w.drawAlike(t, a)
		says := true
		for _, name := range w.names() {
			says = says && same(w.own(a, name), w.own(b, name))
		}
		if same := w.flavor(a) == w.flavor(b); same != says {
			t.Fatalf("%+v and %+v: equal is %t, want %t", a, b, same, says)
		}
		if !says {
			return
		}
		equal++
		if !slices.Equal(w.conflicts(a, p), w.conflicts(b, p)) || w.gep33(p, a, b).Sign != 0 || w.gardener(a, b).Sign != 0 {
			t.Fatalf("%+v and %+v are equal, and %+v tells them apart", a, b, p)
		}
	})
	if equal == 0 {
		t.Error("no two flavors are ever equal")
	}
}

// drawAlike rewrites a flavor's declaration, and sometimes changes it.
func (w *world) drawAlike(t *rapid.T, f side) side {
	alike := side{caps{}, f.undeclared}
	for name, values := range f.declared {
		alike.declared[name] = rapid.Permutation(slices.Concat(values, values)).Draw(t, "values")
	}
	for _, name := range w.names() {
		switch _, worker := w.definition(name); rapid.IntRange(0, 9).Draw(t, "change") {
		case 0:
			delete(alike.declared, name)
		case 1, 2:
			if _, declared := f.declared[name]; !declared && worker && len(w.undeclared(f, name)) > 0 && !w.isRegistered(name) {
				alike.declared[name] = w.undeclared(f, name)
			}
		case 3:
			if _, declared := f.declared[name]; !declared && w.isRegistered(name) {
				alike.declared[name] = w.values(name)
			}
		}
	}
	return alike
}

func TestWhatASetPrintsIsWhatItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		f := w.drawSide(t)
		s := w.flavor(f)
		if again := w.flavor(side{s.Capabilities(), f.undeclared}); again != s {
			t.Fatalf("%+v is %s, and that is %s", f, s, again)
		}
		p := pool{machine: w.drawDeclared(t)}
		m := w.machine(p)
		if again := w.machine(pool{machine: m.Capabilities()}); again != m {
			t.Fatalf("%+v is %s, and that is %s", p, m, again)
		}
		for _, name := range w.names() {
			if got := m.Values(name); !same(got, w.ofMachine(p, name)) {
				t.Fatalf("%+v: %s is %v", p, name, got)
			}
		}
	})
}

// Order, repetition, and writing out an omitted capability make no difference.
func TestMachinesAreEqualIfTheySupportTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		p := pool{machine: w.drawDeclared(t)}
		q := pool{machine: w.drawAlike(t, side{declared: p.machine}).declared}
		supports := true
		for _, name := range w.names() {
			_, declared := p.machine[name]
			_, also := q.machine[name]
			supports = supports && same(w.ofMachine(p, name), w.ofMachine(q, name)) && (declared == also || w.isRegistered(name))
		}
		if a, b := w.machine(p), w.machine(q); (a == b) != supports || (a.String() == b.String()) != supports {
			t.Fatalf("%+v is %s, %+v is %s", p, a, q, b)
		}
	})
}

func TestCompareFollowsTheText(t *testing.T) {
	decided, own, leftOut := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		undeclared, p := w.drawUndeclared(t), w.drawPool(t)
		a, b := side{w.drawDeclared(t), undeclared}, side{w.drawDeclared(t), undeclared}
		if rapid.Bool().Draw(t, "alike") {
			b = w.drawAlike(t, a)
		}
		p = w.widened(p, a, b)
		x, y, machine, request := w.flavor(a), w.flavor(b), w.machine(p), w.request(p)
		got := capability.Compare(x, y, machine, request, capability.GEP33)
		if diff := cmp.Diff(w.gep33(p, a, b), signOf(got)); diff != "" {
			t.Fatalf("%+v and %+v for %+v: %s", a, b, p, diff)
		}
		if got.LeftOut {
			leftOut++
		}
		if got.Own {
			own++
		} else if got.Sign != 0 {
			decided++
		}
		got = capability.Compare(x, y, capability.Set{}, request, capability.GEP33)
		if diff := cmp.Diff(w.byOwn(a, b), signOf(got)); diff != "" {
			t.Fatalf("%+v and %+v without a machine type: %s", a, b, diff)
		}
		got = capability.Compare(x, y, machine, request, capability.Gardener)
		if diff := cmp.Diff(w.gardener(a, b), signOf(got)); diff != "" {
			t.Fatalf("%+v and %+v: %s", a, b, diff)
		}
	})
	if min(decided, own, leftOut) == 0 {
		t.Errorf("%d decided by effective sets, %d by the flavors' own, %d by leaving out", decided, own, leftOut)
	}
}

// signOf returns a preference with its sign reduced to 1, 0 or -1.
func signOf(p capability.Preference) capability.Preference {
	p.Sign = min(1, max(-1, p.Sign))
	return p
}

// widened changes a pool so that flavors fit it, if their undeclared values allow that: preference only applies to candidates.
func (w *world) widened(p pool, flavors ...side) pool {
	widened := pool{machine: caps{}}
	for name, values := range p.machine {
		for _, f := range flavors {
			values = slices.Concat(values, w.own(f, name), w.undeclared(f, name))
		}
		widened.machine[name] = slices.DeleteFunc(values, func(value string) bool {
			return !slices.Contains(w.values(name), value)
		})
	}
	for _, q := range p.asked {
		for _, f := range flavors {
			q.Values = slices.Concat(q.Values, f.declared[q.Capability], w.undeclared(f, q.Capability))
		}
		widened.asked = append(widened.asked, q)
	}
	return widened
}

func TestCompareIsATotalOrder(t *testing.T) {
	candidates := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		undeclared := w.drawUndeclared(t)
		first := side{w.drawDeclared(t), undeclared}
		sides := []side{first, w.drawAlike(t, first), {w.drawDeclared(t), undeclared}}
		p := w.widened(w.drawPool(t), sides...)
		machine, request := w.machine(p), w.request(p)
		var sets []capability.Set
		for _, f := range sides {
			if s := w.flavor(f); s.Fits(machine, request) {
				sets = append(sets, s)
			}
		}
		if len(sets) == 3 {
			candidates++
		}
		for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			checkTotalOrder(t, sets, func(a, b capability.Set) int {
				return signOf(capability.Compare(a, b, machine, request, order)).Sign
			})
		}
	})
	if candidates == 0 {
		t.Error("there are never three candidates")
	}
}

func checkTotalOrder(t *rapid.T, sets []capability.Set, compare func(a, b capability.Set) int) {
	for _, a := range sets {
		for _, b := range sets {
			if there, back := compare(a, b), compare(b, a); there != -back || (there == 0) != (a == b) {
				t.Fatalf("%s and %s: %d, the other way round %d", a, b, there, back)
			}
			for _, c := range sets {
				if compare(a, b) <= 0 && compare(b, c) <= 0 && compare(a, c) > 0 {
					t.Fatalf("not transitive: %s, %s, %s", a, b, c)
				}
			}
		}
	}
}
