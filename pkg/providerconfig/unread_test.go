// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/strictjson"
)

func errorAt(rule, path string) finding.Finding {
	return finding.New(rule, field.ErrorTypeForbidden, field.NewPath(path), nil, "is wrong")
}

// Silence moves only findings that follow from unreadable parts, and keeps the marks for omitted findings. It does not write to the spare
// capacity of the list of silenced errors.
func TestSilence(t *testing.T) {
	unread := providerconfig.UnreadIn(finding.List{errorAt(strictjson.OriginFieldType, "a")}, nil)
	room := finding.List{errorAt("before", "z"), errorAt("other", "z")}
	report := finding.Report{
		Errors:   finding.List{errorAt("first", "a"), errorAt("second", "b")},
		Warnings: finding.List{errorAt("third", "a"), errorAt("fourth", "b")},
		Silenced: room[:1], ErrorsLeftOut: true, WarningsLeftOut: true,
	}
	told := unread.Silence(report)
	if diff := cmp.Diff([]string{"second", "fourth", "before", "first"}, rulesOf(told.Errors, told.Warnings, told.Silenced)); diff != "" {
		t.Error(diff)
	}
	if !told.ErrorsLeftOut || !told.WarningsLeftOut {
		t.Error("it is lost that findings are left out")
	}
	if got := rulesOf(report.Errors, report.Warnings, room); len(got) != 6 || got[5] != "other" {
		t.Errorf("what was given is changed: %v", got)
	}
}

func rulesOf(lists ...finding.List) (rules []string) {
	for _, list := range lists {
		for _, f := range list {
			rules = append(rules, f.Origin)
		}
	}
	return rules
}

// FieldsOfLater does not modify its input: a second call gives the same result.
func TestFieldsOfLater(t *testing.T) {
	errs := finding.List{errorAt(strictjson.OriginUnknownField, "new"), errorAt(strictjson.OriginFieldType, "a")}
	for range 2 {
		report := providerconfig.FieldsOfLater("v1.2", errs)
		want := []string{
			"a: Forbidden: is wrong", "new: Forbidden: is wrong; if a version after v1.2 has this field, keep it: it is not known here yet",
		}
		if diff := cmp.Diff(want, []string{report.Errors[0].String(), report.Warnings[0].String()}); diff != "" {
			t.Error(diff)
		}
	}
}
