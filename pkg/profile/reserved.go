// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/words"
)

// This file checks the names that a profile uses for Gardener's own capabilities (semantics S3): the two texts of GEP-0054 use different
// names.

// renamed are both names of each reserved capability that has two.
var renamed = texts.Names()

// ReservedNames yields the places where the object registers or declares a reserved capability with two names, and the name used there. The
// order is spec.machineCapabilities, machine types, core flavors, flavors of the provider config. The path is that of the name.
func (r *Reading[R]) ReservedNames() iter.Seq2[string, func() *field.Path] {
	return func(yield func(string, func() *field.Path) bool) {
		for i := range r.Spec.MachineCapabilities {
			at := func() *field.Path { return r.At.Child("machineCapabilities").Index(i).Child("name") }
			if name := r.Spec.MachineCapabilities[i].Name; slices.Contains(renamed, name) && !yield(name, at) {
				return
			}
		}
		if !r.reserved() {
			return
		}
		for declared := range entries.Declarations(r.Spec, r.Images) {
			for _, name := range renamed {
				_, found := declared.Capabilities[name]
				if found && !yield(name, func() *field.Path { return declared.Path(r.At).Child(name) }) {
					return
				}
			}
		}
	}
}

// mayBeReserved reports whether a machine type, or a flavor on either side, may declare a reserved capability. Usually none does. The check
// of both sides has counted the flavors that declare only registered values, so only machine types remain to be examined.
func (r *Reading[R]) mayBeReserved() bool {
	if r.plain < entries.Flavors(r.Spec, r.Images) || slices.ContainsFunc(r.vocabulary.Definitions(), entries.IsReserved) {
		return entries.DeclareReserved(r.Spec, r.Images)
	}
	return entries.DeclareReserved[R](&v1beta1.CloudProfileSpec{MachineTypes: r.Spec.MachineTypes}, nil)
}

// usedName is the name that a profile uses for a reserved capability, and the place of its first use: a path of the profile, or its parent.
type usedName struct{ name, where string }

// checkReservedNames requires that the object uses one name for each reserved capability: its parent's name, if the parent uses one. It
// sets r.names.
func (r *Reading[R]) checkReservedNames(parent map[string]usedName) {
	type other struct {
		name string
		at   *field.Path
		more int
	}
	others := map[string]*other{} // the first place where it has another name
	r.names = map[string]usedName{}
	for canonical, used := range parent {
		r.names[canonical] = usedName{used.name, "the CloudProfile that is its parent"}
	}
	for name, at := range r.ReservedNames() {
		canonical := texts.Canonical(name)
		used, found := r.names[canonical]
		switch {
		case !found:
			r.names[canonical] = usedName{name, at().String()}
		case used.name == name:
		case others[canonical] == nil:
			others[canonical] = &other{name: name, at: at()}
		default:
			others[canonical].more++
		}
	}
	for _, canonical := range renamed {
		o := others[canonical]
		if o == nil {
			continue
		}
		more := ""
		if o.more > 0 {
			more = ", and has one of the two in " + words.Count(o.more, "more place")
		}
		used := r.names[canonical]
		r.Report.Found(ruleReservedMixed, field.ErrorTypeInvalid, o.at, o.name,
			"%s and %s are the same capability, and the profile calls it %s in %s%s; call it %s everywhere",
			o.name, used.name, used.name, used.where, more, InSecondText(canonical))
	}
}

// InSecondText formats a reserved capability with its values as in the second text of GEP-0054: "gardener-update-type (rolling, in-place)".
func InSecondText(canonical string) string {
	for _, d := range capability.Reserved() {
		if d.Name == canonical {
			return fmt.Sprintf("%s (%s)", d.Name, strings.Join(d.Values, ", "))
		}
	}
	return canonical
}

// meantValue returns the suggestion for an undefined value of a reserved capability, as from a vocabulary that registers nothing.
func meantValue(name, value string) *finding.Suggestion {
	nothing, _ := capability.Compile(nil, nil)
	if _, errs := nothing.Flavor(v1beta1.Capabilities{name: {value}}, nil, field.NewPath("")); len(errs) > 0 {
		return errs[0].Suggestion
	}
	return nil
}

// checkComplete requires that a registered capability of Gardener has the value that every ordinary worker pool asks for.
func (r *Reading[R]) checkComplete(d capability.Definition, registered []string, at *field.Path) {
	if !texts.OfSecond(d.Name) || slices.Contains(registered, d.Undeclared) {
		return
	}
	r.Report.Found(ruleReservedIncomplete, field.ErrorTypeRequired, at, nil,
		"%s is registered without %s, and every worker pool asks for that unless it asks for something else: all of these would be refused; "+
			"register [%s]", d.Name, d.Undeclared, strings.Join(d.Values, ", "))
}
