// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// style is how what is new is written in brackets.
type style struct {
	// quoted puts keys and text in double quotes, as JSON does.
	quoted bool
	// indent is the line break and the indentation of the mapping or list around it, if each entry has a line of its own there;
	// empty if all stand in one line.
	indent string
	// step is how much further what is in it is indented.
	step string
}

// fresh writes a value in brackets, or a scalar.
func fresh(value any, s style) string {
	inner := s
	opening, closing, separator := "", "", ", "
	if s.indent != "" {
		inner.indent += s.step
		opening, closing, separator = inner.indent, s.indent, ","+inner.indent
	}
	switch value := value.(type) {
	case map[string]any:
		entries := make([]string, 0, len(value))
		for _, name := range Order(value) {
			entries = append(entries, s.key(name)+": "+fresh(value[name], inner))
		}
		if len(entries) == 0 {
			return "{}"
		}
		return "{" + opening + strings.Join(entries, separator) + closing + "}"
	case []any:
		entries := make([]string, 0, len(value))
		scalars := true
		for _, item := range value {
			entries = append(entries, fresh(item, inner))
			_, isList := item.([]any)
			scalars = scalars && !isList && !isMapping(item)
		}
		if scalars {
			return "[" + strings.Join(entries, ", ") + "]"
		}
		return "[" + opening + strings.Join(entries, separator) + closing + "]"
	case string:
		return s.key(value)
	}
	text, err := json.Marshal(value)
	if err != nil { // it was JSON
		return "null"
	}
	return string(text)
}

// key writes text.
func (s style) key(text string) string {
	if !s.quoted {
		return plain(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil { // text can be written
		return plain(text)
	}
	return string(quoted)
}

// plain writes text in YAML, in quotes where it has to be.
func plain(text string) string {
	var value any = text
	if strings.ContainsAny(text, "\n\r,[]{}") {
		value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
	}
	written, err := yaml.Marshal(value)
	if err != nil { // text can be written
		return `""`
	}
	return strings.TrimSuffix(string(written), "\n")
}

var anchor = regexp.MustCompile(`^&[^ \t]*[ \t]*`)

// inline returns a scalar, an alias, or a value in brackets as it is to be.
func (e *editor) inline(n *yaml.Node) string {
	text, c := e.text[e.start(n):e.end(n)], e.edits[n]
	if c == nil {
		return text
	}
	c.done = true
	switch {
	case c.replaced:
		return anchor.FindString(text) + fresh(c.value, style{quoted: quotes(n)})
	case !inBrackets(n) || len(n.Content) == 0:
		return text
	case len(n.Content) == 2 && e.edits[n.Content[1]] != nil && e.edits[n.Content[1]].unwrapped:
		return e.inline(n.Content[1])
	}
	return e.inBrackets(n, c)
}

// inBrackets returns a mapping or list in brackets in which something changes.
func (e *editor) inBrackets(n *yaml.Node, c *edits) string {
	entries := entriesOf(n)
	s, separator := e.styleIn(n, entries)
	var text strings.Builder
	some := false
	write := func(before, entry string) {
		if some {
			text.WriteString(before)
		}
		text.WriteString(entry)
		some = true
	}
	for i := range len(entries) + 1 {
		for _, a := range c.added {
			if a.index == i {
				write(separator, a.inline(s))
			}
		}
		switch {
		case i == len(entries) || c.gone[i]:
		case i == 0:
			write(separator, e.entry(entries[i]))
		default:
			write(e.gap(entries[i-1], entries[i]), e.entry(entries[i]))
		}
	}
	last := entries[len(entries)-1]
	return e.text[e.start(n):e.start(entries[0][0])] + text.String() + e.text[e.end(last[len(last)-1]):e.end(n)]
}

// gap is what stands between two entries.
func (e *editor) gap(before, after []*yaml.Node) string {
	return e.text[e.end(before[len(before)-1]):e.start(after[0])]
}

// entry returns a member or an item in brackets as it is to be.
func (e *editor) entry(entry []*yaml.Node) string {
	if len(entry) == 1 {
		return e.inline(entry[0])
	}
	return e.keyOf(entry[0], entry[1]) + e.text[e.end(entry[0]):e.start(entry[1])] + e.inline(entry[1])
}

// keyOf returns the key that a member is to have, in quotes if this one is.
func (e *editor) keyOf(key, value *yaml.Node) string {
	if c := e.edits[value]; c != nil && c.key != "" {
		c.done = true
		return style{quoted: key.Style&yaml.DoubleQuotedStyle != 0}.key(c.key)
	}
	return e.text[e.start(key):e.end(key)]
}

// inline returns what is added in brackets.
func (a *addition) inline(s style) string {
	if last := a.at[len(a.at)-1]; !last.IsIndex() {
		return s.key(last.Name) + ": " + fresh(a.value, s)
	}
	return fresh(a.value, s)
}

// withoutBrackets returns the members of a mapping in brackets as they stand in block style in a column, the first without
// indentation; any other value as it is.
func (e *editor) withoutBrackets(n *yaml.Node, column int) string {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return e.inline(n)
	}
	var members []string
	for _, entry := range entriesOf(n) {
		members = append(members, e.entry(entry))
	}
	return strings.Join(members, e.eol+spaces(column))
}

// styleIn returns how what is new is written in brackets with something in them, and what stands between two entries there.
func (e *editor) styleIn(n *yaml.Node, entries [][]*yaml.Node) (s style, separator string) {
	s, separator = style{quoted: quotes(n)}, ", "
	last := entries[len(entries)-1]
	opening, closing := e.text[e.start(n):e.start(entries[0][0])], e.text[e.end(last[len(last)-1]):e.end(n)-1]
	if i := strings.LastIndexAny(opening, "\n\r"); i >= 0 {
		s.indent = e.eol + opening[i+1:]
		separator = "," + s.indent
		s.step, _ = strings.CutPrefix(opening[i+1:], closing[strings.LastIndexAny(closing, "\n\r")+1:])
	}
	if len(entries) > 1 {
		if gap := e.gap(entries[0], entries[1]); !strings.Contains(gap, "#") {
			separator = gap
		}
	}
	return s, separator
}

// quotes reports whether a value is written as JSON is: by the first key of a mapping in brackets, and by any text of a list.
func quotes(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) > 0:
		return quotes(n.Content[0])
	case n.Kind == yaml.SequenceNode:
		return slices.ContainsFunc(n.Content, quotedIn)
	}
	return n.Style&yaml.DoubleQuotedStyle != 0 && n.Kind == yaml.ScalarNode
}

func quotedIn(n *yaml.Node) bool { return quotes(n) || slices.ContainsFunc(n.Content, quotedIn) }
