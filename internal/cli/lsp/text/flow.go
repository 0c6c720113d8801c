// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package text

import "strings"

// flow reads values in brackets, such as a whole JSON document. Unclosed brackets end at a line that is not deeper than the one in which
// they begin.
type flow struct {
	*reader
	// base is the column of the node whose value the outermost brackets are.
	base int
}

// read reads the value of a node from its bracket on, and returns the offset after it.
func (f *flow) read(n *Node, at, depth int) int {
	n.Bracket = f.string[at]
	n.ValueStart = at
	closing := byte('}')
	if n.Bracket == '[' {
		closing = ']'
	}
	at++
	for {
		var ended bool
		if at, ended = f.blank(at); ended {
			return at
		}
		switch c := f.string[at]; {
		case c == closing:
			return at + 1
		case strings.IndexByte(",}]", c) >= 0, c == ':' && n.Bracket == '[':
			at++
		default:
			if depth == mostDepth {
				return len(f.string)
			}
			at = f.entry(n, at, depth)
		}
	}
}

// blank skips blanks, line breaks and comments. It reports whether the brackets, or the text, end before the next token.
func (f *flow) blank(at int) (next int, ended bool) {
	newLine := -1
	for at < len(f.string) {
		switch c := f.string[at]; {
		case c == ' ' || c == '\t' || c == '\r':
		case c == '\n':
			if newLine < 0 {
				newLine = at
			}
			if f.ends(at + 1) {
				return newLine, true
			}
		case c == '#' && strings.IndexByte(" \t\n", f.string[at-1]) >= 0:
			start, end := f.Line(at)
			f.hashes[start] = at
			at = end - 1
		default:
			return at, false
		}
		at++
	}
	return at, true
}

// ends reports whether a line cannot be within the brackets.
func (f *flow) ends(at int) bool {
	_, end := f.Line(at)
	line := f.string[min(at, end):end]
	content := strings.TrimLeft(line, " \t")
	if content == "" || content[0] == '}' || content[0] == ']' || content[0] == '#' {
		return false
	}
	return len(line)-len(content) <= f.base
}

// entry reads a member or an item, and returns the offset after it.
func (f *flow) entry(n *Node, at, depth int) int {
	e := &Node{Item: n.Bracket == '[', Start: at, KeyEnd: at, ValueStart: at, ValueEnd: at, Parent: n, column: f.base + 1}
	n.Nodes = append(n.Nodes, e)
	f.all = append(f.all, e)
	if !e.Item {
		end := f.word(at, true)
		key := strings.TrimRight(f.string[at:end], " \t")
		next := f.pastBlanks(end, len(f.string))
		if next >= len(f.string) || f.string[next] != ':' { // an unfinished key
			e.Value, e.ValueEnd, e.End = unquoted(key), at+len(key), at+len(key)
			return max(end, at+1)
		}
		e.Colon = true
		e.Key, e.KeyEnd, e.ValueStart, e.ValueEnd, e.End = unquoted(key), at+len(key), next+1, next+1, next+1
		value, ended := f.blank(next + 1)
		if ended || strings.IndexByte(",}]", f.string[value]) >= 0 || f.begins(next+1, value) {
			return value
		}
		at = value
	}
	e.ValueStart = at
	if f.string[at] == '{' || f.string[at] == '[' {
		e.End = f.read(e, at, depth+1)
		e.ValueEnd = e.End
		return e.End
	}
	end := max(f.word(at, false), at+1)
	value := strings.TrimRight(f.string[at:end], " \t")
	e.Value, e.ValueEnd, e.End = unquoted(value), at+len(value), at+len(value)
	return end
}

// begins reports whether the next member begins at an offset, in a line behind another offset: the value before it is not written yet.
func (f *flow) begins(behind, at int) bool {
	if !strings.Contains(f.string[behind:at], "\n") || strings.IndexByte("{[", f.string[at]) >= 0 {
		return false
	}
	colon := f.pastBlanks(f.word(at, true), len(f.string))
	return colon < len(f.string) && f.string[colon] == ':'
}

// word returns the offset after a scalar or a key.
func (f *flow) word(at int, key bool) int {
	if quote := f.string[at]; quote == '"' || quote == '\'' {
		for i := at + 1; i < len(f.string); i++ {
			switch {
			case f.string[i] == '\\' && quote == '"':
				i++
			case f.string[i] == quote:
				return i + 1
			case f.string[i] == '\n':
				return i
			}
		}
		return len(f.string)
	}
	for i := at; i < len(f.string); i++ {
		switch c := f.string[i]; {
		case strings.IndexByte(",{}[]\n\r", c) >= 0:
			return i
		case c == ':' && key && (i+1 == len(f.string) || strings.IndexByte(" \t\r\n,}]", f.string[i+1]) >= 0):
			return i
		case c == '#' && i > at && f.string[i-1] == ' ':
			return i
		}
	}
	return len(f.string)
}
