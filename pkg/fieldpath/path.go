// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package fieldpath parses and compares the paths of field errors. It imports no other package of this module.
package fieldpath

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Path is a place in an object, from its root. The empty Path is the object as a whole.
type Path []Segment

// Segment is one step of a [Path].
type Segment struct {
	// Name of a field or key; empty for an element of a list.
	Name string
	// Index of an element in its list, counted from 0; -1 for a name.
	Index int
}

// IsIndex reports whether the segment is an element of a list.
func (s Segment) IsIndex() bool { return s.Index >= 0 }

// Child returns the path of a field or key of the object at the path.
func (p Path) Child(name string) Path { return append(slices.Clip(p), Segment{Name: name, Index: -1}) }

// Index returns the path of an element of the list at the path.
func (p Path) Index(index int) Path { return append(slices.Clip(p), Segment{Index: index}) }

// Of returns the segments of a path; none for nil.
func Of(at *field.Path) Path { return Parse(at.String()) }

// Parse parses a path as field.Path formats it. A name that contains dots becomes several names.
func Parse(text string) Path {
	if text == "" || text == "<nil>" {
		return nil
	}
	path := make(Path, 0, strings.Count(text, ".")+strings.Count(text, "[")+1)
	for text != "" {
		var segment string
		segment, text = cutSegment(text)
		if isIndex(segment) {
			if index, err := strconv.Atoi(segment[1 : len(segment)-1]); err == nil {
				path = append(path, Segment{Index: index})
				continue
			}
		}
		if key, subscript := strings.CutPrefix(segment, "["); subscript {
			segment = strings.TrimSuffix(key, "]")
		}
		path = append(path, Segment{Name: strings.TrimPrefix(segment, "."), Index: -1})
	}
	return path
}

// Elements returns the paths of the first count elements of a list. It allocates them at once, because a document may have thousands.
func Elements(list *field.Path, count int) []field.Path {
	elements := make([]field.Path, count)
	for i := range elements {
		elements[i] = *list.Index(i)
	}
	return elements
}

// Text returns a path as field.Path formats it; nil is the root, whose path is empty.
func Text(at *field.Path) string {
	if at == nil {
		return ""
	}
	return at.String()
}

// Text returns a path as field.Path formats fields and elements.
func (p Path) Text() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.IsIndex():
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(s.Name)
	}
	return b.String()
}

// Last returns the last field of a path, as the user writes it, followed by the index if the path is that of an element.
func Last(at *field.Path) string {
	path := at.String()
	return path[strings.LastIndexByte(path, '.')+1:]
}

// Compare orders paths, as field.Path formats them: names in lexical order, indices in numerical order, a parent before its children. It is
// negative if a comes first.
func Compare(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a = cutSegment(a)
		y, b = cutSegment(b)
		if c := compareSegments(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareSegments orders indices, which have no leading zeros, by number, and puts them before names.
func compareSegments(a, b string) int {
	switch x, y := isIndex(a), isIndex(b); {
	case x && y:
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case x:
		return -1
	case y:
		return 1
	}
	return cmp.Compare(a, b)
}

// Above reports whether a path is at or above another one, both as field.Path formats them.
func Above(path, other string) bool {
	rest, found := strings.CutPrefix(other, path)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Upward yields a path, and then every path above it, the longest first. No path is above the empty path.
func Upward(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for more := yield(path); more; more = path != "" && yield(path) {
			path = path[:max(strings.LastIndexAny(path, ".["), 0)]
		}
	}
}

// cutSegment splits a path after its first name or index.
func cutSegment(path string) (segment, rest string) {
	if i := strings.IndexAny(path[1:], ".["); i >= 0 {
		return path[:i+1], path[i+1:]
	}
	return path, ""
}

// isIndex reports whether a segment is a number in brackets. Any other subscript is the key of a map.
func isIndex(segment string) bool {
	digits, found := strings.CutPrefix(segment, "[")
	digits, closed := strings.CutSuffix(digits, "]")
	return found && closed && digits != "" && strings.Trim(digits, "0123456789") == ""
}
