// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"

	"github.com/capkit/capkit/pkg/finding"
)

// references counts references.
func references(n int) string {
	if n == 1 {
		return "1 reference"
	}
	return fmt.Sprintf("%d references", n)
}

// about puts the name of an image version before what findings say.
func about(name string, findings finding.List) finding.List {
	for _, err := range findings {
		err.Detail = name + ": " + err.Detail
	}
	return findings
}
