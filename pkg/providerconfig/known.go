// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

// DecodeKnown is [Decode] for a config of several API versions whose type has only a part of its fields: it ignores fields that into, a
// pointer to a struct, does not have, unless an absent field was probably meant. [Ignorable] tells these errors from others. kindOf returns
// apiVersion and kind of into after decoding. kinds has at least one element.
func DecodeKnown(
	raw *runtime.RawExtension, kinds []schema.GroupVersionKind, into any, kindOf func() schema.GroupVersionKind, at *field.Path,
) finding.List {
	return decode(strictjson.DecodeKnown, raw, kinds, into, kindOf, at, nil)
}

// Ignorable splits the errors of [DecodeKnown]. ignored are those about unknown fields, which the config may really have.
func Ignorable(all finding.List) (errs, ignored finding.List) {
	for _, err := range all {
		if unknownField(err) {
			ignored = append(ignored, err)
		} else {
			errs = append(errs, err)
		}
	}
	return errs, ignored
}

// FieldsIgnored adds the ignored fields of [Ignorable] to a report: as warnings or, if the absence of the field that was probably meant is an
// error anyway, as the error that explains it. lacking has the paths of these absent fields. It modifies the errors in ignored.
func FieldsIgnored(report *finding.Report, ignored finding.List, lacking map[string]bool) {
	for _, f := range ignored {
		if lacking[strings.TrimSuffix(f.Field, f.Suggestion.Name)+f.Suggestion.With] {
			report.Errors = append(report.Errors, f)
			continue
		}
		f.Origin = RuleFieldUnknown
		f.Detail += " if the extension has this field, keep it: it is not known here"
		report.Warn(f)
	}
}

// unknownField reports whether an error of a decoder is about an unknown field, and not, for example, the number of omitted errors.
func unknownField(err finding.Finding) bool {
	return err.Origin == strictjson.OriginUnknownField && err.Type == field.ErrorTypeForbidden
}

// configMissing returns the error for a missing config.
func configMissing(kind schema.GroupVersionKind, at *field.Path) finding.Finding {
	return finding.New(ruleConfigMissing, field.ErrorTypeRequired, at, nil,
		fmt.Sprintf("add an object with apiVersion: %s, kind: %s", kind.GroupVersion(), kind.Kind)).In(at)
}

// checkKinds returns the errors for a kind that is not among several.
func checkKinds(got schema.GroupVersionKind, kinds []schema.GroupVersionKind, at *field.Path) finding.List {
	want := kinds[0]
	var versions []string
	for _, kind := range kinds {
		versions = append(versions, kind.GroupVersion().String())
		if kind.GroupVersion() == got.GroupVersion() {
			want = kind
		}
	}
	if len(kinds) == 1 || want.GroupVersion() == got.GroupVersion() || got.GroupVersion().Empty() {
		return checkKind(got, want, at)
	}
	var errs finding.List
	errs = append(errs, finding.New(RuleConfigKind, field.ErrorTypeNotSupported, at.Child("apiVersion"), got.GroupVersion().String(),
		"this extension reads one of apiVersion: "+strings.Join(versions, ", ")).In(at))
	got.Group, got.Version = want.Group, want.Version
	return append(errs, checkKind(got, want, at)...)
}
