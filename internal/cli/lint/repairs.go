// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// repairs are the rules whose findings can be repaired. Each changes the object, as JSON, and says what it did; or nothing.
var repairs = map[string]func(g *input.Given, object map[string]any, f report.Finding) patch{
	strictjson.OriginFieldType:       repairSuggested,
	strictjson.OriginUnknownField:    repairSuggested,
	input.RuleFlavorWrapped:          repairWrapped,
	input.RuleProviderUnknown:        repairType,
	input.RuleObjectKind:             repairKind,
	"region-unknown":                 repairSuggested,
	capability.RuleUnregistered:      repairSuggested,
	capability.RuleValueUnregistered: repairSuggested,
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

// repairSuggested writes what is meant, if nothing else can be meant.
func repairSuggested(_ *input.Given, object map[string]any, f report.Finding) patch {
	meant := f.Suggestion
	if meant == nil || !meant.Certain {
		return patch{}
	}
	switch meant.Replace {
	case finding.ReplaceKey:
		parent, _ := parentOfPath(f.Field)
		return rename(object, parent, meant.Name, meant.With)
	case finding.ReplaceByList:
		return repairList(object, f.Field, meant)
	}
	value, replace := at(object, f.Field)
	if value != meant.Name {
		return patch{}
	}
	if meant.Replace == finding.ReplaceRegion {
		config, _ := at(object, "spec.providerConfig")
		replaceRegion(config, "", meant.Name, meant.With)
	} else {
		replace(meant.With)
	}
	return replaced(meant.Name, meant.With)
}

// repairList writes a text where a list of texts belongs as the only item of that list.
func repairList(object map[string]any, path string, meant *finding.Suggestion) patch {
	value, replace := at(object, path)
	if members, isMap := value.(map[string]any); isMap && meant.Name != "" {
		value, replace = members[meant.Name], func(list any) { members[meant.Name] = list }
	}
	if value != meant.With || replace == nil {
		return patch{}
	}
	replace([]any{meant.With})
	return patch{what: fmt.Sprintf("%s is now the list [%s]", meant.With, meant.With)}
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
func repairWrapped(_ *input.Given, object map[string]any, f report.Finding) patch {
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
func repairType(g *input.Given, object map[string]any, f report.Finding) patch {
	value, replace := at(object, f.Field)
	name, isText := value.(string)
	known := words.InCase(name, slices.Sorted(maps.Keys(g.Providers)))
	if !isText || replace == nil || known == "" || known == name {
		return patch{}
	}
	replace(known)
	return replaced(name, known)
}

// repairKind gives the kind of an object the form that it has, or the version that is served.
func repairKind(_ *input.Given, object map[string]any, f report.Finding) patch {
	value, replace := at(object, f.Field)
	text, isText := value.(string)
	served := v1beta1.SchemeGroupVersion
	switch {
	case !isText || replace == nil:
	case f.Field == "apiVersion" && strings.HasPrefix(text, served.Group+"/"):
		replace(served.String())
		return replaced(text, served.String())
	case f.Field == "kind":
		if kind := words.InCase(strings.TrimSuffix(text, "s"), input.GardenKinds); kind != "" && kind != text {
			replace(kind)
			return replaced(text, kind)
		}
	}
	return patch{}
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
