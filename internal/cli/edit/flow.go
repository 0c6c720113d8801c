// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"encoding/json"
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
		for _, name := range order(value) {
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

// span returns the text from the beginning of a node to its end.
func (e *editor) span(from, to *yaml.Node) string {
	last, stop := e.end(to)
	return e.between(from.Line-1, e.offset(from.Line-1, from.Column), last, stop)
}

// between returns the text between two places.
func (e *editor) between(line, at, last, stop int) string {
	begin := e.begins[line] + at
	return e.text[begin:max(begin, e.begins[last]+stop)]
}

// gap returns the text between the end of one node and the beginning of the next.
func (e *editor) gap(from, to *yaml.Node) string {
	line, at := e.end(from)
	return e.between(line, at, to.Line-1, e.offset(to.Line-1, to.Column))
}

// flow returns the text of a scalar, or of a mapping or list in brackets, whose value was old and is to be new.
func (e *editor) flow(n *yaml.Node, old, want any) string {
	was, isMap := old.(map[string]any)
	is, staysMap := want.(map[string]any)
	former, isList := old.([]any)
	items, staysList := want.([]any)
	inBrackets := n.Style&yaml.FlowStyle != 0
	switch {
	case same(old, want):
		return e.span(n, n)
	case n.Kind == yaml.AliasNode:
		refuse(n, "an alias (*"+n.Value+") stands for what has to change; write the value here instead")
	case n.Anchor != "" && e.aliased[n]:
		e.refuseUsed(n)
	case inBrackets && n.Kind == yaml.MappingNode && isMap && staysMap && len(was) > 0 && len(is) > 0:
		return e.flowMapping(n, was, is)
	case inBrackets && n.Kind == yaml.SequenceNode && isList && staysList && len(former) > 0 && len(items) > 0:
		return e.flowSequence(n, former, items)
	}
	e.refuseAnchors(n)
	return fresh(want, style{quoted: n.Style&yaml.DoubleQuotedStyle != 0})
}

// frame is what stands around the entries of a mapping or list in brackets.
type frame struct {
	opening, closing, separator string
	style                       style
}

// frameOf returns the frame of a mapping or list in brackets with entries, each of which begins and ends with a node.
func (e *editor) frameOf(n *yaml.Node, begins, ends []*yaml.Node, quoted bool) frame {
	line, at := n.Line-1, e.offset(n.Line-1, n.Column)
	for at < len(e.lines[line]) && e.lines[line][at] != '{' && e.lines[line][at] != '[' {
		at++
	}
	last, stop := e.end(n)
	endLine, endAt := e.end(ends[len(ends)-1])
	f := frame{
		opening: e.between(line, at+1, begins[0].Line-1, e.offset(begins[0].Line-1, begins[0].Column)),
		closing: e.between(endLine, endAt, last, stop-1),
	}
	f.style.quoted = quoted
	f.separator = ", "
	if i := strings.LastIndexAny(f.opening, "\n\r"); i >= 0 {
		f.style.indent = e.eol + f.opening[i+1:]
		f.separator = "," + f.style.indent
		if k := strings.LastIndexAny(f.closing, "\n\r"); k >= 0 {
			if step, further := strings.CutPrefix(f.opening[i+1:], f.closing[k+1:]); further {
				f.style.step = step
			}
		}
		if strings.Trim(f.closing, " \t\r\n,") != "" {
			f.closing = strings.TrimRight(f.style.indent, " ")
		}
	}
	if len(begins) > 1 && !strings.Contains(e.gap(ends[0], begins[1]), "#") {
		f.separator = e.gap(ends[0], begins[1])
	}
	return f
}

func (e *editor) flowMapping(n *yaml.Node, old, want map[string]any) string {
	var keys, values []*yaml.Node
	for pair := range slices.Chunk(n.Content, 2) {
		keys, values = append(keys, pair[0]), append(values, pair[1])
	}
	f := e.frameOf(n, keys, values, keys[0].Style&yaml.DoubleQuotedStyle != 0)
	entries := list{frame: f}
	added := func(before string) {
		for _, name := range order(want) {
			_, there := old[name]
			if there || before == "" != !e.goesBefore(name, keys) || before != "" && e.target(name, keys) != before {
				continue
			}
			entries.add(f.style.key(name)+": "+fresh(want[name], f.style), "")
		}
	}
	direct := map[string]bool{}
	for i, key := range keys {
		direct[key.Value] = true
		value, stays := want[key.Value]
		if i > 0 {
			added(key.Value)
		}
		switch {
		case stays:
			entries.add(e.span(key, key)+e.gap(key, values[i])+e.flow(values[i], old[key.Value], value), e.gapBefore(values, keys, i))
		case key.ShortTag() == "!!merge":
			entries.add(e.span(key, values[i]), e.gapBefore(values, keys, i))
		default:
			e.refuseAnchors(values[i])
		}
	}
	for name := range old {
		if value, stays := want[name]; !direct[name] && (!stays || !same(value, old[name])) {
			e.refuseMerged(n, name)
		}
	}
	added("")
	return "{" + f.opening + entries.text + f.closing + "}"
}

// list are entries that are written one after the other.
type list struct {
	frame
	text  string
	begun bool
}

// add adds an entry. gap is what stands before it in the file; empty for one that is new.
func (l *list) add(entry, gap string) {
	if l.begun {
		l.text += cmp.Or(gap, l.separator)
	}
	l.text += entry
	l.begun = true
}

// gapBefore returns what stands before an entry; empty for the first one.
func (e *editor) gapBefore(ends, begins []*yaml.Node, i int) string {
	if i == 0 {
		return ""
	}
	return e.gap(ends[i-1], begins[i])
}

// target returns the key before which a new member goes; empty if it goes to the end.
func (e *editor) target(name string, keys []*yaml.Node) string {
	i := slices.IndexFunc(keys, func(key *yaml.Node) bool { return slices.Contains(e.before[name], key.Value) })
	if i <= 0 {
		return ""
	}
	return keys[i].Value
}

func (e *editor) goesBefore(name string, keys []*yaml.Node) bool { return e.target(name, keys) != "" }

func (e *editor) flowSequence(n *yaml.Node, old, want []any) string {
	quoted := false
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		quoted = quoted || n.Kind == yaml.ScalarNode && n.Style&yaml.DoubleQuotedStyle != 0
		for _, child := range n.Content {
			look(child)
		}
	}
	look(n)
	f := e.frameOf(n, n.Content, n.Content, quoted)
	pairs, kept := pair(old, want), map[int]bool{}
	entries := list{frame: f}
	for k, value := range want {
		i, found := pairs[k]
		if !found {
			entries.add(fresh(value, f.style), "")
			continue
		}
		kept[i] = true
		entries.add(e.flow(n.Content[i], old[i], value), e.gapBefore(n.Content, n.Content, i))
	}
	for i, item := range n.Content {
		if !kept[i] {
			e.refuseAnchors(item)
		}
	}
	return "[" + f.opening + entries.text + f.closing + "]"
}
