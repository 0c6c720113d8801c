// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package finding holds what all checks report: a [Finding] is one fault in a manifest, with the rule that it breaks, the
// place where it stands, and words for the person who wrote it. A [Report] has those that deny and those that only warn. A
// [Rule] is an entry of the catalogue from which documentation and SARIF output are made.
//
// Start reading at [New]. Of this module the package imports fieldpath alone. Rules belong to those that report them.
package finding

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// Finding is one result of a check. It is a field error: Origin is the stable name of the rule, Field the path where the user wrote it,
// and Detail a text for that user. [New] makes one.
//
// The other fields decide whether two findings are the same, in two versions of an object (semantics S10). A finding owns the values that
// are written into it: do not change them while others use it.
type Finding struct {
	*field.Error
	// Place is the parsed path that identifies the finding. It is that of Field, unless a check sets another: a Secret, for example, is the
	// same by whichever of two fields a Shoot refers to it.
	Place fieldpath.Path
	// About distinguishes different findings of one rule at one place. Usually empty.
	About string
	// Extent lists further parts of the object that the finding is about, such as those that are not checked because of it. If one of them
	// changes, it is another finding.
	Extent []fieldpath.Path
	// Parts are the findings that this one stands for, if it covers several places. They then identify it in two versions of an object.
	Parts List
	// Subject is what the finding is about, for callers that search by it. Otherwise it is empty.
	Subject Subject
	// Suggestion is what was probably meant; nil if that is unknown.
	Suggestion *Suggestion
	// Implied are findings that are not reported, because they follow from this one. If this finding is suppressed, report these.
	Implied List
}

// New returns the finding of a rule at a path; nil stands for the whole document. value is what the user wrote, nil if there
// is nothing to quote, and [field.OmitValueType] if there is but it is too long, or a secret.
func New(rule string, kind field.ErrorType, at *field.Path, value any, detail string) Finding {
	err := &field.Error{Type: kind, Field: fieldpath.Text(at), BadValue: value, Detail: detail, Origin: rule}
	return Finding{Error: err, Place: fieldpath.Parse(err.Field)}
}

// Subject is what a finding is about, as far as its check sets it.
type Subject struct {
	Image, Version string
	// Pool is the name of a worker pool, in the one finding with the reason that the pool gets no image.
	Pool string
}

// Suggestion replaces a part of the manifest with what was probably meant.
type Suggestion struct {
	Replace Replaced
	// Name is what is written, and With what was probably meant.
	Name, With string
	// Certain is set if Name can hardly mean anything else, so that it may be replaced without asking.
	Certain bool
}

// Replaced says what a [Suggestion] replaces.
type Replaced int

// What a suggestion replaces.
const (
	// ReplaceKey is about the last key of the path.
	ReplaceKey Replaced = iota
	// ReplaceValue is about the value at the path.
	ReplaceValue
	// ReplaceByList is about the value at the path, which is to be a list with With as its only item.
	ReplaceByList
	// ReplaceByObject is about the value at the path, With, which is to be the member Name of an object.
	ReplaceByObject
	// ReplaceRegion is about the name of a region, wherever it stands in the provider config.
	ReplaceRegion
)

// Suggest returns a certain suggestion or, if certainly is empty, a probable one; nil if both are empty.
func Suggest(replace Replaced, name, probably, certainly string) *Suggestion {
	with := cmp.Or(certainly, probably)
	if with == "" {
		return nil
	}
	return &Suggestion{Replace: replace, Name: name, With: with, Certain: certainly != ""}
}

// String returns the finding as field errors are written; one about the whole document without a path.
func (f Finding) String() string {
	if f.Field == "" {
		return f.ErrorBody()
	}
	return f.Error.Error()
}

// In returns the finding with an [Finding.Extent] that has these parts as well.
func (f Finding) In(parts ...*field.Path) Finding {
	f.Extent = slices.Clone(f.Extent)
	for _, part := range parts {
		f.Extent = append(f.Extent, fieldpath.Of(part))
	}
	return f
}

