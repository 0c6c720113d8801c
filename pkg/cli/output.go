// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/finding"
)

// printJSON writes a value as indented JSON.
func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// printYAML writes a value as YAML, with the names that it has in JSON.
func printYAML(w io.Writer, value any) error {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// reportFormats are the formats of lint.
var reportFormats = map[string]func(io.Writer, Report) error{
	"text":  printReportText,
	"json":  func(w io.Writer, r Report) error { return printJSON(w, r) },
	"yaml":  func(w io.Writer, r Report) error { return printYAML(w, r) },
	"sarif": printSARIF,
	"junit": printJUnit,
}

// printReportText writes the findings for people, one to a line as compilers do, with the field below it.
func printReportText(w io.Writer, r Report) error {
	paint := palette(w)
	for _, f := range r.Findings {
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

// summaryLine is what lint says to people when it is done.
func summaryLine(s Summary) string {
	parts := []string{count(s.Errors, "error"), count(s.Warnings, "warning")}
	line := fmt.Sprintf("%s checked: %s", count(s.Objects, "object"), strings.Join(parts, ", "))
	if s.Skipped > 0 {
		line += fmt.Sprintf("; %s of other kinds skipped", count(s.Skipped, "manifest"))
	}
	if s.unread > 0 {
		line += fmt.Sprintf("; nothing more was checked of %s that could not be read", count(s.unread, "object"))
	}
	return line
}

func count(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
