// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strconv"
	"strings"
)

// Position returns the line and column, both counted from 1, at which the value of a field path was written. The path
// is one as package field prints it: spec.machineImages[0].versions[1]. Map keys may be given like fields or in
// brackets, quoted or not; of several keys that fit, the longest is taken, so that keys with dots work.
//
// A member of an object is at its key, an item of a list at its content, and the empty path at the object. What an
// alias or merge key brings in is where it is written. A path that does not exist is at its nearest ancestor that does,
// which is where something is missing.
func (o *Object) Position(fieldPath string) (line, column int) {
	through, _ := o.find(fieldPath)
	at := o.document.placeOf(through[len(through)-1])
	return at.line, at.column
}

// HasPath reports whether the whole path exists, so that Position is the value's own and not that of an ancestor.
func (o *Object) HasPath(fieldPath string) bool {
	_, exact := o.find(fieldPath)
	return exact
}

// DuplicateKey returns the message of the first Problem about a key that the value of a field path depends on: one of
// the path itself, or one within the value. It is empty if there is none, and if the path does not exist.
func (o *Object) DuplicateKey(fieldPath string) string {
	through, exact := o.find(fieldPath)
	if !exact {
		return ""
	}
	last := through[len(through)-1]
	for _, r := range o.document.remarks {
		within := last < r.index && r.index < int(o.document.places[last].next)
		if r.repeated != "" && (within || slices.Contains(through, r.index)) {
			return r.repeated
		}
	}
	return ""
}

// find walks along a path, as far as it exists, and returns the indices of the places that it came through: the object,
// and at last the value that the path leads to, or its nearest ancestor that exists.
func (o *Object) find(path string) (through []int, exact bool) {
	last := o.index
	through = append(through, last)
	for rest := strings.TrimPrefix(path, "."); rest != ""; {
		next, length := o.document.step(last, rest)
		if length == 0 {
			return through, false
		}
		last, rest = next, strings.TrimPrefix(rest[length:], ".")
		through = append(through, last)
	}
	return through, true
}

// step resolves the first element of a path below the value at an index. It returns the index of the child, and the
// length of the element, or 0 if there is no such child.
func (d *document) step(parent int, path string) (child, length int) {
	if d.json[d.content(parent)] == '[' {
		return d.item(parent, path)
	}
	for i := range d.children(parent, 0) {
		if n := match(path, d.key(i)); n > length {
			child, length = i, n
		}
	}
	return child, length
}

// item resolves an index like [3] in the list at an index.
func (d *document) item(list int, path string) (child, length int) {
	closing := strings.IndexByte(path, ']')
	if closing < 0 || path[0] != '[' {
		return 0, 0
	}
	n, err := strconv.ParseUint(path[1:closing], 10, 31)
	if err != nil {
		return 0, 0
	}
	for i := range d.children(list, 0) {
		if n == 0 {
			return i, closing + 1
		}
		n--
	}
	return 0, 0
}

// match returns the length of the first elements of path if they spell key: as a field, or in brackets, quoted or not.
func match(path, key string) int {
	for _, around := range [...][2]string{{"", ""}, {"[", "]"}, {`["`, `"]`}} {
		rest, ok := strings.CutPrefix(path, around[0])
		if ok {
			rest, ok = strings.CutPrefix(rest, key)
		}
		if ok {
			rest, ok = strings.CutPrefix(rest, around[1])
		}
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return len(path) - len(rest)
		}
	}
	return 0
}
