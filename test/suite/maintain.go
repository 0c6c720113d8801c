// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Maintain has Gardener maintain a Shoot, which is read anew, and returns what its status says of that; nil if there was nothing to do.
// Gardener removes the annotation once it has said that the maintenance is under way, or has failed. A maintenance that fails because
// another controller has changed the Shoot meanwhile is asked for again.
func Maintain(ctx context.Context, c client.Client, s *v1beta1.Shoot) *v1beta1.LastMaintenance {
	ginkgo.GinkgoHelper()
	ask := client.RawPatch(types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"`+v1beta1constants.GardenerOperation+`":"`+v1beta1constants.ShootOperationMaintain+`"}}}`))
	for {
		gomega.Expect(c.Patch(ctx, s, ask)).To(gomega.Succeed())
		gomega.Eventually(ctx, func(g gomega.Gomega) {
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(s), s)).To(gomega.Succeed())
			g.Expect(s.Annotations[v1beta1constants.GardenerOperation]).NotTo(gomega.Equal(v1beta1constants.ShootOperationMaintain))
			if last := s.Status.LastMaintenance; last != nil {
				g.Expect(last.State).NotTo(gomega.Equal(v1beta1.LastOperationStateProcessing))
			}
		}).Should(gomega.Succeed())
		last := s.Status.LastMaintenance
		if last == nil || !strings.Contains(ptr.Deref(last.FailureReason, ""), "the object has been modified") {
			return last
		}
	}
}
