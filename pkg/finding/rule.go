// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"cmp"
	"slices"
)

// Severity of a rule.
type Severity string

// The severities. They are part of the command line's JSON.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Rule is an entry of the catalogue of rules, from which documentation and SARIF output are made.
type Rule struct {
	// Name is the stable name, the Origin of the rule's findings. Once published it keeps its meaning.
	Name     string
	Severity Severity
	// Means says in a sentence or two what the rule demands, and why.
	Means string
	// Repair says what to do about a finding.
	Repair string
	// Online rules look at more than manifests: at the older version of an object, at those who use it, at credentials.
	// Only admission can find what they are about.
	Online bool
}

// SortRules sorts rules, in place, by name.
func SortRules(rules []Rule) {
	slices.SortFunc(rules, func(a, b Rule) int { return cmp.Compare(a.Name, b.Name) })
}

// Denies returns a rule whose findings are errors.
func Denies(name, means, repair string) Rule {
	return Rule{Name: name, Severity: SeverityError, Means: means, Repair: repair}
}

// Warns returns a rule whose findings are warnings.
func Warns(name, means, repair string) Rule {
	return Rule{Name: name, Severity: SeverityWarning, Means: means, Repair: repair}
}

// Online returns the rules, marked as those that only admission can check. They are changed in place.
func Online(rules []Rule) []Rule {
	for i := range rules {
		rules[i].Online = true
	}
	return rules
}
