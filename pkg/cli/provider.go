// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
)

// Provider is a [consistency.Provider] whose type of reference the command need not know. [For] makes one.
type Provider interface {
	providerType() string
	// check reports on a CloudProfile and compiles it.
	check(*v1beta1.CloudProfile) (profile, consistency.Report)
	// compile compiles the spec of a CloudProfile, and counts its errors.
	compile(*v1beta1.CloudProfileSpec) (profile, int)
}

// profile answers questions about worker pools.
type profile interface {
	resolve(consistency.Pool) Answer
	// CheckRegion returns an error at the path if the profile does not have the region.
	CheckRegion(region string, at *field.Path) *field.Error
}

// For makes a provider known to the command.
func For[R any](provider consistency.Provider[R]) Provider { return typed[R]{provider} }

type typed[R any] struct{ provider consistency.Provider[R] }

func (t typed[R]) providerType() string { return t.provider.Type() }

func (t typed[R]) check(object *v1beta1.CloudProfile) (profile, consistency.Report) {
	compiled, report := consistency.CheckCloudProfile(t.provider, object)
	return compiledProfile[R]{compiled}, report
}

func (t typed[R]) compile(spec *v1beta1.CloudProfileSpec) (profile, int) {
	compiled, report := consistency.Compile(t.provider, spec, field.NewPath("spec"))
	return compiledProfile[R]{compiled}, len(report.Errors)
}

type compiledProfile[R any] struct{ *consistency.Profile[R] }

func (p compiledProfile[R]) resolve(pool consistency.Pool) Answer {
	return answer(p.Profile, p.ResolvePool(pool))
}
