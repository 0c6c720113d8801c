// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package strictyaml reads the files that people write for capkit alone: settings, and descriptions of providers. It reports every error,
// each as a [Fault]. It also parses YAML for others, and finds the places of errors in its syntax.
//
// Start reading at [Reader.Read] and [Check].
package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/pkg/words"
)

// Reader reads the nodes of a document, and collects the errors.
type Reader struct {
	// File is the name of the file, for messages.
	File string
	// Instead says what to write instead of unknown keys that look familiar. It may be nil.
	Instead map[string]string

	faults []*Fault
}

// Fault is an error in a file, at a line and a column, which are counted from 1.
type Fault struct {
	File         string
	Line, Column int
	Message      string
}

// Error returns FILE:LINE:COLUMN: MESSAGE.
func (f *Fault) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// Read calls read with the root node of a text with one document; the node is null if the text has none. second says what to do about a
// second document.
func (r *Reader) Read(text []byte, second string, read func(*yaml.Node)) error {
	contents, wrong := []*yaml.Node(nil), Unreadable(string(text))
	if wrong == nil {
		var err error
		if contents, err = Documents(string(text)); err != nil {
			wrong = Explain(string(text), err, true)
		}
	}
	switch {
	case len(contents) > 0:
		read(contents[0])
	case wrong == nil:
		read(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1, Column: 1})
	default:
		return r.at(text, wrong.Offset, wrong.Message)
	}
	for _, more := range contents[min(1, len(contents)):] {
		if r.Err() == nil && !Null(more) { // an empty document is usually a --- at the end
			r.Fault(more, "there is a second document: %s", second)
		}
	}
	if err := r.Err(); err != nil || wrong == nil {
		return err
	}
	return r.at(text, wrong.Offset, "there is more text after the end of the document: "+second)
}

// at returns a fault at an offset of a text.
func (r *Reader) at(text []byte, offset int, message string) *Fault {
	line, column := place(string(text), offset)
	return &Fault{r.File, line, column, message}
}

// Null reports whether a node is null or absent.
func Null(n *yaml.Node) bool { return n.Tag == "!!null" }

// Fault reports an error at a node.
func (r *Reader) Fault(n *yaml.Node, format string, args ...any) {
	r.faults = append(r.faults, &Fault{r.File, n.Line, n.Column, fmt.Sprintf(format, args...)})
}

// Err returns the reported errors, each a [Fault], in the order of the text, joined by [errors.Join].
func (r *Reader) Err() error {
	slices.SortStableFunc(r.faults, func(a, b *Fault) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	var errs []error
	for _, f := range r.faults {
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

// Key is a key of a mapping.
type Key struct {
	// Read reads the key's value.
	Read func(n *yaml.Node)
	// Optional is set if the key may be omitted.
	Optional bool
}

// Mapping reads a mapping, in which each key may occur once, and returns the nodes of its keys.
func (r *Reader) Mapping(n *yaml.Node, keys map[string]Key) map[string]*yaml.Node {
	known, seen := slices.Sorted(maps.Keys(keys)), map[string]*yaml.Node{}
	if n.Kind != yaml.MappingNode {
		r.Fault(n, "write a mapping with the keys %s", strings.Join(known, ", "))
		return seen
	}
	for pair := range slices.Chunk(n.Content, 2) {
		name := pair[0].Value
		key, found := keys[name]
		switch meant := words.Closest(name, known); {
		case seen[name] != nil:
			r.Fault(pair[0], "the key %q is already given in line %d; remove one of the two", name, seen[name].Line)
			continue
		case found:
			key.Read(pair[1])
		case r.Instead[name] != "":
			r.Fault(pair[0], "unknown key %q: %s", name, r.Instead[name])
		case meant != "":
			r.Fault(pair[0], "unknown key %q%s", name, words.DidYouMean(meant))
		default:
			r.Fault(pair[0], "unknown key %q; there are %s", name, strings.Join(known, ", "))
		}
		seen[name] = pair[0]
	}
	for _, name := range known {
		if !keys[name].Optional && seen[name] == nil {
			r.Fault(n, "the key %q is missing", name)
		}
	}
	return seen
}

// Text reads a non-empty text. If the node is not one, it reports an error and returns an empty text.
func (r *Reader) Text(n *yaml.Node, what string) string {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.TrimSpace(n.Value) != "" {
		return n.Value
	}
	r.Fault(n, "write %s, as text", what)
	return ""
}

// Choice reads one of several values. For any other value it reports an error and returns an empty text.
func (r *Reader) Choice(n *yaml.Node, choices ...string) string {
	if n.Kind != yaml.ScalarNode || !slices.Contains(choices, n.Value) {
		r.Fault(n, "write %s", words.Or(choices))
		return ""
	}
	return n.Value
}
