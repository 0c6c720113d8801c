// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bufio"
	"fmt"
	"io"
	"iter"

	"github.com/capkit/capkit/internal/cli/report"
)

// PrintEach writes values in one of [AnswerFormats]: as a list in an object whose only member is called key, or as text. It writes each
// value before it requests the next, so that tens of thousands are never in memory together. text writes the value with an index for
// people.
func PrintEach[T any](w io.Writer, format, key string, values iter.Seq[T], text func(io.Writer, int, T)) error {
	out := bufio.NewWriter(w) // Flush returns its first error
	first, next, end, none := "", "", "", ""
	switch format {
	case "json":
		first, next = fmt.Sprintf("{\n  %q: [\n    ", key), ",\n    "
		end, none = "\n  ]\n}\n", fmt.Sprintf("{\n  %q: []\n}\n", key)
	case "yaml":
		first, none = key+":\n", key+": []\n"
	}
	i := 0
	for value := range values {
		var err error
		var item []byte
		_, _ = out.WriteString(first)
		first = next
		switch format {
		case "json":
			item, err = report.IndentedJSON(value, "    ")
			_, _ = out.Write(item)
		case "yaml":
			err = report.YAML(out, []T{value})
		default:
			text(out, i, value)
		}
		if err != nil {
			return err
		}
		i++
	}
	if i == 0 {
		end = none
	}
	_, _ = out.WriteString(end)
	return out.Flush()
}
