// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package repair

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// repairs maps rules to functions that repair their findings in an object decoded from JSON.
var repairs = map[string]func(g *input.Given, object any, f report.Finding) patch{
	strictjson.OriginFieldType:       repairSuggested,
	strictjson.OriginUnknownField:    repairSuggested,
	input.RuleFlavorWrapped:          repairWrapped,
	input.RuleProviderUnknown:        repairType,
	input.RuleObjectKind:             repairKind,
	"gardener-core":                  repairArchitecture,
	"region-unknown":                 repairSuggested,
	"unknown-region":                 repairSuggested,
	capability.RuleUnregistered:      repairSuggested,
	capability.RuleValueUnregistered: repairSuggested,
	capability.RuleReservedValue:     repairSuggested,
	capability.RuleReservedUnknown:   repairSuggested,
	"reserved-capability-mixed":      repairFirstText,
	"reserved-capability-first-text": repairFirstText,
	"reserved-capability-incomplete": repairIncomplete,
	"reserved-capability-silent":     repairSilent,
}

// patch is a repair's description and its operations. The zero value does nothing.
type patch struct {
	what string
	ops  []edit.Op
}

// instead is a patch that replaces one word by another.
func instead(from, to string, ops ...edit.Op) patch { return patch{from + " is now " + to, ops} }

// repairSuggested applies the suggestion if it is certain.
func repairSuggested(_ *input.Given, object any, f report.Finding) patch {
	meant, path := f.Suggestion, fieldpath.Parse(f.Field)
	if meant == nil || !meant.Certain || len(path) == 0 {
		return patch{}
	}
	value := edit.Value(object, path)
	switch meant.Replace {
	case finding.ReplaceKey:
		return rename(object, path[:len(path)-1], meant.Name, meant.With)
	case finding.ReplaceByList:
		if value == meant.With {
			what := fmt.Sprintf("%s is now the list [%s]", meant.With, meant.With)
			return patch{what, []edit.Op{edit.Replace(path, []any{meant.With})}}
		}
	case finding.ReplaceByObject:
		if fmt.Sprint(value) == meant.With {
			what := fmt.Sprintf("%s is now {%s: %s}", meant.With, meant.Name, meant.With)
			return patch{what, []edit.Op{edit.Replace(path, map[string]any{meant.Name: value})}}
		}
	case finding.ReplaceRegion:
		if value == meant.Name && !zonesOf(object, meant.With, meant.Name) {
			config := fieldpath.Parse("spec.providerConfig")
			return instead(meant.Name, meant.With, replaceRegion(edit.Value(object, config), config, "", meant)...)
		}
	default:
		if value == meant.Name {
			return instead(meant.Name, meant.With, replaceInRegions(object, path, meant)...)
		}
	}
	return patch{}
}

// replaceInRegions replaces a value. In the legacy format, regions with the same architecture are one flavor, which has one finding, at the
// first of them: all of them are changed.
func replaceInRegions(object any, path fieldpath.Path, meant *finding.Suggestion) (ops []edit.Op) {
	last := len(path) - 1
	if last < 2 || path[last].Name != capability.Architecture || path[last-2].Name != "regions" {
		return []edit.Op{edit.Replace(path, meant.With)}
	}
	list := path[:last-1]
	for i, region := range edit.Items(edit.Value(object, list)) {
		if edit.Members(region)[capability.Architecture] == meant.Name {
			ops = append(ops, edit.Replace(list.Index(i).Child(capability.Architecture), meant.With))
		}
	}
	return ops
}

// architecture matches the path of an architecture of a machine type, an image or a worker pool. registered matches that of a registered
// value.
var (
	architecture = regexp.MustCompile(`\.architectures?(\[\d+\])?$`)
	registered   = regexp.MustCompile(`^spec\.machineCapabilities\[\d+\]\.values\[\d+\]$`)
)

// repairArchitecture writes Gardener's name of an architecture, if it is the certain suggestion for the value in a flavor. If the value is
// registered, the whole profile may have it.
func repairArchitecture(_ *input.Given, object any, f report.Finding) patch {
	path := fieldpath.Parse(f.Field)
	value, isText := edit.Value(object, path).(string)
	isRegistered := registered.MatchString(f.Field)
	if isRegistered {
		isRegistered = edit.Members(edit.Value(object, path[:len(path)-2]))["name"] == capability.Architecture
	}
	if !isText || !isRegistered && !architecture.MatchString(f.Field) {
		return patch{}
	}
	ofGardener, _ := capability.Compile(nil, nil)
	_, wrong := ofGardener.Set(v1beta1.Capabilities{capability.Architecture: {value}}, field.NewPath("capabilities"))
	for _, w := range wrong {
		if w.Suggestion == nil || !w.Suggestion.Certain {
			continue
		}
		ops := []edit.Op{edit.Replace(path, w.Suggestion.With)}
		if spec := fieldpath.Parse("spec"); isRegistered {
			ops = append(ops, replaceArchitecture(edit.Value(object, spec), spec, false, value, w.Suggestion.With)...)
		}
		return instead(value, w.Suggestion.With, ops...)
	}
	return patch{}
}

