// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package constraints

import "github.com/capkit/capkit/pkg/consistency"

// cloudProfileRules are those about a CloudProfileConfig.
var cloudProfileRules = []consistency.Rule{}
