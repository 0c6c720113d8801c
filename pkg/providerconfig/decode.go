// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package providerconfig is for those who implement the interface of package provider. [Decode] reads a config strictly, [Images] and
// its like convert the lists that most configs have, and what all providers say in the same words are ready-made findings. [Unread]
// knows what could not be read, so that nothing is said that only follows from it.
package providerconfig

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// Decode decodes a provider's own object, which stands at the path at, into a pointer to any struct that embeds
// metav1.TypeMeta. It accepts nothing but the one kind, and no unknown fields, and it reports everything that it refuses
// at the place where it stands: a config that is missing or null (Required), another apiVersion or kind (NotSupported),
// unknown fields, values of a wrong type. Of a config of another kind it reports nothing else. Without errors into holds
// the whole object; otherwise it holds what could be read. Equal capabilities in it are one map, which must not be
// changed. Of an unknown field that the changes are about the error says what has become of it.
func Decode(
	raw *runtime.RawExtension, kind schema.GroupVersionKind, into schema.ObjectKind, at *field.Path, changes ...Change,
) finding.List {
	return decode(strictjson.Decode, raw, []schema.GroupVersionKind{kind}, into, into.GroupVersionKind, at, changes)
}

func decode(
	read func([]byte, any, *field.Path, ...strictjson.Option) finding.List, raw *runtime.RawExtension, kinds []schema.GroupVersionKind,
	into any, kindOf func() schema.GroupVersionKind, at *field.Path, changes []Change,
) finding.List {
	if !HasContent(raw) {
		return finding.List{configMissing(kinds[0], at)}
	}
	list := read(raw.Raw, into, at, strictjson.Shared[v1beta1.Capabilities]())
	if got := kindOf(); !slices.Contains(kinds, got) && !onType(list, at) {
		return checkKinds(got, kinds, at) // the fields of another kind are not worth reporting
	}
	for i := range list { // each is about all of the value that could not be read
		list[i].Extent = []fieldpath.Path{list[i].Place}
		explain(&list[i], at, changes)
	}
	return list
}

// Change is what has become of a field that a config does not have, but had once, or has in another version.
type Change struct {
	// Field is where it stood, without indices: "machineImages.versions.capabilitySets".
	Field string
	// Became says since when, and what to do, as the end of a sentence: "renamed to capabilityFlavors", "new in v1.80".
	Became string
}

// common are the changes that all clouds have gone through.
var common = []Change{{"machineImages.versions.capabilitySets", "renamed to capabilityFlavors; write that instead"}}

// explain writes into the error about an unknown field of a config at the path what has become of it, if that is known.
func explain(f *finding.Finding, at *field.Path, changes []Change) {
	var names []string // on the way from the config to the error
	for _, segment := range f.Place[min(len(fieldpath.Of(at)), len(f.Place)):] {
		if !segment.IsIndex() {
			names = append(names, segment.Name)
		}
	}
	if f.Origin == strictjson.OriginFieldType {
		below := slices.Index(names, "capabilities") + 1
		if below > 0 && below < len(names) && slices.Contains(references, names[below]) {
			f.Detail = names[below] + " is not a capability: write it beside capabilities, not under it; check the indentation"
			f.Suggestion = nil
		}
		return
	}
	if f.Origin != strictjson.OriginUnknownField || f.Type != field.ErrorTypeForbidden || len(names) == 0 {
		return
	}
	place, name := strings.Join(names, "."), names[len(names)-1]
	for _, change := range slices.Concat(changes, common) {
		if change.Field == place {
			f.Detail, f.Suggestion = fmt.Sprintf("unknown field %q: %s", name, change.Became), nil
			return
		}
	}
	inImage := strings.HasPrefix(place, "machineImages.versions.") && slices.Contains(references, name)
	if here := referenceAmong(f.Detail); inImage && here != "" {
		f.Detail, f.Suggestion = fmt.Sprintf("unknown field %q: here the image of a region is its %s", name, here), nil
		return
	}
	if strings.HasPrefix(place, "machineImages.versions.capabilityFlavors.") && f.Suggestion == nil {
		f.Detail += "; if " + name + " is a capability, move it under capabilities"
	}
}

