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
		again = &fault{at, RuleDuplicateKey, fmt.Sprintf("the key %s is already given in line %d", quoteKey(key), line)}
		w.repeats, w.repeated[i] = true, again.message
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
