// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package constraints

import (
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/consistency"
)

// credentialRules are those about the credentials of a Shoot. Those about the Secret itself pkg/admission finds, for every
// provider.
var credentialRules = []consistency.Rule{
	{Name: validation.OriginCredentialsIncomplete, Severity: consistency.SeverityError, Online: true,
		Means:  "The Secret of a Shoot lacks a key, or its value: `domainName` or `tenantName`, which are always needed, or one that authentication needs. That is `username` and `password`, or `applicationCredentialSecret` with `applicationCredentialID`, or with `applicationCredentialName` and `username`.",
		Repair: "Add the key that the message names. The names of keys are case-sensitive."},
	{Name: validation.OriginCredentialsAmbiguous, Severity: consistency.SeverityError, Online: true,
		Means:  "The Secret of a Shoot has both a password and an application credential. Which of them is used would be chance.",
		Repair: "Remove the `password`, or the keys that begin with `applicationCredential`."},
	{Name: validation.OriginCredentialsValue, Severity: consistency.SeverityError, Online: true,
		Means:  "A value in the Secret of a Shoot cannot be right: it ends with a line break, say, has more characters than OpenStack allows, or is no URL or certificate where one belongs. Messages never show the value.",
		Repair: "Write the value again as the message says. `echo` adds a line break: use `printf`, or write the value under `stringData`, which needs no base64."},
	{Name: "credentials-missing", Severity: consistency.SeverityError, Online: true,
		Means:  "The credentials of a Shoot, or those that a binding refers to, do not exist.",
		Repair: "Create the Secret first, or correct the name or namespace of the reference. A Shoot that exists already can be changed and deleted without."},
	{Name: "credentials-kind", Severity: consistency.SeverityError, Online: true,
		Means:  "A binding refers to credentials of a kind that the provider cannot use, such as a WorkloadIdentity.",
		Repair: "Let the binding refer to a Secret. References cannot be changed: create another binding, and use that."},
}
