// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package source

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/words"
)

// Map maps a source's metadata to capabilities of images.
type Map struct {
	// APIVersion is the constant of this name.
	APIVersion string `json:"apiVersion"`
	// Kind is ImageMap.
	Kind string `json:"kind"`
	// Source is the kind of source that the map is for.
	Source string `json:"source"`
	// Skip lists conditions for images to leave out. An image is left out if it meets all conditions of one entry.
	Skip []map[string]string `json:"skip,omitempty"`
	// Rows are evaluated in order. For each capability, the first row applies whose conditions the image meets.
	Rows []Row `json:"capabilities"`
}

// Row gives images a capability.
type Row struct {
	// Name of the capability.
	Name string `json:"name"`
	// When maps metadata keys to patterns, which must all match. One matching value of a list is enough.
	When map[string]string `json:"when,omitempty"`
	// Values of the images; alternatively, From is the metadata key with the values.
	Values []string `json:"values,omitempty"`
	From   string   `json:"from,omitempty"`
	// Alone are the values if the release has no image beside this one that differs only by being ordinary in this respect.
	Alone []string `json:"alone,omitempty"`

	// registered means any capability that registers a value of From; Name is empty then.
	registered bool
}

//go:embed gardenlinux.yaml
var gardenLinuxMap string

// MapText returns the text, with comments, of a source kind's default map; empty if it has none that can be replaced.
func MapText(kind string) string {
	if kind == GardenLinux {
		return gardenLinuxMap
	}
	return ""
}

// ReadMap reads a map for a kind of source from a file. The error means that the file cannot be read.
func ReadMap(file, kind string) (*Map, []Fault, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, nil, err
	}
	m, faults := parseMap(file, text, kind)
	return m, faults, nil
}

func parseMap(file, text, kind string) (*Map, []Fault) {
	m := &Map{}
	l := readObject(file, text, kindMap, m)
	if len(l.faults) > 0 {
		return nil, l.faults
	}
	if m.Source != kind {
		l.fail(field.ErrorTypeNotSupported, "source", "the map is for sources of kind %s, and --from names one of kind %s", words.Quoted(m.Source), kind)
	}
	for i, when := range m.Skip {
		l.checkWhen(when, fmt.Sprintf("skip[%d]", i))
		if len(when) == 0 {
			l.fail(field.ErrorTypeRequired, fmt.Sprintf("skip[%d]", i), "write a condition, as in {platform: openstackbaremetal}: this would skip every image")
		}
	}
	if len(m.Rows) == 0 {
		l.fail(field.ErrorTypeRequired, "capabilities", "there are no capabilities: write at least one row")
	}
	for i := range m.Rows {
		l.checkRow(&m.Rows[i], fmt.Sprintf("capabilities[%d]", i))
	}
	return m, l.faults
}

func (l *located) checkWhen(when map[string]string, at string) {
	for _, key := range slices.Sorted(maps.Keys(when)) {
		if !isGlob(when[key]) {
			l.fail(field.ErrorTypeInvalid, at+"."+key, "%s is not a pattern: * stands for any text, ? for one character, [ab] for one of several",
				words.Quoted(when[key]))
		}
	}
}

func (l *located) checkRow(r *Row, at string) {
	if r.Name == "" {
		l.fail(field.ErrorTypeRequired, at+".name", "name the capability")
	}
	l.checkWhen(r.When, at+".when")
	switch {
	case len(r.Values) > 0 && r.From != "":
		l.fail(field.ErrorTypeForbidden, at+".from", "values and from exclude each other: write one of them")
	case len(r.Values) == 0 && r.From == "":
		l.fail(field.ErrorTypeRequired, at+".values", "write the values that such images have, or from, the key of the metadata that has them")
	case len(r.Alone) > 0 && r.From != "":
		l.fail(field.ErrorTypeForbidden, at+".alone", "alone goes with values")
	}
	if d := ReservedAs(r.Name); d != nil {
		l.checkReserved(d, r.Values, at+".values")
		l.checkReserved(d, r.Alone, at+".alone")
	} else if strings.HasPrefix(r.Name, capability.ReservedPrefix) {
		l.fail(field.ErrorTypeNotSupported, at+".name", "there is no capability %s of Gardener's", words.Quoted(r.Name))
	}
}

// checkReserved reports values that a reserved capability does not have.
func (l *located) checkReserved(d *capability.Definition, values []string, at string) {
	for i, value := range values {
		if !slices.Contains(d.Values, value) {
			l.fail(field.ErrorTypeNotSupported, fmt.Sprintf("%s[%d]", at, i), "%s has no value %s, but %s", d.Name, words.Quoted(value), words.And(d.Values))
		}
	}
}

// ReservedAs returns the definition of a reserved capability by its name in either text of GEP-0054; nil if it is not reserved.
func ReservedAs(name string) *capability.Definition {
	all := append(capability.Reserved(), capability.FirstText()...)
	if i := slices.IndexFunc(all, func(d capability.Definition) bool { return d.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Mapped are an image's capabilities by a map.
type Mapped struct {
	Capabilities v1beta1.Capabilities
	// Alone has the values to use, by capability, if the release has no ordinary image beside this one.
	Alone map[string][]string
}

// Skips returns the condition that leaves an image out; nil if none does. Conditions on keys that the user has matched do not apply.
func (m *Map) Skips(facts map[string][]string, matched []string) map[string]string {
	for _, when := range m.Skip {
		chosen := slices.ContainsFunc(matched, func(key string) bool { _, named := when[key]; return named })
		if !chosen && meets(facts, when) {
			return when
		}
	}
	return nil
}

func meets(facts map[string][]string, when map[string]string) bool {
	for key, glob := range when {
		if !fits(facts, key, glob) {
			return false
		}
	}
	return true
}

// Of returns the capabilities of an image, given the profile's registered capabilities.
func (m *Map) Of(facts map[string][]string, registered []v1beta1.CapabilityDefinition) Mapped {
	has := Mapped{v1beta1.Capabilities{}, map[string][]string{}}
	for i := range m.Rows {
		r := &m.Rows[i]
		if r.registered {
			has.addRegistered(facts[r.From], registered)
			continue
		}
		if _, known := has.Capabilities[r.Name]; known || !meets(facts, r.When) {
			continue
		}
		values := r.Values
		if r.From != "" {
			values = facts[r.From]
		}
		if len(values) == 0 {
			continue
		}
		has.Capabilities[r.Name] = values
		if len(r.Alone) > 0 {
			has.Alone[r.Name] = r.Alone
		}
	}
	return has
}

// addRegistered adds the capabilities that register one of the values, ignoring case.
func (m *Mapped) addRegistered(values []string, registered []v1beta1.CapabilityDefinition) {
	for _, value := range values {
		for _, c := range registered {
			i := slices.IndexFunc(c.Values, func(registered string) bool { return strings.EqualFold(registered, value) })
			if _, known := m.Capabilities[c.Name]; !known && i >= 0 {
				m.Capabilities[c.Name] = []string{c.Values[i]}
			}
		}
	}
}

// AloneNames returns the capabilities with Alone values, in the order of the map.
func (m *Map) AloneNames() (names []string) {
	for i := range m.Rows {
		if r := &m.Rows[i]; len(r.Alone) > 0 && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}
