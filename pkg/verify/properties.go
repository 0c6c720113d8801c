// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/words"
)

// properties reports properties of an image that contradict the flavor's capabilities. It skips the architecture if a different one is
// already reported.
func (f *flavorImages[R]) properties(b booted, otherArchitecture bool, say func(rule finding.Rule, what, hint string)) {
	declared := f.flavor.Supported(f.profile.Vocabulary())
	against := map[string][]contradiction{} // by the property with its value
	elsewhere := map[string]string{}        // the hint if other regions have another value
	var order []string
	for i := range f.Properties {
		row := &f.Properties[i]
		if otherArchitecture && row.Capability == capability.Architecture {
			continue
		}
		for _, name := range row.Names {
			value := b.Properties[name]
			if value == "" || row.Value != "" && !strings.EqualFold(value, row.Value) {
				continue
			}
			property := words.Quoted(name) + ": " + words.Quoted(value)
			if _, known := against[property]; !known {
				order = append(order, property)
				elsewhere[property] = f.otherwise(row, name, value)
			}
			against[property] = append(against[property], f.contradicted(row, value, declared)...)
		}
	}
	for _, property := range order {
		var is, must []string
		for _, c := range against[property] {
			is = append(is, fmt.Sprintf("%s: [%s]", c.capability, strings.Join(declared[c.capability], ", ")))
			must = append(must, c.must)
		}
		if len(is) == 0 {
			continue
		}
		say(ruleImageProperty, fmt.Sprintf("has the property %s, and the flavor declares %s", property, words.And(is)),
			cmp.Or(elsewhere[property], "; declare "+words.And(must)+", or refer to another image"))
	}
}

// otherwise returns the hint for an image whose property, from the given row, has another value in another region: no declaration is right
// in both. It returns "" if there is no such region.
func (f *flavorImages[R]) otherwise(row *inventory.Property, name, value string) string {
	for _, b := range f.found {
		is, there := value, b.Properties[name]
		if row.Capability == capability.Architecture {
			is, there = inventory.Architecture(is), inventory.Architecture(cmp.Or(there, b.Architecture))
		}
		if there != "" && !strings.EqualFold(there, is) {
			return "; in region " + b.region.Name + " its image has another value: refer to another image"
		}
	}
	return ""
}

// contradiction is a capability whose declared values contradict a property.
type contradiction struct{ capability, must string }

// contradicted returns the declared capabilities that contradict a row, in the order of the vocabulary.
func (f *flavorImages[R]) contradicted(row *inventory.Property, value string, declared v1beta1.Capabilities) (all []contradiction) {
	only := func(name string, values []string) {
		if slices.ContainsFunc(declared[name], func(d string) bool { return !slices.Contains(values, d) }) {
			all = append(all, contradiction{name, name + ": [" + strings.Join(values, ", ") + "]"})
		}
	}
	some := func(name string, values []string) {
		if len(declared[name]) > 0 && !slices.ContainsFunc(declared[name], func(d string) bool { return slices.Contains(values, d) }) {
			all = append(all, contradiction{name, words.Or(values) + " of " + name + " as well"})
		}
	}
	if row.Capability == "" {
		for _, def := range f.profile.Vocabulary().Definitions() {
			i := slices.IndexFunc(def.Values, func(d string) bool { return strings.EqualFold(d, value) })
			if i >= 0 {
				only(def.Name, []string{def.Values[i]})
			}
		}
		return all
	}
	for _, name := range slices.Compact([]string{row.Capability, texts.Canonical(row.Capability)}) {
		if len(row.Only) > 0 {
			only(name, row.Only)
		}
		if len(row.Some) > 0 {
			some(name, row.Some)
		}
	}
	return all
}
