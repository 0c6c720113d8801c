// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"regexp"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// knownCodes finds Gardener's error codes in what OpenStack says of a machine, which is known as a text only.
var knownCodes = map[v1beta1.ErrorCode]func(string) bool{
	v1beta1.ErrorInfraUnauthenticated: says(`authentication failed|requires authentication|invalid (user|credential)|\b401\b`),
	v1beta1.ErrorInfraUnauthorized:    says(`policy do\w*n'?t allow|policy does not allow|not authorized|\b403 forbidden`),
	v1beta1.ErrorInfraQuotaExceeded:   says(`quota\w* exceeded|exceed\w*( \w+)* quota|maximum number of ports exceeded`),
	v1beta1.ErrorInfraRateLimitsExceeded: says(
		`too many requests|rate limit\w* exceeded|\b429\b`),
	v1beta1.ErrorInfraResourcesDepleted: says(`no valid host was found|not enough hosts available|no more ip addresses available`),
	v1beta1.ErrorConfigurationProblem: says(
		`(flavor|image|key pair|keypair|security group|availability zone|network|subnet)\b.*(could not be found|not found|is not available)`),
}

// says returns a function that reports whether a text has what an expression describes, in upper or lower case.
func says(expression string) func(string) bool {
	return regexp.MustCompile("(?i)" + expression).MatchString
}