// List holds findings in the order in which they are reported.
type List []Finding

// Of turns field errors, which it keeps, into findings.
func Of(errs field.ErrorList) List {
	if len(errs) == 0 {
		return nil
	}
	list := make(List, 0, len(errs))
	for _, err := range errs {
		list = append(list, Finding{Error: err, Place: fieldpath.Parse(err.Field)})
	}
	return list
}

// Errors returns the field errors of the findings, in their order; nil if there are none.
func (l List) Errors() field.ErrorList {
	if len(l) == 0 {
		return nil
	}
	errs := make(field.ErrorList, 0, len(l))
	for _, f := range l {
		errs = append(errs, f.Error)
	}
	return errs
}

// Sort sorts the findings, in place, by their paths: names in lexical order, indices in numerical order, a parent before its
// children. Findings at one path are ordered by rule, then by text.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Finding) int {
		return cmp.Or(fieldpath.Compare(a.Field, b.Field), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Detail, b.Detail))
	})
}

// Report is what a check found. Errors deny an object; warnings never deny anything. The zero Report found nothing.
type Report struct {
	Errors, Warnings List
	// Silenced are errors that are not reported, since others explain them: those about an entry that could be read only in part, for
	// example. They count when two versions of an object are compared.
	Silenced List
	// ErrorsLeftOut and WarningsLeftOut are set if there are more than the lists have: see Most.
	ErrorsLeftOut, WarningsLeftOut bool
}

// Most is the limit of errors in a report, silenced ones included, and that of warnings. Nobody reads more, and an object may have a
// hundred thousand: to find and to compare them would take memory and time that others need.
const Most = 1000

// Full reports whether the report has as many errors as it may have. A check need not look for more of them.
func (r *Report) Full() bool { return len(r.Errors)+len(r.Silenced) >= Most }

// Warn appends a warning unless there are as many as there may be, and reports whether it did.
func (r *Report) Warn(warning Finding) bool {
	if len(r.Warnings) >= Most {
		r.WarningsLeftOut = true
		return false
	}
	r.Warnings = append(r.Warnings, warning)
	return true
}

// leftOut is the subject of a finding that reports omitted ones.
const leftOut = "left out"

// End adds an error at the path if the report leaves errors out, and a warning if it leaves warnings out. They have the rule of the last
// one. It adds neither of them twice.
func (r *Report) End(at *field.Path) {
	end := func(list *List, last, what string) {
		if slices.ContainsFunc(*list, func(f Finding) bool { return f.About == leftOut }) {
			return
		}
		f := New(last, field.ErrorTypeInvalid, at, field.OmitValueType{},
			fmt.Sprintf("there are %d %s or more, and not all are listed: repair these first", Most, what))
		f.About = leftOut
		*list = append(*list, f)
	}
	if all := slices.Concat(r.Silenced, r.Errors); r.ErrorsLeftOut && len(all) > 0 {
		end(&r.Errors, all[len(all)-1].Origin, "errors")
	}
	if r.WarningsLeftOut && len(r.Warnings) > 0 {
		end(&r.Warnings, r.Warnings[len(r.Warnings)-1].Origin, "warnings")
	}
}

// Add appends the report of another check.
func (r *Report) Add(o Report) {
	r.Errors = append(r.Errors, o.Errors...)
	r.Warnings = append(r.Warnings, o.Warnings...)
	r.Silenced = append(r.Silenced, o.Silenced...)
	r.ErrorsLeftOut, r.WarningsLeftOut = r.ErrorsLeftOut || o.ErrorsLeftOut, r.WarningsLeftOut || o.WarningsLeftOut
}

// Silence takes the errors that others explain for silenced ones.
func (r *Report) Silence(explained func(Finding) bool) {
	var told List
	for _, f := range r.Errors {
		if explained(f) {
			r.Silenced = append(r.Silenced, f)
		} else {
			told = append(told, f)
		}
	}
	r.Errors = told
}

