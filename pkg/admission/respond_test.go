// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/admission/internal/serving"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// findings returns findings with these origins in turn, and texts of about size bytes.
func findings(number, size int, origins ...string) field.ErrorList {
	var list field.ErrorList
	for i := range number {
		err := field.Invalid(field.NewPath("spec").Index(i), "value", strings.Repeat("ö", size/2)).WithOrigin(origins[i%len(origins)])
		list = append(list, err)
	}
	return list
}

func reportOf(errs field.ErrorList) finding.Report { return finding.Report{Errors: finding.Of(errs)} }

// At most a hundred errors are named, and only these are formatted.
func TestDenyNamesAHundred(t *testing.T) {
	for _, n := range []int{100, 101, 50000} {
		report := reportOf(findings(n, 20, "a"))
		var causes []metav1.StatusCause
		allocations := testing.AllocsPerRun(1, func() { causes = deny(coreKind("Shoot"), "shop", report).ErrStatus.Details.Causes })
		if want := min(n, 101); len(causes) != want {
			t.Errorf("of %d there are %d causes", n, len(causes))
		}
		if last := causes[len(causes)-1].Message; n > 100 && last != fmt.Sprintf("and %d more errors; capkit lint lists all", n-100) {
			t.Errorf("of %d the last is %q", n, last)
		}
		if allocations > 10000 {
			t.Errorf("%d take %.0f allocations", n, allocations)
		}
	}
}

// If the check has omitted errors, the answer does not give their number.
func TestDenySaysThatErrorsAreLeftOut(t *testing.T) {
	report := reportOf(findings(finding.Most, 20, "a"))
	report.ErrorsLeftOut = true
	message := deny(coreKind("Shoot"), "shop", report).ErrStatus.Message
	if want := "and 900 more errors or still more; capkit lint lists 1000"; !strings.HasSuffix(message, want) {
		t.Errorf("the message ends with %q", message[len(message)-100:])
	}
}

func TestDenyKeepsTheOrderOfAllThatFits(t *testing.T) {
	errs := findings(20, 100, "a", "a", "b")
	invalid := deny(coreKind("Shoot"), "shop", reportOf(errs))
	if invalid.ErrStatus.Code != 422 || invalid.ErrStatus.Reason != "Invalid" ||
		invalid.ErrStatus.Details.Kind != "Shoot" || invalid.ErrStatus.Details.Name != "shop" {
		t.Errorf("the status is %v", invalid.ErrStatus)
	}
	if len(invalid.ErrStatus.Details.Causes) != len(errs) {
		t.Fatalf("there are %d causes", len(invalid.ErrStatus.Details.Causes))
	}
	for i, cause := range invalid.ErrStatus.Details.Causes {
		if cause.Field != errs[i].Field || cause.Message != errs[i].ErrorBody() {
			t.Errorf("cause %d is %v", i, cause)
		}
	}
	if !answer(coreKind("Shoot"), "shop", finding.Report{}).Allowed {
		t.Error("nothing is wrong, and it is denied")
	}
}

func TestDenyCutsTheLeastUseful(t *testing.T) {
	errs := append(findings(900, 300, "often"), findings(1, 300, "once")...)
	invalid := deny(coreKind("CloudProfile"), "openstack", reportOf(errs))
	causes := invalid.ErrStatus.Details.Causes
	shown := len(causes) - 1
	if size := len(invalid.ErrStatus.Message); size > maxText+10<<10 || size < maxText/2 {
		t.Errorf("the message has %d bytes", size)
	}
	want := fmt.Sprintf("and %d more errors; capkit lint lists all", len(errs)-shown)
	if causes[shown].Message != want || !strings.HasSuffix(invalid.ErrStatus.Message, want) {
		t.Errorf("the end is %q, and %q is wanted", causes[shown].Message, want)
	}
	if causes[0].Message != errs[0].ErrorBody() || causes[1].Message != errs[900].ErrorBody() || causes[2].Message != errs[1].ErrorBody() {
		t.Error("the first of each rule does not come first")
	}
	if len(errs) != 901 || errs[1].Origin != "often" {
		t.Error("the list that was given has changed")
	}
}

func TestDenyShortensWhatIsExtremelyLong(t *testing.T) {
	errs := field.ErrorList{field.Invalid(field.NewPath(strings.Repeat("ö", 1<<20)), strings.Repeat("ü", 1<<20), strings.Repeat("ä", 1<<20)).WithOrigin("a")}
	invalid := deny(coreKind("CloudProfile"), strings.Repeat("é", 1<<20), reportOf(errs))
	if size := len(invalid.ErrStatus.Message); size > 4*serving.MaxErrorText || !utf8.ValidString(invalid.ErrStatus.Message) {
		t.Errorf("the message has %d bytes", size)
	}
	if len(errs[0].Detail) != 2<<20 {
		t.Error("the list that was given has changed")
	}
}

