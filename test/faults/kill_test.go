// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// enough is how many writes of each sort there are in each phase of a test, at least.
const enough = 2

func TestKilledWhileOthersWrite(t *testing.T) {
	t.Cleanup(func() { removeLease(t) })
	r := newReplica(t)
	serve(t, r)
	kinds := []*kind{&profiles, &shoots}
	l := startLoad(t, map[*kind]int{&profiles: 3, &shoots: 2})
	const times = 4
	for i := range times {
		l.enter(fmt.Sprint("up ", i))
		l.await(t, kinds, enough)
		l.enter(fmt.Sprint("down, dying ", i))
		if err := r.process.Kill(); err != nil {
			t.Fatal(err)
		}
		dead := fmt.Sprint("down ", i)
		l.enter(dead)
		l.await(t, kinds, enough)
		if n := l.number(func(c counter) bool { return c.phase == dead && c.outcome != unavailable }); n > 0 {
			t.Errorf("%d writes were answered while nobody could", n)
		}
		l.enter(fmt.Sprint("down, starting ", i))
		r.start(t)
	}
	l.enter("up at the end")
	l.await(t, kinds, enough)
	for _, problem := range l.verify(t, kinds) {
		t.Error(problem)
	}
}

// TestKilledOneAfterTheOther kills one of two replicas, which takes with it the requests that it was serving. The other one
// goes on, within seconds.
func TestKilledOneAfterTheOther(t *testing.T) {
	t.Cleanup(func() { removeLease(t) })
	replicas := []*replica{newReplica(t), newReplica(t)}
	serve(t, replicas...)
	kinds := []*kind{&profiles, &shoots}
	l := startLoad(t, map[*kind]int{&profiles: 3, &shoots: 2})
	for i, r := range replicas {
		l.enter(fmt.Sprint("both up, before ", i))
		l.await(t, kinds, enough)
		dying := fmt.Sprint("down, killing ", i)
		l.enter(dying)
		if err := r.process.Kill(); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		waitFor(t, "nobody is led to it any more", func() bool { return !entrance.leads(r) })
		before := l.number(func(c counter) bool { return c.phase == dying && !c.bad && c.outcome == accepted })
		waitFor(t, "good writes are accepted again", func() bool {
			return l.number(func(c counter) bool { return c.phase == dying && !c.bad && c.outcome == accepted }) >= before+5
		})
		took := time.Since(killed)
		t.Logf("five good writes were accepted within %s", took)
		if took > 15*time.Second { // a second where the machine has nothing else to do
			t.Errorf("that took %s", took)
		}
		l.enter(fmt.Sprint("without ", i))
		l.await(t, kinds, enough)
		r.start(t)
	}
	l.enter("both up at the end")
	l.await(t, kinds, enough)
	for _, problem := range l.verify(t, kinds) {
		t.Error(problem)
	}
}

// TestTheWritersNotice lets the API server fail open, as it must not: what the writers then report is what the other tests
// would report.
func TestTheWritersNotice(t *testing.T) {
	t.Cleanup(func() { removeLease(t) })
	r := newReplica(t)
	serve(t, r)
	if err := r.process.Kill(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { setFailurePolicy(t, admissionregistrationv1.Fail) })
	setFailurePolicy(t, admissionregistrationv1.Ignore)
	kinds := []*kind{&profiles, &shoots}
	l := startLoad(t, map[*kind]int{&profiles: 1, &shoots: 1})
	l.enter("down, and not noticed")
	for _, k := range kinds {
		waitFor(t, "something bad is accepted", func() bool {
			return l.number(func(c counter) bool { return c.kind == k.name && c.bad && c.outcome == accepted }) > 0
		})
	}
	problems := strings.Join(l.verify(t, kinds), "\n")
	for _, k := range kinds {
		// Which one is the first to be accepted depends on when the API server learns that it need not ask.
		for _, want := range []string{"create of " + k.name + " " + l.name + `-0-\d+ \(bad: true\)`, k.name + " " + l.name + `-0-\d+ is stored, though`} {
			if !regexp.MustCompile(want).MatchString(problems) {
				t.Errorf("%q is not among the problems:\n%s", want, problems)
			}
		}
	}
	// The tests that follow must not meet an API server that has not learnt yet that it fails closed again.
	setFailurePolicy(t, admissionregistrationv1.Fail)
	for _, k := range kinds {
		waitFor(t, "writes of a "+k.name+" fail closed again", func() bool {
			err := writing.Create(t.Context(), k.fresh("closed"), client.DryRunAll)
			return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
		})
	}
}

func setFailurePolicy(t *testing.T, policy admissionregistrationv1.FailurePolicyType) {
	t.Helper()
	ctx := context.Background() // it is also for cleaning up
	validating, mutating := configurations(t)
	for i := range validating.Webhooks {
		validating.Webhooks[i].FailurePolicy = &policy
	}
	for i := range mutating.Webhooks {
		mutating.Webhooks[i].FailurePolicy = &policy
	}
	if err := errors.Join(g.Client().Update(ctx, validating), g.Client().Update(ctx, mutating)); err != nil {
		t.Fatal(err)
	}
}
