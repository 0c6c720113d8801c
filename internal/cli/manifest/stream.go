// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// A large input is a dump. It is read document by document, and of a List item by item,
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
	// In a List with items: where they are, once the first has begun, as what is before the dash; and whether they are over.
	items, inItems, rest bool
	indent               string
	// says is what a List with items says of itself, before and behind them, and keys are the lines of its keys; nil if there are
	// no items.
	says Identity
	keys map[string]int
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
			y.end()
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
			y.end()
		}
		y.text.WriteString(line)
		return
	case isMarker(text, "..."):
		y.text.WriteString(line)
		y.end()
		y.first += breaks(line)
		return
	case y.rest || content == "" || content[0] == '#':
		y.text.WriteString(line)
		return
	case y.text.Len() > 0:
		text = line // a byte order mark counts only where a document begins
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
	case dash && (y.inItems && indent == y.indent || y.items && !y.inItems):
		if y.inItems {
			y.flush()
		} else {
			y.keys = map[string]int{}
			y.frame(y.text.String(), y.first)
			y.list = y.says
		}
		y.text.Reset()
		y.items, y.inItems, y.indent, y.first = true, true, indent, y.line
		line = indent + " " + text[len(indent)+1:]
	case !y.inItems:
		y.items = strings.TrimRight(text, " \t\r\n") == "items:"
	}
	y.text.WriteString(line)
}

// flush parses what there is of a document, or of a List.
func (y *yamlStream) flush() {
	switch text := y.text.String(); {
	case y.rest:
		y.frame(text, y.first)
	case y.inItems && !hasContent(text):
		y.leave(chunk{text: text, line: y.first}, &fault{place{y.first + 1, len(y.indent) + 3}, RuleNotAnObject, notAnObject("single value")})
	default:
		y.parseFrom(text, place{y.first + 1, 1})
	}
	y.text.Reset()
	y.first = y.line
	y.items, y.inItems, y.rest = false, false, false
}

// end ends a document.
func (y *yamlStream) end() {
	y.flush()
	y.noList = y.noList || y.keys != nil && !y.says.isList()
	y.list, y.says, y.keys = Identity{}, Identity{}, nil
}

// frame reads what a List says beside its items, before or behind them, in a text that begins behind some lines.
func (y *yamlStream) frame(text string, line int) {
	y.texts = append(y.texts, marked(y.name, text, line)...)
	c := chunk{text: strings.TrimPrefix(text, byteOrderMark), line: line}
	node, err := nextNode(yaml.NewDecoder(strings.NewReader(c.text)))
	switch {
	case errors.Is(err, io.EOF):
		return
	case err != nil:
		y.leave(c, y.syntaxFault(c, err))
		return
	case node.Kind != yaml.MappingNode || node.Style&yaml.FlowStyle != 0 || node.Column != 1:
		y.leave(c, &fault{c.place(node.Line, node.Column), RuleSyntax, "not valid YAML: this is neither an item of the List nor one of its keys"})
		return
	}
	conv := converter{writer: newWriter(), source: y.source, chunk: c}
	conv.value(node, 1)
	d, faults := conv.written(), conv.faults
	says := d.identify(0)
	y.says.APIVersion, y.says.Kind = cmp.Or(y.says.APIVersion, says.APIVersion), cmp.Or(y.says.Kind, says.Kind)
	for member := range d.children(0) {
		key, at := d.key(member), d.placeOf(member)
		if before := y.keys[key]; before > 0 {
			faults = append(faults, &fault{at, RuleDuplicateKey, givenAgain(key, before)})
		}
		y.keys[key] = at.line
	}
	y.leave(c, faults...)
}

// leave leaves faults behind that a part of the input has besides objects: in a folder as far as they count there.
func (y *yamlStream) leave(c chunk, faults ...*fault) {
	first := len(y.problems)
	for _, f := range faults {
		y.fault(f, Identity{})
	}
	if y.group != "" {
		y.leaveOut(c, len(y.objects), first)
	}
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
	r.text, r.base = r.text[n:], to
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
	s.noList = s.noList || isList && !s.list.isList()
	s.list = Identity{}
	if !isList {
		s.parseRecorded(r, d.InputOffset())
	}
	r.drop(d.InputOffset())
	return nil
}

// streamMembers reads the members of a document, and reports whether it is a List.
func (s *source) streamMembers(r *recorder, d *jsontext.Decoder) (isList bool, err error) {
	given := map[string]bool{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return isList, err
		}
		key := name.String()
		s.noList = s.noList || given[key]
		given[key] = true
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

// parseRecorded parses the value that ends at an offset.
func (s *source) parseRecorded(r *recorder, end int64) {
	r.dropSpace()
	s.parseFrom(string(r.text[:end-r.base]), r.at)
}
