// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"github.com/capkit/capkit/pkg/profile"
)

// AnyProfile is a compiled profile of any provider; nil if there is none.
type AnyProfile = *profile.Profile[any]
