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
// pointer to a struct, does not have. kindOf returns apiVersion and kind of into after decoding. kinds has at least one element.
func DecodeKnown(
	raw *runtime.RawExtension, kinds []schema.GroupVersionKind, into any, kindOf func() schema.GroupVersionKind, at *field.Path,
) finding.List {
	return decode(strictjson.DecodeKnown, raw, kinds, into, kindOf, at, nil)
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
