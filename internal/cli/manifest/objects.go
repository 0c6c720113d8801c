// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import "strings"

// take takes over the objects of a document, and the faults found when it was read. Only repeated keys leave a document
// usable. The items of Lists are limited in number if the document is one with aliases.
func (s *source) take(w *writer, limited bool) {
	d := w.written()
	who, usable := d.identify(0), true
	for _, f := range w.faults {
		s.fault(f, who)
		usable = usable && f.rule == RuleDuplicateKey
	}
	if !usable || d.isNull(0) {
		return
	}
	if f := s.object(d, 0, s.list, limited); f != nil {
		s.fault(f, who)
	}
}

// object takes over one object, or the items of a List. In one with a type, as an API server answers it, an item without
// apiVersion and kind has those that follow from the list. A fault that it returns ends the document.
func (s *source) object(d *document, i int, list Identity, limited bool) *fault {
	who := d.identify(i)
	if kind := strings.TrimSuffix(list.Kind, "List"); kind != "" && d.untyped(i) {
		who.APIVersion, who.Kind = list.APIVersion, kind
	} else if f := d.misshapen(i); f != nil {
		s.fault(f, who)
		return nil
	}
	items, isList := d.itemsOf(i, who)
	if !isList {
		if s.unread != nil {
			if paths := s.unread(who); len(paths) > 0 {
				d, i = d.without(i, paths), 0
			}
		}
		s.objects = append(s.objects, &Object{Identity: who, File: s.name, JSON: d.value(i), document: d, index: i})
		return nil
	}
	if items == 0 {
		return nil
	}
	for item := range d.children(items) {
		if limited && !s.spend(itemCost) {
			return &fault{d.placeOf(item), RuleTooLarge, expandsTooFar}
		}
		if f := s.object(d, item, who, limited); f != nil {
			return f
		}
	}
	return nil
}

// isList reports whether an object with items is a List, or one with a type.
func (who Identity) isList() bool { return who.APIVersion != "" && strings.HasSuffix(who.Kind, "List") }

// itemsOf returns the items of a List, or of one with a type, like CloudProfileList; 0 if there are none.
func (d *document) itemsOf(i int, who Identity) (items int, isList bool) {
	if !strings.HasSuffix(who.Kind, "List") {
		return 0, false
	}
	items = d.member(i, "items")
	switch {
	case items == 0:
		return 0, who.APIVersion == "v1" && who.Kind == "List"
	case d.isNull(items):
		return 0, true
	}
	return items, d.json[d.content(items)] == '['
}

// untyped reports whether a value is an object without apiVersion and kind.
func (d *document) untyped(i int) bool {
	return d.json[d.content(i)] == '{' && d.member(i, "apiVersion") == 0 && d.member(i, "kind") == 0
}

// misshapen returns the fault of a value that is no object.
func (d *document) misshapen(i int) *fault {
	at := d.placeOf(i)
	if kind := d.json[d.content(i)]; kind != '{' {
		what := "single value"
		if kind == '[' {
			what = "list"
		}
		return &fault{at, RuleNotAnObject, notAnObject(what)}
	}
	var missing []string
	for _, key := range []string{"apiVersion", "kind"} {
		field := d.member(i, key)
		if content, noText := d.contents[field]; noText && !d.isNull(field) {
			return &fault{content, RuleNotAnObject, key + " is not a string"}
		}
		if d.text(field) == "" {
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

func notAnObject(what string) string {
	return "this is a " + what + ", but a manifest is a mapping with apiVersion and kind"
}

func (d *document) identify(i int) Identity {
	who := Identity{APIVersion: d.text(d.member(i, "apiVersion")), Kind: d.text(d.member(i, "kind"))}
	if meta := d.member(i, "metadata"); meta > 0 {
		who.Namespace, who.Name = d.text(d.member(meta, "namespace")), d.text(d.member(meta, "name"))
	}
	return who
}

// member returns the index of a member of an object; 0 if there is no such member, or the value is no object.
func (d *document) member(object int, key string) int {
	if d.json[d.content(object)] == '{' {
		for i := range d.children(object) {
			if d.key(i) == key {
				return i
			}
		}
	}
	return 0
}

// text returns the string that a member is; empty for another value, and for the index 0.
func (d *document) text(member int) string {
	start := d.content(member)
	if member == 0 || d.json[start] != '"' {
		return ""
	}
	text, _ := d.quoted(start)
	return text
}

func (d *document) isNull(i int) bool { return d.json[d.content(i)] == 'n' }

func (d *document) placeOf(i int) place { return place{int(d.places[i].line), int(d.places[i].column)} }

func (s *source) fault(f *fault, who Identity) {
	s.problems = append(s.problems, Problem{Identity: who, File: s.name,
		Line: f.at.line, Column: f.at.column, Rule: f.rule, Message: f.message})
}
