// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// file is a text with its lines, including their line breaks. Lines and columns count from 0 here; those of nodes count from 1.
type file struct {
	text string
	// begins are the offsets of the lines, followed by the length of the text.
	begins []int
	// eol is the line break for added lines.
	eol string
	// comments are the columns of comments by line; opaque are the lines that continue a value from above.
	comments map[int]int
	opaque   map[int]bool
	// aliased are the nodes that an alias refers to.
	aliased map[*yaml.Node]bool
	// seen is the offset up to which comments are known; last caches a position with its offset.
	seen int
	last struct{ line, column, offset int }
}

var (
	lineBreak  = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]") // the line breaks of YAML 1.1
	quotedText = regexp.MustCompile(`^(?s:"(\\.|[^"\\])*"|'(''|[^'])*')`)
	properties = regexp.MustCompile(`^((&[\w-]+|![^ \t\r\n]*)[ \t]*)*`)
)

// newFile returns a file for a text without byte order mark. Its comments are found by look.
func newFile(text string) *file {
	f := &file{text: text, begins: []int{0}, eol: lineBreakOf(text), comments: map[int]int{}, opaque: map[int]bool{}, aliased: map[*yaml.Node]bool{}}
	for _, at := range lineBreak.FindAllStringIndex(text, -1) {
		f.begins = append(f.begins, at[1])
	}
	if end := len(f.begins) - 1; f.begins[end] < len(text) {
		f.begins = append(f.begins, len(text))
	}
	return f
}

// lineBreakOf returns the line break for lines added to a text: the one of its first line.
func lineBreakOf(text string) string {
	if first, _, ends := strings.Cut(text, "\n"); ends && strings.HasSuffix(first, "\r") {
		return "\r\n"
	}
	return "\n"
}

func (f *file) line(i int) string { return f.text[f.begins[i]:f.begins[i+1]] }

// lineOf returns the line that contains an offset.
func (f *file) lineOf(offset int) int {
	line, begins := slices.BinarySearch(f.begins, offset)
	if !begins {
		line--
	}
	return line
}

// between returns the text of the lines from from up to, but not including, to.
func (f *file) between(from, to int) string { return f.text[f.begins[from]:f.begins[to]] }

// span returns the text between offsets; empty if they are reversed, as the parser reports them for some missing nodes.
func (f *file) span(from, to int) string { return f.text[min(from, to):to] }

func (f *file) blank(i int) bool { return !f.opaque[i] && strings.TrimSpace(f.line(i)) == "" }

// indent returns the number of spaces at the beginning of a line.
func (f *file) indent(i int) int { return indentOf(f.line(i)) }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// cut splits a line into its content and its comment, which begins with # and has no line break.
func (f *file) cut(i int) (says, comment string) {
	line := strings.TrimRight(f.line(i), "\r\n\u0085\u2028\u2029")
	if at, there := f.comments[i]; there {
		return line[:at], line[at:]
	}
	return line, ""
}

// onlyComment reports whether a line consists only of a comment.
func (f *file) onlyComment(i int) bool {
	says, comment := f.cut(i)
	return comment != "" && !f.opaque[i] && strings.TrimSpace(says) == ""
}

// document returns the lines of the document that contains a line: from its marker, if any, up to the marker that
// ends it. Lines of a value never begin like a marker.
func (f *file) document(line int) (from, to int) {
	marker := func(i int, text string) bool {
		rest, found := strings.CutPrefix(f.line(i), text)
		return found && strings.TrimLeft(rest, " \t\r\n") != rest
	}
	count := len(f.begins) - 1
	for from = min(line, count-1); from > 0 && !marker(from, "---") && !marker(from-1, "..."); from-- {
		continue
	}
	for to = from + 1; to < count && !marker(to, "---") && !marker(to, "..."); to++ {
		continue
	}
	return max(from, 0), min(to, count)
}

// offset returns the offset of a position; columns count characters. It searches from the last position, because JSON
// may be one long line.
func (f *file) offset(line, column int) int {
	if f.last.line != line || f.last.column/2 > column { // the beginning of the line is nearer
		f.last.line, f.last.column, f.last.offset = line, 0, f.begins[line]
	}
	for ; f.last.column > column; f.last.column-- {
		_, size := utf8.DecodeLastRuneInString(f.text[:f.last.offset])
		f.last.offset -= size
	}
	for ; f.last.column < column && f.last.offset < f.begins[line+1]; f.last.column++ {
		_, size := utf8.DecodeRuneInString(f.text[f.last.offset:])
		f.last.offset += size
	}
	return f.last.offset
}

// start returns the offset of a node, including its anchor and its tag.
func (f *file) start(n *yaml.Node) int { return f.offset(n.Line-1, n.Column-1) }

