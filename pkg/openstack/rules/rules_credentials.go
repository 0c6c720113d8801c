// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// credentialRules are those about the data of a Secret.
var credentialRules = []finding.Rule{
	{Name: validation.OriginCredentialsIncomplete, Severity: finding.SeverityError, Online: true,
		Means:  "The Secret of a Shoot lacks a key, or its value: `domainName` or `tenantName`, which are always needed, or one that authentication needs. That is `username` and `password`, or `applicationCredentialSecret` with `applicationCredentialID`, or with `applicationCredentialName` and `username`.",
		Repair: "Add the key that the message names. The names of keys are case-sensitive."},
	{Name: validation.OriginCredentialsAmbiguous, Severity: finding.SeverityError, Online: true,
		Means:  "The Secret of a Shoot has both a password and an application credential. Which of them is used would be chance.",
		Repair: "Remove the `password`, or the keys that begin with `applicationCredential`."},
	{Name: validation.OriginCredentialsValue, Severity: finding.SeverityError, Online: true,
		Means:  "A value in the Secret of a Shoot cannot be right: it ends with a line break, say, has more characters than OpenStack allows, or is no URL or certificate where one belongs. Messages never show the value.",
		Repair: "Write the value again as the message says. `echo` adds a line break: use `printf`, or write the value under `stringData`, which needs no base64."},
}
