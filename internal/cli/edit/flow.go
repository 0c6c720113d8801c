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

// style determines how new content is written in brackets.
type style struct {
	// quoted writes keys and text in double quotes, as JSON does.
	quoted bool
	// indent is the line break and the indentation of the enclosing mapping or list, if each of its entries has its
	// own line; empty if all are in one line.
	indent string
	// step is the additional indentation of inner entries.
	step string
	// order are the names of members that come first.
	order []string
}

// fresh writes a value in brackets, or a scalar.
func fresh(value any, s style) string {
	brackets, scalars := "{}", false
	inner := s
	if s.indent != "" {
		inner.indent += s.step
	}
	var entries []string
	switch value := value.(type) {
	case map[string]any:
		for _, name := range orderBy(value, s.order) {
			entries = append(entries, s.key(name)+": "+fresh(value[name], inner))
		}
	case []any:
		brackets, scalars = "[]", true
		for _, item := range value {
			entries = append(entries, fresh(item, inner))
			scalars = scalars && Items(item) == nil && Members(item) == nil
		}
	case string:
		return s.key(value)
	default:
		return inJSON(value)
	}
	if len(entries) == 0 || scalars || s.indent == "" {
		return brackets[:1] + strings.Join(entries, ", ") + brackets[1:]
	}
	return brackets[:1] + inner.indent + strings.Join(entries, ","+inner.indent) + s.indent + brackets[1:]
}

// key writes text, quoted if the style requires it.
func (s style) key(text string) string {
	if s.quoted {
		return inJSON(text)
	}
	return plain(text)
}

func inJSON(value any) string {
	text, _ := json.Marshal(value) // it was decoded from JSON
	return string(text)
}

// plain writes text in YAML, quoted if necessary.
func plain(text string) string {
	var value any = text
	if strings.ContainsAny(text, "\n\r,[]{}") {
		value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
	}
	written, _ := yaml.Marshal(value) // text can always be encoded
	return strings.TrimSuffix(string(written), "\n")
}

var anchor = regexp.MustCompile(`^&[^ \t]*[ \t]*`)

// inline returns the new text of a scalar, an alias, or a value in brackets.
func (e *editor) inline(it *item) string {
	n := it.value
	text := e.span(e.start(n), e.end(n))
	switch {
	case it.replaced:
		return anchor.FindString(text) + fresh(it.becomes, style{quoted: quotes(n), order: it.order})
	case !it.touched || len(it.inner) == 0:
		return text
	case it.inner[0].unwrapped:
		return e.inline(it.inner[0])
	}
	return e.inBrackets(it)
}

// inBrackets returns the new text of a mapping or list in brackets with changes in it.
func (e *editor) inBrackets(it *item) string {
	s, separator := e.styleIn(it)
	var text strings.Builder
	write := func(before, entry string) {
		if text.Len() > 0 {
			text.WriteString(before)
		}
		text.WriteString(entry)
	}
	for i := range len(it.inner) + 1 {
		for _, a := range it.added {
			if a.index == i {
				write(separator, a.inline(s))
			}
		}
		switch {
		case i == len(it.inner) || it.inner[i].gone:
		case i == 0:
			write(separator, e.entry(it.inner[i]))
		default:
			write(e.gap(it.inner[i-1], it.inner[i]), e.entry(it.inner[i]))
		}
	}
	opening, closing := e.bracketsOf(it)
	return opening + text.String() + closing
}

// bracketsOf returns the text before and after all entries in brackets.
func (e *editor) bracketsOf(it *item) (opening, closing string) {
	last := it.inner[len(it.inner)-1].value
	return e.span(e.start(it.value), e.startOf(it.inner[0])), e.span(e.end(last), e.end(it.value))
}

// gap returns the text between two entries.
func (e *editor) gap(before, after *item) string {
	return e.span(e.end(before.value), e.startOf(after))
}

func (e *editor) startOf(it *item) int {
	if it.key != nil {
		return e.start(it.key)
	}
	return e.start(it.value)
}

// entry returns the new text of a member or an item in brackets.
func (e *editor) entry(it *item) string {
	if it.key == nil {
		return e.inline(it)
	}
	return e.keyOf(it) + e.span(e.end(it.key), e.start(it.value)) + e.inline(it)
}

// keyOf returns a member's new key, in quotes if the old one has them.
func (e *editor) keyOf(it *item) string {
	if it.name != "" {
		return style{quoted: it.key.Style&yaml.DoubleQuotedStyle != 0}.key(it.name)
	}
	return e.span(e.start(it.key), e.end(it.key))
}

// inline returns the text of an addition in brackets.
func (a *addition) inline(s style) string {
	s.order = a.order
	if last := a.at[len(a.at)-1]; !last.IsIndex() {
		return s.key(last.Name) + ": " + fresh(a.value, s)
	}
	return fresh(a.value, s)
}

// withoutBrackets returns the members of a mapping in brackets as written in block style, the first without
// indentation; any other value as it is.
func (e *editor) withoutBrackets(it *item) string {
	if it.value.Kind != yaml.MappingNode || len(it.value.Content) == 0 {
		return e.inline(it)
	}
	var members []string
	for _, m := range e.innerOf(it) {
		members = append(members, e.entry(m))
	}
	return strings.Join(members, e.eol+spaces(it.column))
}

// styleIn returns the style for new content in brackets that are not empty, and the separator of entries there.
func (e *editor) styleIn(it *item) (s style, separator string) {
	s, separator = style{quoted: quotes(it.value)}, ", "
	opening, closing := e.bracketsOf(it)
	if i := strings.LastIndexAny(opening, "\n\r"); i >= 0 {
		s.indent = e.eol + opening[i+1:]
		separator = "," + s.indent
		closing = strings.TrimRight(closing, "]}")
		s.step, _ = strings.CutPrefix(opening[i+1:], closing[strings.LastIndexAny(closing, "\n\r")+1:])
	}
	if len(it.inner) > 1 {
		if gap := e.gap(it.inner[0], it.inner[1]); !strings.Contains(gap, "#") {
			separator = gap
		}
	}
	return s, separator
}

// quotes reports whether a value is written as in JSON. The first key of a mapping decides, and any text of a list.
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
