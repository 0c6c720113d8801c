// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/capkit/capkit/pkg/words"
)

// WithTables contains [AnswerFormats] and the table formats, sorted.
var WithTables = []string{"csv", "json", "table", "text", "yaml"}

// IsTable reports whether a format is one of those of [PrintTable].
func IsTable(format string) bool { return format == "csv" || format == "table" }

// PrintTable writes rows below a header with the column names, as kubectl does or as CSV (RFC 4180).
func PrintTable(w io.Writer, format string, columns []string, rows iter.Seq[[]string]) error {
	if format == "csv" {
		out := csv.NewWriter(w)
		errs := []error{out.Write(columns)}
		for row := range rows {
			errs = append(errs, out.Write(texts(row)))
		}
		out.Flush()
		return errors.Join(append(errs, out.Error())...)
	}
	const width, padding = 6, 3 // as in kubectl
	out := tabwriter.NewWriter(w, width, 4, padding, ' ', 0)
	upper := make([]string, 0, len(columns))
	for _, column := range columns {
		upper = append(upper, strings.ToUpper(column))
	}
	fmt.Fprintln(out, strings.Join(upper, "\t"))
	for row := range rows {
		row = slices.Clone(row)
		for i := range row {
			if row[i] = words.Printable(row[i]); row[i] == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
	return out.Flush()
}

// texts makes cells printable. An apostrophe before a cell keeps spreadsheets from reading it as a formula.
func texts(row []string) []string {
	row = slices.Clone(row)
	for i, cell := range row {
		if row[i] = words.Printable(cell); cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
			row[i] = "'" + row[i]
		}
	}
	return row
}