func TestWarn(t *testing.T) {
	for _, test := range []struct{ number, size int }{{0, 1}, {1, 10}, {10, 100}, {1, 10000}, {3, 5000}, {200, 30}, {5000, 200}, {40, 99}, {41, 99}} {
		for shift := range 4 { // so that cuts fall on every byte of a character
			list := findings(test.number, test.size, "a", "b", "b")
			for _, err := range list {
				err.Detail = strings.Repeat("x", shift) + err.Detail
			}
			warnings := warn(finding.Of(list))
			total := 0
			for _, warning := range warnings {
				total += len(warning)
				if !utf8.ValidString(warning) || warning == "" {
					t.Errorf("%v: the warning is %q", test, warning)
				}
			}
			if total > maxWarningText {
				t.Errorf("%v: the warnings have %d bytes", test, total)
			}
			if test.number > 0 && len(warnings) == 0 {
				t.Errorf("%v: there is none", test)
			}
			if len(warnings) < test.number {
				if want := fmt.Sprintf("and %d more warnings; capkit lint lists all", test.number-len(warnings)+1); warnings[len(warnings)-1] != want {
					t.Errorf("%v: the last is %q, and %q is wanted", test, warnings[len(warnings)-1], want)
				}
			}
		}
	}
}

func TestWarnKeepsTheOrderOfAllThatFits(t *testing.T) {
	list := findings(10, 20, "a", "a", "b")
	var want []string
	for _, err := range list {
		want = append(want, err.Field+": "+err.Detail)
	}
	if got := warn(finding.Of(list)); !slices.Equal(got, want) {
		t.Errorf("%q instead of %q", got, want)
	}
}

// If not all fit, what an update does precedes what is wrong with the object, and that what was wrong before, whatever their rules.
func TestWarnOfTheUpdateFirst(t *testing.T) {
	list := finding.Of(findings(40, 300, "a", "b", "c", "d"))
	for i := range list {
		list[i].Concern = []finding.Concern{finding.Older, finding.Contents, finding.Effect}[min(max(0, i-25)/5, 2)]
	}
	got := warn(list)
	for i, f := range slices.Concat(list[35:], list[30:35]) {
		if got[i] != f.Field+": "+f.Detail && i < 4 || !slices.Contains(got, f.Field+": "+f.Detail) {
			t.Errorf("%s is not among the first of %q", f.Field, got)
		}
	}
	if len(got) < 12 { // some of the others, and how many are omitted
		t.Errorf("%d warnings", len(got))
	}
}

// TestAnswersArePrintable appends terminal control characters to each text and each field name of an object.
func TestAnswersArePrintable(t *testing.T) {
	const hostile = "\x1b[31m\n\u009b\u202e"
	e := newEndpoints(t)
	quoted := 0
	for kind, document := range kinds(t) {
		for i, name := range e.names {
			if !strings.HasSuffix(name, "-"+strings.ToLower(kind)) {
				continue
			}
			each(t, document, hostile, func(object any) {
				response, _ := e.ask(t, e.names[i], object, nil)
				texts := response.Warnings
				if response.Result != nil {
					texts = append(texts, response.Result.Message)
					for _, cause := range ptr.Deref(response.Result.Details, metav1.StatusDetails{}).Causes {
						texts = append(texts, cause.Field, cause.Message)
					}
				}
				for _, text := range texts {
					if words.Printable(text) != text {
						t.Errorf("%s: %q", name, text)
					}
					if strings.Contains(text, "[31m") {
						quoted++
					}
				}
			})
		}
	}
	if quoted < 100 {
		t.Errorf("the words are in %d texts only", quoted)
	}
}

// each visits copies of a document with a text appended to one string, or to one field name.
func each(t *testing.T, document, hostile string, visit func(object any)) {
	t.Helper()
	var object any
	if err := json.Unmarshal([]byte(document), &object); err != nil {
		t.Fatal(err)
	}
	var within func(value any, set func(any))
	within = func(value any, set func(any)) {
		switch value := value.(type) {
		case string:
			set(value + hostile)
			visit(object)
			set(value)
		case []any:
			for i, element := range value {
				within(element, func(v any) { value[i] = v })
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				within(value[name], func(v any) { value[name] = v })
				value[name+hostile] = value[name]
				visit(object)
				delete(value, name+hostile)
			}
		}
	}
	within(object, nil)
}
