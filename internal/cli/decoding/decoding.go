// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package decoding makes objects of Gardener's API of manifests, as the API server does with strict field validation, and says what is
// wrong with them in words for those who wrote them. Start reading at [Object].
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

// APIGroups is what the names of Gardener's API groups have in common.
const APIGroups = "gardener.cloud"

// The stable names of the rules that are about how a manifest is written.
const (
	RuleObjectKind    = "object-kind"
	RuleFlavorWrapped = "core-flavor-wrapped"
)

// Problem returns an error of a rule at a path, with a detail that is formatted as by [fmt.Sprintf].
func Problem(rule string, kind field.ErrorType, at string, value any, format string, args ...any) *field.Error {
	return &field.Error{Type: kind, Field: at, BadValue: value, Origin: rule, Detail: fmt.Sprintf(format, args...)}
}

// GardenKinds are the kinds of objects that the command understands.
var GardenKinds = []string{"CloudProfile", "NamespacedCloudProfile", "Shoot"}

// Memory keeps what manifests were decoded to, for a process that reads the same ones again. Nil keeps nothing.
type Memory map[*manifest.Object]decoded

type decoded struct {
	object any
	errs   finding.List
	// meant and manifest are what [Meant] returns; nil until somebody asks for it.
	meant    any
	manifest *manifest.Object
	// config is what [Memory.Config] returns; nil until somebody asks for it.
	config *Config
}

// Object returns the object that a manifest describes, and what is wrong with it. The object must not be changed, since it is returned
// again for the same manifest, of which the type is always the same.
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

// into decodes a manifest into an object, in the namespace in which it would be applied, and returns what is wrong with it. Equal
// flavors may share their capabilities, so these must not be changed.
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
		meta.SetName(cmp.Or(o.Name, meta.GetName())) // which one of the two may not have, see Named and Meant
		if o.Kind != "CloudProfile" {
			meta.SetNamespace(cmp.Or(meta.GetNamespace(), o.Namespace))
		}
	}
	return errs
}

// inStatus reports whether an error of the decoder is about something in a status that nobody reads: a field that this
// version of Gardener does not have or, but for NamespacedCloudProfiles, anything. What can be read of the object is there.
func inStatus(o *manifest.Object, err *field.Error) bool {
	below := strings.HasPrefix(err.Field, "status.") || err.Field == "status" && err.Origin == strictjson.OriginFieldType
	return below && (err.Origin == strictjson.OriginUnknownField ||
		err.Origin == strictjson.OriginFieldType && o.Kind != "NamespacedCloudProfile")
}

// coreFlavor matches the path of a core flavor, and of what is in it.
var coreFlavor = regexp.MustCompile(`^spec\.machineImages\[\d+\]\.versions\[\d+\]\.capabilityFlavors\[\d+\]`)

// wrappedFlavor replaces the decoder's error about a core flavor that wraps its capabilities into a key, a form that
// only provider configs have. It returns nil for any other error.
func wrappedFlavor(o *manifest.Object, err *field.Error) *field.Error {
	flavor := coreFlavor.FindString(err.Field)
	if flavor == "" || err.Origin != strictjson.OriginFieldType {
		return nil
	}
	at := flavor + ".capabilities"
	var capabilities map[string]any
	if _ = json.Unmarshal(o.Value(at), &capabilities); capabilities == nil { // it is not there, or no map
		return nil
	}
	return Problem(RuleFlavorWrapped, field.ErrorTypeInvalid, at, nil,
		`a core flavor is the map of its capabilities itself, without the key "capabilities:", `+
			`which only flavors under spec.providerConfig have; write: - %s`, flowStyle(capabilities))
}

// misshapen puts what the decoder says about capabilities of the wrong shape into the words of CloudProfiles. It is nil for any other
// error.
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

// flowStyle prints a map of lists in YAML's flow style, in the order of names.
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