// end returns the end of a scalar, an alias, or a value in brackets. For block scalars, it returns the start.
func (f *file) end(n *yaml.Node) int {
	at := f.start(n)
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return at
	}
	at += len(properties.FindString(f.text[at:]))
	switch {
	case inBrackets(n):
		if last := len(n.Content) - 1; last >= 0 {
			at = f.end(n.Content[last])
		}
		for ; at < len(f.text) && f.text[at] != ']' && f.text[at] != '}'; at++ {
			if f.text[at] == '#' {
				at += lineBreak.FindStringIndex(f.text[at:])[0]
			}
		}
		return min(at+1, len(f.text))
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return at + len(quotedText.FindString(f.text[at:]))
	}
	for _, word := range strings.Fields(n.Value) { // only the white space between words differs
		at = min(at+max(0, strings.Index(f.text[at:], word))+len(word), len(f.text))
	}
	return at
}

// begin returns the beginning of a value. For block style, that is below its anchor or tag.
func (f *file) begin(n *yaml.Node) (line, column int) {
	switch {
	case !inBlocks(n) || n.Anchor == "" && n.Style&yaml.TaggedStyle == 0:
		return n.Line - 1, n.Column - 1
	case n.Kind == yaml.MappingNode:
		line, column = f.begin(n.Content[0])
		if indent := f.indent(line); strings.HasPrefix(f.line(line)[indent:], "? ") {
			column = indent
		}
		return line, column
	}
	first := n.Content[0]
	line, column = f.begin(first)
	nested := first.Kind == yaml.SequenceNode && inBlocks(first) // it has its own dashes
	for line > 0 && (!f.hasDash(line, f.indent(line)) || nested && f.indent(line) >= column) {
		line--
	}
	return line, f.indent(line)
}

// hasDash reports whether a line begins with a dash in a column.
func (f *file) hasDash(line, column int) bool {
	return !f.opaque[line] && f.indent(line) == column && strings.HasPrefix(f.line(line)[column:], "-")
}

// look finds the comments before and in a node, and its opaque lines and aliases. column is that of the enclosing
// mapping or list; -1 for none.
func (f *file) look(n *yaml.Node, column int) {
	switch {
	case n.Line >= len(f.begins): // a missing node at the end
	case n.Kind == yaml.DocumentNode || n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		if inBlocks(n) {
			_, column = f.begin(n)
		}
		for _, child := range n.Content {
			f.look(child, column)
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		f.goPast(n.Line, f.begins[n.Line], f.begins[f.endOfText(n, column)])
	default:
		f.goPast(n.Line, f.start(n), f.end(n))
		if n.Kind == yaml.AliasNode {
			f.aliased[n.Alias] = true
		}
	}
}

// endOfText returns the line after a block scalar. column is that of the enclosing mapping or list.
func (f *file) endOfText(n *yaml.Node, column int) int {
	header := f.text[f.start(n):f.begins[n.Line]]
	header = header[len(properties.FindString(header)):]
	header = header[:strings.IndexAny(header+" ", " \t\r\n")]
	keeps := strings.Contains(header, "+") // the blank lines at its end
	end, least := n.Line, column+1
	for i := end; i < len(f.begins)-1 && (f.blank(i) || f.indent(i) >= least); i++ {
		if end == n.Line && !f.blank(i) && !strings.ContainsAny(header, "123456789") {
			least = f.indent(i) // the indentation of its first line, unless the header sets it
		}
		if keeps || !f.blank(i) {
			end = i + 1
		}
	}
	return end
}

// goPast finds the comments before a value, and continues after it. Lines of the value are opaque from the given one on.
func (f *file) goPast(line, from, to int) {
	f.lookUpTo(from)
	for ; line < len(f.begins) && f.begins[line] < to; line++ {
		f.opaque[line] = true
	}
	f.seen = max(f.seen, to)
}

// lookUpTo finds the comments up to an offset, in text without values.
func (f *file) lookUpTo(end int) {
	for at := f.seen; at < end; at++ {
		if f.text[at] != '#' {
			continue
		}
		line := f.lineOf(at)
		if at == f.begins[line] || f.text[at-1] == ' ' || f.text[at-1] == '\t' {
			f.comments[line] = at - f.begins[line]
			at = f.begins[line+1] - 1
		}
	}
}

// linesOf returns the lines of a text.
func linesOf(text string) []string {
	f := newFile(text)
	lines := make([]string, len(f.begins)-1)
	for i := range lines {
		lines[i] = f.line(i)
	}
	return lines
}

// shift moves lines to the right, or to the left as far as they are indented. Blank lines do not change.
func shift(text string, by int) string {
	if by == 0 {
		return text
	}
	lines := linesOf(text)
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = spaces(by) + line[min(max(-by, 0), indentOf(line)):]
		}
	}
	return strings.Join(lines, "")
}
