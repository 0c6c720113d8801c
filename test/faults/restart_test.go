// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"testing"
)

func TestRestartedOneAfterTheOther(t *testing.T) {
	replicas := []*replica{newReplica(t), newReplica(t)}
	serve(t, replicas...)
	kinds := []*kind{&profiles, &shoots}
	l := startLoad(t, map[*kind]int{&profiles: 3, &shoots: 2})
	direct := startDirect(t)
	for i, r := range replicas {
		l.enter(fmt.Sprint("stopping ", i))
		l.await(t, kinds, enough)
		stop(t, r)
		l.enter(fmt.Sprint("without ", i))
		l.await(t, kinds, enough)
		r.start(t)
	}
	l.enter("at the end")
	l.await(t, kinds, enough)
	direct.stop()
	for _, problem := range append(l.verify(t, kinds), direct.verify(t)...) {
		t.Error(problem)
	}
}

// TestUpgradedWhileOthersWrite replaces two replicas by new ones, as a Deployment does: a new one begins before an old one ends.
func TestUpgradedWhileOthersWrite(t *testing.T) {
	running := []*replica{newReplica(t), newReplica(t)}
	serve(t, running...)
	kinds := []*kind{&profiles, &shoots}
	l := startLoad(t, map[*kind]int{&profiles: 3, &shoots: 2})
	direct := startDirect(t)
	for i := range running {
		fresh := newReplica(t)
		l.enter(fmt.Sprint("starting a new one for ", i))
		running = append(running, fresh)
		entrance.lead(running...)
		fresh.start(t)
		l.await(t, kinds, enough)
		l.enter(fmt.Sprint("stopping the old one ", i))
		stop(t, running[0])
		running = running[1:]
		entrance.lead(running...)
		l.await(t, kinds, enough)
	}
	for _, problem := range append(l.verify(t, kinds), direct.verify(t)...) {
		t.Error(problem)
	}
}

// stop asks a replica to end, and insists that it does so well.
func stop(t *testing.T, r *replica) {
	t.Helper()
	if err := r.process.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.process.Wait(); err != nil {
		t.Errorf("asked to end, it ended with %v; its log:\n%s", err, r.log(t))
	}
}
