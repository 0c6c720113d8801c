// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DomainName is the key of the domain in the data of a Secret with credentials.
const DomainName = "domainName"

// Credentials checks the data of a Secret with credentials, which stands at the path at.
func Credentials(_ map[string][]byte, _ *field.Path) field.ErrorList {
	return nil
}
