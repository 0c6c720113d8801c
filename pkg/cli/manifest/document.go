// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// itemCost is what each item of a List takes from the budget for aliases, in bytes.
const itemCost = 64

// document takes over the objects of a document, and the faults found when it was read. Only repeated keys leave a
// document usable. The budget is nil for a document without aliases.
func (s *source) document(root *value, faults []*fault, budget *int) {
	who, usable := identify(root), true
	for _, f := range faults {
		s.fault(f, who)
		usable = usable && f.rule == RuleDuplicateKey
	}
	if usable && !root.isNull() {
		if f := s.object(root, 1, budget); f != nil {
			s.fault(f, who)
		}
	}
}

// object takes over one object, or the items of a List. A fault about size ends the document.
func (s *source) object(v *value, depth int, budget *int) *fault {
	who := identify(v)
	if f := misshapen(v); f != nil {
		s.fault(f, who)
		return nil
	}
	if items, ok := itemsOf(v, who); ok {
		return s.list(items, depth, budget)
	}
	e := s.encoder
	e.begin(budget)
	if f := e.value(v, v.at, noKey, depth); f != nil {
		return f
	}
	s.objects = append(s.objects, &Object{Identity: who, File: s.name,
		JSON: bytes.Clone(e.out), places: slices.Clone(e.places), repeated: e.repeated})
	return nil
}

func (s *source) list(items []*value, depth int, budget *int) *fault {
	limit := encoder{budget: budget}
	for _, item := range items {
		if depth > maxDepth {
			return tooDeep(item.at)
		}
		if f := limit.spend(itemCost, item.at); f != nil {
			return f
		}
		if f := s.object(item, depth+2, budget); f != nil {
			return f
		}
	}
	return nil
}

// itemsOf returns the items of a List, or of one with a type, like CloudProfileList.
func itemsOf(v *value, who Identity) ([]*value, bool) {
	items := v.get("items")
	switch {
	case !strings.HasSuffix(who.Kind, "List"):
		return nil, false
	case items == nil:
		return nil, who.APIVersion == "v1" && who.Kind == "List"
	case items.isNull():
		return nil, true
	}
	return items.items, items.kind == kindList
}

// misshapen returns the fault of a value that is no object.
func misshapen(v *value) *fault {
	switch {
	case v.kind == kindList:
		return &fault{v.at, RuleNotAnObject, "this is a list, but a manifest is a mapping with apiVersion and kind"}
	case v.kind == kindScalar:
		return &fault{v.at, RuleNotAnObject, "this is a single value, but a manifest is a mapping with apiVersion and kind"}
	}
	var missing []string
	for _, key := range []string{"apiVersion", "kind"} {
		switch field := v.get(key); {
		case field.isNull() || field.text == `""`:
			missing = append(missing, key)
		case text(field) == "":
			return &fault{field.at, RuleNotAnObject, key + " is not a string"}
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return &fault{v.at, RuleNotAnObject, missing[0] + " is missing"}
	}
	return &fault{v.at, RuleNotAnObject, "apiVersion and kind are missing"}
}

func identify(v *value) Identity {
	meta := v.get("metadata")
	return Identity{text(v.get("apiVersion")), text(v.get("kind")), text(meta.get("namespace")), text(meta.get("name"))}
}

// text returns the string that v is, or "".
func text(v *value) string {
	var s string
	if v == nil || !strings.HasPrefix(v.text, `"`) || json.Unmarshal([]byte(v.text), &s) != nil {
		return ""
	}
	return s
}

func (s *source) fault(f *fault, who Identity) {
	s.problems = append(s.problems, Problem{Identity: who, File: s.name,
		Line: f.at.line, Column: f.at.column, Rule: f.rule, Message: f.message})
}
