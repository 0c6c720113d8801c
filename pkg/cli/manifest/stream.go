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

// An input that is larger than a document may be is a dump. It is read document by document, and of a List item by item,
// so that no more than one of them is in memory as text.

// stream reads a dump.
func (s *source) stream(from io.Reader, begin []byte) error {
	if text := bytes.TrimLeft(begin, " \t\r\n"+byteOrderMark); len(text) > 0 && text[0] == '{' {
		return s.streamJSON(from)
	}
	return s.streamYAML(from)
}

// tooLargeAt ends an input at a document, or an item of a List, that is too large. In a folder that is nothing if it does
// not mention the group.
func (s *source) tooLargeAt(line int, text string) {
	message := fmt.Sprintf("the document, or the item of a List, is larger than %d MiB; nothing from here on was read", maxDocument>>20)
	if s.group != "" && !strings.Contains(text, s.group) {
		s.foreign++
		s.skipped = append(s.skipped, Skipped{s.name, line, reasonUnreadable + s.group + ": " + message})
		return
	}
	s.tooLarge(place{line, 1}, message)
}

// yamlStream is the state of streamYAML.
type yamlStream struct {
	*source
	text  strings.Builder // the document or item so far
	first int             // lines before it
	line  int             // lines that were read
	// In a List with items: where they are, once the first has begun, as what is before the dash; header and rest are
	// not kept.
	items, inItems, rest bool
	indent               string
}

// streamYAML reads documents of YAML, each at its marker, and the items of Lists as kubectl writes them.
func (s *source) streamYAML(from io.Reader) error {
	y := &yamlStream{source: s}
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := nextLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		if line != "" {
			y.take(line)
		}
		if y.text.Len() > maxDocument {
			y.tooLargeAt(y.first+1, y.text.String())
			return nil
		}
		y.line += breaks(line)
		if errors.Is(err, io.EOF) {
			y.flush()
			return nil
		}
	}
}

// nextLine returns the next line with its end; or, of one that is larger than a document may be, its beginning.
func nextLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(line), err
		}
		if len(line) > maxDocument {
			return string(line), nil
		}
	}
}

// take takes a line.
func (y *yamlStream) take(line string) {
	text := strings.TrimPrefix(line, byteOrderMark)
	content := strings.TrimSpace(text)
	switch {
	case isMarker(text, "---"):
		if y.items || y.rest || hasContent(y.text.String()) {
			y.flush()
		}
		y.text.WriteString(line)
		return
	case isMarker(text, "..."):
		y.text.WriteString(line)
		y.flush()
		y.first += breaks(line)
		return
	case y.rest:
		return
	case content == "" || content[0] == '#':
		y.text.WriteString(line)
		return
	}
	y.takeContent(text)
}

// takeContent takes a line with more than a comment or a marker.
func (y *yamlStream) takeContent(text string) {
	line, content := text, strings.TrimSpace(text)
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	dash := content == "-" || strings.HasPrefix(content, "- ")
	switch {
	case y.inItems && len(indent) <= len(y.indent) && (!dash || indent != y.indent):
		y.flush() // the List goes on behind its items
		y.rest = true
		return
	case dash && (y.inItems && indent == y.indent || y.items && !y.inItems):
		header := y.text.String()
		if y.inItems {
			y.flush()
		} else {
			y.list = headerOf(header)
		}
		y.text.Reset()
		y.items, y.inItems, y.indent, y.first = true, true, indent, y.line
		line = indent + " " + text[len(indent)+1:]
	case !y.inItems:
		y.items = strings.TrimRight(text, " \t\r\n") == "items:"
	}
	y.text.WriteString(line)
}

// flush parses what there is. The next line begins a document.
func (y *yamlStream) flush() {
	in := y.inItems && !y.rest
	if !y.rest {
		y.parseFrom(y.text.String(), y.first)
	}
	y.text.Reset()
	y.first = y.line
	if !in {
		y.list = Identity{}
	}
	y.items, y.inItems, y.rest = false, false, false
}

// hasContent reports whether a text has more than comments, directives and markers.
func hasContent(text string) bool {
	for _, line := range lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && line[0] != '%' && line != "---" {
			return true
		}
	}
	return false
}

