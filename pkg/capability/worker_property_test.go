// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
)

// flavor compiles a side, machine and request a pool.
func (w *world) flavor(t *rapid.T, f side) capability.Set {
	s, errs := w.v.Flavor(f.declared, f.undeclared, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s
}

func (w *world) machine(t *rapid.T, p pool) capability.Set {
	s, errs := w.v.Set(p.machine, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
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
		flavor, machine, request := w.flavor(t, f), w.machine(t, p), w.request(p)
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

// checkConflict compares what a conflict says with what there is.
func (w *world) checkConflict(t *rapid.T, f side, p pool, c capability.Conflict) {
	values, asked := w.asks(p, c.Capability)
	_, declared := f.declared[c.Capability]
	if (c.Asked != nil) != asked || asked && !same(c.Asked, values) {
		t.Fatalf("asked for %v: %+v", values, c)
	}
	if !same(c.Offer, w.ofFlavor(f, p, c.Capability)) || !same(c.Need, w.ofMachine(p, c.Capability)) {
		t.Fatalf("the flavor has %v, the machine type %v: %+v", w.ofFlavor(f, p, c.Capability), w.ofMachine(p, c.Capability), c)
	}
	if c.Undeclared && declared && !w.leavesOut(f, c.Capability) || asked && !declared && !c.Undeclared {
		t.Fatalf("the flavor declares %v: %+v", f.declared, c)
	}
	meets := func(others []string) bool {
		return slices.ContainsFunc(c.Offer, func(value string) bool { return slices.Contains(others, value) })
	}
	var holds bool
	switch c.Cause {
	case capability.CauseMachine:
		holds = !meets(c.Need)
	case capability.CauseWorker:
		holds = asked && !meets(c.Asked) && (meets(c.Need) || c.Undeclared)
	case capability.CauseBoth:
		holds = asked && meets(c.Need) && meets(c.Asked)
	}
	if !holds {
		t.Fatalf("the cause is not true: %+v", c)
	}
}

func TestNothingRequestedIsNoCondition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		f, p := w.drawSide(t), w.drawPool(t)
		flavor, machine := w.flavor(t, f), w.machine(t, p)
		nothing, unmet := w.v.Request(nil)
		if len(unmet) > 0 {
			t.Fatal(unmet)
		}
		for _, request := range []capability.Set{{}, nothing} {
			if flavor.Fits(machine, request) != flavor.Compatible(machine) || flavor.Compatible(machine) != machine.Compatible(flavor) {
				t.Fatalf("%s on %s", flavor, machine)
			}
			if flavor.Effective(machine, request) != flavor.Effective(machine, capability.Set{}) {
				t.Fatalf("%s on %s: %s", flavor, machine, flavor.Effective(machine, request))
			}
		}
		if !w.flavor(t, side{}).Compatible(w.machine(t, pool{})) || !flavor.Compatible(w.machine(t, pool{})) || !w.flavor(t, side{}).Compatible(machine) {
			t.Fatal("what declares nothing fits everything")
		}
	})
}

func TestEffectiveIsWhatAllShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		f, p := w.drawSide(t), w.drawPool(t)
		effective := w.flavor(t, f).Effective(w.machine(t, p), w.request(p))
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
		met := slices.DeleteFunc(slices.Clone(p.asked), func(q capability.Requirement) bool { return !w.meets(q) })
		if again, _ := w.v.Request(rapid.Permutation(slices.Concat(met, met)).Draw(t, "again")); again != request {
			t.Fatal("order and repetition of requirements mean something, or those that cannot be met do")
		}
	})
	if ignored == 0 {
		t.Error("nothing is ever ignored")
	}
}

// Equal sets are those of flavors that support the same, and no pool tells them apart.
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
		if same := w.flavor(t, a) == w.flavor(t, b); same != says {
			t.Fatalf("%+v and %+v: equal is %t, want %t", a, b, same, says)
		}
		if !says {
			return
		}
		equal++
		if !slices.Equal(w.conflicts(a, p), w.conflicts(b, p)) || w.gep33(p, a, b) != 0 || w.gardener(a, b) != 0 {
			t.Fatalf("%+v and %+v are equal, and %+v tells them apart", a, b, p)
		}
	})
	if equal == 0 {
		t.Error("no two flavors are ever equal")
	}
}

// drawAlike rewrites what a flavor declares, and sometimes changes something.
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
		s := w.flavor(t, f)
		if again := w.flavor(t, side{s.Capabilities(), f.undeclared}); again != s {
			t.Fatalf("%+v is %s, and that is %s", f, s, again)
		}
		machine := w.drawDeclared(t)
		m, _ := w.v.Set(machine, nil)
		if again, _ := w.v.Set(m.Capabilities(), nil); again != m {
			t.Fatalf("%+v is %s, and that is %s", machine, m, again)
		}
		rewritten := caps{}
		for name, values := range machine {
			rewritten[name] = rapid.Permutation(slices.Concat(values, values[:1])).Draw(t, "values")
		}
		if again, _ := w.v.Set(rewritten, nil); again != m {
			t.Fatalf("%+v is %s, %+v is %s", machine, m, rewritten, again)
		}
	})
}

