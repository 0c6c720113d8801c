// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"encoding/json"
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

// reshaped returns a mapping in brackets with some members, of which some may be new; the others go.
func (e *editor) reshaped(n *yaml.Node, members map[string]any) string {
	begins, ends := e.extentsOf(n)
	from, to := e.extent(n)
	s, separator := e.styleIn(n)
	text, kept := e.text[from:begins[0]], 0
	for i := range begins {
		if _, stays := members[n.Content[2*i].Value]; !stays && n.Content[2*i].ShortTag() != "!!merge" {
			e.refuseAnchors(n.Content[2*i+1])
			continue
		}
		if kept++; kept > 1 {
			text += e.text[ends[i-1]:begins[i]]
		}
		text += e.text[begins[i]:ends[i]]
	}
	for _, name := range Order(members) {
		if indexOf(n, name) < 0 {
			text += separator + s.key(name) + ": " + fresh(members[name], s)
		}
	}
	return text + e.text[ends[len(ends)-1]:to]
}

// styleIn returns how what is new is written in brackets with something in them, and what stands between two entries there.
func (e *editor) styleIn(n *yaml.Node) (s style, separator string) {
	begins, ends := e.extentsOf(n)
	from, to := e.extent(n)
	s, separator = style{quoted: e.quotes(n)}, ", "
	opening := e.text[from:begins[0]]
	if i := strings.LastIndexAny(opening, "\n\r"); i >= 0 {
		s.indent = e.eol + opening[i+1:]
		separator = "," + s.indent
		closing := e.text[ends[len(ends)-1] : to-1]
		s.step, _ = strings.CutPrefix(opening[i+1:], closing[strings.LastIndexAny(closing, "\n\r")+1:])
	}
	if len(begins) > 1 && !strings.Contains(e.text[ends[0]:begins[1]], "#") {
		separator = e.text[ends[0]:begins[1]]
	}
	return s, separator
}
