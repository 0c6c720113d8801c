// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package charts

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/aws"
	provider "github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/garden/charts"
)

var _ = Describe("The rights that an extension with a manager of its own gives to the webhooks", func() {
	// The chart's other rights are for registering webhooks of any kind.
	DescribeTable("are those of the chart", func(name string, exported []rbacv1.PolicyRule) {
		component, found := components.Of(name)
		Expect(found).To(BeTrue())
		role := &rbacv1.ClusterRole{}
		rendered := find(renderFor(component, charts.Application, extensionNamespace, values("account")), "ClusterRole")
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Object, role)).To(Succeed())
		Expect(slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool { return len(rule.ResourceNames) > 0 })).To(Equal(exported))
	},
		Entry("with credentials", "openstack", admission.Rights(provider.Provider{})),
		Entry("without", "aws", admission.Rights(aws.Provider{})),
	)
})
