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
	at, _, _ := o.find(fieldPath)
	return at.line, at.column
}

// HasPath reports whether the whole path exists, so that Position is the value's own and not that of an ancestor.
func (o *Object) HasPath(fieldPath string) bool {
	_, _, exact := o.find(fieldPath)
	return exact
}

// DuplicateKey returns the message of the first Problem about a key that the value of a field path depends on: one of the
// path itself, or one within the value. It is empty if there is none, and if the path does not exist.
func (o *Object) DuplicateKey(fieldPath string) string {
	_, through, exact := o.find(fieldPath)
	if !exact {
		return ""
	}
	for _, m := range through {
		if m.again != nil {
			return m.again.message
		}
	}
	if again := through[len(through)-1].value.duplicate(map[*value]bool{}); again != nil {
		return again.message
	}
	return ""
}

// duplicate returns the first key that is given more than once within a value. Values that were seen are left out.
func (v *value) duplicate(seen map[*value]bool) *fault {
	if seen[v] {
		return nil
	}
	seen[v] = true
	for _, m := range v.members {
		if m.again != nil {
			return m.again
		}
		if again := m.value.duplicate(seen); again != nil {
			return again
		}
	}
	for _, item := range v.items {
		if again := item.duplicate(seen); again != nil {
			return again
		}
	}
	return nil
}

// find walks along a path, as far as it exists, and returns what it came through, the last of which stands at at.
func (o *Object) find(path string) (at place, through []member, exact bool) {
	last := member{at: o.root.at, value: o.root}
	through = append(through, last)
	for rest := strings.TrimPrefix(path, "."); rest != ""; {
		next, length := step(last.value, rest)
		if next.value == nil {
			return last.at, through, false
		}
		last, rest = next, strings.TrimPrefix(rest[length:], ".")
		through = append(through, last)
	}
	return last.at, through, true
}

// step resolves the first element of a path and returns its length, or a nil value if v has no such child.
func step(v *value, path string) (child member, length int) {
	if v.kind == kindList {
		return item(v, path)
	}
	for i := range v.members {
		if n := match(path, v.members[i].key); n > length {
			child, length = v.members[i], n
		}
	}
	return child, length
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
func item(v *value, path string) (child member, length int) {
	end := strings.IndexByte(path, ']')
	if end < 0 || path[0] != '[' {
		return member{}, 0
	}
	i, err := strconv.ParseUint(path[1:end], 10, 31)
	if err != nil || int(i) >= len(v.items) {
		return member{}, 0
	}
	return member{at: v.items[i].at, value: v.items[i]}, end + 1
}
