// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/command"
)

// A spreadsheet does not interpret a CSV cell as a formula, for any image name. A table for people is not escaped.
func TestFormulas(t *testing.T) {
	rows := [][]string{{"=1+1", "+1", "-1", "@a", "\tb"}, {"", "a=1", "1-1", "'c", "d\r\n::e"}}
	for format, want := range map[string]string{
		"csv":   "a,b,c,d,e\n'=1+1,'+1,'-1,'@a,\\tb\n,a=1,1-1,'c,d\\r\\n::e\n",
		"table": "A      B     C     D     E\n=1+1   +1    -1    @a    \\tb\n-      a=1   1-1   'c    d\\r\\n::e\n",
	} {
		var out strings.Builder
		if err := command.PrintTable(&out, format, []string{"a", "b", "c", "d", "e"}, slices.Values(rows)); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v", format, out.String(), err)
		}
	}
}