// Found appends the finding of a rule, see [New], to the list of its severity, unless that is full. The detail is formatted as by
// Sprintf. The finding that it returns may be changed until the next one is appended.
func (r *Report) Found(rule Rule, kind field.ErrorType, at *field.Path, value any, format string, args ...any) *Finding {
	list, left, full := &r.Errors, &r.ErrorsLeftOut, r.Full()
	if rule.Severity == SeverityWarning {
		list, left, full = &r.Warnings, &r.WarningsLeftOut, len(r.Warnings) >= Most
	}
	if full {
		*left = true
		return &Finding{Error: &field.Error{}} // for the caller to change, and then lost
	}
	*list = append(*list, rule.Fault(kind, at, value, format, args...))
	return &(*list)[len(*list)-1]
}

// Sorted returns the report with both lists sorted in place, see [List.Sort]: the same input gives the same report.
func (r Report) Sorted() Report {
	r.Errors.Sort()
	r.Warnings.Sort()
	return r
}

// Failed returns the report of a check that found one error.
func Failed(f Finding) Report { return Report{Errors: List{f}} }

// Severity of a rule.
type Severity string

// The severities. They are part of the command line's JSON.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Rule is an entry of the catalogue of rules, from which documentation and SARIF output are made. The command rules prints its JSON,
// which is an interface: a field once published keeps its name and meaning.
type Rule struct {
	// Name is the stable name, the Origin of the rule's findings. Once published it keeps its meaning.
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// Escalates marks a warning that lint turns into an error in the case that Means names.
	Escalates bool `json:"-"`
	// Object is what the rule is about: one of the Object constants, or the kind of another object. Empty: not specified.
	Object string `json:"object"`
	// Online rules look at older versions of an object, at its users, at credentials, as only admission can.
	Online bool `json:"online"`
	// Command names the only command that checks the rule. Empty: lint or admission check it.
	Command string `json:"command,omitempty"`
	// Means says in a sentence or two what the rule demands, and why.
	Means string `json:"means"`
	// Repair says what to do about a finding.
	Repair string `json:"repair"`
}

// Fault returns a finding of the rule, see [New]. The detail is formatted as by Sprintf.
func (r *Rule) Fault(kind field.ErrorType, at *field.Path, value any, format string, args ...any) Finding {
	return New(r.Name, kind, at, value, fmt.Sprintf(format, args...))
}

// InManifests reports whether lint can check the rule, with manifests alone.
func (r *Rule) InManifests() bool { return !r.Online && r.Command == "" }

// Severities returns the severities that findings of the rule have, in words.
func (r *Rule) Severities() string {
	if r.Escalates {
		return string(SeverityError) + " or " + string(r.Severity)
	}
	return string(r.Severity)
}

// What a [Rule] is about: a kind of objects, any of them, or what is no object yet.
const (
	ObjectCloudProfile           = "CloudProfile"
	ObjectNamespacedCloudProfile = "NamespacedCloudProfile"
	ObjectShoot                  = "Shoot"
	ObjectSecret                 = "Secret"
	ObjectAny                    = "any object"
	ObjectFile                   = "file"
)

// On returns the rules as those about an object, but for those that name another one. They are changed in place.
func On(object string, rules ...Rule) []Rule {
	for i := range rules {
		rules[i].Object = cmp.Or(rules[i].Object, object)
	}
	return rules
}

// Denies returns a rule whose findings are errors.
func Denies(name, means, repair string) Rule {
	return Rule{Name: name, Severity: SeverityError, Means: means, Repair: repair}
}

// Warns returns a rule whose findings are warnings.
func Warns(name, means, repair string) Rule {
	return Rule{Name: name, Severity: SeverityWarning, Means: means, Repair: repair}
}

// Escalates returns a rule that warns, marked as one of which lint makes an error in the case that its text names.
func Escalates(rule Rule) Rule {
	rule.Escalates = true
	return rule
}

// Online returns the rules, marked as those that only admission can check. They are changed in place.
func Online(rules []Rule) []Rule {
	for i := range rules {
		rules[i].Online = true
	}
	return rules
}
