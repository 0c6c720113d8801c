// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// document is a document as JSON, with the place of every value in it.
type document struct {
	json []byte
	// places are those of the values in the JSON: the document itself first, and every value before what it contains.
	places []valuePlace
	// remarks are about a few of the values, in the order of places once the document is written.
	remarks []remark
}

// valuePlace is where a value was written: an item of a list at its content, a member of an object at its key.
type valuePlace struct {
	line, column int32
	// start is where the value begins in the JSON: a member with its key.
	start int32
	// next is the index of the first place that is no longer within the value.
	next int32
}

// remark is about the value at an index of the places.
type remark struct {
	index int
	// repeated is set if the mapping has the key more than once, and this is its last value.
	repeated string
	// content is set for an apiVersion or kind that is no string: where its value was written, not its key.
	content place
}

func byIndex(a, b remark) int { return a.index - b.index }

// fault is a reason why a document cannot be read.
type fault struct {
	at            place
	rule, message string
}

func (f *fault) Error() string { return f.message }

// children yields what the value at an index of the places contains, and where each of that ends in the JSON, if the
// value itself ends there at the given offset.
func (d *document) children(parent, end int) iter.Seq2[int, int] {
	return func(yield func(child, end int) bool) {
		last := int(d.places[parent].next)
		for i := parent + 1; i < last; {
			next, childEnd := int(d.places[i].next), end-1
			if next < last {
				childEnd = int(d.places[next].start) - 1
			}
			if !yield(i, childEnd) {
				return
			}
			i = next
		}
	}
}

// content returns the offset in the JSON at which the value at an index of the places begins: behind the key of a
// member.
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
	faults []fault
}

// reset makes the writer ready for another document.
func (w *writer) reset() {
	w.json, w.places, w.remarks, w.faults = w.json[:0], w.places[:0], w.remarks[:0], nil
}

// written returns a copy of the document.
func (w *writer) written() *document {
	slices.SortStableFunc(w.remarks, byIndex)
	return &document{bytes.Clone(w.json), slices.Clone(w.places), slices.Clone(w.remarks)}
}

// begin begins the document, an item of a list or a member of an object, and returns its index in the places.
func (w *writer) begin(at place) int {
	if before := len(w.json) - 1; before >= 0 && w.json[before] != '[' && w.json[before] != '{' {
		w.json = append(w.json, ',')
	}
	w.places = append(w.places, valuePlace{line: int32(at.line), column: int32(at.column), start: int32(len(w.json))})
	return len(w.places) - 1
}

// end ends what has the index.
func (w *writer) end(i int) { w.places[i].next = int32(len(w.places)) }

// beginMember begins a member of an object with its key. The mapping that the member is from has keys in these lines
// already; there is a fault if this key is among them, or else it becomes one of them.
func (w *writer) beginMember(key string, at place, keyLines map[string]int) (i int, again *fault) {
	i = w.begin(at)
	if line := keyLines[key]; line > 0 {
		again = &fault{at, RuleDuplicateKey, fmt.Sprintf("the key %s is already given in line %d", quoteKey(key), line)}
		w.remarks = append(w.remarks, remark{index: i, repeated: again.message})
	} else {
		keyLines[key] = at.line
	}
	w.json = append(appendString(w.json, key), ':')
	return i, again
}

// endMember ends a member whose value, without the key, is at a place of its own.
func (w *writer) endMember(i int, key string, at place) {
	w.end(i)
	if (key == "apiVersion" || key == "kind") && w.json[w.content(i)] != '"' {
		w.remarks = append(w.remarks, remark{index: i, content: at})
	}
}

// settle leaves only the last value of each key in the object that has just been written.
func (w *writer) settle(object int) {
	type member struct{ index, end int }
	last := map[string]member{}
	w.end(object)
	for i, end := range w.children(object, len(w.json)) {
		last[w.key(i)] = member{i, end}
	}
	first := len(w.remarks)
	for first > 0 && w.remarks[first-1].index > object {
		first--
	}
	remarks := w.remarks[first:]
	slices.SortFunc(remarks, byIndex)
	all := w.document // everything moves to the front, so it is read before it is overwritten
	w.json, w.places, w.remarks = all.json[:w.content(object)+1], all.places[:object+1], all.remarks[:first]
	inOrder := func(a, b member) int { return a.index - b.index }
	for _, m := range slices.SortedFunc(maps.Values(last), inOrder) {
		if len(w.places) > object+1 {
			w.json = append(w.json, ',')
		}
		p := all.places[m.index]
		next, by, bytes := int(p.next), len(w.places)-m.index, len(w.json)-int(p.start)
		w.json = append(w.json, all.json[p.start:m.end]...)
		for _, p := range all.places[m.index:next] {
			p.start, p.next = p.start+int32(bytes), p.next+int32(by)
			w.places = append(w.places, p)
		}
		for ; len(remarks) > 0 && remarks[0].index < next; remarks = remarks[1:] {
			if r := remarks[0]; r.index >= m.index {
				r.index += by
				w.remarks = append(w.remarks, r)
			}
		}
	}
	w.json = append(w.json, '}')
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
