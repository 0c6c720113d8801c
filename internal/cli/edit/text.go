// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// file is a text as lines, each with the line break that ends it.
type file struct {
	text  string
	lines []string
	// begins are where the lines begin in the text, and ascii says which have no character of several bytes.
	begins []int
	ascii  []bool
	// eol is the line break of lines that are added.
	eol string
	// opaque are the lines that are a part of a value of several lines: they have no comments.
	opaque map[int]bool
	// aliased are the nodes that an alias refers to.
	aliased map[*yaml.Node]bool
	// began has where mappings and lists begin whose anchor or tag stands above them, line and column: at that.
	began map[*yaml.Node][2]int
}

// newFile takes a text without byte order mark whose last line ends with a line break. What is opaque or aliased is not known yet.
func newFile(text string) *file {
	f := &file{text: text, eol: "\n", opaque: map[int]bool{}, aliased: map[*yaml.Node]bool{}, began: map[*yaml.Node][2]int{}}
	for len(text) > 0 {
		end := breakAfter(text)
		f.lines, f.begins = append(f.lines, text[:end]), append(f.begins, len(f.text)-len(text))
		f.ascii = append(f.ascii, utf8.RuneCountInString(text[:end]) == end)
		text = text[end:]
	}
	if len(f.lines) > 0 && strings.HasSuffix(f.lines[0], "\r\n") {
		f.eol = "\r\n"
	}
	return f
}

