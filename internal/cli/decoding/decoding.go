// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package decoding decodes manifests into objects of Gardener's API, like the API server with strict field validation. It explains errors
// in words for the author of the manifest. Start reading at [Object].
package decoding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// APIGroups is the common suffix of the names of Gardener's API groups.
const APIGroups = "gardener.cloud"

// The stable names of the rules about the notation of a manifest.
const (
	RuleObjectKind    = "object-kind"
	RuleFlavorWrapped = "core-flavor-wrapped"
)

// Problem returns an error of a rule at a path, with a detail that is formatted like [fmt.Sprintf].
func Problem(rule string, kind field.ErrorType, at string, value any, format string, args ...any) *field.Error {
	return &field.Error{Type: kind, Field: at, BadValue: value, Origin: rule, Detail: fmt.Sprintf(format, args...)}
}

// GardenKinds are the kinds of objects that the command understands.
var GardenKinds = []string{"CloudProfile", "NamespacedCloudProfile", "Shoot"}

// Memory memoizes decoded manifests, for a process that reads the same ones again. Nil memoizes nothing.
type Memory map[*manifest.Object]decoded

type decoded struct {
	object any
	errs   finding.List
	// meant and manifest are the results of [Meant]; nil until it is called.
	meant    any
	manifest *manifest.Object
	// config is the result of [Memory.Config]; nil until it is called.
	config *Config
}

// Object returns the object that a manifest describes, and the errors in the manifest. Do not modify the object: it is returned again for
// the same manifest, which must always be decoded as the same type.
func Object[T any](m Memory, o *manifest.Object) (*T, finding.List) {
	if known, found := m[o]; found {
		return known.object.(*T), known.errs
	}
	object := new(T)
	errs := into(o, object)
	if m != nil {
		m[o] = decoded{object: object, errs: errs}
	}
	return object, errs
}

// into decodes a manifest into an object with the namespace in which it would be applied, and returns the errors. Equal flavors may share
// their capabilities, so these must not be modified.
func into(o *manifest.Object, object any) finding.List {
	errs := strictjson.Decode(o.JSON, object, nil,
		strictjson.Shared[v1beta1.MachineImageFlavor](), strictjson.Shared[v1beta1.Capabilities](), strictjson.Foreign[v1beta1.SeedSelector]())
	errs = slices.DeleteFunc(errs, func(f finding.Finding) bool { return inStatus(o, f.Error) })
	if err := otherKind(o, errs); err != nil {
		return finding.Of(field.ErrorList{err})
	}
	for i, f := range errs {
		pool, meant := inPool(f.Error)
		if err := cmp.Or(wrappedFlavor(o, f.Error), pool, misshapen(f.Error)); err != nil {
			errs[i] = finding.Of(field.ErrorList{err})[0]
			errs[i].Suggestion = meant
		}
	}
	if meta, isObject := object.(metav1.Object); isObject {
		meta.SetName(cmp.Or(o.Name, meta.GetName())) // either may lack it, see Named and Meant
		if o.Kind != "CloudProfile" {
			meta.SetNamespace(cmp.Or(meta.GetNamespace(), o.Namespace))
		}
	}
	return errs
}

// inStatus reports whether a decoder's error is about an unused part of a status: a field that this version of Gardener does not have or,
// except in NamespacedCloudProfiles, any wrong type. The rest of the object has been decoded.
func inStatus(o *manifest.Object, err *field.Error) bool {
	below := strings.HasPrefix(err.Field, "status.") || err.Field == "status" && err.Origin == strictjson.OriginFieldType
	return below && (err.Origin == strictjson.OriginUnknownField ||
		err.Origin == strictjson.OriginFieldType && o.Kind != "NamespacedCloudProfile")
}

// coreFlavor matches the path of a core flavor, and of its contents.
var coreFlavor = regexp.MustCompile(`^spec\.machineImages\[\d+\]\.versions\[\d+\]\.capabilityFlavors\[\d+\]`)

// wrappedFlavor returns a better error for a core flavor that wraps its capabilities in a key, a form that only provider configs have; nil
// for other errors.
func wrappedFlavor(o *manifest.Object, err *field.Error) *field.Error {
	flavor := coreFlavor.FindString(err.Field)
	if flavor == "" || err.Origin != strictjson.OriginFieldType {
		return nil
	}
	at := flavor + ".capabilities"
	var capabilities map[string]any
	if _ = json.Unmarshal(o.Value(at), &capabilities); capabilities == nil { // missing, or not a map
		return nil
	}
	return Problem(RuleFlavorWrapped, field.ErrorTypeInvalid, at, nil,
		`a core flavor is the map of its capabilities itself, without the key "capabilities:", `+
			`which only flavors under spec.providerConfig have; write: - %s`, flowStyle(capabilities))
}

// misshapen returns a decoder's error about the type of capabilities in the terms of CloudProfiles; nil for other errors.
func misshapen(err *field.Error) *field.Error {
	said := *err
	value, _ := err.BadValue.(string)
	switch {
	case err.Origin != strictjson.OriginFieldType:
		return nil
	case err.Field == "spec.machineCapabilities" && strings.HasSuffix(err.Detail, "got an object"):
		said.Detail += "; write - name: architecture, and values: [amd64, arm64] below it, for each capability"
	case coreFlavor.FindString(err.Field) == err.Field && strings.HasPrefix(err.Detail, "must be a valid value"):
		said.Detail = "a flavor is the map of its capabilities; write them, as in - architecture: [amd64]"
		if value == "amd64" || value == "arm64" {
			said.Detail = "a flavor is the map of its capabilities; write - architecture: [" + value + "]"
		}
	default:
		return nil
	}
	return &said
}

// flowStyle formats a map of lists in YAML's flow style, sorted by name.
func flowStyle(capabilities map[string]any) string {
	entries := make([]string, 0, len(capabilities))
	for _, name := range slices.Sorted(maps.Keys(capabilities)) {
		values, isList := capabilities[name].([]any)
		if !isList {
			values = []any{capabilities[name]}
		}
		texts := make([]string, 0, len(values))
		for _, value := range values {
			texts = append(texts, words.InYAML(fmt.Sprint(value)))
		}
		entries = append(entries, words.InYAML(name)+": ["+strings.Join(texts, ", ")+"]")
	}
	return "{" + strings.Join(entries, ", ") + "}"
}