// replaceArchitecture replaces an architecture wherever a key below the path has it as its value, or in its list; within says that value is
// of such a key.
func replaceArchitecture(value any, path fieldpath.Path, within bool, from, to string) (ops []edit.Op) {
	switch value := value.(type) {
	case string:
		if within && value == from {
			ops = append(ops, edit.Replace(path, to))
		}
	case []any:
		for i, own := range value {
			ops = append(ops, replaceArchitecture(own, path.Index(i), within, from, to)...)
		}
	case map[string]any:
		for key, own := range value {
			is := key == capability.Architecture || key == "architectures"
			ops = append(ops, replaceArchitecture(own, path.Child(key), is, from, to)...)
		}
	}
	return ops
}

// rename renames a member of the mapping at a path, unless the new key exists.
func rename(object any, path fieldpath.Path, from, to string) patch {
	members := edit.Members(edit.Value(object, path))
	_, there := members[from]
	if _, taken := members[to]; taken || !there {
		return patch{}
	}
	return instead(from, to, edit.Rename(path.Child(from), to))
}

// replaceRegion replaces a region's name in lists of regions, and as the value of a key region. list is the key of the value at path.
func replaceRegion(value any, path fieldpath.Path, list string, meant *finding.Suggestion) (ops []edit.Op) {
	switch value := value.(type) {
	case []any:
		for i, own := range value {
			ops = append(ops, replaceRegion(own, path.Index(i), list, meant)...)
		}
	case map[string]any:
		for key, own := range value {
			if own == meant.Name && (key == "region" || key == "name" && list == "regions") {
				ops = append(ops, edit.Replace(path.Child(key), meant.With))
			}
			ops = append(ops, replaceRegion(own, path.Child(key), key, meant)...)
		}
	}
	return ops
}

// zonesOf reports whether the region's zones begin with the other name, and not with its own: then the region itself is misspelled.
func zonesOf(object any, region, name string) bool {
	for _, r := range edit.Items(edit.Value(object, fieldpath.Parse("spec.regions"))) {
		of := edit.Members(r)
		for _, z := range edit.Items(of["zones"]) {
			zone, _ := edit.Members(z)["name"].(string)
			if of["name"] == region && strings.HasPrefix(zone, name) && !strings.HasPrefix(zone, region) {
				return true
			}
		}
	}
	return false
}

// repairWrapped replaces a mapping by the content of its only key.
func repairWrapped(_ *input.Given, object any, f report.Finding) patch {
	path := fieldpath.Parse(f.Field)
	last := len(path) - 1
	if flavor, isMap := edit.Value(object, path[:max(last, 0)]).(map[string]any); !isMap || len(flavor) != 1 || edit.Value(object, path) == nil {
		return patch{}
	}
	return patch{"the key " + path[last].Name + " is gone from around the capabilities", []edit.Op{edit.Unwrap(path)}}
}

// repairType corrects the case of a profile's provider type.
func repairType(g *input.Given, object any, f report.Finding) patch {
	path := fieldpath.Parse(f.Field)
	name, _ := edit.Value(object, path).(string)
	known := words.InCase(name, slices.Sorted(maps.Keys(g.Providers)))
	if name == "" || known == "" || known == name {
		return patch{}
	}
	return instead(name, known, edit.Replace(path, known))
}

// repairKind corrects an object's kind, or its apiVersion to the served version.
func repairKind(_ *input.Given, object any, f report.Finding) patch {
	path, served := fieldpath.Parse(f.Field), v1beta1.SchemeGroupVersion
	text, _ := edit.Value(object, path).(string)
	to := ""
	switch {
	case f.Field == "apiVersion" && strings.HasPrefix(text, served.Group+"/"):
		to = served.String()
	case f.Field == "kind":
		to = words.InCase(strings.TrimSuffix(text, "s"), input.GardenKinds)
	}
	if text == "" || to == "" || to == text {
		return patch{}
	}
	return instead(text, to, edit.Replace(path, to))
}
