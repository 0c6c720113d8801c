// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package providerconfig helps to implement a provider.Provider. [Decode] strictly decodes a provider config. [Images], [Regions],
// [LegacyFlavors] and [Override] convert the lists that most configs have. Further functions return the findings that all providers share.
// [Unread] has the unreadable places, so that no findings are reported that only follow from them.
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

// Decode decodes a provider's own object, which is at the path at, into a pointer to any struct that embeds metav1.TypeMeta. It accepts
// only one kind, and no unknown fields. It reports every error at its place: a config that is missing or null (Required), another
// apiVersion or kind (NotSupported), unknown fields, and values of a wrong type. For a config of another kind it reports nothing else.
// Without errors, into holds the whole object; otherwise it holds the readable part. Equal capabilities share one map, which must not be
// modified. changes explain unknown fields in their errors.
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
		return checkKinds(got, kinds, at) // other errors are irrelevant in a config of another kind
	}
	for i := range list { // each is about the whole unreadable value
		list[i].Extent = []fieldpath.Path{list[i].Place}
		explain(&list[i], at, changes)
	}
	return list
}

// Change explains the absence of a field that a config once had, or has in another version.
type Change struct {
	// Field is the field's path, without indices: "machineImages.versions.capabilitySets".
	Field string
	// Became says since when, and what to do, as the end of a sentence: "renamed to capabilityFlavors", "new in v1.80".
	Became string
}

// common are the changes in the configs of all clouds.
var common = []Change{{"machineImages.versions.capabilitySets", "renamed to capabilityFlavors; write that instead"}}

// explain explains an error in a config at the path at, if possible: an unknown field by the changes, or by the field that was meant.
func explain(f *finding.Finding, at *field.Path, changes []Change) {
	var names []string // the path from the config to the error
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
	if !unknownField(*f) || len(names) == 0 {
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

// references are the fields of a flavor that locate its image.
var references = []string{"regions", "image", "id", "ami", "urn"}

// referenceAmong returns the field that refers to the image of one region, from the known fields that an error about an unknown one lists;
// empty if the fields are not those of a region's entry, or if there is none or several.
func referenceAmong(detail string) string {
	_, list, _ := strings.Cut(detail, "known fields: ")
	known := strings.Split(list, ", ")
	if !slices.Contains(known, "name") { // a region's entry has one
		return ""
	}
	known = slices.DeleteFunc(known, func(name string) bool { return !slices.Contains(references, name) })
	if len(known) != 1 {
		return ""
	}
	return known[0]
}

// FieldsOfLater turns errors about unknown fields into warnings, which name the version up to which fields are known. It does not modify
// errs; the report shares all other errors with it.
func FieldsOfLater(knownUpTo string, errs finding.List) finding.Report {
	var report finding.Report
	for _, err := range errs {
		if !unknownField(err) {
			report.Errors = append(report.Errors, err)
			continue
		}
		err.Error = ptr.To(*err.Error)
		err.Origin = RuleWorkerFieldUnknown
		separator := "; "
		if err.Suggestion != nil { // its detail ends in a question mark
			separator = " "
		}
		err.Detail += separator + "if a version after " + knownUpTo + " has this field, keep it: it is not known here yet"
		report.Warnings = append(report.Warnings, err)
	}
	return report
}

// HasContent reports whether there is a config, which is not nil, empty or null. Here, as everywhere, only Raw is used.
func HasContent(config *runtime.RawExtension) bool {
	if config == nil {
		return false
	}
	content := bytes.TrimSpace(config.Raw)
	return len(content) > 0 && string(content) != "null"
}

// Empty reports whether a value of a config, as encoding/json decodes it, carries no information: null, an empty string, an empty list, or
// an object with empty values only. Clients that know the type write these for absent fields. False and zero are not empty.
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

// onType reports whether apiVersion or kind have an error already, because they were unreadable.
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

// Unread holds the unreadable places of a config. Checks do not report findings that only follow from them. The zero Unread is for a config
// without any. The running time of Touches, Covers and Silence does not depend on the number of places, since a config may have thousands.
// An Unread is immutable, and safe for concurrent use except for Silence.
type Unread struct {
	// places in the order of the report.
	places []string
	// known has true for each place, and false for every path above one. beside has the last segments of the places, by their prefix.
	known  map[string]bool
	beside map[string][]string
	// meant memoizes misspelt, by path.
	meant map[string]bool
}

// UnreadIn returns the unreadable places in the findings of decoding a config at the path at. It ignores other findings.
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

// Any reports whether there is an unreadable place.
func (u Unread) Any() bool { return len(u.places) > 0 }

// First returns the first place at or below the path below, in the order of the report, or the first of all if below is nil. It is empty if
// there is none.
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

// Beside reports whether a place is at or above the path, or below it but not at or below one of the known paths.
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

// Silence silences errors, and drops warnings, that only follow from unreadable places: those at, above or below such a place, and each
// Required at or below a field whose name was misspelt, or whose extent has such a field. The order is kept. The argument is not modified; the result may share lists and
// findings with it.
func (u Unread) Silence(report finding.Report) finding.Report {
	if !u.Any() {
		return report
	}
	report.Silenced = slices.Clip(report.Silenced) // the array is the caller's
	report.Silence(u.explains)
	report.Warnings = slices.DeleteFunc(slices.Clone(report.Warnings), u.explains)
	return report
}

func (u Unread) explains(f finding.Finding) bool {
	return u.touches(f.Field) || f.Type == field.ErrorTypeRequired && (u.misspelt(f.Field) ||
		slices.ContainsFunc(f.Extent, func(part fieldpath.Path) bool { return u.misspelt(part.Text()) }))
}

// misspelt reports whether an unreadable name was meant to be the last one of a path, or of a path above it.
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
