// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package constraints

import "github.com/capkit/capkit/pkg/consistency"

// shootRules are those about a Shoot.
var shootRules = []consistency.Rule{}
