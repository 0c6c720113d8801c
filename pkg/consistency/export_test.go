// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

// The names of rules that the tests, which stand outside the package, look for.
const (
	RuleCoreFlavorDuplicate = ruleCoreFlavorDuplicate
	RuleFlavorDuplicate     = ruleFlavorDuplicate
	RuleFlavorMissing       = ruleFlavorMissing
	RuleFlavorUnexpected    = ruleFlavorUnexpected
	RuleRequestUnmet        = ruleRequestUnmet
	RuleOnlyOnRequest       = ruleOnlyOnRequest
	RuleWorkerValueUnasked  = ruleWorkerValueUnasked
)