// headerOf returns what a List says of itself before its items.
func headerOf(text string) (who Identity) {
	for _, line := range lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.Trim(strings.TrimSpace(value), `"'`); key {
		case "apiVersion":
			who.APIVersion = value
		case "kind":
			who.Kind = value
		}
	}
	return who
}

// recorder keeps what was read, until it is dropped. It does not read more than there may be of a document.
type recorder struct {
	from io.Reader
	text []byte
	// base is the offset of the text in the input, and at its place.
	base int64
	at   place
}

// Read implements [io.Reader].
func (r *recorder) Read(p []byte) (int, error) {
	if len(r.text) > maxDocument+(1<<20) { // as the decoder reads ahead
		return 0, errTooLarge
	}
	n, err := r.from.Read(p)
	r.text = append(r.text, p[:n]...)
	return n, err
}

// drop forgets what is before an offset.
func (r *recorder) drop(to int64) {
	n := int(to - r.base)
	r.at.advance(string(r.text[:n]))
	r.text, r.base = append(r.text[:0], r.text[n:]...), to
}

// dropSpace forgets the white space and the comma before a value.
func (r *recorder) dropSpace() {
	rest := bytes.TrimLeft(r.text, " \t\r\n,:"+byteOrderMark)
	r.drop(r.base + int64(len(r.text)-len(rest)))
}

// errTooLarge ends a stream.
var errTooLarge = errors.New("too large")

// streamJSON reads JSON documents, and the items of Lists one by one.
func (s *source) streamJSON(from io.Reader) error {
	begin := bufio.NewReader(from)
	if mark, _ := begin.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = begin.Discard(len(byteOrderMark))
	}
	r := &recorder{from: begin, at: place{1, 1}}
	d := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		err := s.streamValue(r, d)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errTooLarge):
			s.tooLargeAt(r.at.line, string(r.text))
			return nil
		case err != nil:
			var syntactic *jsontext.SyntacticError
			if !errors.As(err, &syntactic) {
				return fmt.Errorf("read %s: %w", s.name, err)
			}
			s.fault(&fault{r.at, RuleSyntax, "not valid JSON, here or behind: " + syntactic.Err.Error() + "; nothing from here on was read"}, Identity{})
			return nil
		}
	}
}

// streamValue reads a document.
func (s *source) streamValue(r *recorder, d *jsontext.Decoder) error {
	s.list = Identity{}
	if d.PeekKind() != '{' {
		if err := d.SkipValue(); err != nil {
			return err
		}
		s.parseRecorded(r, d.InputOffset())
		r.drop(d.InputOffset())
		return nil
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	isList, err := s.streamMembers(r, d)
	if err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	s.list = Identity{}
	if !isList {
		s.parseRecorded(r, d.InputOffset())
	}
	r.drop(d.InputOffset())
	return nil
}

// streamMembers reads the members of a document, and reports whether it is a List.
func (s *source) streamMembers(r *recorder, d *jsontext.Decoder) (isList bool, err error) {
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return isList, err
		}
		key := name.String()
		if key == "items" && d.PeekKind() == '[' {
			isList = true
			if err := s.streamItems(r, d); err != nil {
				return isList, err
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil {
			return isList, err
		}
		switch {
		case d.InputOffset()-r.base > maxDocument:
			return isList, errTooLarge
		case key == "apiVersion" && value.Kind() == '"':
			s.list.APIVersion = strings.Trim(string(value), `"`)
		case key == "kind" && value.Kind() == '"':
			s.list.Kind = strings.Trim(string(value), `"`)
		}
	}
	return isList, nil
}

// streamItems reads the items of a List.
func (s *source) streamItems(r *recorder, d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		r.drop(d.InputOffset())
		if err := d.SkipValue(); err != nil {
			return err
		}
		if d.InputOffset()-r.base > maxDocument {
			return errTooLarge
		}
		s.parseRecorded(r, d.InputOffset())
	}
	_, err := d.ReadToken()
	return err
}

// parseRecorded parses the value that ends at an offset, with what it is behind as white space.
func (s *source) parseRecorded(r *recorder, end int64) {
	r.dropSpace()
	s.parseFrom(strings.Repeat(" ", r.at.column-1)+string(r.text[:end-r.base]), r.at.line-1)
}