func TestCompareFollowsTheText(t *testing.T) {
	decided, own := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		undeclared, p := w.drawUndeclared(t), w.drawPool(t)
		a, b := side{w.drawDeclared(t), undeclared}, side{w.drawDeclared(t), undeclared}
		if rapid.Bool().Draw(t, "alike") {
			b = w.drawAlike(t, a)
		}
		p = w.widened(p, a, b)
		x, y, machine, request := w.flavor(t, a), w.flavor(t, b), w.machine(t, p), w.request(p)
		if got := capability.Compare(x, y, machine, request, capability.GEP33); sign(got.Sign) != w.gep33(p, a, b) {
			t.Fatalf("%+v and %+v for %+v: %+v, want %d", a, b, p, got, w.gep33(p, a, b))
		} else if got.Own {
			own++
		} else if got.Sign != 0 {
			decided++
		}
		if got := capability.Compare(x, y, machine, request, capability.Gardener); sign(got.Sign) != w.gardener(a, b) {
			t.Fatalf("%+v and %+v: %+v, want %d", a, b, got, w.gardener(a, b))
		}
	})
	if min(decided, own) == 0 {
		t.Errorf("%d decided by effective sets, %d by the flavors' own", decided, own)
	}
}

// widened changes a pool so that flavors fit it, as far as their undeclared values let it: preference is a matter of
// candidates.
func (w *world) widened(p pool, flavors ...side) pool {
	widened := pool{machine: caps{}}
	for name, values := range p.machine {
		for _, f := range flavors {
			values = append(slices.Clone(values), w.own(f, name)...)
		}
		widened.machine[name] = slices.DeleteFunc(values, func(value string) bool { return value == left })
	}
	for _, q := range p.asked {
		for _, f := range flavors {
			q.Values = slices.Concat(q.Values, f.declared[q.Capability], w.undeclared(f, q.Capability))
		}
		widened.asked = append(widened.asked, q)
	}
	for name := range widened.machine {
		for _, f := range flavors {
			widened.machine[name] = append(widened.machine[name], slices.DeleteFunc(slices.Clone(w.undeclared(f, name)), func(value string) bool {
				return !slices.Contains(w.values(name), value)
			})...)
		}
	}
	return widened
}

func TestCompareIsATotalOrderForRequests(t *testing.T) {
	candidates := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		undeclared := w.drawUndeclared(t)
		first := side{w.drawDeclared(t), undeclared}
		sides := []side{first, w.drawAlike(t, first), {w.drawDeclared(t), undeclared}}
		p := w.widened(w.drawPool(t), sides...)
		machine, request := w.machine(t, p), w.request(p)
		var sets []capability.Set
		for _, f := range sides {
			if s := w.flavor(t, f); s.Fits(machine, request) {
				sets = append(sets, s)
			}
		}
		if len(sets) == 3 {
			candidates++
		}
		for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			checkTotalOrder(t, sets, func(a, b capability.Set) capability.Preference {
				return capability.Compare(a, b, machine, request, order)
			})
		}
	})
	if candidates == 0 {
		t.Error("there are never three candidates")
	}
}

func checkTotalOrder(t *rapid.T, sets []capability.Set, compare func(a, b capability.Set) capability.Preference) {
	for _, a := range sets {
		for _, b := range sets {
			there, back := compare(a, b), compare(b, a)
			if sign(there.Sign) != -sign(back.Sign) || (there.Sign == 0) != (a == b) {
				t.Fatalf("%s and %s: %+v, the other way round %+v", a, b, there, back)
			}
			if there.Capability != back.Capability || there.LeftOut != back.LeftOut || there.First != back.Second || there.Round != back.Round || there.Own != back.Own {
				t.Fatalf("%s and %s: %+v, the other way round %+v", a, b, there, back)
			}
			for _, c := range sets {
				if there.Sign <= 0 && compare(b, c).Sign <= 0 && compare(a, c).Sign > 0 {
					t.Fatalf("not transitive: %s, %s, %s", a, b, c)
				}
			}
		}
	}
}

// What Compare says about a worker capability that one flavor leaves out must be true.
func TestPreferenceSaysWhatIsLeftOut(t *testing.T) {
	leftOut := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		a := side{declared: w.drawDeclared(t)}
		b, p := w.drawAlike(t, a), w.drawPool(t)
		for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
			got := capability.Compare(w.flavor(t, a), w.flavor(t, b), w.machine(t, p), w.request(p), order)
			if !got.LeftOut {
				continue
			}
			leftOut++
			if got.Sign > 0 {
				a, b = b, a
			}
			if !w.leavesOut(a, got.Capability) || w.leavesOut(b, got.Capability) || got.First != "" || got.Second != "" || !got.Own {
				t.Fatalf("%+v and %+v: %+v", a, b, got)
			}
		}
	})
	if leftOut == 0 {
		t.Error("leaving a capability out never decides")
	}
}
