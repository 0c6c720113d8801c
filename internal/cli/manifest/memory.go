// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
	"github.com/capkit/capkit/internal/strictyaml"
)

// Memory memoizes the parsed items of lists, for readers of a large file that changes a little each time: parsing YAML takes most of
// their time. The meaning of an item depends only on its text, which includes the spaces before its dash. The zero value is empty.
type Memory struct {
	// known are the items of the present pass over the file, and before those of the previous pass.
	known, before map[itemText]parsedItem
}

// itemText is everything that an item depends on: its lines and its depth.
type itemText struct {
	text  string
	depth int
}

// parsedItem is an item as it was parsed at a line. Its text is a copy, so that it keeps no file in memory.
type parsedItem struct {
	*node
	line int32
	text string
}

// mostItem is the size of an item, in bytes, up to which it is parsed as a whole and memoized. A larger one is cut into items itself.
const mostItem = 4 << 10

// parseItems reads a document item by item, most of them from the memory. It returns false without effect if the document must be parsed
// as a whole. That is the case if it is small, has faults or anchors, or has text that looks like an item but is none.
func (s *source) parseItems(c cut.Chunk) bool {
	if s.memory == nil || c.Column > 1 || len(c.Text) <= mostItem || strings.HasPrefix(c.Text, "%") || strings.Contains(c.Text, "\n%") || // a directive
		cut.Breaks(c.Text) != strings.Count(c.Text, "\n") || strictyaml.HasOtherBreaks(c.Text) {
		return false
	}
	value := s.memory.value(c, 1, wholeDocument)
	if value == nil { // for example while a line is half written
		maps.Copy(s.memory.known, s.memory.before)
	} else {
		s.take(value, nil, false)
	}
	return value != nil
}

// value returns a document, or an item of a list at a depth. It returns nil if that must be parsed together with its surroundings.
func (m *Memory) value(c cut.Chunk, depth int, is role) *node {
	frame, items := cutItems(c)
	contents, err := strictyaml.Documents(frame)
	if err != nil || len(contents) != 1 || anchored(contents[0]) {
		return nil
	}
	conv := converter{source: newSource("", nil), chunk: c, memory: m, items: items}
	v := conv.value(contents[0], depth, is)
	if len(conv.faults)+len(conv.items) > 0 {
		return nil
	}
	return v
}

// item returns an item that was cut out of a list at a depth. It returns nil if that must be parsed together with its surroundings.
func (m *Memory) item(c cut.Chunk, depth int) *node {
	key := itemText{c.Text, depth}
	known, found := m.known[key]
	if !found {
		known, found = m.before[key]
	}
	if !found {
		dash := strings.IndexByte(c.Text, '-')
		v := m.value(cut.Chunk{Text: c.Text[:dash] + " " + c.Text[dash+1:], Place: c.Place}, depth, itemOfList)
		if v == nil || v.json != "{" {
			return nil
		}
		if len(c.Text) > mostItem {
			return v
		}
		known = parsedItem{v, c.Line, strings.Clone(c.Text)}
	}
	m.known[itemText{known.text, depth}] = known
	return known.moved(c.Line - known.line)
}

// moved returns a copy of a value that is a number of lines further down.
func (n *node) moved(lines int32) *node {
	moved := *n
	moved.at.Line += lines
	moved.content.Line += lines
	moved.nodes = slices.Clone(n.nodes)
	for i, m := range moved.nodes {
		moved.nodes[i] = m.moved(lines)
	}
	return &moved
}

// anchored reports whether a value contains an anchor or an alias, and so depends on its surroundings.
func anchored(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, anchored)
}

// cutItem replaces an item that is cut out. Empty lines keep the number of lines.
const cutItem = "- ''"

// cutItems cuts the outermost items that are mappings out of a text, unless that is small. It returns the remainder, and the items by
// their lines there. If a line only looks like an item, the remainder has no item at this line.
func cutItems(c cut.Chunk) (frame string, items map[int]cut.Chunk) {
	if len(c.Text) <= mostItem {
		return c.Text, nil
	}
	var b strings.Builder
	items = map[int]cut.Chunk{}
	line, at := 0, 0                // of what is read
	began, from, indent := 0, 0, -1 // of the item
	end := func() {
		if indent >= 0 {
			items[began] = cut.Chunk{Text: c.Text[from:at], Place: cut.Place{Line: c.Line + int32(began) - 1, Column: 1}}
			b.WriteString(strings.Repeat("\n", line-began-1))
			indent = -1
		}
	}
	for text := range strings.Lines(c.Text) {
		line++
		length, content := len(text), strings.TrimLeft(text, " ")
		spaces := length - len(content)
		if indent < 0 || spaces <= indent && strings.TrimLeft(content, "\t\r\n") != "" {
			end()
			if strings.HasPrefix(content, "- ") {
				began, indent, from = line, spaces, at
				text = text[:spaces] + cutItem + "\n"
			}
			b.WriteString(text)
		}
		at += length
	}
	line++
	end()
	return b.String(), items
}
