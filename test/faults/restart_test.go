// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// patiently makes a replica keep serving until it gets no more connections, even if the front is on a busy machine.
const patiently = "--shutdown-delay-duration=5s"

var _ = Describe("Writes go on", Label("slow"), func() {
	It("while replicas restart one after the other", func(ctx SpecContext) {
		replicas := []*replica{newReplica(patiently), newReplica(patiently)}
		serve(ctx, replicas...)
		l, direct := startLoad(3, 2), askDirectly(ctx)
		for i, r := range replicas {
			l.enter(fmt.Sprint("stopping ", i))
			l.await(ctx)
			r.stop(ctx)
			l.enter(fmt.Sprint("without ", i))
			l.await(ctx)
			r.start(ctx)
		}
		l.enter("at the end")
		l.await(ctx)
		direct.expectNoProblems()
		Expect(l.problemsAtTheEnd(ctx)).To(BeEmpty())
	})

	// As in a Deployment, new replicas start before old ones end.
	It("while new replicas take the place of old ones", func(ctx SpecContext) {
		running := []*replica{newReplica(patiently), newReplica(patiently)}
		serve(ctx, running...)
		l, direct := startLoad(3, 2), askDirectly(ctx)
		for i := range running {
			fresh := newReplica(patiently)
			l.enter(fmt.Sprint("starting a new one for ", i))
			running = append(running, fresh)
			entrance.lead(running...)
			fresh.start(ctx)
			l.await(ctx)
			l.enter(fmt.Sprint("stopping the old one ", i))
			running[0].stop(ctx)
			running = running[1:]
			entrance.lead(running...)
			l.await(ctx)
		}
		direct.expectNoProblems()
		Expect(l.problemsAtTheEnd(ctx)).To(BeEmpty())
	})
})
