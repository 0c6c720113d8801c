// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
)

// renaming distinguishes real differences from those between the two texts of GEP-0054, in names and values of reserved capabilities.
type renaming struct {
	// renames reports whether one of the objects has a name of the first text.
	renames bool
	// still are the differences that remain if both objects are written in the second text.
	still []difference
}

// renamingOf compares two results of [written] in the second text. It modifies them.
func renamingOf(was, is map[string]any) (r renaming) {
	inSecondText(was, &r.renames)
	inSecondText(is, &r.renames)
	if r.renames {
		r.still = differences(was, is)
	}
	return r
}

// only reports whether names and values of the two texts are the only difference at a path.
func (r *renaming) only(at path) bool {
	if !r.renames {
		return false
	}
	renamed := at.upToName()
	return !slices.ContainsFunc(r.still, func(d difference) bool {
		still := d.path.upToName()
		n := min(len(still), len(renamed))
		return slices.Equal(still[:n], renamed[:n])
	})
}

// upToName returns a path up to the first name of a reserved capability, with the name of the second text; the whole path if there is none.
func (p path) upToName() path {
	for i, step := range p {
		name := strings.Trim(step, ".[]")
		for _, d := range capability.Reserved() {
			if texts.Canonical(name) == d.Name {
				return append(slices.Clone(p[:i]), strings.Replace(step, name, d.Name, 1))
			}
		}
	}
	return p
}

// inSecondText rewrites the capabilities in JSON in the second text, except where both names of one are used. It sets renamed if it finds a
// name of the first text.
func inSecondText(value any, renamed *bool) {
	switch value := value.(type) {
	case []any:
		for _, entry := range value {
			inSecondText(entry, renamed)
		}
	case map[string]any:
		if name, _ := value["name"].(string); texts.OfFirst(name) && value["values"] != nil { // a registration
			value["name"], value["values"] = texts.Canonical(name), translated(name, value["values"])
			*renamed = true
		}
		for name, member := range value {
			canonical := texts.Canonical(name)
			if _, both := value[canonical]; texts.OfFirst(name) && !both {
				delete(value, name)
				value[canonical], *renamed = translated(name, member), true
				continue
			}
			inSecondText(member, renamed)
		}
	}
}

// translated returns a capability's values in the words of the second text. Unknown values stay.
func translated(name string, values any) any {
	list, isList := values.([]any)
	if !isList {
		return values
	}
	all := make([]any, 0, len(list))
	for _, value := range list {
		if text, isText := value.(string); isText {
			if second, known := texts.Translate(name, text); known {
				value = second
			}
		}
		all = append(all, value)
	}
	return all
}