// document returns the lines, counted from 0, of the document that a line is in: from its marker, if it has one, up to the
// marker that ends it. No line of a value begins as markers do.
func (f *file) document(line int) (from, to int) {
	marker := func(i int, text string) bool {
		rest, found := strings.CutPrefix(strings.TrimPrefix(f.lines[i], byteOrderMark), text)
		return found && (rest == "" || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
	}
	for from = min(line, len(f.lines)-1); from > 0 && !marker(from, "---") && !marker(from-1, "..."); from-- {
		continue
	}
	for to = from + 1; to < len(f.lines) && !marker(to, "---") && !marker(to, "..."); to++ {
		continue
	}
	return max(from, 0), min(to, len(f.lines))
}

// breakAfter returns where the first line of a text ends, behind its line break. Lines end as YAML 1.1 has it.
func breakAfter(text string) int {
	for i, r := range text {
		switch r {
		case '\r':
			if strings.HasPrefix(text[i+1:], "\n") {
				return i + 2
			}
			return i + 1
		case '\n', '\u0085', '\u2028', '\u2029':
			return i + utf8.RuneLen(r)
		}
	}
	return len(text)
}

// settle gives mappings and lists in block style, whose anchor or tag stands above them, the place of what is in them.
func (f *file) settle(n *yaml.Node) {
	for _, child := range n.Content {
		f.settle(child)
	}
	collection := n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode
	if !collection || n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 {
		return
	}
	line, column := n.Content[0].Line, n.Content[0].Column
	if n.Kind == yaml.SequenceNode {
		line = n.Line
		for line < n.Content[0].Line && !strings.HasPrefix(strings.TrimLeft(f.lines[line-1], " "), "-") {
			line++
		}
		column = f.indent(line-1) + 1
	}
	if line > n.Line {
		f.began[n] = [2]int{n.Line, n.Column}
		n.Line, n.Column = line, column
	}
}

// look finds what is opaque or aliased at a node, which is in a mapping or list that begins in a column, counted from 1.
func (f *file) look(n *yaml.Node, column int) {
	switch {
	case n.Line > len(f.lines): // what is not there, at the end
	case n.Kind == yaml.AliasNode:
		f.aliased[n.Alias] = true
	case n.Kind != yaml.ScalarNode:
		own := column
		if n.Kind != yaml.DocumentNode && n.Style&yaml.FlowStyle == 0 {
			own = n.Column
		}
		for _, child := range n.Content {
			f.look(child, own)
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		header, _, _ := strings.Cut(f.lines[n.Line-1][f.offset(n.Line-1, n.Column):], " ")
		keeps, last := strings.Contains(header, "+"), 0 // the blank lines at its end
		for i := n.Line; i < len(f.lines) && (f.blank(i) || f.indent(i) >= column); i++ {
			f.opaque[i] = true
			last = i
		}
		for ; !keeps && last >= n.Line && f.blank(last); last-- {
			delete(f.opaque, last)
		}
	default:
		line, _ := f.end(n)
		for i := n.Line; i <= line; i++ {
			f.opaque[i] = true
		}
	}
}

// content returns a line without its line break.
func (f *file) content(i int) string { return strings.TrimRight(f.lines[i], "\r\n\u0085\u2028\u2029") }

func (f *file) blank(i int) bool { return strings.TrimSpace(f.lines[i]) == "" }

// indent is how many spaces a line begins with.
func (f *file) indent(i int) int { return indentOf(f.lines[i]) }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// onlyComment reports whether a line is a comment and nothing else.
func (f *file) onlyComment(i int) bool {
	return !f.opaque[i] && strings.HasPrefix(strings.TrimLeft(f.lines[i], " \t"), "#")
}

// comment returns the comment in a line, from # on; empty if it has none.
func (f *file) comment(i int) string {
	line := f.content(i)
	if f.opaque[i] { // a value that ends here may have a comment behind it
		return ""
	}
	for at := 0; at < len(line); at++ {
		before := byte(' ')
		if at > 0 {
			before = line[at-1]
		}
		switch line[at] {
		case '#':
			if before == ' ' || before == '\t' {
				return line[at:]
			}
		case '"', '\'':
			if strings.IndexByte(" \t[{,:-", before) >= 0 {
				end := quoteEnd(line, at)
				if end < 0 { // it goes on in the next line
					return ""
				}
				at = end - 1
			}
		}
	}
	return ""
}

// quoteEnd returns where the quoted value ends that begins at an offset, behind the quote; -1 if it does not.
func quoteEnd(text string, at int) int {
	quote := text[at]
	for i := at + 1; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] != quote:
		case quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// offset turns a column, counted from 1 in characters, into an offset in a line.
func (f *file) offset(line, column int) int {
	text := f.lines[line]
	if f.ascii[line] {
		return min(max(column-1, 0), len(text))
	}
	at := 0
	for range column - 1 {
		if at >= len(text) {
			return len(text)
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// end returns the line, counted from 0, and the offset in it at which the value of a node in brackets, or of one in quotes or
// plain text, ends.
func (f *file) end(n *yaml.Node) (line, at int) {
	line, at = n.Line-1, f.offset(n.Line-1, n.Column)
	for at < len(f.lines[line]) && strings.IndexByte("&!", f.lines[line][at]) >= 0 { // properties
		at += strings.IndexAny(f.lines[line][at:]+" ", " \t\r\n")
		at += len(f.lines[line][at:]) - len(strings.TrimLeft(f.lines[line][at:], " \t"))
	}
	rest := f.text[f.begins[line]:]
	if at >= len(rest) {
		return line, at
	}
	var length int
	switch rest[at] {
	case '"', '\'':
		length = quoteEnd(rest, at) - at
	case '[', '{':
		length = bracketEnd(rest, at) - at
	default:
		length = plainEnd(rest[at:], n.Value)
	}
	stop := at + max(length, 0)
	for stop > len(f.lines[line]) {
		stop -= len(f.lines[line])
		line++
	}
	return line, stop
}

// plainEnd returns where a plain value ends, in brackets or not, that a text begins with: only the space between its words differs.
func plainEnd(text, value string) int {
	at := 0
	for _, word := range strings.Fields(value) {
		at += max(0, strings.Index(text[at:], word)) + len(word)
	}
	return min(at, len(text))
}

// bracketEnd returns where the mapping or list in brackets ends that begins at an offset.
func bracketEnd(text string, at int) int {
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			if strings.IndexByte(" \t\r\n[{,:", text[i-1]) >= 0 {
				end := quoteEnd(text, i)
				if end < 0 {
					return len(text)
				}
				i = end - 1
			}
		case '#':
			if strings.IndexByte(" \t\r\n", text[i-1]) >= 0 {
				i += breakAfter(text[i:]) - 1
			}
		}
	}
	return len(text)
}

// shift moves lines to the right, or to the left as far as they are indented. Blank lines stay.
func shift(lines []string, by int) []string {
	if by == 0 {
		return lines
	}
	shifted := make([]string, 0, len(lines))
	for _, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
		case by > 0:
			line = strings.Repeat(" ", by) + line
		default:
			line = line[min(-by, indentOf(line)):]
		}
		shifted = append(shifted, line)
	}
	return shifted
}
