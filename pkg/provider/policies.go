// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import "github.com/capkit/capkit/pkg/capability"

// PolicyChooser is a [Provider] of an extension that decides something in another way than capkit does by default. The provider is
// the only place for it, so that webhooks, warnings, maintenance, worker controller and command agree.
type PolicyChooser interface {
	// Policies are the same at every call. [Check] refuses values that there are not.
	Policies() Policies
}

// Policies are what extensions decide in different ways. The zero Policies are the defaults.
type Policies struct {
	// Order ranks the flavors that fit a worker pool (semantics S5).
	Order capability.Order
	// CoreFollows says that core's flavors are overwritten where they do not correspond to the provider config (semantics S12). By
	// default they are filled in where there are none, and what an operator wrote is never overwritten.
	CoreFollows bool
	// UndecidedRecalls says that a new worker pool whose image cannot be decided, since the mapping is wrong, gets a record of the Worker's
	// status that fits, if another pool has booted its image version (semantics S14). By default it is refused. A pool that exists
	// goes on in either case.
	UndecidedRecalls bool
	// UndecidedFails says that a worker pool whose mapping is wrong is refused even if it exists, and with it the reconciliation of its
	// Worker. By default it goes on with what its machine class boots, or with a record if the class gets another name. What
	// becomes of a version that the profile does not list any more does not depend on it.
	UndecidedFails bool
}

// PoliciesOf returns the policies of a provider, the defaults if it chooses none.
func PoliciesOf(provider any) Policies {
	if chooser, chooses := As[PolicyChooser](provider); chooses {
		return chooser.Policies()
	}
	return Policies{}
}

// check reports the values that there are not.
func (p Policies) check(wrong func(format string, args ...any)) {
	if p.Order != capability.GEP33 && p.Order != capability.Gardener {
		wrong("the policy Order is %d, which is no preference order: choose capability.GEP33 or capability.Gardener", int(p.Order))
	}
	if p.UndecidedRecalls && p.UndecidedFails {
		wrong("the policies UndecidedRecalls and UndecidedFails exclude each other: choose one of them, or none")
	}
}
