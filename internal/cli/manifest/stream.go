// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A large input is a dump. It is read document by document, and of a List item by item,
// so that no more than one of them is in memory as text. What is left of a List without its items is its frame.

// stream reads a dump that begins with some text.
func (s *source) stream(from io.Reader, begin string) error {
	if strings.HasPrefix(strings.TrimLeft(begin, " \t\r\n"+byteOrderMark), "{") {
		return s.streamJSON(from)
	}
	return s.streamYAML(from)
}

// parsePart parses a text that is a part of the input.
func (s *source) parsePart(p part, c chunk) {
	s.part = p
	s.parse(c)
	s.part = documents
}

// listOf returns what the beginning of a List says of it.
func listOf(begin chunk) Identity {
	s := newSource("")
	s.parsePart(frame, begin)
	return s.list
}

// tooLarge ends an input at a document, or an item of a List, of which this is the beginning.
func (s *source) tooLarge(c chunk) {
	first := len(s.Problems)
	s.fault(&fault{c.place, RuleTooLarge, fmt.Sprintf(
		"the document, or the item of a List, is larger than %d MiB; nothing from here on was read", maxDocument>>20)}, Identity{})
	s.judge(c, len(s.Objects), first)
}

// yamlStream is the state of streamYAML.
type yamlStream struct {
	*source
	line int32 // of what is read next
	// text is what was read of a document, of an item, or of what is behind the items; it begins in the line from.
	text strings.Builder
	from int32
	// items is set behind the line that begins them, inItems in an item, and rest behind the last one.
	items, inItems, rest bool
	indent               string // before the dash of an item
	// frame has an empty line for each line of an item, and begins in the line frameFrom.
	frame     strings.Builder
	frameFrom int32
}

// streamYAML reads documents of YAML, each at its marker, and the items of Lists as kubectl writes them.
func (s *source) streamYAML(from io.Reader) error {
	y := &yamlStream{source: s, line: 1, from: 1}
	limited := &io.LimitedReader{R: from}
	in := bufio.NewReaderSize(limited, 1<<20)
	for {
		limited.N = maxAhead
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		y.take(line)
		if y.text.Len() > maxDocument {
			y.tooLarge(y.chunk())
			return nil
		}
		y.line += breaks(line)
		if err != nil {
			y.end()
			return nil //nolint:nilerr // it is the end of the file
		}
	}
}

// take takes a line.
func (y *yamlStream) take(line string) {
	text := strings.TrimPrefix(line, byteOrderMark)
	switch content := strings.TrimSpace(text); {
	case isMarker(text, "---") && (y.items || y.rest || contentIn(y.text.String()) >= 0):
		y.end()
	case isMarker(text, "..."):
		y.write(line)
		y.end()
		return
	case isMarker(text, "---"), y.rest, content == "", content[0] == '#':
	default:
		if y.text.Len() > 0 {
			text = line // a byte order mark counts only where a document begins
		}
		line = y.content(text)
	}
	y.write(line)
}

func (y *yamlStream) write(line string) {
	if y.text.Len() == 0 {
		y.from = y.line
	}
	y.text.WriteString(line)
}

func (y *yamlStream) chunk() chunk { return chunk{y.text.String(), place{y.from, 1}} }

// content takes a line with more than a comment or a marker. It returns what it is as a line of the document, or of the item.
func (y *yamlStream) content(line string) string {
	content := strings.TrimSpace(line)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	dash := content == "-" || strings.HasPrefix(content, "- ")
	switch {
	case dash && (y.inItems && indent == y.indent || y.items && !y.inItems):
		y.flush()
		y.inItems, y.indent = true, indent
		return indent + " " + line[len(indent)+1:]
	case y.inItems && len(indent) <= len(y.indent): // the List goes on behind its items
		y.flush()
		y.inItems, y.rest = false, true
	case !y.inItems:
		y.items = strings.TrimRight(line, " \t\r\n") == "items:"
	}
	return line
}

// flush takes over an item, or what comes before or behind the items.
func (y *yamlStream) flush() {
	c := y.chunk()
	y.text.Reset()
	if y.inItems {
		y.frame.WriteString(strings.Repeat("\n", int(y.line-y.from)))
		if contentIn(c.text) < 0 {
			c.text = y.indent + "  ~\n"
		}
		y.parsePart(item, c)
		return
	}
	y.Marked = append(y.Marked, c.marked(y.name)...)
	y.frame.WriteString(c.text)
	if !y.rest {
		y.frameFrom = c.line
		y.list = listOf(c)
	}
}

