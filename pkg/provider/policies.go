// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import "github.com/capkit/capkit/pkg/provider/policy"

// PolicyChooser is a [Provider] of an extension that decides something in another way than capkit does by default. The provider is
// the only place for it, so that webhooks, warnings, maintenance, worker controller and command agree.
type PolicyChooser interface {
	// Policies are the same at every call. [Check] refuses values that are none.
	Policies() policy.Policies
}

// PoliciesOf returns the policies of a provider, the defaults if it chooses none.
func PoliciesOf(provider any) policy.Policies {
	if chooser, chooses := As[PolicyChooser](provider); chooses {
		return chooser.Policies()
	}
	return policy.Policies{}
}
