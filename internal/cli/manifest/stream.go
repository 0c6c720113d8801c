// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A large input is a dump. It is read document by document, and of a List item by item,
// so that no more than one of them is in memory as text.

// maxAhead is how much is read for one document, or one item: more than it may have, as the readers read ahead.
const maxAhead = maxDocument + 1<<20

// stream reads a dump that begins with some text.
func (s *source) stream(from io.Reader, begin string) error {
	in := &io.LimitedReader{R: from, N: maxAhead}
	read := s.streamYAML
	if strings.HasPrefix(strings.TrimLeft(begin, " \t\r\n"+byteOrderMark), "{") {
		read = s.streamJSON
	}
	if err := read(in, begin); err != nil {
		return fmt.Errorf("read %s: %w", s.name, err)
	}
	return nil
}

// streamYAML reads documents of YAML, each at its marker, and the items of Lists as kubectl writes them.
func (s *source) streamYAML(in *io.LimitedReader, _ string) error {
	c := &cutter{do: s.takePart, byItem: true, line: 1}
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		in.N = maxAhead
		text, err := r.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		c.add(text)
		if c.text.Len() > maxDocument {
			s.tooLarge(c.chunk())
			return nil
		}
		if err != nil {
			c.end()
			return nil //nolint:nilerr // it is the end of the file
		}
	}
}

// streamJSON reads JSON documents, and the items of Lists one by one.
func (s *source) streamJSON(in *io.LimitedReader, begin string) error {
	from := bufio.NewReader(in)
	if mark, _ := from.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = from.Discard(len(byteOrderMark))
	}
	r := newJSONReader(from, place{1, 1})
	r.item = func(list *node) error {
		in.N = maxAhead
		raw, err := r.raw(false)
		if err == nil {
			s.list = list.identify()
			s.takePart(item, raw)
		}
		return err
	}
	for {
		in.N = maxAhead
		n, err := r.document()
		var syntactic *jsontext.SyntacticError
		switch {
		case err == nil:
			s.takeJSON(n, r)
		case in.N <= 0:
			s.tooLarge(chunk{begin + string(r.UnreadBuffer()), place{r.at.line, 1}})
			return nil
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &syntactic):
			s.fault(&fault{at: r.at, rule: RuleSyntax, message: fmt.Sprintf(
				"not valid JSON, here or behind: %v; nothing from here on was read", syntactic.Err)}, Identity{})
			return nil
		default:
			return err
		}
	}
}

// takeJSON takes over a document, of which the items are taken already if they were read one by one.
func (s *source) takeJSON(n *node, r *jsonReader) {
	objects, problems := len(s.Objects), len(s.Problems)
	s.part, s.list = document, Identity{}
	if r.itemwise {
		s.part = frame
	}
	s.take(n, r.faults, false)
	if len(s.Problems) > problems {
		s.judge(chunk{string(n.appendTo(nil)), n.at}, objects, problems)
	}
}

// tooLarge ends an input at a document, or an item of a List, of which this is a part.
func (s *source) tooLarge(c chunk) {
	first := len(s.Problems)
	s.fault(&fault{at: c.place, rule: RuleTooLarge, message: fmt.Sprintf(
		"the document, or the item of a List, is larger than %d MiB; nothing from here on was read", maxDocument>>20)}, Identity{})
	s.judge(c, len(s.Objects), first)
}
