// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

// Ratchet turns the errors of an update that the old object had already into warnings (semantics S10): an update that
// leaves an offending part alone is not the one to be blamed for it. report is about object, before about old, the same
// object as it is stored, judged by the same checks. Both objects have to be what the paths of the findings go into, and
// to marshal into JSON.
//
// Two errors are the same if they agree in rule, type and value and in the names on their paths, not in indices. Elements
// of lists are known by their name or version, and the region and the domain that they are for, regions by their
// architecture as well, flavors by their capabilities,
// worker pools by their name and, where the error is about it, all that decides their image; what has none of these is
// known by all that it says. Of
// things that are there twice either may be the second: such errors are the same if they are about the same name, and
// flavors that support the same are the same if they are written with the same values. Each error of the old object
// excuses one of the new one.
//
// Some errors keep what is around them from being checked: an unknown field its image version, say. Such an error is the
// same only if nothing of that has changed, since the update might have brought others along that nobody sees.
//
// None of the arguments is changed.
func Ratchet(report, before Report, object, old any) Report {
	if len(report.Errors) == 0 || len(before.Errors) == 0 {
		return report
	}
	was, is := treeOf(old), treeOf(object)
	excused, alike := make(map[identity]int, len(before.Errors)), make(map[identity]bool, len(before.Errors))
	for _, err := range before.Errors {
		excused[identify(err, was)]++
		alike[likeness(err)] = true
	}
	ratcheted := Report{Warnings: slices.Clone(report.Warnings)}
	for _, err := range report.Errors {
		var id identity
		if alike[likeness(err)] { // there may be thousands that are not
			id = identify(err, is)
		}
		if excused[id] == 0 {
			ratcheted.Errors = append(ratcheted.Errors, err)
			continue
		}
		excused[id]--
		ratcheted.Warnings = append(ratcheted.Warnings, err)
	}
	return ratcheted.sorted()
}

// identity is what makes two errors the same.
type identity struct {
	rule  string
	kind  field.ErrorType
	path  string
	value string
	// silenced is what is not checked because of the error.
	silenced string
}

// aboutImage tells whether an error in a worker pool is about the image that it boots: about its machine, about what it asks
// for, or about a setting of which it is not known what it asks for.
func aboutImage(err *field.Error) bool {
	switch err.Origin {
	case RuleRequestUnmet, RuleRequestUnregistered, RuleConfigKind, RuleFieldType, RuleDuplicateKey:
		return true
	}
	return strings.Contains(err.Field, "].machine.")
}

var indices = regexp.MustCompile(`\[\d+\]`)

// likeness is what errors that are the same have in common in any case.
func likeness(err *field.Error) identity {
	return identity{rule: err.Origin, kind: err.Type, path: indices.ReplaceAllString(err.Field, "[]")}
}

func identify(err *field.Error, tree any) identity {
	path, flavor := namedPath(err, tree)
	id := identity{rule: err.Origin, kind: err.Type, path: path, silenced: silenced(err, tree)}
	switch _, omitted := err.BadValue.(field.OmitValueType); {
	case err.BadValue == nil || flavor: // a flavor is quoted in the order of the vocabulary, which may change
	case omitted: // too long to be shown, or a secret
		id.value = text(follow(err.Field, tree))
	default:
		id.value = fmt.Sprint(err.BadValue)
	}
	return id
}

func treeOf(object any) any {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	var tree any
	if json.Unmarshal(raw, &tree) != nil {
		return nil
	}
	return tree
}

// namedPath replaces the indices in the path of an error by what the elements are known by, and tells whether the path
// ends at a flavor that is known by its capabilities.
func namedPath(err *field.Error, tree any) (path string, flavor bool) {
	var named strings.Builder
	list, inConfig := "", false
	for rest := err.Field; rest != ""; {
		var segment string
		segment, rest = step(rest, tree)
		next, found := lookUp(tree, segment)
		switch {
		case !found || !isIndex(segment):
			list = strings.TrimPrefix(segment, ".")
			inConfig = inConfig || list == "providerConfig"
		case list == "regions" && rest == "", err.Type == field.ErrorTypeDuplicate && list != "capabilityFlavors" && list != "workers" && !strings.Contains(rest, "["):
			segment = "[]" // the value tells: the architecture of a legacy flavor, or the name that is there twice
		default:
			if list == "workers" && !aboutImage(err) {
				list = "" // whatever decides the image has nothing to do with it
			}
			segment = "[" + knownBy(list, next, inConfig) + "]"
			flavor = list == "capabilityFlavors" && rest == ""
		}
		named.WriteString(segment)
		tree = next
	}
	return named.String(), flavor
}

// step splits a path behind its first index or name, which may have dots if tree has such a name.
func step(path string, tree any) (segment, rest string) {
	segment, rest = cutSegment(path)
	object, _ := tree.(map[string]any)
	for name := range object {
		after, found := strings.CutPrefix(strings.TrimPrefix(path, "."), name)
		if found && (after == "" || after[0] == '.' || after[0] == '[') && len(after) < len(rest) {
			segment, rest = path[:len(path)-len(after)], after
		}
	}
	return segment, rest
}

// lookUp follows one segment of a path down a JSON value.
func lookUp(tree any, segment string) (any, bool) {
	if list, isList := tree.([]any); isList && isIndex(segment) {
		i, err := strconv.Atoi(strings.Trim(segment, "[]"))
		if err != nil || i >= len(list) {
			return nil, false
		}
		return list[i], true
	}
	object, _ := tree.(map[string]any)
	key := strings.TrimPrefix(segment, ".")
	if inner, subscript := strings.CutPrefix(segment, "["); subscript {
		key = strings.TrimSuffix(inner, "]")
	}
	value, found := object[key]
	return value, found
}

// knownBy returns what an element of a list is known by.
func knownBy(list string, element any, inConfig bool) string {
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
		return text(unordered(object))
	case "regions":
		keys = []string{"name", capability.Architecture}
	case "workers":
		keys = []string{"name", "machine", "providerConfig", "updateStrategy"}
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

// unordered returns capabilities with their values in lexical order and once each, since order and repetition mean nothing
// (semantics S2).
func unordered(capabilities map[string]any) map[string]any {
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

func text(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}
