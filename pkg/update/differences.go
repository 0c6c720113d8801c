// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/providerconfig"
)

// difference is a place in which two objects differ.
type difference struct {
	path path
	how  Aspect
	// was and is are strings, numbers or booleans: of a changed value both, of a removed or new one only one. Other values are nil.
	was, is any
	// region restricts the innermost list entry that has one before the update; empty if none has.
	region string
}

// path is a place in an object. Entries of a list are identified by their name or another key, in brackets: spec.regions[europe].
type path []string

func (p path) String() string { return strings.Join(p, "") }

// member returns the path of a member. entry returns the path of an entry with a key.
func (p path) member(name string) path {
	if len(p) > 0 {
		name = "." + name
	}
	return append(slices.Clip(p), name)
}

func (p path) entry(key string) path { return append(slices.Clip(p), "["+key+"]") }

// pattern returns the path without keys: spec.regions[].
func (p path) pattern() string {
	var text strings.Builder
	for _, step := range p {
		if strings.HasPrefix(step, "[") {
			step = "[]"
		}
		text.WriteString(step)
	}
	return text.String()
}

// keys returns the keys in the path, in order.
func (p path) keys() []string {
	var keys []string
	for _, step := range p {
		if strings.HasPrefix(step, "[") {
			keys = append(keys, step[1:len(step)-1])
		}
	}
	return keys
}

// differences returns the significant differences of two results of [written], in the order of the paths. An empty value equals an absent
// one. The order of keyed entries and of values is ignored, except of capabilities and their values, where it is the preference.
func differences(was, is map[string]any) (found []difference) {
	compareValues(path{}, was, is, func(d difference) { found = append(found, d) })
	return found
}

// applied is the annotation of kubectl apply.
const applied = "kubectl.kubernetes.io/last-applied-configuration"

// written returns the parts of an object that users write, as JSON: the spec, labels, and annotations except kubectl's. The API server
// writes the others.
func written(object any) map[string]any {
	raw, err := json.Marshal(object)
	var all map[string]any
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	metadata, _ := all["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, applied)
	return map[string]any{
		"spec":     all["spec"],
		"metadata": map[string]any{"labels": metadata["labels"], "annotations": metadata["annotations"]},
	}
}

func compareValues(at path, was, is any, add func(difference)) {
	if providerconfig.Empty(was) && providerconfig.Empty(is) {
		return
	}
	wasItems, wasList := was.([]any)
	isItems, isList := is.([]any)
	wasMembers, wasObject := was.(map[string]any)
	isMembers, isObject := is.(map[string]any)
	switch {
	case (wasList || providerconfig.Empty(was)) && (isList || providerconfig.Empty(is)): // one of them may be missing
		compareLists(at, wasItems, isItems, add)
	case wasObject && isObject, (wasObject || isObject) && slices.Contains(divided, at.pattern()):
		compareMembers(wasMembers, isMembers, at.below(), add)
	case providerconfig.Empty(was):
		add(difference{path: at, how: IsNew, is: plain(is)})
	case providerconfig.Empty(is):
		add(difference{path: at, how: IsGone, was: plain(was)})
	case !reflect.DeepEqual(was, is):
		d := difference{path: at, how: Differs}
		if !wasList && !isList && !wasObject && !isObject {
			d.was, d.is = was, is
		}
		add(d)
	}
}

// plain returns a string, number or boolean unchanged, and nil for other values.
func plain(value any) any {
	switch value.(type) {
	case map[string]any, []any:
		return nil
	}
	return value
}

// divided are the objects that are compared member by member even if one side lacks the object.
var divided = []string{"spec", "spec.kubernetes", "spec.providerConfig", "spec.providerConfig.constraints", "metadata", "spec.machineTypes[].storage"}

// compareMembers compares the members of two objects, or the entries of two keyed lists, name by name.
func compareMembers(was, is map[string]any, at func(name string) path, add func(difference)) {
	names := slices.Collect(maps.Keys(was))
	for name := range is {
		if _, both := was[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		compareValues(at(name), was[name], is[name], within(was[name], add))
	}
}

// within returns a function that adds differences in an entry, with its region.
func within(entry any, add func(difference)) func(difference) {
	object, _ := entry.(map[string]any)
	region, _ := object["region"].(string)
	if region == "" {
		return add
	}
	return func(d difference) {
		d.region = cmp.Or(d.region, region)
		add(d)
	}
}

// below returns the function that extends a path to a member. Names of labels and annotations are in brackets.
func (p path) below() func(name string) path {
	if last := p[max(0, len(p)-1):].String(); last == ".labels" || last == ".annotations" {
		return p.entry
	}
	return p.member
}

// compareLists compares lists by the keys of their entries, if they have any.
func compareLists(at path, was, is []any, add func(difference)) {
	before, after := keyed(was, is)
	ordered := at.pattern() == "spec.machineCapabilities[].values"
	switch {
	case !ordered && before != nil && after != nil:
		compareMembers(before, after, at.entry, add)
		if at.String() == "spec.machineCapabilities" && reordered(namesIn(was), namesIn(is)) {
			add(difference{path: at, how: Differs})
		}
	case len(was) == 0:
		add(difference{path: at, how: IsNew})
	case len(is) == 0:
		add(difference{path: at, how: IsGone})
	case ordered && !reflect.DeepEqual(was, is), !ordered && !slices.Equal(jsonTexts(was), jsonTexts(is)):
		add(difference{path: at, how: Differs})
	}
}

// reordered reports whether the names that two lists have in common are in a different order.
func reordered(was, is []string) bool {
	without := func(names, others []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(others, name) })
	}
	return !slices.Equal(without(was, is), without(is, was))
}

