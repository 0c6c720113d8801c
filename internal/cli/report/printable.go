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

// Output may contain text of strangers: names and values in a pull request, and file names. None of it may control the terminal, or a
// program that runs a job and reads its log. So messages insert names with [Printf], documents use their own escape sequences, see [JSON]
// and [YAML], and all output goes through a [Writer], which leaves harmless text unchanged.

// Printf writes a text for people, like fmt.Fprintf. It makes all arguments except ints printable, see [words.Printable], so that only the
// format ends lines. It ignores write errors, see [Writer.Flush].
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

// Programs that run jobs look for commands in their logs. GitHub's runner looks for two colons at the beginning of a line, after blanks,
// and for ##[ anywhere. Others look for ##vso[ and ##teamcity[.
var (
	commandAtBegin  = regexp.MustCompile(`(?m)^([ \t]*)::`)
	commandAnywhere = regexp.MustCompile(`##([[:alpha:]]*\[)`)
)

// harmless escapes unprintable characters in lines, and the first character of each command. If commands is true, lines may begin with one.
func harmless(lines string, commands bool) string {
	lines = unmarked(words.PrintableLines(lines), `\x23`)
	if commands || !strings.Contains(lines, "::") {
		return lines
	}
	return commandAtBegin.ReplaceAllString(lines, `$1\x3a:`)
}

// Harmless reports whether a [Writer] leaves whole lines unchanged.
func Harmless(lines string) bool { return harmless(lines, false) == lines }

// unmarked escapes the first number sign of each command that can be anywhere in a line. numberSign is the escape sequence.
func unmarked(text, numberSign string) string {
	if !strings.Contains(text, "##") {
		return text
	}
	return commandAnywhere.ReplaceAllString(text, numberSign+"#$1")
}

// Writer writes text that cannot control the terminal or the program that reads it. It escapes unprintable characters, see
// [words.PrintableLines], and the first character of commands to programs that run jobs. On a terminal, severities keep their colours. It
// writes whole lines: an unfinished line waits for its end, or for [Writer.Flush]. It is not safe for concurrent use.
type Writer struct {
	out io.Writer
	// waiting is an unfinished line.
	waiting []byte
	// colours restores the colours of severities; nil if there are none.
	colours *strings.Replacer
	// commands allows lines to begin with a command.
	commands bool
	// failed is the first write error.
	failed error
}

// NewWriter returns a Writer to out, or out itself if that is a Writer.
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

// Write implements [io.Writer]. It returns the errors of the underlying writer.
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

// Flush writes the unfinished line. It returns the first write error since the Writer was made, so callers may ignore earlier ones.
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

// painted has the severities in colour.
var painted = map[finding.Severity]string{
	finding.SeverityError:   paint(color.FgRed, finding.SeverityError),
	finding.SeverityWarning: paint(color.FgYellow, finding.SeverityWarning),
}

func paint(hue color.Attribute, severity finding.Severity) string {
	c := color.New(hue, color.Bold)
	c.EnableColor()
	return c.Sprint(severity)
}

// colours restores coloured severities from their escaped form.
var colours = strings.NewReplacer(
	words.Printable(painted[finding.SeverityError]), painted[finding.SeverityError],
	words.Printable(painted[finding.SeverityWarning]), painted[finding.SeverityWarning],
)

// severity returns the text of a severity, in colour if w has colours.
func (w *Writer) severity(s finding.Severity) string {
	if w.colours == nil {
		return string(s)
	}
	return painted[s]
}

// escaped replaces each unprintable character in a document, which must be part of a string, with the escape sequence that sequence
// returns. It also escapes the first character of commands. Invalid UTF-8 becomes U+FFFD. Newlines stay.
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

// inJSON and inYAML return a character's escape sequence.
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

// escapedJSON returns equivalent JSON that is [Harmless]. There must be no tabs between its tokens.
func escapedJSON(document []byte) []byte {
	return []byte(escaped(string(document), inJSON))
}

// Code formats text as code in Markdown, where code is never empty.
func Code(text string) string {
	return "`" + cmp.Or(strings.ReplaceAll(words.Printable(text), "`", "'"), " ") + "`"
}
