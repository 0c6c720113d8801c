// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ratchet

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
)

// interner maps every text to a short one of its own, so that large texts are compared once, however often they are needed.
type interner map[string]string

func (n interner) of(text string) string {
	number, found := n[text]
	if !found {
		number = strconv.Itoa(len(n) + 1)
		n[text] = number
	}
	return number
}

// node is a JSON value: an object if it has members, a list if it has elements, and a text otherwise. nil is no value.
type node struct {
	members  map[string]*node
	elements []*node
	text     string
	// says and knownBy keep what the methods of tree have returned; empty before.
	says, knownBy string
}

// tree is an object as JSON. Trees that are compared share their texts.
type tree struct {
	root  *node
	texts interner
	// vocabulary has the values of each registered capability, as says returns them; empty if the object registers none.
	vocabulary map[string][]string
	// extents keeps what the method extent has returned, by the address of the first part: findings share extents.
	extents map[*fieldpath.Path]string
}

// treeOf returns an object as JSON; what cannot be written as such has no parts.
func treeOf(object any, shared interner) *tree {
	t := &tree{texts: shared, vocabulary: map[string][]string{}, extents: map[*fieldpath.Path]string{}}
	if raw, err := json.Marshal(object); err == nil {
		t.root = read(jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)))
	}
	if _, definitions, _ := t.walk(fieldpath.Parse("spec.machineCapabilities"), false); definitions != nil {
		for _, definition := range definitions.elements {
			if name, values := definition.members["name"], definition.members["values"]; name != nil && values != nil {
				t.vocabulary[strings.TrimPrefix(name.text, `"`)] = t.said(values.elements)
			}
		}
	}
	return t
}

// read returns the next value of a document that encoding/json has written, so that its errors do not count.
func read(decoder *jsontext.Decoder) *node {
	token, _ := decoder.ReadToken()
	n := &node{}
	switch token.Kind() {
	case jsontext.KindBeginObject:
		n.members = map[string]*node{}
		for decoder.PeekKind() == jsontext.KindString {
			name, _ := decoder.ReadToken()
			text := name.String() // the token is gone with the next one
			n.members[text] = read(decoder)
		}
		_, _ = decoder.ReadToken()
	case jsontext.KindBeginArray:
		n.elements = []*node{}
		for kind := decoder.PeekKind(); kind != jsontext.KindEndArray && kind != jsontext.KindInvalid; kind = decoder.PeekKind() {
			n.elements = append(n.elements, read(decoder))
		}
		_, _ = decoder.ReadToken()
	case jsontext.KindString:
		n.text = `"` + token.String()
	default: // a number, true, false or null
		n.text = token.String()
	}
	return n
}

// says returns a number for what a node says, in which the order of lists means nothing. Nodes that say the same have
// the same one.
func (t *tree) says(n *node) string {
	switch {
	case n == nil:
		return "0"
	case n.says != "":
	case n.members != nil:
		n.says = t.texts.of("{" + t.fields(n, slices.Sorted(maps.Keys(n.members))))
	case n.elements != nil:
		n.says = t.texts.of("[" + strings.Join(t.said(n.elements), ","))
	default:
		n.says = t.texts.of(n.text)
	}
	return n.says
}

// said returns what each of some nodes says, sorted.
func (t *tree) said(nodes []*node) []string {
	said := make([]string, 0, len(nodes))
	for _, n := range nodes {
		said = append(said, t.says(n))
	}
	slices.Sort(said)
	return said
}

// fields writes what an object says in these members, as far as it has them.
func (t *tree) fields(object *node, names []string) string {
	var text strings.Builder
	for _, name := range names {
		if member, found := object.members[name]; found {
			text.WriteString(strconv.Quote(name) + ":" + t.says(member) + ",")
		}
	}
	return text.String()
}

