// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ratchet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
)

// tree is an object as JSON values: what encoding/json decodes into an any.
type tree struct {
	root any
	// said holds what the method says has returned, by the address of the path: findings share what they are about.
	said map[*finding.Segment]string
}

func treeOf(object any) *tree {
	raw, err := json.Marshal(object)
	if err != nil {
		return &tree{}
	}
	t := &tree{}
	if json.Unmarshal(raw, &t.root) != nil {
		return &tree{}
	}
	return t
}

// at returns what stands at a path; nil if there is nothing.
func (o *tree) at(path finding.Path) any {
	value := o.root
	for len(path) > 0 {
		value, path, _ = step(value, path)
	}
	return value
}

// step goes down a path by one segment, or by as many as make up a name with dots that the object has. found reports
// whether there is anything.
func step(value any, path finding.Path) (next any, rest finding.Path, found bool) {
	if path[0].IsIndex() {
		if list, _ := value.([]any); path[0].Index < len(list) {
			return list[path[0].Index], path[1:], true
		}
		return nil, path[1:], false
	}
	object, _ := value.(map[string]any)
	name := path[0].Name
	next, rest, found = object[name], path[1:], hasKey(object, name)
	for i := 1; i < len(path) && !path[i].IsIndex(); i++ {
		if name += "." + path[i].Name; hasKey(object, name) {
			next, rest, found = object[name], path[i+1:], true
		}
	}
	return next, rest, found
}

func hasKey(object map[string]any, name string) bool {
	_, found := object[name]
	return found
}

// known returns a path in which elements of lists are known by what they say, not by their index, and reports whether it
// ends at a flavor. duplicate is said of a finding about a name that is there twice.
func (o *tree) known(path finding.Path, duplicate bool) (place string, flavor bool) {
	var known strings.Builder
	value, list, inConfig := o.root, "", false
	for len(path) > 0 {
		next, rest, found := step(value, path)
		switch {
		case !path[0].IsIndex():
			list = path[len(path)-len(rest)-1].Name
			known.WriteString("." + names(path[:len(path)-len(rest)]))
			inConfig = inConfig || list == "providerConfig"
		case !found:
			fmt.Fprintf(&known, "[%d]", path[0].Index)
		case list == "regions" && len(rest) == 0, duplicate && list != "capabilityFlavors" && list != "workers" && !hasIndex(rest):
			known.WriteString("[]") // the value tells: the architecture of a legacy flavor, or the name that is there twice
		default:
			known.WriteString("[" + elementName(list, next, inConfig) + "]")
			flavor = list == "capabilityFlavors" && len(rest) == 0
		}
		value, path = next, rest
	}
	return known.String(), flavor
}

func names(path finding.Path) string {
	var names []string
	for _, segment := range path {
		names = append(names, segment.Name)
	}
	return strings.Join(names, ".")
}

func hasIndex(path finding.Path) bool { return slices.ContainsFunc(path, finding.Segment.IsIndex) }

// elementName returns what an element of a list is known by.
func elementName(list string, element any, inConfig bool) string {
	object, isObject := element.(map[string]any)
	if !isObject {
		return text(element)
	}
	keys := []string{"name", "version", "region", "domain"}
	switch list {
	case "capabilityFlavors":
		if inConfig { // in core a flavor is the map of its capabilities
			object, _ = object["capabilities"].(map[string]any)
		}
		return text(withSortedValues(object))
	case "regions":
		keys = []string{"name", capability.Architecture}
	}
	known := map[string]any{}
	for _, key := range keys {
		if value, found := object[key]; found {
			known[key] = value
		}
	}
	if len(known) == 0 {
		known = object
	}
	return text(known)
}

// withSortedValues returns capabilities with their values in lexical order and once each, since order and repetition mean
// nothing (semantics S2).
func withSortedValues(capabilities map[string]any) map[string]any {
	sorted := make(map[string]any, len(capabilities))
	for name, declared := range capabilities {
		list, _ := declared.([]any)
		values := make([]string, 0, len(list))
		for _, value := range list {
			values = append(values, text(value))
		}
		slices.Sort(values)
		sorted[name] = slices.Compact(values)
	}
	return sorted
}

// unordered returns a JSON value with the elements of all lists in an order of their own, so that it is equal for all
// orders.
func unordered(value any) any {
	switch v := value.(type) {
	case []any:
		list := make([]string, 0, len(v))
		for _, element := range v {
			list = append(list, text(unordered(element)))
		}
		slices.Sort(list)
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, m := range v {
			object[name] = unordered(m)
		}
		return object
	}
	return value
}

// text writes a JSON value, with sorted keys.
func text(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}
