// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// most is how many names a message lists before it says how many more there are.
const most = 5

// few joins names for a message.
func few(names []string) string { return joinFew(names, ", ") }

func joinFew(clauses []string, separator string) string {
	return firstOf(len(clauses), clauses[:min(len(clauses), most)], separator)
}

// firstOf joins the first of n clauses.
func firstOf(n int, first []string, separator string) string {
	joined := strings.Join(first, separator)
	if n <= len(first) {
		return joined
	}
	return fmt.Sprintf("%s%sand %d more", joined, separator, n-len(first))
}

func plural(names []string, noun string) string {
	if len(names) == 1 {
		return noun
	}
	return noun + "s"
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// about puts the name of an image version before what findings say.
func about(name string, findings field.ErrorList) field.ErrorList {
	for _, err := range findings {
		err.Detail = name + ": " + err.Detail
	}
	return findings
}
