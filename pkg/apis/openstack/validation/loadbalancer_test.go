// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/test/cases"
)

func TestLoadBalancerClasses(t *testing.T) {
	run(t, "load-balancer-classes", func(c *cases.Case) validation.Findings {
		var classes []v1alpha1.LoadBalancerClass
		c.Decode("classes.yaml", &classes)
		return validation.LoadBalancerClasses(classes, field.NewPath("at"))
	})
}
