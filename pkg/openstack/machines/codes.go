// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"regexp"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// knownCodes finds Gardener's error codes in messages of OpenStack and machine-controller-manager about a machine, which are only text.
// Gardener does not retry some codes by itself, so the expressions must not match more than necessary.
var knownCodes = map[v1beta1.ErrorCode]func(string) bool{
	v1beta1.ErrorInfraUnauthenticated: says(
		`authentication failed|requires authentication|invalid (user|credential)|could not find application credential|` + status(`401`)),
	v1beta1.ErrorInfraUnauthorized:       says(`policy do\w*n'?t allow|policy does not allow|not authorized|\b403 forbidden`), // 403 alone may be a quota
	v1beta1.ErrorInfraQuotaExceeded:      says(`quota\w* exceeded|exceed\w*( \w+)* quota|maximum number of ports exceeded`),
	v1beta1.ErrorInfraRateLimitsExceeded: says(`too many requests|rate limit\w* exceeded|` + status(`429`)),
	v1beta1.ErrorInfraResourcesDepleted:  says(`no valid host was found|not enough hosts available|no more ip addresses available`),
	v1beta1.ErrorRetryableInfraDependencies: says(
		`internal server error|unexpected api error|service unavailable|bad gateway|gateway time-?out|` + status(`409|5\d\d`)),
	// machine-controller-manager reports this while it drains a node.
	v1beta1.ErrorRetryableConfigurationProblem: says(`is misconfigured and requires zero voluntary evictions`),
	// The name may have several words, but the sentence must be about it.
	v1beta1.ErrorConfigurationProblem: says(
		`\b(flavor|image|key pair|keypair|security group|availability zone|network|subnet)( [^\s.:;,]+([.:][^\s.:;,]+)*){0,5}? ` +
			`(could not be found|not found|is not available)`),
}

// status returns an expression for an HTTP status in messages of OpenStack's clients. It does not match any equal number.
func status(codes string) string { return `\b(http|got|answers|code|status)[ :=(]*(` + codes + `)\b` }

// says returns a function that reports whether a text matches an expression, ignoring case.
func says(expression string) func(string) bool {
	return regexp.MustCompile("(?i)" + expression).MatchString
}