// end ends a document.
func (y *yamlStream) end() {
	if y.inItems || y.rest {
		y.flush()
		y.list = Identity{}
		y.parsePart(frame, chunk{y.frame.String(), place{y.frameFrom, 1}})
	} else {
		y.parse(y.chunk())
	}
	y.text.Reset()
	y.frame.Reset()
	y.items, y.inItems, y.rest, y.list = false, false, false, Identity{}
}

// maxAhead is how much is read for one document, or one item: more than it may have, as the decoder reads ahead.
const maxAhead = maxDocument + 1<<20

// jsonStream is the state of streamJSON.
type jsonStream struct {
	*source
	*jsontext.Decoder
	in *io.LimitedReader // of as much as a document, or an item, may take
	at place             // of what is read next
	// text is what was read of a document, which begins at a place, without the items of a List, which came behind some bytes.
	text   []byte
	begin  place
	before int
	last   string // the last value that was read
}

// streamJSON reads JSON documents, and the items of Lists one by one.
func (s *source) streamJSON(from io.Reader) error {
	begin := bufio.NewReader(from)
	if mark, _ := begin.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = begin.Discard(len(byteOrderMark))
	}
	j := &jsonStream{source: s, in: &io.LimitedReader{R: begin, N: maxAhead}, at: place{1, 1}}
	j.Decoder = newDecoder(j.in)
	for {
		err := j.document()
		var syntactic *jsontext.SyntacticError
		switch {
		case err == nil:
		case j.in.N <= 0:
			s.tooLarge(chunk{string(j.text) + string(j.UnreadBuffer()), place{j.at.line, 1}})
			return nil
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &syntactic):
			s.fault(&fault{j.at, RuleSyntax, "not valid JSON, here or behind: " + syntactic.Err.Error() + "; nothing from here on was read"}, Identity{})
			return nil
		default:
			return fmt.Errorf("read %s: %w", s.name, err)
		}
	}
}

// pass moves behind a part of the document.
func (j *jsonStream) pass(text []byte) {
	j.at.advance(string(text))
	j.text = append(j.text, text...)
}

// next returns the kind of the next value or delimiter, and moves to it: what is before it belongs to the document, except
// between items.
func (j *jsonStream) next() jsontext.Kind {
	kind := j.PeekKind()
	rest := j.UnreadBuffer()
	j.pass(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,:"+byteOrderMark))])
	switch j.StackDepth() {
	case 0:
		j.text, j.begin, j.before, j.last = j.text[:0], j.at, 0, ""
		j.in.N = maxAhead
	case 2:
		j.text = j.text[:j.before]
		j.in.N = maxAhead
	}
	return kind
}

// document reads a document: member by member, and of a List item by item.
func (j *jsonStream) document() error {
	for begun := false; !begun || j.StackDepth() > 0; begun = true {
		if err := j.part(); err != nil {
			return err
		}
	}
	c := chunk{string(j.text), j.begin}
	if j.before == 0 {
		j.parse(c)
		return nil
	}
	first := len(j.Problems)
	j.parsePart(frame, c)
	j.noList = j.noList || len(j.Problems) > first
	j.Problems = j.Problems[:first] // their places would not be right
	j.list = Identity{}
	return nil
}

// part reads a part of a document: a delimiter around its members or items, an item, a key or another value.
func (j *jsonStream) part() (err error) {
	kind, at, depth := j.next(), j.at, j.StackDepth()
	items := kind == '[' && depth == 1 && j.last == `"items"`
	if items || kind == '{' && depth == 0 || kind == '}' || kind == ']' {
		if _, err = j.ReadToken(); err == nil {
			j.pass([]byte{byte(kind)})
		}
		if items {
			j.before = len(j.text)
			j.list = listOf(chunk{string(j.text) + "]}", j.begin})
		}
		return err
	}
	value, err := j.ReadValue()
	if err != nil {
		return err
	}
	j.pass(value)
	j.last = string(value)
	if depth == 2 {
		j.parsePart(item, chunk{j.last, at})
	}
	return nil
}
