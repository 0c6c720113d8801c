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

// PrintEach writes values in one of answerFormats: as the list that is the only member of an object, called key, or as
// text. Each is written before the next one is asked for, so that tens of thousands are never in memory together. text
// writes the value of an index for people.
func PrintEach[T any](w io.Writer, format, key string, values iter.Seq[T], text func(io.Writer, int, T)) error {
	out := bufio.NewWriter(w)
	i := 0
	for value := range values {
		err := error(nil)
		switch format {
		case "json":
			err = printItem(out, key, i, value)
		case "yaml":
			err = printYAMLItem(out, key, i, value)
		default:
			text(out, i, value)
		}
		if err != nil {
			return err
		}
		i++
	}
	switch {
	case format == "json" && i == 0:
		fmt.Fprintf(out, "{\n  %q: []\n}\n", key)
	case format == "json":
		fmt.Fprint(out, "\n  ]\n}\n")
	case format == "yaml" && i == 0:
		fmt.Fprintf(out, "%s: []\n", key)
	}
	return out.Flush()
}

// printItem writes the item of an index as package report would write it within its list.
func printItem(w io.Writer, key string, i int, value any) error {
	text, err := report.IndentedJSON(value, "    ")
	if err != nil {
		return err
	}
	before := ","
	if i == 0 {
		before = fmt.Sprintf("{\n  %q: [", key)
	}
	_, err = fmt.Fprintf(w, "%s\n    %s", before, text)
	return err
}

func printYAMLItem[T any](w io.Writer, key string, i int, value T) error {
	if i == 0 {
		fmt.Fprintf(w, "%s:\n", key)
	}
	return report.YAML(w, []T{value})
}
