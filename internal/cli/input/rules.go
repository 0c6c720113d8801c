// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import "github.com/capkit/capkit/internal/cli/decoding"

// The stable names of the rules about manifests as files, and about relations between objects. The rules about images are in package
// check.
const (
	RuleObjectKind        = decoding.RuleObjectKind
	RuleObjectDuplicate   = "object-duplicate"
	RuleFlavorWrapped     = decoding.RuleFlavorWrapped
	RuleProviderUnknown   = "provider-unknown"
	RulePoolNotChecked    = "pool-not-checked"
	RuleProfileUnreadable = "profile-unreadable"
)
