// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"
)

// itemCost is what each item of a List takes from the budget for aliases, in bytes.
const itemCost = 64

// take takes over the objects of a document, and the faults found when it was read. Only repeated keys leave a document
// usable. The items of Lists are limited in number if the document is one with aliases.
func (s *source) take(d *document, faults []fault, limited bool) {
	who, usable := d.identify(0), true
	for _, f := range faults {
		s.fault(f, who)
		usable = usable && f.rule == RuleDuplicateKey
	}
	if !usable || d.isNull(0) {
		return
	}
	if f := s.object(d, 0, len(d.json), limited); f != nil {
		s.fault(*f, who)
	}
}

// object takes over one object, or the items of a List, which ends in the JSON at an offset. A fault that it returns
// ends the document.
func (s *source) object(d *document, i, end int, limited bool) *fault {
	who := d.identify(i)
	if f := d.misshapen(i); f != nil {
		s.fault(*f, who)
		return nil
	}
	items, itemsEnd, ok := d.itemsOf(i, end, who)
	if !ok {
		text := d.json[d.places[i].start:end:end]
		s.objects = append(s.objects, &Object{Identity: who, File: s.name, JSON: text, document: d, index: i})
		return nil
	}
	if items == 0 {
		return nil
	}
	for item, itemEnd := range d.children(items, itemsEnd) {
		if limited && !s.spend(itemCost) {
			return &fault{d.placeOf(item), RuleTooLarge, expandsTooFar}
		}
		if f := s.object(d, item, itemEnd, limited); f != nil {
			return f
		}
	}
	return nil
}

// itemsOf returns the items of a List, or of one with a type, like CloudProfileList.
func (d *document) itemsOf(i, end int, who Identity) (items, itemsEnd int, ok bool) {
	if !strings.HasSuffix(who.Kind, "List") {
		return 0, 0, false
	}
	items, itemsEnd = d.member(i, end, "items")
	switch {
	case items == 0:
		return 0, 0, who.APIVersion == "v1" && who.Kind == "List"
	case d.isNull(items):
		return 0, 0, true
	}
	return items, itemsEnd, d.json[d.content(items)] == '['
}

// misshapen returns the fault of a value that is no object.
func (d *document) misshapen(i int) *fault {
	at := d.placeOf(i)
	switch d.json[d.content(i)] {
	case '{':
	case '[':
		return &fault{at, RuleNotAnObject, "this is a list, but a manifest is a mapping with apiVersion and kind"}
	default:
		return &fault{at, RuleNotAnObject, "this is a single value, but a manifest is a mapping with apiVersion and kind"}
	}
	var missing []string
	for _, key := range []string{"apiVersion", "kind"} {
		switch field, _ := d.member(i, 0, key); {
		case field > 0 && d.json[d.content(field)] != '"' && !d.isNull(field):
			return &fault{d.contentPlace(field), RuleNotAnObject, key + " is not a string"}
		case d.text(field) == "":
			missing = append(missing, key)
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return &fault{at, RuleNotAnObject, missing[0] + " is missing"}
	}
	return &fault{at, RuleNotAnObject, "apiVersion and kind are missing"}
}

func (d *document) identify(i int) Identity {
	text := func(i int, key string) string {
		field, _ := d.member(i, 0, key)
		return d.text(field)
	}
	who := Identity{APIVersion: text(i, "apiVersion"), Kind: text(i, "kind")}
	if meta, _ := d.member(i, 0, "metadata"); meta > 0 {
		who.Namespace, who.Name = text(meta, "namespace"), text(meta, "name")
	}
	return who
}

// member returns the index of a member of an object, and where it ends in the JSON, if the object ends at the given
// offset. The index is 0 if there is no such member, or the value is no object.
func (d *document) member(object, end int, key string) (index, memberEnd int) {
	if d.json[d.content(object)] == '{' {
		for i, end := range d.children(object, end) {
			if d.key(i) == key {
				return i, end
			}
		}
	}
	return 0, 0
}

// text returns the string that a member is, or "".
func (d *document) text(member int) string {
	start := d.content(member)
	if member == 0 || d.json[start] != '"' {
		return ""
	}
	text, _ := d.quoted(start)
	return text
}

func (d *document) isNull(i int) bool { return d.json[d.content(i)] == 'n' }

// contentPlace returns where the value of an apiVersion or kind that is no string was written.
func (d *document) contentPlace(member int) place {
	i, _ := slices.BinarySearchFunc(d.remarks, remark{index: member}, byIndex)
	for d.remarks[i].content.line == 0 { // it may be a repeated key, too
		i++
	}
	return d.remarks[i].content
}

func (d *document) placeOf(i int) place { return place{int(d.places[i].line), int(d.places[i].column)} }

func (s *source) fault(f fault, who Identity) {
	s.problems = append(s.problems, Problem{Identity: who, File: s.name,
		Line: f.at.line, Column: f.at.column, Rule: f.rule, Message: f.message})
}
