// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"
	goyaml "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/words"
)

// formats maps the names of formats to their writers.
var formats = map[string]func(io.Writer, *Report, *Options) error{
	"text":   textReport,
	"json":   func(w io.Writer, r *Report, _ *Options) error { return JSON(w, r) },
	"yaml":   func(w io.Writer, r *Report, _ *Options) error { return YAML(w, r) },
	"sarif":  sarifLog,
	"junit":  junitReport,
	"github": workflowCommands,
	"gitlab": codeQuality,
}

// Formats returns the names of the formats of a report, sorted. The caller owns the slice.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Write writes the report in one of [Formats]. The error is about writing, or an unknown format.
func (r *Report) Write(w io.Writer, format string, options Options) error {
	write, found := formats[format]
	if !found {
		return fmt.Errorf("unknown format %q", format)
	}
	return write(w, r, &options)
}

// JSON writes a value as indented JSON. Unprintable characters become JSON escape sequences.
func JSON(w io.Writer, value any) error {
	text, err := IndentedJSON(value, "")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// IndentedJSON returns the text of [JSON] without the final newline. prefix, which consists of blanks, begins all lines except the first.
func IndentedJSON(value any, prefix string) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return escapedJSON(bytes.TrimSuffix(text.Bytes(), []byte("\n"))), nil
}

// YAML writes a value as YAML, with its JSON names. Unprintable characters become YAML escape sequences.
func YAML(w io.Writer, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	// JSONToYAML uses a YAML parser, which refuses control characters.
	text, err := yaml.JSONToYAML([]byte(escaped(string(raw), inYAML)))
	if err == nil && !Harmless(string(text)) {
		text, err = escapedYAML(text)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// escapedYAML puts scalars that are not [Harmless] in double quotes, because other styles have no escape sequences, and escapes them.
func escapedYAML(text []byte) ([]byte, error) {
	var document goyaml.Node
	if err := goyaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	quote(&document)
	var out bytes.Buffer
	encoder := goyaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := errors.Join(encoder.Encode(&document), encoder.Close()); err != nil {
		return nil, err
	}
	return []byte(escaped(out.String(), inYAML)), nil
}

func quote(n *goyaml.Node) {
	if n.Kind == goyaml.ScalarNode && !Harmless(n.Value) {
		n.Style = goyaml.DoubleQuotedStyle
	}
	for _, child := range n.Content {
		quote(child)
	}
}

// String returns the line that lint prints at the end, without a newline.
func (s Summary) String() string {
	line := fmt.Sprintf("%s checked: %s, %s",
		Count(s.Objects, "object"), Count(s.Errors, "error"), Count(s.Warnings, "warning"))
	if s.Skipped > 0 {
		line += fmt.Sprintf("; %s of other kinds skipped", Count(s.Skipped, "manifest"))
	}
	if s.Suppressed > 0 {
		line += fmt.Sprintf("; %s silenced", Count(s.Suppressed, "finding"))
	}
	if s.AsMeant > 0 {
		line += fmt.Sprintf("; %s with errors checked as probably meant", Count(s.AsMeant, "manifest"))
	}
	if s.Unread > 0 {
		line += fmt.Sprintf("; nothing more was checked of %s that could not be read", Count(s.Unread, "object"))
	}
	return line
}

// Count formats a number with its noun, whose plural has an s: no errors, 1 error, 2 errors.
func Count(n int, noun string) string {
	if n == 0 {
		return "no " + noun + "s"
	}
	return words.Count(n, noun)
}

// junitReport writes a JUnit report with a suite for each file that has findings. A finding that makes the command fail is a failed case, a
// suppressed one a skipped case, and any other a passed case with its text. Without findings, there is one passed case. If the command fails
// without a failing finding, one more case fails.
func junitReport(w io.Writer, r *Report, options *Options) error {
	suites := junit.Testsuites{Name: "capkit " + options.Command}
	for rest := r.Findings; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].File == rest[0].File {
			n++
		}
		suites.AddSuite(suite(rest[:n], options))
		rest = rest[n:]
	}
	whole := junit.Testsuite{Name: suites.Name, Time: noTime}
	if len(r.Findings) == 0 {
		whole.AddTestcase(junit.Testcase{Name: Count(r.Summary.Objects, "object") + " checked", Classname: "capkit"})
	}
	if why := r.Unchecked(*options); why != "" {
		whole.AddTestcase(junit.Testcase{Name: "all inputs checked", Classname: "capkit", Failure: &junit.Result{Message: why, Data: why}})
	}
	if len(whole.Testcases) > 0 {
		suites.AddSuite(whole)
	}
	return suites.WriteXML(NewWriter(w))
}

// noTime is the duration of each suite in seconds. It is constant, so that reports are reproducible.
const noTime = "0"

// suite returns the suite of one file's findings, of which there is at least one.
func suite(findings []Finding, options *Options) junit.Testsuite {
	file := words.Printable(findings[0].File)
	s := junit.Testsuite{Name: file, File: file, Time: noTime}
	for _, f := range findings {
		message := words.Printable(f.Message)
		text := words.Printable(f.place()) + ": " + message
		c := junit.Testcase{Name: words.Printable(strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Rule, f.Object, f.Field))), Classname: f.Rule}
		switch {
		case f.suppressed():
			c.Skipped = &junit.Result{Message: "silenced: " + words.Printable(f.Suppressions[0].Justification), Data: text}
		case options.fails(f.Severity):
			c.Failure = &junit.Result{Message: message, Type: string(f.Type), Data: text}
		default:
			c.SystemOut = &junit.Output{Data: text}
		}
		s.AddTestcase(c)
	}
	return s
}

// commandText and commandProperty encode characters that end the text or a property of a GitHub workflow command.
var (
	commandText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// workflowCommands writes the findings that are not suppressed as workflow commands. GitHub Actions shows them beside the lines of a
// change, or without a place if they are in no file. If the command fails without a failing finding, another one says why.
func workflowCommands(out io.Writer, r *Report, options *Options) error {
	var text bytes.Buffer
	places := newPlaces()
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.suppressed() {
			continue
		}
		properties := []string{"title=" + commandProperty.Replace(f.Rule)}
		if f.Line > 0 && !strings.HasPrefix(f.File, "<") { // not standard input
			properties = append(properties, "file="+commandProperty.Replace(words.Printable(places.of(f.File))),
				fmt.Sprintf("line=%d", f.Line), fmt.Sprintf("col=%d", f.Column))
		}
		message := words.Printable(f.Message)
		if f.Field != "" {
			message += "\n" + words.Printable(f.where())
		}
		fmt.Fprintf(&text, "::%s %s::%s\n", f.Severity, strings.Join(properties, ","), commandText.Replace(message))
	}
	if why := r.Unchecked(*options); why != "" {
		fmt.Fprintf(&text, "::error title=skipped::%s\n", why)
	}
	w := Writer{out: NewWriter(out).out, commands: true}
	_, err := text.WriteTo(&w)
	return err
}
