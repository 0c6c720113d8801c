// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cases

import "strings"

// Fold joins findings and breaks long lines, in the format of the archives.
func Fold(findings ...string) string {
	var b strings.Builder
	for _, finding := range findings {
		column := 0
		for i, word := range strings.Split(finding, " ") {
			switch {
			case i == 0:
			case column+1+len(word) > 120:
				b.WriteString("\n  ")
				column = 2
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += len(word)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
