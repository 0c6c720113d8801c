// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"weak"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
	"github.com/capkit/capkit/pkg/fieldpath"
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
// Load and safe for concurrent use, as long as callers leave JSON alone.
type Object struct {
	Identity
	// File is the path as given to Load, or joined to the given directory, or Stdin.
	File string
	// JSON is the object with its keys in the order written, and with aliases and merge keys resolved. Of a key given
	// more than once it has the last value.
	JSON []byte

	written *written // nil if Unwritten
	// renamed has where places are written that Renamed was called with, by their other paths.
	renamed map[string]string
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
	// Hidden is the object of the document that is not read, because another one begins in it; empty for other problems.
	Hidden Identity
}

// written is where an object was written.
type written struct {
	json []byte
	// places are those of the values in the JSON, in its order: a value before what it contains.
	places []cut.Place
	// repeated has the faults of keys that were given before, by the indices of the places.
	repeated map[int]*fault

	mutex sync.Mutex
	// tree is the JSON with its places, as long as nobody needs its memory.
	tree weak.Pointer[node]
}

// Unwritten returns an Object for something that no manifest describes: it has no JSON, its File is what findings about it
// name, and each of its positions is line 0 and column 0.
func Unwritten(file string, who Identity) *Object { return &Object{Identity: who, File: file} }

// Renamed returns the object as if some places had other paths. The map has the paths at which these places are, by the other ones. No
// place is in another one of the map, but it may be in one that is renamed already.
func (o *Object) Renamed(places map[string]string) *Object {
	renamed := *o
	renamed.renamed = map[string]string{}
	maps.Copy(renamed.renamed, o.renamed)
	for path, at := range places {
		renamed.renamed[path] = o.asWritten(at)
	}
	return &renamed
}

// asWritten returns where a path is written: elsewhere, if it is that of a renamed place, or leads into one.
func (o *Object) asWritten(path string) string {
	for above := range fieldpath.Upward(path) {
		if written, renamed := o.renamed[above]; renamed {
			return written + path[len(above):]
		}
	}
	return path
}

// newObject returns the Object that a value is.
func newObject(file string, who Identity, n *node) *Object {
	w := &written{json: n.appendTo(nil), repeated: map[int]*fault{}}
	n.each(func(v *node) {
		if v.again != nil {
			w.repeated[len(w.places)] = v.again
		}
		w.places = append(w.places, v.at)
	})
	w.json, w.places = append([]byte(nil), w.json...), append([]cut.Place(nil), w.places...) // without room for more
	return &Object{Identity: who, File: file, JSON: w.json, written: w}
}

// root returns the object as a tree.
func (w *written) root() *node {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if root := w.tree.Value(); root != nil {
		return root
	}
	root, _ := newJSONReader(bytes.NewReader(w.json), cut.Place{}).value(0) // it is valid
	i := 0
	root.each(func(v *node) {
		v.at, v.again = w.places[i], w.repeated[i]
		i++
	})
	w.tree = weak.Make(root)
	return root
}

// Position returns the line and column, both counted from 1, at which the value of a field path was written. The path
// is one as package field prints it: spec.machineImages[0].versions[1]. Map keys may be given like fields or in
// brackets, quoted or not; of several keys that fit, the longest is taken, so that keys with dots work.
//
// A member of an object is at its key, an item of a list at its content, and the empty path at the object. What an
// alias or merge key brings in is where it is written. A path that does not exist is at its nearest ancestor that does,
// which is where something is missing. Both are 0 for an object that is Unwritten.
func (o *Object) Position(fieldPath string) (line, column int) {
	if fieldPath == "" && o.written != nil { // without a tree
		return int(o.written.places[0].Line), int(o.written.places[0].Column)
	}
	through, _ := o.find(fieldPath)
	if len(through) == 0 {
		return 0, 0
	}
	at := through[len(through)-1].at
	return int(at.Line), int(at.Column)
}

// Value returns the JSON of the value of a field path; nil if the path does not exist, so that Position is that of an
// ancestor.
func (o *Object) Value(fieldPath string) []byte {
	through, exact := o.find(fieldPath)
	if !exact {
		return nil
	}
	return through[len(through)-1].appendTo(nil)
}

// DuplicateKey returns the message of the first Problem about a key that the value of a field path depends on: one of
// the path itself, or one within the value. It is empty if there is none, and if the path does not exist.
func (o *Object) DuplicateKey(fieldPath string) string {
	if o.written == nil || len(o.written.repeated) == 0 {
		return ""
	}
	through, exact := o.find(fieldPath)
	if !exact {
		return ""
	}
	var first *fault
	note := func(n *node) { first = cmp.Or(first, n.again) }
	for _, n := range through {
		note(n)
	}
	through[len(through)-1].each(note)
	if first == nil {
		return ""
	}
	return first.message
}

// find walks along a path, as far as it exists, and returns the values that it came through: the object, and at last the
// value that the path leads to, or its nearest ancestor that exists. There are none if nothing is written.
func (o *Object) find(path string) (through []*node, exact bool) {
	if o.written == nil {
		return nil, false
	}
	last := o.written.root()
	through = append(through, last)
	for rest := strings.TrimPrefix(o.asWritten(path), "."); rest != ""; {
		next, length := last.step(rest)
		if length == 0 {
			return through, false
		}
		last, rest = next, strings.TrimPrefix(rest[length:], ".")
		through = append(through, last)
	}
	return through, true
}

// step resolves the first element of a path below the value: a key, or an index like [3]. It returns the child, and the
// length of the element, or 0 if there is no such child.
func (n *node) step(path string) (child *node, length int) {
	if n.json == "[" {
		closing := strings.IndexByte(path, ']')
		if closing < 0 || path[0] != '[' {
			return nil, 0
		}
		i, err := strconv.ParseUint(path[1:closing], 10, 31)
		if err != nil || i >= uint64(len(n.nodes)) {
			return nil, 0
		}
		return n.nodes[i], closing + 1
	}
	for _, m := range n.nodes {
		if l := match(path, m.key); l > length {
			child, length = m, l
		}
	}
	return child, length
}

// match returns the length of the first elements of path if they spell key: as a field, or in brackets, quoted or not.
func match(path, key string) int {
	for _, spelt := range [...]string{key, "[" + key + "]", `["` + key + `"]`} {
		if rest, ok := strings.CutPrefix(path, spelt); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return len(spelt)
		}
	}
	return 0
}

// SameJSON reports whether two texts are the same value as JSON.
func SameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
