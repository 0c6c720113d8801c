// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
)

// ordering is a provider with a preference order.
type ordering struct {
	given.Cloud
	order capability.Order
}

func (o ordering) Policies() policy.Policies { return policy.Policies{Order: o.order} }

// Every question to a profile uses its provider's order, or the order set with ByOrder.
func TestEveryQuestionHasTheOrderOfTheProfile(t *testing.T) {
	simple := 0
	rapid.Check(t, func(t *rapid.T) {
		cloud, spec := given.DrawProfile(t)
		order := given.DrawOrder(t)
		p, _ := profile.Compile(ordering{cloud, order}, spec, field.NewPath("spec"))
		pool := given.DrawPool(t)
		for by, p := range map[capability.Order]*profile.Profile[string]{order: p, order.Other(): p.ByOrder(order.Other())} {
			if p.Order() != by {
				t.Fatalf("the order of the profile is %s, and not %s", p.Order(), by)
			}
			if got := p.Ask(pool).Request.Order; got != by {
				t.Fatalf("Ask asks by %s, and not by %s", got, by)
			}
			for _, pool := range []provider.Pool{pool, {MachineType: pool.MachineType, Image: pool.Image, Version: pool.Version, Region: pool.Region}} {
				if request, all := p.AskSimply(pool); all {
					if request.Order != by {
						t.Fatalf("AskSimply asks by %s, and not by %s", request.Order, by)
					}
					simple++
				}
			}
		}
	})
	if simple == 0 {
		t.Error("no pool asks for nothing special")
	}
}
