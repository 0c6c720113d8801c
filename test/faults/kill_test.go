// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var _ = Describe("A replica that is killed", func() {
	It("lets nothing wrong pass, and is missed only until it runs again", Label("slow"), func(ctx SpecContext) {
		r := newReplica()
		serve(ctx, r)
		l := startLoad(3, 2)
		for i := range 4 {
			l.enter(fmt.Sprint("up ", i))
			l.await(ctx)
			l.enter(fmt.Sprint("down, dying ", i))
			Expect(r.process.Kill()).To(Succeed())
			dead := fmt.Sprint("down ", i)
			l.enter(dead)
			l.await(ctx)
			Expect(l.number(func(c counter) bool { return c.phase == dead && c.outcome != unavailable })).To(BeZero(), l.summary)
			l.enter(fmt.Sprint("down, starting ", i))
			r.start(ctx)
		}
		l.enter("up at the end")
		l.await(ctx)
		Expect(l.problemsAtTheEnd(ctx)).To(BeEmpty())
	})

	// The replica's running requests end with it.
	It("leaves what is written next to the other one", Label("slow"), func(ctx SpecContext) {
		replicas := []*replica{newReplica(), newReplica()}
		serve(ctx, replicas...)
		l := startLoad(3, 2)
		for i, r := range replicas {
			l.enter(fmt.Sprint("both up, before ", i))
			l.await(ctx)
			dying := fmt.Sprint("down, killing ", i)
			l.enter(dying)
			Expect(r.process.Kill()).To(Succeed())
			Eventually(entrance.leads).WithArguments(r).Should(BeFalse())
			accepted := func() int {
				return l.number(func(c counter) bool { return c.phase == dying && !c.bad && c.outcome == accepted })
			}
			Eventually(accepted).Should(BeNumerically(">=", accepted()+5), l.summary)
			l.enter(fmt.Sprint("without ", i))
			l.await(ctx)
			r.start(ctx)
		}
		l.enter("both up at the end")
		l.await(ctx)
		Expect(l.problemsAtTheEnd(ctx)).To(BeEmpty())
	})
})

// The API server wrongly fails open. The writers must report that, as they would in the other specs.
var _ = It("Writers notice what an API server lets pass", func(ctx SpecContext) {
	r := newReplica()
	serve(ctx, r)
	Expect(r.process.Kill()).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		setFailurePolicy(ctx, admissionregistrationv1.Fail)
		for _, k := range kinds { // the next spec must not start before the API server fails closed again
			Eventually(try).WithContext(ctx).WithArguments(k.fresh("closed")).Should(MatchError(isUnavailable, "unavailable"))
		}
	})
	setFailurePolicy(ctx, admissionregistrationv1.Ignore)
	l := startLoad(1, 1)
	l.enter("down, and not noticed")
	for _, k := range kinds {
		Eventually(l.number).WithArguments(func(c counter) bool {
			return c.kind == k.name && c.action == "create" && c.bad && c.outcome == accepted
		}).Should(BeNumerically(">", 0), l.summary)
	}
	problems := l.problemsAtTheEnd(ctx)
	for _, k := range kinds {
		Expect(problems).To(ContainElements(
			MatchRegexp(`create of %s %s-0-\d+ \(bad: true\)`, k.name, l.name),
			MatchRegexp(`%s %s-0-\d+ is stored, though`, k.name, l.name),
		))
	}
})

// isUnavailable reports whether the API server refused because it could not call the component.
func isUnavailable(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
}

func setFailurePolicy(ctx context.Context, policy admissionregistrationv1.FailurePolicyType) {
	GinkgoHelper()
	validating, mutating := configurations(ctx)
	for i := range validating.Webhooks {
		validating.Webhooks[i].FailurePolicy = &policy
	}
	for i := range mutating.Webhooks {
		mutating.Webhooks[i].FailurePolicy = &policy
	}
	Expect(g.Client().Update(ctx, validating)).To(Succeed())
	Expect(g.Client().Update(ctx, mutating)).To(Succeed())
}
