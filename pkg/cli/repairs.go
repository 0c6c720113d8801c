// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/strictjson"
)

// repairs are the rules whose findings can be repaired. Each changes the object, as JSON, and says what it did; or nothing.
var repairs = map[string]func(g *garden, object map[string]any, f report.Finding) patch{
	strictjson.OriginFieldType:       repairList,
	strictjson.OriginUnknownField:    repairCase,
	ruleFlavorWrapped:                repairWrapped,
	ruleProviderUnknown:              repairType,
	ruleObjectKind:                   repairKind,
	"region-unknown":                 repairRegion,
	capability.RuleUnregistered:      repairCapability,
	capability.RuleValueUnregistered: repairCapability,
}

// patch is what a repair has done. The zero value has done nothing.
type patch struct {
	what string
	// from and to are the words, if it was to replace one by another.
	from, to string
}

func replaced(from, to string) patch { return patch{from + " is now " + to, from, to} }

// steps matches the elements of a field path: names, indices and keys in brackets.
var steps = regexp.MustCompile(`[^.\[\]]+`)

// at returns the value at a path of an object, and how to replace it; nil if there is none.
func at(object map[string]any, path string) (value any, replace func(any)) {
	value = object
	for _, step := range steps.FindAllString(path, -1) {
		switch v := value.(type) {
		case map[string]any:
			if _, found := v[step]; !found {
				return nil, nil
			}
			value, replace = v[step], func(other any) { v[step] = other }
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil, nil
			}
			value, replace = v[i], func(other any) { v[i] = other }
		default:
			return nil, nil
		}
	}
	return value, replace
}

// parentOfPath cuts the last element off a path.
func parentOfPath(path string) (parent, last string) {
	i := strings.LastIndexAny(path, ".[")
	if i < 0 {
		return "", path
	}
	return path[:i], strings.Trim(path[i:], ".[]\"")
}

// noList matches what the decoder says about a text where a list of texts belongs. Where capabilities are decoded at once, it
// begins with the name of one of them.
var noList = regexp.MustCompile(`^(?:(.+): )?expected a list of strings, got a string\b`)

// repairList writes a text where a list of texts belongs as the only item of that list.
func repairList(_ *garden, object map[string]any, f report.Finding) patch {
	m := noList.FindStringSubmatch(f.Message)
	if m == nil {
		return patch{}
	}
	value, replace := at(object, f.Field)
	if members, isMap := value.(map[string]any); isMap && m[1] != "" {
		value, replace = members[m[1]], func(list any) { members[m[1]] = list }
	}
	text, isText := value.(string)
	if !isText || replace == nil || text == "" || strings.ContainsAny(text, ", \t\n") {
		return patch{}
	}
	replace([]any{text})
	return patch{what: fmt.Sprintf("%s is now the list [%s]", text, text)}
}

// meantField matches what the decoder says about a field that is misspelt.
var meantField = regexp.MustCompile(`unknown field "([^"]*)"; did you mean "([^"]*)"\?`)

// repairCase gives a field the case that it has.
func repairCase(_ *garden, object map[string]any, f report.Finding) patch {
	m := meantField.FindStringSubmatch(f.Message)
	if len(m) == 0 || !strings.EqualFold(m[1], m[2]) {
		return patch{}
	}
	parent, _ := parentOfPath(f.Field)
	return rename(object, parent, m[1], m[2])
}

// rename gives a member of the mapping at a path another key, unless there is one of that.
func rename(object map[string]any, path, from, to string) patch {
	value, _ := at(object, path)
	members, isMap := value.(map[string]any)
	if !isMap {
		return patch{}
	}
	old, there := members[from]
	if _, taken := members[to]; taken || !there {
		return patch{}
	}
	delete(members, from)
	members[to] = old
	return replaced(from, to)
}

// repairWrapped writes the content of a key in the place of the mapping that has this key alone.
func repairWrapped(_ *garden, object map[string]any, f report.Finding) patch {
	parent, key := parentOfPath(f.Field)
	value, replace := at(object, parent)
	flavor, isMap := value.(map[string]any)
	if !isMap || len(flavor) != 1 || flavor[key] == nil || replace == nil {
		return patch{}
	}
	replace(flavor[key])
	return patch{what: "the key " + key + " is gone from around the capabilities"}
}

// repairType gives the provider type of a profile the case that it has.
func repairType(g *garden, object map[string]any, f report.Finding) patch {
	value, replace := at(object, f.Field)
	name, isText := value.(string)
	for _, known := range slices.Sorted(maps.Keys(g.providers)) {
		if isText && replace != nil && strings.EqualFold(name, known) && name != known {
			replace(known)
			return replaced(name, known)
		}
	}
	return patch{}
}

