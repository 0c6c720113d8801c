// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"
)

func TestLoadBalancerProvider(t *testing.T) { runShoots(t, "load-balancer-provider") }

func TestLoadBalancerClasses(t *testing.T) { runShoots(t, "load-balancer-classes") }
