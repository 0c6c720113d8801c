// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Ratchet turns the errors of an update that the old object had already into warnings (semantics S10): an update that
// leaves an offending part alone is not the one to be blamed for it. report is about object, before about old, the same
// object as it is stored, judged by the same checks. Both objects have to be what the paths of the findings go into, and
// to marshal into JSON.
//
// Two errors are the same if they agree in rule, type and value and in what their paths go through: elements of lists
// are known by their name, version, architecture and capabilities, or else by all that they say, and never by their index.
// Worker pools are known by all that decides their image. Each error of the old object excuses one of the new one.
func Ratchet(report, before Report, object, old any) Report {
	if len(report.Errors) == 0 || len(before.Errors) == 0 {
		return report
	}
	was, is := treeOf(old), treeOf(object)
	excused := make(map[identity]int, len(before.Errors))
	for _, err := range before.Errors {
		excused[identify(err, was)]++
	}
	ratcheted := Report{Warnings: report.Warnings}
	for _, err := range report.Errors {
		id := identify(err, is)
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
}

func identify(err *field.Error, tree any) identity {
	value := ""
	if err.BadValue != nil {
		value = fmt.Sprint(err.BadValue)
	}
	return identity{err.Origin, err.Type, namedPath(err.Field, tree), value}
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

// namedPath replaces the indices of a path by what the elements are known by.
func namedPath(path string, tree any) string {
	var named strings.Builder
	for path != "" {
		var segment string
		segment, path = cutSegment(path)
		next, found := lookUp(tree, []string{segment})
		if isIndex(segment) && found {
			segment = "[" + knownBy(next) + "]"
		}
		named.WriteString(segment)
		tree = next
	}
	return named.String()
}

// knownBy returns what an element of a list is known by.
func knownBy(element any) string {
	object, isObject := element.(map[string]any)
	if !isObject {
		return text(element)
	}
	known := map[string]any{}
	for _, key := range []string{"name", "version", "architecture", "capabilities"} {
		if value, found := object[key]; found {
			known[key] = value
		}
	}
	if machine, isPool := object["machine"]; isPool { // what decides the image of a worker pool
		known["machine"], known["providerConfig"], known["updateStrategy"] = machine, object["providerConfig"], object["updateStrategy"]
	}
	if len(known) == 0 {
		known = object
	}
	return text(known)
}

func text(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}
