// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// document is a document as JSON, with the place of every value in it.
type document struct {
	// json has of a key that is given more than once all values.
	json []byte
	// places are those of the values in the JSON: the document itself first, and every value before what it contains.
	places []valuePlace
	// repeats is set if a key may be given more than once.
	repeats bool
	// repeated has the message about each member whose mapping has the key already.
	repeated map[int]string
	// contents has, for an apiVersion or kind that is no string, where its value was written, not its key.
	contents map[int]place
}

// valuePlace is where a value was written: an item of a list at its content, a member of an object at its key.
type valuePlace struct {
	line, column int32
	// start and end are where the value begins and ends in the JSON: a member with its key.
	start, end int32
	// next is the index of the first place that is no longer within the value.
	next int32
}

// fault is a reason why a document cannot be read.
type fault struct {
	at            place
	rule, message string
}

func (f *fault) Error() string { return f.message }

// children yields the indices of what the value at an index of the places contains: of members with one key the last.
func (d *document) children(parent int) iter.Seq[int] {
	next := func(i int) int { return int(d.places[i].next) }
	return func(yield func(int) bool) {
		var last map[string]int // nil if all count
		if d.repeats && d.json[d.content(parent)] == '{' {
			last = map[string]int{}
			for i := parent + 1; i < next(parent); i = next(i) {
				last[d.key(i)] = i
			}
		}
		for i := parent + 1; i < next(parent); i = next(i) {
			if (last == nil || last[d.key(i)] == i) && !yield(i) {
				return
			}
		}
	}
}

// value returns the JSON of the value at an index of the places, without its key, and with the last value of each key
// in it.
func (d *document) value(i int) []byte {
	if d.repeats {
		return d.appendValue(nil, i)
	}
	end := d.places[i].end
	return d.json[d.content(i):end:end]
}

func (d *document) appendValue(out []byte, i int) []byte {
	start, end := d.content(i), d.places[i].end
	open := d.json[start]
	if open != '{' && open != '[' {
		return append(out, d.json[start:end]...)
	}
	out = append(out, open)
	for child := range d.children(i) {
		if out[len(out)-1] != open {
			out = append(out, ',')
		}
		out = append(out, d.json[d.places[child].start:d.content(child)]...)
		out = d.appendValue(out, child)
	}
	return append(out, d.json[end-1])
}

// content returns where in the JSON the value at an index of the places begins: behind the key of a member.
func (d *document) content(i int) int {
	start := int(d.places[i].start)
	if d.json[start] == '"' {
		if _, end := d.quoted(start); end < len(d.json) && d.json[end] == ':' {
			return end + 1
		}
	}
	return start
}

// key returns the key of the member at an index of the places.
func (d *document) key(i int) string {
	key, _ := d.quoted(int(d.places[i].start))
	return key
}

// quoted returns the string that begins at an offset in the JSON, and where it ends.
func (d *document) quoted(start int) (text string, end int) {
	end, escaped := start+1, false
	for ; d.json[end] != '"'; end++ {
		if d.json[end] == '\\' {
			end, escaped = end+1, true
		}
	}
	end++
	if escaped {
		_ = json.Unmarshal(d.json[start:end], &text) // it is valid
		return text, end
	}
	return string(d.json[start+1 : end-1]), end
}

// writer writes a document, value by value in their order.
type writer struct {
	document
	faults []*fault
}

func newWriter() *writer {
	return &writer{document: document{repeated: map[int]string{}, contents: map[int]place{}}}
}

// written returns the document without the space that was there for more.
func (w *writer) written() *document {
	w.json, w.places = bytes.Clone(w.json), slices.Clone(w.places)
	return &w.document
}

// begin begins the document, an item of a list or a member of an object, and returns its index in the places.
func (w *writer) begin(at place) int {
	if before := len(w.json) - 1; before >= 0 && w.json[before] != '[' && w.json[before] != '{' {
		w.json = append(w.json, ',')
	}
	w.places = append(w.places, valuePlace{line: int32(at.line), column: int32(at.column), start: int32(len(w.json))})
	return len(w.places) - 1
}

