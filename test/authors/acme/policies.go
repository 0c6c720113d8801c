// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider/policy"
)

// Converted is acme's provider if its extension had used the gardener library before: it goes on choosing the images that it chose, and
// filling in core flavors as it did.
type Converted struct{ Provider }

// Policies are what the extension decides as it did before.
func (Converted) Policies() policy.Policies {
	return policy.Policies{Order: capability.Gardener, CoreFollows: true}
}