// references are fields of a flavor that say where its image is.
var references = []string{"regions", "image", "id", "ami", "urn"}

// referenceAmong returns the field that refers to the image of one region, if it is among the known fields of an entry that an error
// about another field lists; empty if there is none, or several.
func referenceAmong(detail string) string {
	_, list, _ := strings.Cut(detail, "known fields: ")
	known := strings.Split(list, ", ")
	if !slices.Contains(known, "name") { // an entry for a region
		return ""
	}
	known = slices.DeleteFunc(known, func(name string) bool { return !slices.Contains(references, name) })
	if len(known) != 1 {
		return ""
	}
	return known[0]
}

// FieldsOfLater turns errors about fields that are not known into warnings which say up to which version they are. errs stays as it is,
// and all other errors in it are shared.
func FieldsOfLater(knownUpTo string, errs finding.List) finding.Report {
	var report finding.Report
	for _, err := range errs {
		if err.Origin != strictjson.OriginUnknownField || err.Type != field.ErrorTypeForbidden { // such as the number of those left out
			report.Errors = append(report.Errors, err)
			continue
		}
		err.Error = ptr.To(*err.Error)
		err.Origin = RuleWorkerFieldUnknown
		separator := "; "
		if err.Suggestion != nil { // which ends in a question mark
			separator = " "
		}
		err.Detail += separator + "if a version after " + knownUpTo + " has this field, keep it: it is not known here yet"
		report.Warnings = append(report.Warnings, err)
	}
	return report
}

// HasContent reports whether there is a config: one that is nil, empty or null says nothing. Only Raw counts, as everywhere.
func HasContent(config *runtime.RawExtension) bool {
	if config == nil {
		return false
	}
	content := bytes.TrimSpace(config.Raw)
	return len(content) > 0 && string(content) != "null"
}

// Empty reports whether a value of a config, as encoding/json decodes it, says nothing, as the fields do that a client writes because it
// knows the type: nothing, empty text, an empty list, or an object of such. False and zero do say something.
func Empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			if !Empty(member) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return value == nil || value == ""
}

// onType reports whether apiVersion or kind could not even be read, so that they are reported already.
func onType(errs finding.List, at *field.Path) bool {
	places := []string{fieldpath.Text(at), at.Child("apiVersion").String(), at.Child("kind").String()}
	return slices.ContainsFunc(errs, func(f finding.Finding) bool { return slices.Contains(places, f.Field) })
}

func checkKind(got, want schema.GroupVersionKind, at *field.Path) finding.List {
	var errs finding.List
	expect := func(name, got, want string) {
		switch got {
		case want:
		case "":
			errs = append(errs, finding.New(RuleConfigKind, field.ErrorTypeRequired, at.Child(name), nil,
				fmt.Sprintf("write %s: %s", name, want)).In(at))
		default:
			errs = append(errs, finding.New(RuleConfigKind, field.ErrorTypeNotSupported, at.Child(name), got,
				fmt.Sprintf("this extension reads %s: %s only", name, want)).In(at))
		}
	}
	expect("apiVersion", got.GroupVersion().String(), want.GroupVersion().String())
	expect("kind", got.Kind, want.Kind)
	return errs
}

// Unread holds the places of a config that could not be read. What follows from them would only repeat the error in other
// words, so checks are silent about it. The zero Unread is that of a config without such places. What Touches, Covers and Silence answer
// takes no more time for many places than for one, since configs may have thousands of both. It is immutable, and safe for concurrent use
// but for Silence.
type Unread struct {
	// places in the order of the report.
	places []string
	// known has true for each place, and false for every path above one. beside has the last names of the places below each path.
	known  map[string]bool
	beside map[string][]string
	// meant has what misspelt has found out, by path.
	meant map[string]bool
}