func (w *writer) end(i int) {
	w.places[i].end, w.places[i].next = int32(len(w.json)), int32(len(w.places))
}

// beginMember begins a member of an object with its key. The mapping that the member is from has keys in these lines
// already; there is a fault if this key is among them, or else it becomes one of them.
func (w *writer) beginMember(key string, at place, keyLines map[string]int) (i int, again *fault) {
	i = w.begin(at)
	if line := keyLines[key]; line > 0 {
		again = &fault{at, RuleDuplicateKey, givenAgain(key, line)}
		w.repeats, w.repeated[i] = true, again.message
	} else {
		keyLines[key] = at.line
	}
	w.json = append(appendString(w.json, key), ':')
	return i, again
}

// givenAgain is the message about a key that a line has already.
func givenAgain(key string, line int) string {
	return fmt.Sprintf("the key %s is already given in line %d; remove one of the two", quoteKey(key), line)
}

// endMember ends a member whose value, without the key, is at a place of its own.
func (w *writer) endMember(i int, key string, at place) {
	w.end(i)
	if (key == "apiVersion" || key == "kind") && w.json[w.content(i)] != '"' {
		w.contents[i] = at
	}
}

// quoteKey quotes a key for a message, cut if it is long.
func quoteKey(key string) string {
	const most = 60
	if runes := []rune(key); len(runes) > most {
		key = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", key)
}

// appendString appends s as JSON.
func appendString(out []byte, s string) []byte {
	out, _ = jsontext.AppendQuote(out, s) // invalid UTF-8 is replaced
	return out
}

// without returns a document of the value at an index alone, without those of its members that paths of keys lead to. Its
// places are those that they have been.
func (d *document) without(i int, paths [][]string) *document {
	cut := map[int]bool{}
	for _, path := range paths {
		found := []int{i}
		for _, key := range path {
			found = d.membersOf(found, key)
		}
		for _, member := range found {
			cut[member] = true
		}
	}
	left := newWriter()
	left.repeats = d.repeats
	left.copy(d, i, cut)
	return left.written()
}

// membersOf returns the indices of the members with a key of some values: all of them if it is given more than once.
func (d *document) membersOf(values []int, key string) (members []int) {
	for _, i := range values {
		if d.json[d.content(i)] != '{' {
			continue
		}
		for child := i + 1; child < int(d.places[i].next); child = int(d.places[child].next) {
			if d.key(child) == key {
				members = append(members, child)
			}
		}
	}
	return members
}

// copy writes the value at an index of another document, without what is cut.
func (w *writer) copy(from *document, i int, cut map[int]bool) {
	next := int(from.places[i].next)
	within := false
	for k := range cut {
		within = within || k > i && k < next
	}
	if !within {
		w.copyWhole(from, i, next)
		return
	}
	first := len(w.places)
	start := from.places[i].start
	w.places = append(w.places, valuePlace{line: from.places[i].line, column: from.places[i].column, start: int32(len(w.json))})
	w.copyNotes(from, i, first)
	w.json = append(append(w.json, from.json[start:from.content(i)]...), '{')
	for child := i + 1; child < next; child = int(from.places[child].next) {
		if cut[child] {
			continue
		}
		if w.json[len(w.json)-1] != '{' {
			w.json = append(w.json, ',')
		}
		w.copy(from, child, cut)
	}
	w.json = append(w.json, '}')
	w.end(first)
}

// copyWhole writes the values from an index to the one before the next, of which the first contains the others.
func (w *writer) copyWhole(from *document, i, next int) {
	places, text := int32(len(w.places)-i), int32(len(w.json))-from.places[i].start
	for k := i; k < next; k++ {
		p := from.places[k]
		p.start, p.end, p.next = p.start+text, p.end+text, p.next+places
		w.copyNotes(from, k, len(w.places))
		w.places = append(w.places, p)
	}
	w.json = append(w.json, from.json[from.places[i].start:from.places[i].end]...)
}

// copyNotes writes what is noted about the value at an index.
func (w *writer) copyNotes(from *document, i, to int) {
	if message, found := from.repeated[i]; found {
		w.repeated[to] = message
	}
	if at, found := from.contents[i]; found {
		w.contents[to] = at
	}
}
