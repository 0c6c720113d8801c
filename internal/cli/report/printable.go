// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// What is printed can come from a stranger: names and values of a pull request, names of files. None of it may give orders to the
// terminal, or to the program that runs a job and reads its log. So texts say [Printf] where they name something, documents use their
// own escape sequences, see [JSON] and [YAML], and all output goes through a [Writer], which does nothing to what is harmless.

// Printf writes a text for people, as fmt.Fprintf does. Its arguments, of which numbers are ints, become printable, see
// [words.Printable]: only the format ends lines. What cannot be written is lost, see [Writer.Flush].
func Printf(w io.Writer, format string, args ...any) {
	printable := make([]any, 0, len(args))
	for _, arg := range args {
		if _, isInt := arg.(int); !isInt {
			arg = words.Printable(fmt.Sprint(arg))
		}
		printable = append(printable, arg)
	}
	fmt.Fprintf(w, format, printable...)
}

// Programs that run jobs look for commands in their logs: GitHub's runner at the begin of a line, after blanks, for two colons, and
// anywhere for ##[; others look for ##vso[ and ##teamcity[.
var (
	commandAtBegin  = regexp.MustCompile(`(?m)^([ \t]*)::`)
	commandAnywhere = regexp.MustCompile(`##([[:alpha:]]*\[)`)
)

// harmless returns lines in which all is printable and nothing a command, unless commands says that lines may begin with one: the first
// character of a command becomes an escape sequence.
func harmless(lines string, commands bool) string {
	lines = unmarked(words.PrintableLines(lines), `\x23`)
	if commands || !strings.Contains(lines, "::") {
		return lines
	}
	return commandAtBegin.ReplaceAllString(lines, `$1\x3a:`)
}

// Harmless reports whether a [Writer] leaves whole lines as they are.
func Harmless(lines string) bool { return harmless(lines, false) == lines }

// unmarked returns a text without what is a command anywhere in a line: its first character, a number sign, is an escape sequence.
func unmarked(text, numberSign string) string {
	if !strings.Contains(text, "##") {
		return text
	}
	return commandAnywhere.ReplaceAllString(text, numberSign+"#$1")
}

// Writer writes text that does nothing to the terminal or the program that reads it. What is not printable becomes an escape
// sequence, see [words.PrintableLines], and so does the first character of what would be a command to a program that runs jobs.
// Colours of severities stay where the text goes to a terminal. It writes whole lines: what follows the last one waits for its end,
// or for [Writer.Flush]. It is not safe for concurrent use.
type Writer struct {
	out io.Writer
	// waiting is the begin of a line.
	waiting []byte
	// colours brings back those of severities; nil where there are none.
	colours *strings.Replacer
	// commands says that lines may begin with a command.
	commands bool
	// failed is the first error of the other one.
	failed error
}

// NewWriter returns a Writer to another one: that one itself if it is a Writer.
func NewWriter(out io.Writer) *Writer {
	if w, isWriter := out.(*Writer); isWriter {
		return w
	}
	w := &Writer{out: out}
	file, isFile := out.(*os.File)
	_, refused := os.LookupEnv("NO_COLOR")
	if isFile && !refused && os.Getenv("TERM") != "dumb" && isatty.IsTerminal(file.Fd()) {
		w.colours = colours
	}
	return w
}

// Write implements [io.Writer]. The error is that of the other one.
func (w *Writer) Write(text []byte) (int, error) {
	end := bytes.LastIndexByte(text, '\n') + 1
	if end > 0 {
		lines := slices.Concat(w.waiting, text[:end])
		w.waiting = nil
		if err := w.write(lines); err != nil {
			return 0, err
		}
	}
	w.waiting = append(w.waiting, text[end:]...)
	return len(text), nil
}

// Flush writes what waits for the end of its line. The error is the first one since the Writer was made: who writes for people need not look
// for it before.
func (w *Writer) Flush() error {
	rest := w.waiting
	w.waiting = nil
	return cmp.Or(w.failed, w.write(rest))
}

func (w *Writer) write(text []byte) error {
	lines := harmless(string(text), w.commands)
	if w.colours != nil {
		lines = w.colours.Replace(lines)
	}
	_, err := io.WriteString(w.out, lines)
	w.failed = cmp.Or(w.failed, err)
	return err
}

// painted are the severities in colour.
var painted = map[finding.Severity]string{
	finding.SeverityError:   paint(color.FgRed, finding.SeverityError),
	finding.SeverityWarning: paint(color.FgYellow, finding.SeverityWarning),
}

func paint(hue color.Attribute, severity finding.Severity) string {
	c := color.New(hue, color.Bold)
	c.EnableColor()
	return c.Sprint(severity)
}

// colours brings back severities in colour, from what the quoting has made of them.
var colours = strings.NewReplacer(
	words.Printable(painted[finding.SeverityError]), painted[finding.SeverityError],
	words.Printable(painted[finding.SeverityWarning]), painted[finding.SeverityWarning],
)

// severity returns a severity as it is written to w: in colour, if there are colours.
func (w *Writer) severity(s finding.Severity) string {
	if w.colours == nil {
		return string(s)
	}
	return painted[s]
}

// escaped returns a document in which each character that is not printable, and would be in a string, is the escape sequence that
// sequence returns; so is the first character of a command. What is not UTF-8 becomes U+FFFD. Ends of lines stay.
func escaped(document string, sequence func(r rune) string) string {
	hidden := func(r rune) bool { return r != '\n' && !strconv.IsPrint(r) }
	document = unmarked(strings.ToValidUTF8(document, "\ufffd"), `\u0023`)
	var out strings.Builder
	for {
		i := strings.IndexFunc(document, hidden)
		if i < 0 {
			return out.String() + document
		}
		r, n := utf8.DecodeRuneInString(document[i:])
		out.WriteString(document[:i] + sequence(r))
		document = document[i+n:]
	}
}

// inJSON and inYAML return the escape sequence of a character.
func inJSON(r rune) string {
	text := ""
	for _, unit := range utf16.Encode([]rune{r}) {
		text += fmt.Sprintf(`\u%04x`, unit)
	}
	return text
}

func inYAML(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// escapedJSON returns JSON that has the same values and is harmless, see [Harmless], for JSON without tabs between its tokens.
func escapedJSON(document []byte) []byte {
	return []byte(escaped(string(document), inJSON))
}

// Code returns text as code in Markdown.
func Code(text string) string { return "`" + strings.ReplaceAll(words.Printable(text), "`", "'") + "`" }
