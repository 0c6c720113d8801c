// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"strconv"
	"strings"
)

// The rules that a Problem can name. The names are stable.
const (
	// RuleSyntax is text that is neither YAML nor JSON, or has a part that JSON cannot express.
	RuleSyntax = "syntax"
	// RuleDuplicateKey is a key that its mapping already has. Each repetition is a Problem of its own.
	RuleDuplicateKey = "duplicate-key"
	// RuleTooLarge is input beyond a limit of size, depth or expansion.
	RuleTooLarge = "too-large"
	// RuleNotAnObject is a document that is not a mapping, or lacks a textual apiVersion or kind.
	RuleNotAnObject = "not-an-object"
)

// Stdin is the File of what was read from standard input.
const Stdin = "<stdin>"

// Identity tells an object from others, with the fields as written: "" where absent or not a string.
type Identity struct {
	APIVersion, Kind, Namespace, Name string
}

// Object is one manifest: a document, or an item of a List. APIVersion and Kind are never empty. It is not changed after
// Load and safe for concurrent use, as long as callers leave JSON alone, which positions and items of a List share.
type Object struct {
	Identity
	// File is the path as given to Load, or joined to the given directory, or Stdin.
	File string
	// JSON is the object with its keys in the order written, and with aliases and merge keys resolved. Of a key given
	// more than once it has the last value.
	JSON []byte

	// document is what the object is written in, and index which of its values the object is.
	document *document
	index    int
}

// Problem is a place in the input that could not be read. Its message quotes keys at the most, never values.
type Problem struct {
	// Identity is that of the document, as far as it is known.
	Identity
	// File is as in Object.
	File string
	// Line and Column count from 1, a column being a character. A line ends as YAML 1.1 has it: with LF, CR, CRLF,
	// U+0085, U+2028 or U+2029.
	Line, Column int
	// Rule is one of the Rule constants.
	Rule    string
	Message string
}

// Position returns the line and column, both counted from 1, at which the value of a field path was written. The path
// is one as package field prints it: spec.machineImages[0].versions[1]. Map keys may be given like fields or in
// brackets, quoted or not; of several keys that fit, the longest is taken, so that keys with dots work.
//
// A member of an object is at its key, an item of a list at its content, and the empty path at the object. What an
// alias or merge key brings in is where it is written. A path that does not exist is at its nearest ancestor that does,
// which is where something is missing. Both are 0 for an object that is Unwritten.
func (o *Object) Position(fieldPath string) (line, column int) {
	through, _ := o.find(fieldPath)
	if len(through) == 0 {
		return 0, 0
	}
	at := o.document.placeOf(through[len(through)-1])
	return at.line, at.column
}

// Value returns the JSON of the value of a field path; nil if the path does not exist, so that Position is that of an
// ancestor. It may share memory with that of the object.
func (o *Object) Value(fieldPath string) []byte {
	through, exact := o.find(fieldPath)
	if !exact {
		return nil
	}
	return o.document.value(through[len(through)-1])
}

// DuplicateKey returns the message of the first Problem about a key that the value of a field path depends on: one of
// the path itself, or one within the value. It is empty if there is none, and if the path does not exist.
func (o *Object) DuplicateKey(fieldPath string) string {
	through, exact := o.find(fieldPath)
	if !exact || len(o.document.repeated) == 0 {
		return ""
	}
	for _, i := range through {
		if message := o.document.repeated[i]; message != "" {
			return message
		}
	}
	return o.document.repeatedWithin(through[len(through)-1])
}

// repeatedWithin returns the first message about a key that is given more than once in the value at an index.
func (d *document) repeatedWithin(i int) string {
	for child := range d.children(i) {
		if message := cmp.Or(d.repeated[child], d.repeatedWithin(child)); message != "" {
			return message
		}
	}
	return ""
}

// find walks along a path, as far as it exists, and returns the indices of the places that it came through: the object,
// and at last the value that the path leads to, or its nearest ancestor that exists. There are none if nothing is written.
func (o *Object) find(path string) (through []int, exact bool) {
	if o.document == nil {
		return nil, false
	}
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
	for i := range d.children(parent) {
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
	for i := range d.children(list) {
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

// Unwritten returns an Object for something that no manifest describes: it has no JSON, its File is what findings about it
// name, and each of its positions is line 0 and column 0.
func Unwritten(file string, who Identity) *Object { return &Object{Identity: who, File: file} }