// step goes down a path by one segment, or by as many as make up a name with dots that the object has. The result is
// nil if there is nothing.
func step(n *node, path fieldpath.Path) (next *node, rest fieldpath.Path) {
	rest = path[1:]
	switch {
	case n == nil:
	case path[0].IsIndex():
		if path[0].Index < len(n.elements) {
			next = n.elements[path[0].Index]
		}
	default:
		name := path[0].Name
		next = n.members[name]
		for i := 1; i < len(path) && !path[i].IsIndex(); i++ {
			name += "." + path[i].Name
			if longer, found := n.members[name]; found {
				next, rest = longer, path[i+1:]
			}
		}
	}
	return next, rest
}

// walk goes down a path. It returns the path in which elements of lists are known by what they say, not by their index,
// what stands there, nil if there is nothing, and whether that is a flavor. duplicate is said of a finding about a name
// that is there twice.
func (t *tree) walk(path fieldpath.Path, duplicate bool) (place string, n *node, flavor bool) {
	var known strings.Builder
	n = t.root
	list, inConfig := "", false
	for len(path) > 0 {
		next, rest := step(n, path)
		switch {
		case !path[0].IsIndex():
			for _, segment := range path[:len(path)-len(rest)] {
				list = segment.Name
				known.WriteString("." + list)
			}
			inConfig = inConfig || list == "providerConfig"
		case next == nil:
			known.WriteString("[" + strconv.Itoa(path[0].Index) + "]")
		case list == "regions" && (len(rest) == 0 || rest[0].Name == capability.Architecture),
			duplicate && list != "capabilityFlavors" && list != "workers" && !slices.ContainsFunc(rest, fieldpath.Segment.IsIndex):
			known.WriteString("[]") // the value tells: the architecture, which is that of a legacy flavor, or the name that is there twice
		default:
			if next.knownBy == "" {
				next.knownBy = t.knownBy(next, list, inConfig)
			}
			known.WriteString("[#" + next.knownBy + "]")
			flavor = list == "capabilityFlavors" && len(rest) == 0
		}
		n, path = next, rest
	}
	return known.String(), n, flavor
}

// knownBy returns a number for what an element of a list is known by.
func (t *tree) knownBy(element *node, list string, inConfig bool) string {
	names := []string{"name", "version", "region", "domain"}
	switch {
	case list == "capabilityFlavors" && inConfig:
		return t.texts.of("known by " + t.declared(element.members["capabilities"]))
	case list == "capabilityFlavors": // in core a flavor is the map of its capabilities
		return t.texts.of("known by " + t.declared(element))
	case list == "regions":
		names = []string{"name", capability.Architecture}
	}
	if text := t.fields(element, names); text != "" {
		return t.texts.of("known by " + text)
	}
	return t.says(element)
}

// declared writes what a flavor declares. Neither order nor repetition of values means anything (semantics S2). Names
// and values that the vocabulary lacks do not count: a flavor stays the same while they are removed to repair it. All
// names count if the object has no vocabulary, and all values of a name of which none is registered.
func (t *tree) declared(capabilities *node) string {
	if capabilities == nil {
		return ""
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(capabilities.members)) {
		known, registered := t.vocabulary[name]
		if len(t.vocabulary) > 0 && !registered && !strings.HasPrefix(name, capability.ReservedPrefix) {
			continue
		}
		values := slices.Compact(t.said(capabilities.members[name].elements))
		isKnown := func(value string) bool { return slices.Contains(known, value) }
		if slices.ContainsFunc(values, isKnown) {
			values = slices.DeleteFunc(values, func(value string) bool { return !isKnown(value) })
		}
		text.WriteString(strconv.Quote(name) + ":" + strings.Join(values, ",") + ";")
	}
	return text.String()
}

// extent returns a number for where some parts of the object stand, and what they say; 0 for no parts.
func (t *tree) extent(parts []fieldpath.Path) string {
	if len(parts) == 0 {
		return "0"
	}
	number, found := t.extents[&parts[0]]
	if !found {
		said := make([]string, 0, len(parts))
		for _, part := range parts {
			place, n, _ := t.walk(part, false)
			said = append(said, place+"="+t.says(n))
		}
		slices.Sort(said)
		number = t.texts.of(strings.Join(said, "\n"))
		t.extents[&parts[0]] = number
	}
	return number
}
