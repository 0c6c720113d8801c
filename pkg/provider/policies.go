// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import "github.com/capkit/capkit/pkg/provider/policy"

// PolicyChooser is a [Provider] whose extension deviates from capkit's default decisions. Policies are set only here, so that webhooks,
// warnings, maintenance, worker controller and command agree.
type PolicyChooser interface {
	// Policies returns the same at every call. [Check] refuses invalid values.
	Policies() policy.Policies
}

// PoliciesOf returns the policies of a provider, or the defaults if it chooses none.
func PoliciesOf(provider any) policy.Policies {
	if chooser, chooses := As[PolicyChooser](provider); chooses {
		return chooser.Policies()
	}
	return policy.Policies{}
}