// UnreadIn returns the unread places, from the findings of decoding a config at the path. Other findings are ignored.
func UnreadIn(errs finding.List, at *field.Path) Unread {
	var u Unread
	for _, err := range errs {
		switch err.Origin {
		case strictjson.OriginSyntax, strictjson.OriginUnknownField, strictjson.OriginFieldType, strictjson.OriginDuplicateKey:
			u.places = append(u.places, err.Field)
		case ruleConfigMissing, RuleConfigKind:
			u.places = append(u.places, fieldpath.Text(at))
		}
	}
	if len(u.places) == 0 {
		return Unread{}
	}
	u.known, u.beside, u.meant = map[string]bool{}, map[string][]string{}, map[string]bool{}
	for _, place := range u.places {
		if u.known[place] {
			continue
		}
		for path := range fieldpath.Upward(place) {
			u.known[path] = u.known[path] || path == place
		}
		name := strings.LastIndexByte(place, '.') + 1
		u.beside[place[:name]] = append(u.beside[place[:name]], place[name:])
	}
	return u
}

// Any reports whether there is a place that could not be read.
func (u Unread) Any() bool { return len(u.places) > 0 }

// First returns the first place, in the order of the report; below is nil, or leaves out those that are not at or below this path.
// It is empty if there is none.
func (u Unread) First(below *field.Path) string {
	if i := slices.IndexFunc(u.places, func(place string) bool { return below == nil || fieldpath.Above(below.String(), place) }); i >= 0 {
		return u.places[i]
	}
	return ""
}

// Touches reports whether a place is at, above or below the path.
func (u Unread) Touches(at *field.Path) bool { return u.Any() && u.touches(fieldpath.Text(at)) }

func (u Unread) touches(path string) bool {
	_, above := u.known[path]
	return above || u.covers(path)
}

// Covers reports whether a place is at or above the path.
func (u Unread) Covers(at *field.Path) bool { return u.Any() && u.covers(fieldpath.Text(at)) }

func (u Unread) covers(path string) bool {
	for above := range fieldpath.Upward(path) {
		if u.known[above] {
			return true
		}
	}
	return false
}

// Beside reports whether a place is at, above or below the path, and not within one of those that are known.
func (u Unread) Beside(at *field.Path, known sets.Set[string]) bool {
	return u.Covers(at) || slices.ContainsFunc(u.places, func(place string) bool {
		for above := range fieldpath.Upward(place) {
			if known.Has(above) {
				return false
			}
		}
		return fieldpath.Above(fieldpath.Text(at), place)
	})
}

// Silence returns a report without warnings, and with errors silenced, that only follow from what could not be read:
// about such a value, or what it is a part of; and a Required for something whose name is misspelt. The order stays, and so does the
// argument, with which the result may share lists and findings.
func (u Unread) Silence(report finding.Report) finding.Report {
	if !u.Any() {
		return report
	}
	report.Silenced = slices.Clip(report.Silenced) // the caller's
	report.Silence(u.explains)
	report.Warnings = slices.DeleteFunc(slices.Clone(report.Warnings), u.explains)
	return report
}

func (u Unread) explains(f finding.Finding) bool {
	return u.touches(f.Field) || f.Type == field.ErrorTypeRequired && u.misspelt(f.Field)
}

// misspelt reports whether a name that could not be read was meant to be the last one of a path, or one above it.
func (u Unread) misspelt(path string) bool {
	for above := range fieldpath.Upward(path) {
		meant, known := u.meant[above]
		if !known {
			name := strings.LastIndexByte(above, '.') + 1
			beside := above[name:]
			if end := strings.IndexByte(beside, '['); end >= 0 {
				beside = beside[:end]
			}
			meant = slices.ContainsFunc(u.beside[above[:name]], func(place string) bool {
				return words.Closest(place, []string{beside}) != ""
			})
			u.meant[above] = meant
		}
		if meant {
			return true
		}
	}
	return false
}
