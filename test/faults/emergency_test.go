// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/test/garden/extension"
)

// root is the root of the repository.
const root = "../.."

// follow runs the commands of the only block of docs/operators/operations.md that contains a text, like an operator.
func follow(ctx context.Context, text string) error {
	document, err := os.ReadFile(filepath.Join(root, "docs/operators/operations.md"))
	Expect(err).NotTo(HaveOccurred())
	var found []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(document), -1) {
		if strings.Contains(block[1], text) {
			found = append(found, block[1])
		}
	}
	Expect(found).To(HaveLen(1))
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", found[0])
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "KUBECONFIG="+g.Kubeconfig(), fmt.Sprintf("PATH=%s:%s", filepath.Dir(g.Binary("kubectl")), os.Getenv("PATH")))
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, found[0], output)
	}
	return nil
}

// try returns the result of creating an object, as a dry run.
func try(ctx context.Context, object client.Object) error {
	return writing.Create(ctx, object.DeepCopyObject().(client.Object), client.DryRunAll)
}

var _ = Describe("In an emergency", func() {
	It("an object can be exempted, until the component starts again", func(ctx SpecContext) {
		r := newReplica()
		serve(ctx, r)
		By("waiting until it leads, and does not look at its configurations for the next minutes")
		Eventually(r.log).Should(And(ContainSubstring("Registered the webhooks"), MatchRegexp("(?s)(Updated source webhook config.*){2}")))
		exempted := &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "provider-flavor-missing"}}
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(g.Client().Delete(ctx, exempted))).To(Succeed()) })
		// Repeated, because a busy machine may take longer than the commands wait.
		Eventually(follow).WithContext(ctx).WithArguments("matchConditions").Should(Succeed())
		Expect(g.Client().Get(ctx, client.ObjectKeyFromObject(exempted), exempted)).To(Succeed())
		Expect(try(ctx, profiles.spoilt("other"))).To(MatchError(apierrors.IsInvalid, "invalid"))
		r.stop(ctx)
		r.start(ctx)
		Eventually(try).WithContext(ctx).WithArguments(profiles.spoilt(exempted.Name)).Should(MatchError(apierrors.IsInvalid, "invalid"))
	})

	It("the component registers webhooks again that somebody has deleted, for the same owner", func(ctx SpecContext) {
		first, r := newReplica(), newReplica(often)
		serve(ctx, first)
		Eventually(first.log).Should(ContainSubstring("Registered the webhooks"))
		first.stop(ctx)
		By("waiting until another one leads, which has found what is registered, and has written both configurations twice")
		serve(ctx, r)
		Eventually(r.log).Should(And(ContainSubstring("Registered the webhooks"), MatchRegexp("(?s)(Updated source webhook config.*){4}")))
		validating, mutating := configurations(ctx)
		Expect(validating.OwnerReferences).NotTo(BeEmpty())
		for _, before := range []client.Object{validating, mutating} {
			Expect(g.Client().Delete(ctx, before)).To(Succeed())
			Eventually(func(expect Gomega) {
				now := before.DeepCopyObject().(client.Object)
				expect.Expect(g.Client().Get(ctx, client.ObjectKeyFromObject(before), now)).To(Succeed())
				expect.Expect(now.GetUID()).NotTo(Equal(before.GetUID()))
				expect.Expect(now.GetOwnerReferences()).To(Equal(before.GetOwnerReferences()))
			}).WithContext(ctx).Should(Succeed())
		}
		Expect(extension.OpenStack.WaitUntilInstalled(ctx, g)).To(Succeed())
	})

	// The webhooks stay registered, but admit everything.
	It("all webhooks can be disabled", func(ctx SpecContext) {
		r, without := newReplica(), newReplica("--disable-webhooks=*")
		serve(ctx, r)
		r.stop(ctx)
		entrance.lead(without)
		without.start(ctx)
		for _, k := range kinds {
			Expect(try(ctx, k.spoilt("disabled"))).To(Succeed(), k.name)
		}
		configurations(ctx)
	})

	It("API servers can be told not to insist on an answer, until the component starts again", func(ctx SpecContext) {
		r := newReplica()
		serve(ctx, r)
		r.stop(ctx)
		Expect(follow(ctx, `"failurePolicy": "Ignore"`)).To(Succeed())
		for _, k := range kinds {
			Eventually(try).WithContext(ctx).WithArguments(k.spoilt("insist")).Should(Succeed(), k.name)
		}
		r.start(ctx)
		Eventually(try).WithContext(ctx).WithArguments(profiles.spoilt("insist")).Should(MatchError(apierrors.IsInvalid, "invalid"))
	})
})
