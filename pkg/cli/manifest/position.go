// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
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
	at, _ := o.find(fieldPath)
	return at.line, at.column
}

// HasPath reports whether the whole path exists, so that Position is the value's own and not that of an ancestor.
func (o *Object) HasPath(fieldPath string) bool {
	_, exact := o.find(fieldPath)
	return exact
}

func (o *Object) find(path string) (at place, exact bool) {
	v, at := o.root, o.root.at
	for rest := strings.TrimPrefix(path, "."); rest != ""; {
		next, nextAt, length := step(v, rest)
		if next == nil {
			return at, false
		}
		v, at, rest = next, nextAt, strings.TrimPrefix(rest[length:], ".")
	}
	return at, true
}

// step resolves the first element of a path and returns its length, or a nil value if v has no such child.
func step(v *value, path string) (child *value, at place, length int) {
	if v.kind == kindList {
		return item(v, path)
	}
	for i := range v.members {
		if n := match(path, v.members[i].key); n > length {
			child, at, length = v.members[i].value, v.members[i].at, n
		}
	}
	return child, at, length
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

// item resolves an index like [3].
func item(v *value, path string) (child *value, at place, length int) {
	end := strings.IndexByte(path, ']')
	if end < 0 || path[0] != '[' {
		return nil, place{}, 0
	}
	i, err := strconv.ParseUint(path[1:end], 10, 31)
	if err != nil || int(i) >= len(v.items) {
		return nil, place{}, 0
	}
	return v.items[i], v.items[i].at, end + 1
}
