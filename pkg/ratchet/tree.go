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

// interner maps every text to a unique short one, so that large texts are compared only once.
type interner map[string]string

func (n interner) of(text string) string {
	number, found := n[text]
	if !found {
		number = strconv.Itoa(len(n) + 1)
		n[text] = number
	}
	return number
}

// node is a JSON value: an object if it has members, a list if it has elements, otherwise a scalar with a text. nil is no value.
type node struct {
	members  map[string]*node
	elements []*node
	text     string
	// says and knownBy memoize the methods of tree; empty until then.
	says, knownBy string
}

// tree is an object as JSON. Trees that are compared with each other share their interner.
type tree struct {
	root  *node
	texts interner
	// vocabulary has the values of each registered capability, as returned by says; empty if the object registers none.
	vocabulary map[string][]string
	// extents memoizes the method extent, by the address of the first part, because findings share extents.
	extents map[*fieldpath.Path]string
}

// treeOf returns an object as JSON; an object that cannot be marshalled has no parts.
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

// read returns the next value of a document that encoding/json has written, so errors are ignored.
func read(decoder *jsontext.Decoder) *node {
	token, _ := decoder.ReadToken()
	n := &node{}
	switch token.Kind() {
	case jsontext.KindBeginObject:
		n.members = map[string]*node{}
		for decoder.PeekKind() == jsontext.KindString {
			name, _ := decoder.ReadToken()
			text := name.String() // the token is only valid until the next one
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

// says returns a number for a node's content. Nodes with the same content, except for the order of lists, have the same number.
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

// said returns the contents of some nodes, sorted.
func (t *tree) said(nodes []*node) []string {
	said := make([]string, 0, len(nodes))
	for _, n := range nodes {
		said = append(said, t.says(n))
	}
	slices.Sort(said)
	return said
}

// fields formats the contents of the named members, without absent ones.
func (t *tree) fields(object *node, names []string) string {
	var text strings.Builder
	for _, name := range names {
		if member, found := object.members[name]; found {
			text.WriteString(strconv.Quote(name) + ":" + t.says(member) + ",")
		}
	}
	return text.String()
}

// step descends by one segment of a path, or by several that form a name with dots that the object has. next is nil if there is nothing.
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

// walk descends along a path. It returns the path with elements of lists identified by their content instead of their index; the node
// there, nil if there is none; and whether that is a flavor. duplicate is set for a finding about a name that occurs twice.
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
			known.WriteString("[]") // the value identifies the element: it is the architecture of a legacy flavor, or the name that occurs twice
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

// knownBy returns a number for the content that identifies an element of a list.
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

// declared formats the capabilities of a flavor, regardless of order and repetition of values (semantics S2). It ignores names and values
// that the vocabulary lacks, so that a flavor stays the same while they are removed to repair it. It keeps all names if the object has no
// vocabulary, and all values of a name if none of them is registered.
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

// extent returns a number for the places and contents of some parts of the object; 0 for no parts.
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
