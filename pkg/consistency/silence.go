// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/strictjson"
)

// silencing are the rules after whose errors a part of an object is not checked any further. For [Ratchet] all that this
// part says belongs to the error: an update that changes it could otherwise bring any other error along.
var silencing = map[string]bool{
	RuleSyntax: true, RuleUnknownField: true, RuleFieldType: true, RuleDuplicateKey: true,
	RuleConfigMissing: true, RuleConfigKind: true, RuleCapabilitiesOff: true, RuleLegacyAmbiguous: true,
	capability.RuleUnregistered: true, capability.RuleValueUnregistered: true, capability.RuleValueMissing: true,
	capability.RuleReservedUnknown: true, capability.RuleReservedValue: true,
	RuleReferenceMissing: true, RuleUnknownRegion: true, RuleProviderType: true, RuleProfileMissing: true,
}

// silenced returns the part of an object that is not checked because of an error, as text in which the order of lists means
// nothing; empty if there is none.
func silenced(err *field.Error, tree any) string {
	if !silencing[err.Origin] {
		return ""
	}
	spec := member(tree, "spec")
	switch provider := member(spec, "provider"); err.Origin {
	case RuleProviderType, RuleProfileMissing:
		return text(unsorted(provider))
	case RuleUnknownRegion: // a provider's own rules may depend on it
		unchecked := []any{member(provider, "infrastructureConfig"), member(provider, "controlPlaneConfig")}
		pools, _ := member(provider, "workers").([]any)
		for _, pool := range pools {
			unchecked = append(unchecked, []any{member(pool, "name"), member(pool, "zones")})
		}
		return text(unsorted(unchecked))
	}
	rest, found := strings.CutPrefix(err.Field, "spec.providerConfig")
	if !found {
		return unreadInShoot(err, tree)
	}
	config, core := member(spec, "providerConfig"), member(spec, "machineImages")
	images := member(config, "machineImages")
	whole := text(unsorted([]any{config, core}))
	segments := split(rest)
	unread := err.Origin == RuleConfigKind || err.Origin == RuleConfigMissing || len(segments) == 0
	if listed, _ := images.([]any); unread || len(listed) == 0 || segments[0] == ".machineImages" && len(segments) == 1 {
		return whole
	}
	if err.Origin == RuleReferenceMissing && len(segments) != 4 {
		return "" // a reference among others
	}
	if segments[0] != ".machineImages" {
		return unreadValue(err, tree)
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

// shootConfig matches the path of a provider's config in a Shoot.
var shootConfig = regexp.MustCompile(`^spec\.provider\.(infrastructureConfig|controlPlaneConfig|workers\[\d+\]\.providerConfig)`)

// unreadInShoot returns what is not checked because of an error in a provider's config of a Shoot: all of it if it is not
// the provider's, or else what could not be read.
func unreadInShoot(err *field.Error, tree any) string {
	config := shootConfig.FindString(err.Field)
	switch {
	case config == "":
		return ""
	case err.Origin == RuleConfigKind || err.Origin == RuleConfigMissing || err.Origin == RuleSyntax:
		return text(unsorted(follow(config, tree)))
	}
	return unreadValue(err, tree)
}

// unreadValue returns the value that could not be read. If its name is not known it is perhaps a setting that is misspelt;
// then those count that it may have been meant to be, since nobody demands them.
func unreadValue(err *field.Error, tree any) string {
	unread := []any{follow(err.Field, tree)}
	if err.Origin != RuleUnknownField {
		return text(unsorted(unread))
	}
	parent, name := cutLast(err.Field)
	beside, _ := follow(parent, tree).(map[string]any)
	var meant []any
	for known := range beside {
		if known != name && strictjson.Closest(name, []string{known}) != "" {
			meant = append(meant, known)
		}
	}
	return text(unsorted(append(unread, meant...)))
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
