// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"

	"github.com/capkit/capkit/pkg/finding"
)

// Text writes findings for people, one to a line as compilers do, with the field below it. Severities are in colour if
// w is a terminal and the environment has no NO_COLOR.
func Text(w io.Writer, findings []Finding) error {
	paint := palette(w)
	for _, f := range findings {
		_, err := fmt.Fprintf(w, "%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, paint(f.Severity), f.Message, f.Rule)
		if err == nil && f.Field != "" {
			_, err = fmt.Fprintf(w, "    %s: %s\n", strings.TrimSpace(f.Object.String()), f.Field)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// palette returns how to print a severity: in colour on a terminal, unless NO_COLOR is set.
func palette(w io.Writer) func(finding.Severity) string {
	file, isFile := w.(*os.File)
	_, refused := os.LookupEnv("NO_COLOR")
	if !isFile || refused || !isatty.IsTerminal(file.Fd()) {
		return func(s finding.Severity) string { return string(s) }
	}
	red, yellow := color.New(color.FgRed, color.Bold), color.New(color.FgYellow, color.Bold)
	red.EnableColor()
	yellow.EnableColor()
	return func(s finding.Severity) string {
		if s == finding.SeverityError {
			return red.Sprint(s)
		}
		return yellow.Sprint(s)
	}
}

// String is what lint says to people when it is done: a line, without its end.
func (s Summary) String() string {
	parts := []string{Count(s.Errors, "error"), Count(s.Warnings, "warning")}
	line := fmt.Sprintf("%s checked: %s", Count(s.Objects, "object"), strings.Join(parts, ", "))
	if s.Skipped > 0 {
		line += fmt.Sprintf("; %s of other kinds skipped", Count(s.Skipped, "manifest"))
	}
	if s.Unread > 0 {
		line += fmt.Sprintf("; nothing more was checked of %s that could not be read", Count(s.Unread, "object"))
	}
	return line
}

// Count writes a number with its noun, which gets an s as its plural: no errors, 1 error, 2 errors.
func Count(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