// repairKind gives the kind of an object the form that it has, or the version that is served.
func repairKind(_ *garden, object map[string]any, f report.Finding) patch {
	value, replace := at(object, f.Field)
	text, isText := value.(string)
	served := v1beta1.SchemeGroupVersion
	switch {
	case !isText || replace == nil:
	case f.Field == "apiVersion" && strings.HasPrefix(text, served.Group+"/"):
		replace(served.String())
		return replaced(text, served.String())
	case f.Field == "kind":
		for _, kind := range gardenKinds {
			if text != kind && strings.EqualFold(strings.TrimSuffix(text, "s"), kind) {
				replace(kind)
				return replaced(text, kind)
			}
		}
	}
	return patch{}
}

// repairRegion writes the region of the profile that is meant wherever a misspelt one stands in the provider config.
func repairRegion(g *garden, object map[string]any, f report.Finding) patch {
	value, _ := at(object, f.Field)
	name, isText := value.(string)
	var regions []string
	for _, r := range listAt(g, object, "spec.regions") {
		regions = append(regions, member(r, "name"))
	}
	meant := onlyMeant(name, regions)
	if !isText || meant == "" {
		return patch{}
	}
	config, _ := at(object, "spec.providerConfig")
	replaceRegion(config, "", name, meant)
	return replaced(name, meant)
}

// replaceRegion replaces a name in lists of regions, and as the value of a key region.
func replaceRegion(value any, list, from, to string) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			replaceRegion(item, list, from, to)
		}
	case map[string]any:
		for key, member := range v {
			if member == from && (key == "region" || key == "name" && list == "regions") {
				v[key] = to
			}
			replaceRegion(member, key, from, to)
		}
	}
}

// listAt returns the list at a path of an object or, of a NamespacedCloudProfile, of its parent.
func listAt(g *garden, object map[string]any, path string) []any {
	list, _ := at(object, path)
	if items, isList := list.([]any); isList {
		return items
	}
	name, _ := at(object, "spec.parent.name")
	parent, _ := name.(string)
	if s := g.profiles.byName[parent]; s != nil && s.manifest != nil {
		var profile map[string]any
		if unmarshal(s.manifest.JSON, &profile) {
			list, _ = at(profile, path)
		}
	}
	items, _ := list.([]any)
	return items
}

// member returns a member of a mapping that is a text; empty for anything else.
func member(value any, key string) string {
	members, _ := value.(map[string]any)
	text, _ := members[key].(string)
	return text
}

// machineNames are other names of architectures.
var machineNames = map[string]string{"x86_64": "amd64", "x86-64": "amd64", "aarch64": "arm64"}

// repairCapability writes the registered name, or value, that is meant by a misspelt one.
func repairCapability(g *garden, object map[string]any, f report.Finding) patch {
	registered := map[string][]string{}
	for _, definition := range listAt(g, object, "spec.machineCapabilities") {
		members, _ := definition.(map[string]any)
		values, _ := members["values"].([]any)
		name := member(definition, "name")
		registered[name] = nil
		for _, v := range values {
			text, _ := v.(string)
			registered[name] = append(registered[name], text)
		}
	}
	parent, last := parentOfPath(f.Field)
	if f.Rule == capability.RuleUnregistered {
		if meant := onlyMeant(last, slices.Sorted(maps.Keys(registered))); meant != "" {
			return rename(object, parent, last, meant)
		}
		return patch{}
	}
	value, replace := at(object, f.Field)
	text, isText := value.(string)
	_, name := parentOfPath(parent)
	meant := onlyMeant(text, registered[name])
	if other := machineNames[strings.ToLower(text)]; name == capability.Architecture && slices.Contains(registered[name], other) {
		meant = other
	}
	if !isText || meant == "" || replace == nil {
		return patch{}
	}
	replace(meant)
	return replaced(text, meant)
}

// onlyMeant returns the one known name that differs from another one by case, or by a slip; empty if there is none, or several.
func onlyMeant(name string, known []string) string {
	meant := ""
	for _, k := range known {
		if k == name || !strings.EqualFold(k, name) && !slipped(name, k) {
			continue
		}
		if meant != "" {
			return ""
		}
		meant = k
	}
	return meant
}

// shortest is how many letters a name has at least for a slip to be told from another name.
const shortest = 5

// slipped reports whether two names differ by one letter too many or too few, or by two neighbors that are swapped. What
// differs in a digit, or by one letter for another, can be another thing: eu-de-1 and eu-de-2, eu-de and eu-be.
func slipped(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) < shortest || len(y)-len(x) > 1 {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	switch {
	case len(x) != len(y):
		return unicode.IsLetter(y[i]) && slices.Equal(x[i:], y[i+1:])
	case i+1 < len(x):
		return unicode.IsLetter(x[i]) && unicode.IsLetter(y[i]) && x[i] == y[i+1] && x[i+1] == y[i] && slices.Equal(x[i+2:], y[i+2:])
	}
	return false
}
