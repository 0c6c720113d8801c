// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

// silencing are the rules after whose errors a part of an object is not checked any further. For [Ratchet] all that this
// part says belongs to the error: an update that changes it could otherwise bring any other error along.
var silencing = map[string]bool{
	RuleSyntax: true, RuleUnknownField: true, RuleFieldType: true, RuleDuplicateKey: true,
	RuleConfigMissing: true, RuleConfigKind: true, RuleCapabilitiesOff: true, RuleLegacyAmbiguous: true,
	capability.RuleUnregistered: true, capability.RuleValueUnregistered: true, capability.RuleValueMissing: true,
	capability.RuleReservedUnknown: true, capability.RuleReservedValue: true,
	RuleReferenceMissing: true, RuleUnknownRegion: true,
}

// The provider's configs in spec.provider of a Shoot.
const (
	infrastructureConfig = "infrastructureConfig"
	controlPlaneConfig   = "controlPlaneConfig"
)

// silenced returns the part of an object that is not checked because of an error, as text in which the order of lists means
// nothing; empty if there is none.
func silenced(err *field.Error, tree any) string {
	if !silencing[err.Origin] {
		return ""
	}
	spec := member(tree, "spec")
	if err.Origin == RuleUnknownRegion {
		provider := member(spec, "provider")
		pools, _ := member(provider, "workers").([]any)
		known := []any{member(provider, infrastructureConfig), member(provider, controlPlaneConfig)}
		for _, pool := range pools {
			known = append(known, knownBy("workers", pool, false))
		}
		return text(unsorted(known))
	}
	for _, name := range []string{infrastructureConfig, controlPlaneConfig} {
		if above("spec.provider."+name, err.Field) {
			return text(unsorted(member(member(spec, "provider"), name)))
		}
	}
	rest, found := strings.CutPrefix(err.Field, "spec.providerConfig")
	if !found && err.Origin == RuleUnknownField {
		return text(unsorted(follow(err.Field, tree))) // of a worker: perhaps a setting that is misspelt
	}
	if !found {
		return ""
	}
	config, core := member(spec, "providerConfig"), member(spec, "machineImages")
	images := member(config, "machineImages")
	whole := text(unsorted([]any{config, core}))
	segments := split(rest)
	unread := err.Origin == RuleConfigKind || err.Origin == RuleConfigMissing || len(segments) == 0
	if listed, _ := images.([]any); unread || len(listed) == 0 || segments[0] == ".machineImages" && len(segments) == 1 {
		return whole
	}
	if segments[0] != ".machineImages" || err.Origin == RuleReferenceMissing && len(segments) != 4 {
		return "" // a member that is none of ours, or a reference among others
	}
	image, _ := lookUp(images, segments[1])
	name := member(image, "name")
	if len(segments) < 4 || segments[2] != ".versions" {
		return text(unsorted([]any{matching(images, "name", name), matching(core, "name", name)}))
	}
	version, _ := lookUp(member(image, "versions"), segments[3])
	number := member(version, "version")
	return text(unsorted([]any{versionsOf(images, name, number), versionsOf(core, name, number)}))
}

// follow returns what stands at a path; nil if there is nothing.
func follow(path string, tree any) any {
	for path != "" {
		var segment string
		segment, path = step(path, tree)
		tree, _ = lookUp(tree, segment)
	}
	return tree
}

// versionsOf returns the entries of an image version in a list of images.
func versionsOf(images any, image, version any) []any {
	var found []any
	for _, i := range matching(images, "name", image) {
		found = append(found, matching(member(i, "versions"), "version", version)...)
	}
	return found
}

// matching returns the elements of a list whose key has a value.
func matching(list any, key string, value any) []any {
	elements, _ := list.([]any)
	return slices.DeleteFunc(slices.Clone(elements), func(element any) bool { return text(member(element, key)) != text(value) })
}

func member(object any, name string) any {
	members, _ := object.(map[string]any)
	return members[name]
}

// unsorted returns a JSON value with all lists in an order of their own, so that it is equal for all orders.
func unsorted(value any) any {
	switch v := value.(type) {
	case []any:
		list := make([]string, 0, len(v))
		for _, element := range v {
			list = append(list, text(unsorted(element)))
		}
		slices.Sort(list)
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, m := range v {
			object[name] = unsorted(m)
		}
		return object
	}
	return value
}
