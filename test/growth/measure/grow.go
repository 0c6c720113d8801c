// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// place is a list or an object somewhere in a JSON document: the keys and indices that lead there.
type place []any

// String returns the place as messages name it, as spec.machineImages[0].versions.
func (p place) String() string {
	var text strings.Builder
	for _, step := range p {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&text, "[%d]", step)
		case string:
			text.WriteString("." + step)
		}
	}
	return strings.TrimPrefix(text.String(), ".")
}

// in returns the value at the place.
func (p place) in(document any) any {
	for _, step := range p {
		switch step := step.(type) {
		case int:
			document = document.([]any)[step]
		case string:
			document = document.(map[string]any)[step]
		}
	}
	return document
}

// set replaces the value at the place, which is not the document itself.
func (p place) set(document, value any) {
	last := len(p) - 1
	switch parent := p[:last].in(document).(type) {
	case []any:
		parent[p[last].(int)] = value
	case map[string]any:
		parent[p[last].(string)] = value
	}
}

// within reports whether the place is in another one, or the same.
func (p place) within(other place) bool {
	return len(p) >= len(other) && slices.Equal(p[:len(other)], other)
}

// ofCloud reports whether what stands at the place means something else for each cloud: its configs, and the images, machine types and
// worker pools of core.
func (p place) ofCloud() bool {
	return slices.ContainsFunc(p, func(step any) bool {
		switch step {
		case "providerConfig", "infrastructureConfig", "controlPlaneConfig", "machineImages", "machineTypes", "workers":
			return true
		}
		return false
	})
}

// placesIn returns the lists and objects in a value that stands at a place, in the order of the text. Of a list only the
// first element is looked into: the others are alike.
func placesIn(value any, at place) (found []place) {
	switch value := value.(type) {
	case []any:
		found = append(found, at)
		if len(value) > 0 {
			found = append(found, placesIn(value[0], append(slices.Clip(at), 0))...)
		}
	case map[string]any:
		if len(at) > 0 {
			found = append(found, at)
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			found = append(found, placesIn(value[name], append(slices.Clip(at), name))...)
		}
	}
	return found
}

// mode is a way to make a list or an object longer.
type mode string

// The modes. What is added to a list of texts are texts, whatever the mode says.
const (
	// empty adds objects or texts without content.
	empty mode = "empty"
	// same repeats the first element as it is, unique with other texts, and near with names that are a letter or two from the first
	// one's and from each other.
	same   mode = "same"
	unique mode = "unique"
	near   mode = "near"
	// other adds numbers where there are none, and lists where there are numbers.
	other mode = "other"
	// keys adds members with names of their own to an object, nearKeys some that are a letter or two from the names that it has.
	keys     mode = "keys"
	nearKeys mode = "near keys"
)

// modesOf returns the modes for a list or an object.
func modesOf(value any) []mode {
	if _, isList := value.([]any); isList {
		return []mode{empty, same, unique, near, other}
	}
	return []mode{keys, nearKeys}
}

// grown returns a list or an object with n more elements or members. What it has comes first, and is shared.
func grown(value any, how mode, n int) any {
	switch value := value.(type) {
	case []any:
		list := slices.Clone(value)
		var first any = map[string]any{}
		if len(value) > 0 {
			first = value[0]
		}
		for i := range n {
			list = append(list, element(first, how, i))
		}
		return list
	case map[string]any:
		object, names := maps.Clone(value), slices.Sorted(maps.Keys(value))
		for i := range n {
			var name, member = "k" + strconv.Itoa(i), any("x")
			if len(names) > 0 {
				member = value[names[i%len(names)]]
				if how == nearKeys {
					name = misspelt(names[i%len(names)], i/len(names))
				}
			}
			object[name] = member
		}
		return object
	}
	return value
}

// element returns an element like the first one of a list.
func element(first any, how mode, i int) any {
	switch how {
	case same:
		return first
	case other:
		if _, isNumber := first.(float64); isNumber {
			return []any{i}
		}
		return i
	}
	switch first := first.(type) {
	case map[string]any:
		if how == empty {
			return map[string]any{}
		}
		return renamed(first, how, i)
	case string:
		if how == empty {
			return ""
		}
		return anotherName(first, how, i)
	case []any:
		return []any{}
	}
	return first
}

// naming are the members that tell elements of lists apart.
var naming = []string{"name", "version", "region", "domain", "type", "image", "value", "secretRef", "id"}

// renamed returns an object with other names. In mode unique all texts in it differ.
func renamed(object map[string]any, how mode, i int) map[string]any {
	clone := maps.Clone(object)
	for name, value := range clone {
		switch value := value.(type) {
		case string:
			if how == unique || slices.Contains(naming, name) {
				clone[name] = anotherName(value, how, i)
			}
		case map[string]any:
			clone[name] = renamed(value, how, i)
		case []any:
			if how == unique {
				list := make([]any, 0, len(value))
				for _, one := range value {
					list = append(list, element(one, how, i))
				}
				clone[name] = list
			}
		}
	}
	return clone
}

// formatted matches what is no name, and cannot be read in another form: times, quantities and networks.
var formatted = regexp.MustCompile(`^(.*[0-9]T[0-9].*Z|[0-9]+[A-Za-z]{0,2}|[0-9.]+/[0-9]+)$`)

// anotherName returns the ith name that is not this one. Versions stay versions.
func anotherName(name string, how mode, i int) string {
	if formatted.MatchString(name) {
		return name
	}
	if how == near {
		return misspelt(name, i)
	}
	if head, tail, dotted := strings.Cut(name, "."); dotted && strings.Trim(head, "0123456789") == "" {
		if _, patch, full := strings.Cut(tail, "."); full {
			return fmt.Sprintf("%s.%d.%s", head, i+1000, patch)
		}
	}
	return name + "-" + strconv.Itoa(i)
}

// misspelt returns the ith name that looks like this one, with letters in the middle.
func misspelt(name string, i int) string {
	name += "x"
	letters := []byte(name[:len(name)/2])
	for ; i > 0; i /= 26 {
		letters = append(letters, byte('a'+i%26))
	}
	return string(letters) + name[len(name)/2:]
}
