// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
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

// Stdin is the File of objects from standard input.
const Stdin = "<stdin>"

// Identity identifies an object, with the fields as written. They are "" if absent or not a string.
type Identity struct {
	APIVersion, Kind, Namespace, Name string
}

// Object is one manifest: a document, or an item of a List. APIVersion and Kind are never empty. It is not modified after Load, and safe
// for concurrent use as long as callers do not modify JSON.
type Object struct {
	Identity
	// File is the path as given to Load, or joined to the given directory, or Stdin.
	File string
	// JSON is the object with its keys in the order written, and with aliases and merge keys resolved. A repeated key has its last value.
	JSON []byte

	written *written // nil if Unwritten
	// renamed maps the paths of Renamed to the paths as written.
	renamed map[string]string
}

// Problem is an unreadable place in the input. Its message may quote keys, but never values.
type Problem struct {
	// Identity is that of the document, as far as it is known.
	Identity
	// File is as in Object.
	File string
	// Line and Column count from 1, and columns are characters. Lines end as in YAML 1.1: with LF, CR, CRLF, U+0085, U+2028 or U+2029.
	Line, Column int
	// Rule is one of the Rule constants.
	Rule    string
	Message string
	// Hidden is the object of the document that is not read because another one begins in it; empty for other problems.
	Hidden Identity
}

// written is the position of an object and its values.
type written struct {
	json []byte
	// places are the positions of the values in the JSON, in its order: a value precedes its contents.
	places []cut.Place
	// repeated maps indices in places to the faults of repeated keys.
	repeated map[int]*fault

	mutex sync.Mutex
	// tree is the JSON with positions, until its memory is needed elsewhere.
	tree weak.Pointer[node]
}

// Unwritten returns an Object that no manifest describes. It has no JSON, file is the File for findings about it, and all its positions
// are line 0 and column 0.
func Unwritten(file string, who Identity) *Object { return &Object{Identity: who, File: file} }

// Renamed returns the object with other paths for some places. The keys of the map are the new paths, and the values the present ones. No
// place may contain another one of the map, but it may be in a place that is renamed already.
func (o *Object) Renamed(places map[string]string) *Object {
	renamed := *o
	renamed.renamed = map[string]string{}
	maps.Copy(renamed.renamed, o.renamed)
	for path, at := range places {
		renamed.renamed[path] = o.asWritten(at)
	}
	return &renamed
}

// asWritten returns the path as written for a path at or below a renamed place, and other paths unchanged.
func (o *Object) asWritten(path string) string {
	for above := range fieldpath.Upward(path) {
		if written, renamed := o.renamed[above]; renamed {
			return written + path[len(above):]
		}
	}
	return path
}

// newObject returns the Object of a value.
func newObject(file string, who Identity, n *node) *Object {
	w := &written{json: n.appendTo(nil), repeated: map[int]*fault{}}
	n.each(func(v *node) {
		if v.again != nil {
			w.repeated[len(w.places)] = v.again
		}
		w.places = append(w.places, v.at)
	})
	w.json, w.places = append([]byte(nil), w.json...), append([]cut.Place(nil), w.places...) // without spare capacity
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

// Position returns the line and column, both counted from 1, of the value at a field path. The path has the format of package field:
// spec.machineImages[0].versions[1]. Map keys may be written like fields, or in brackets with or without quotes. The longest matching key
// wins, so that keys with dots work.
//
// The position of a member is its key, that of an item its content, and that of the empty path the object. Values from an alias or merge
// key have the position where they are written. A path that does not exist has the position of its nearest existing ancestor, which is
// the place to add it. Line and column are 0 for an Unwritten object.
func (o *Object) Position(fieldPath string) (line, column int) {
	if fieldPath == "" && o.written != nil { // needs no tree
		return int(o.written.places[0].Line), int(o.written.places[0].Column)
	}
	through, _ := o.find(fieldPath)
	if len(through) == 0 {
		return 0, 0
	}
	at := through[len(through)-1].at
	return int(at.Line), int(at.Column)
}

// Value returns the JSON of the value at a field path. It returns nil if the path does not exist, in which case Position is that of an
// ancestor.
func (o *Object) Value(fieldPath string) []byte {
	through, exact := o.find(fieldPath)
	if !exact {
		return nil
	}
	return through[len(through)-1].appendTo(nil)
}

// DuplicateKey returns the message of the first Problem about a duplicate key in the path or within its value. It returns "" if there is
// none, or if the path does not exist.
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

// find returns the values along a path: the object first, and the value at the path, or its nearest existing ancestor, last. exact
// reports whether the path exists. There are no values for an Unwritten object.
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

// step resolves the first element of a path below the value: a key, or an index such as [3]. It returns the child and the length of the
// element, or length 0 if there is no such child.
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

// match returns the length of the first elements of path if they spell key as a field, or in brackets with or without quotes. It returns
// 0 if they do not.
func match(path, key string) int {
	for _, spelt := range [...]string{key, "[" + key + "]", `["` + key + `"]`} {
		if rest, ok := strings.CutPrefix(path, spelt); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return len(spelt)
		}
	}
	return 0
}

// SameJSON reports whether two texts are the same JSON value. Integers of 64 bits are compared exactly.
func SameJSON(a, b json.RawMessage) bool {
	x, err := exactly(a)
	y, wrong := exactly(b)
	return err == nil && wrong == nil && reflect.DeepEqual(x, y)
}

// exactly decodes a JSON text. Numbers are integers of 64 bits if they can be, and else float64.
func exactly(text json.RawMessage) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&value)
	return withIntegers(value), err
}

func withIntegers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = withIntegers(member)
		}
	case []any:
		for i, item := range v {
			v[i] = withIntegers(item)
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return u
		}
		f, _ := v.Float64() // infinite if it is too large
		if math.Trunc(f) == f && math.Abs(f) < 1<<63 {
			return int64(f)
		}
		return f
	}
	return value
}
