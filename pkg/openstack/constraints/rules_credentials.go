// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package constraints

import "github.com/capkit/capkit/pkg/consistency"

// credentialRules are those about the credentials of a Shoot.
var credentialRules = []consistency.Rule{}