// keyFields are the fields that identify entries of lists. The first of the first three fields that all entries have is the key. The other
// fields distinguish entries with the same key.
var keyFields = []string{"name", "version", "region", "domain", "architecture"}

// keyed returns the entries of two lists by their keys; nil if no fields distinguish all entries of each list. A string is its own key.
// An entry that stays has the same key in both lists, even if one of them has further entries of its name.
func keyed(was, is []any) (before, after map[string]any) {
	for _, first := range keyFields[:3] {
		count := map[string]int{}
		for _, list := range [][]any{was, is} {
			names := map[string]int{}
			for _, entry := range list {
				name := textIn(entry, first)
				names[name]++
				count[name] = max(count[name], names[name])
			}
		}
		if count[""] > 0 {
			continue
		}
		before, after = byKey(was, first, count), byKey(is, first, count)
		if len(before) == len(was) && len(after) == len(is) {
			return before, after
		}
	}
	return nil, nil
}

// byKey returns the entries of a list by their first field or, if count has several of that, by all key fields.
func byKey(list []any, first string, count map[string]int) map[string]any {
	entries := make(map[string]any, len(list))
	for _, entry := range list {
		key := textIn(entry, first)
		if count[key] > 1 {
			key = furtherKey(entry, first)
		}
		entries[key] = entry
	}
	return entries
}

// furtherKey returns the key of an entry that shares its first field with others: the first field and all other key fields.
func furtherKey(entry any, first string) string {
	key := textIn(entry, first)
	object, _ := entry.(map[string]any)
	for _, further := range keyFields {
		if further != first && object[further] != nil {
			key += "," + textIn(entry, further)
		}
	}
	return key
}

// namesIn returns the names of a list's entries, in order.
func namesIn(list []any) []string {
	names := make([]string, 0, len(list))
	for _, entry := range list {
		names = append(names, textIn(entry, "name"))
	}
	return names
}

// textIn returns the string in a field of an object, or a string itself; empty if there is none.
func textIn(entry any, field string) string {
	if object, isObject := entry.(map[string]any); isObject {
		entry = object[field]
	}
	text, _ := entry.(string)
	return text
}

// jsonTexts returns the values of a list as JSON, sorted. Nested lists are sorted, too.
func jsonTexts(list []any) []string {
	all := make([]string, 0, len(list))
	for _, value := range list {
		all = append(all, keyOf(sorted(value)))
	}
	slices.Sort(all)
	return all
}

// sorted returns a value in which each list is replaced by its [jsonTexts], and empty members are dropped.
func sorted(value any) any {
	switch value := value.(type) {
	case map[string]any:
		members := make(map[string]any, len(value))
		for name, member := range value {
			if !providerconfig.Empty(member) {
				members[name] = sorted(member)
			}
		}
		return members
	case []any:
		return jsonTexts(value)
	}
	return value
}
