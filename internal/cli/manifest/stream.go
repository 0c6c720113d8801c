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

	"github.com/capkit/capkit/internal/cli/manifest/cut"
)

// A large input is a dump. It is read document by document, and a List item by item, so that only one of them at a time is in memory as
// text.

// maxAhead bounds the bytes read for one document or item. It exceeds their limit, because the readers read ahead.
const maxAhead = maxDocument + 1<<20

// stream reads a dump that begins with the given text.
func (s *source) stream(from io.Reader, begin string) error {
	in := &io.LimitedReader{R: from, N: maxAhead}
	read := s.streamYAML
	if strings.HasPrefix(strings.TrimLeft(begin, " \t\r\n"+cut.ByteOrderMark), "{") {
		read = s.streamJSON
	}
	if err := read(in, begin); err != nil {
		return fmt.Errorf("read %s: %w", s.name, err)
	}
	return nil
}

// streamYAML reads YAML documents, separated by markers, and the items of Lists in kubectl's format.
func (s *source) streamYAML(in *io.LimitedReader, _ string) error {
	c := cut.New(s.takePart, true)
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		in.N = maxAhead
		text, err := r.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		c.Add(text)
		if c.Len() > maxDocument {
			s.tooLarge(c.Chunk())
			return nil
		}
		if err != nil {
			c.End()
			return nil //nolint:nilerr // it is the end of the file
		}
	}
}

// streamJSON reads JSON documents, and the items of Lists one by one.
func (s *source) streamJSON(in *io.LimitedReader, begin string) error {
	from := bufio.NewReader(in)
	if mark, _ := from.Peek(len(cut.ByteOrderMark)); string(mark) == cut.ByteOrderMark {
		_, _ = from.Discard(len(cut.ByteOrderMark))
	}
	r := newJSONReader(from, cut.Place{Line: 1, Column: 1})
	r.item = func(list *node) error {
		in.N = maxAhead
		raw, err := r.raw(false)
		if err == nil {
			s.list = list.identify()
			s.takePart(cut.Item, raw)
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
			s.tooLarge(cut.Chunk{Text: begin + string(r.UnreadBuffer()), Place: cut.Place{Line: r.at.Line, Column: 1}})
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

// takeJSON adds a document. Its items are not added again if they were read one by one.
func (s *source) takeJSON(n *node, r *jsonReader) {
	objects, problems := len(s.Objects), len(s.Problems)
	s.part, s.list = cut.Document, Identity{}
	if r.itemwise {
		s.part = cut.Frame
	}
	s.take(n, r.faults, false)
	if len(s.Problems) > problems {
		s.judge(cut.Chunk{Text: string(n.appendTo(nil)), Place: n.at}, objects, problems)
	}
}

// tooLarge ends an input at a document or item that exceeds the limit. c is a part of it.
func (s *source) tooLarge(c cut.Chunk) {
	first := len(s.Problems)
	s.fault(&fault{at: c.Place, rule: RuleTooLarge, message: fmt.Sprintf(
		"the document, or the item of a List, is larger than %d MiB; nothing from here on was read", maxDocument>>20)}, Identity{})
	s.judge(c, len(s.Objects), first)
}
