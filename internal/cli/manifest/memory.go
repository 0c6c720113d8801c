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
)

// Memory keeps what the items of lists mean, for readers of a large file that changes a little each time: parsing YAML takes most of their
// time. An item means what its text does, wherever it is, which includes the spaces before its dash. The zero value is empty.
type Memory struct {
	// known are the items that were seen since the file is read, and before those of the last time.
	known, before map[itemText]parsedItem
}

// itemText is all that an item depends on: its lines, and how deep it is.
type itemText struct {
	text  string
	depth int
}

// parsedItem is an item as it was parsed in a line. Its own text keeps no file in memory.
type parsedItem struct {
	*node
	line int32
	text string
}

// mostItem is the size of an item, in bytes, up to which it is parsed at once, and kept. A larger one is cut itself.
const mostItem = 4 << 10

// parseItems reads a document item by item, of which the memory has most. It reports false, having done nothing, for what is to be parsed
// at once: what is small, has faults or anchors, or has something like an item where none can be.
func (s *source) parseItems(c cut.Chunk) bool {
	if s.memory == nil || c.Column > 1 || len(c.Text) <= mostItem || strings.HasPrefix(c.Text, "%") || strings.Contains(c.Text, "\n%") || // a directive
		cut.Breaks(c.Text) != strings.Count(c.Text, "\n") {
		return false
	}
	value := s.memory.value(c, 1, wholeDocument)
	if value == nil { // like while a line is half written
		maps.Copy(s.memory.known, s.memory.before)
	} else {
		s.take(value, nil, false)
	}
	return value != nil
}

// value returns a document or an item of a list, which is at the given depth; nil if it is to be parsed with what is around it.
func (m *Memory) value(c cut.Chunk, depth int, is role) *node {
	frame, items := cutItems(c)
	contents, err := decode(frame)
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

// item returns what was cut out of a list at a depth; nil if that is to be parsed with what is around it.
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

// moved returns a copy of a value that is so many lines below it.
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

// anchored reports whether something in a value is an anchor or an alias, so that it depends on what is around it.
func anchored(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, anchored)
}

// cutItem is what stands in the place of an item that is cut out, which has as many lines.
const cutItem = "- ''"

// cutItems cuts the outermost items that are mappings out of a text, unless that is small. It returns what remains, and the items by
// their lines there. A line of another item, or of text that looks like one, makes a remainder in which an item is not where it was.
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
