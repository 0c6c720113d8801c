// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package finding holds the results of all checks. A [Finding] is one mistake in a manifest, with its rule, its place, and a text for the
// author of the manifest. A [Report] has the findings that deny an object and those that only warn. A [Rule] is an entry of the catalogue
// from which documentation and SARIF output are generated.
//
// Start reading at [New]. The package imports only fieldpath of this module. Rules are defined where they are checked.
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
	// changes, the finding is another one.
	Extent []fieldpath.Path
	// Parts are the findings that this one summarizes, if it covers several places. They then identify it in two versions of an object.
	Parts List
	// Subject is the finding's subject, for callers that search by it. Otherwise it is empty.
	Subject Subject
	// Suggestion is what was probably meant; nil if that is unknown.
	Suggestion *Suggestion
	// Concern is what a warning is about.
	Concern Concern
	// Implied are findings that are not reported because they follow from this one. If this finding is suppressed, they must be reported.
	Implied List
}

// Concern is what a warning is about.
type Concern int

// The concerns, of which the effects of an update matter most to those who can see only some warnings.
const (
	// Contents: the object as it is.
	Contents Concern = iota
	// Effect: what an update does to Shoots.
	Effect
	// Older: an error that an update did not cause, and may keep (semantics S10).
	Older
)

// New returns the finding of a rule at a path; nil is the whole document. value is the value that the user wrote, nil if there is nothing
// to quote, and [field.OmitValueType] if the value is too long or a secret.
func New(rule string, kind field.ErrorType, at *field.Path, value any, detail string) Finding {
	err := &field.Error{Type: kind, Field: fieldpath.Text(at), BadValue: value, Detail: detail, Origin: rule}
	return Finding{Error: err, Place: fieldpath.Parse(err.Field)}
}

// Subject is the subject of a finding. Checks set only the fields that a caller needs.
type Subject struct {
	Image, Version string
	// Pool is the name of a worker pool, in the one finding that gives the reason why the pool gets no image.
	Pool string
	// Reason is the part of the text that says why, if the rest of it names the pool's machine type, image and region.
	Reason string
}

// Suggestion replaces a part of the manifest with what was probably meant.
type Suggestion struct {
	Replace Replaced
	// Name is the text written, and With the text that was probably meant.
	Name, With string
	// Certain is set if Name can hardly have another meaning, so that it may be replaced without asking.
	Certain bool
}

// Replaced is the part of a manifest that a [Suggestion] replaces.
type Replaced int

// The replaced parts.
const (
	// ReplaceKey: the last key of the path.
	ReplaceKey Replaced = iota
	// ReplaceValue: the value at the path.
	ReplaceValue
	// ReplaceByList: the value at the path, by a list with With as its only item.
	ReplaceByList
	// ReplaceByObject: the value at the path, which is With, by an object with this value as its member Name.
	ReplaceByObject
	// ReplaceRegion: the name of a region, wherever the provider config has it.
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

// String formats the finding like a field error; without a path if it is about the whole document.
func (f Finding) String() string {
	if f.Field == "" {
		return f.ErrorBody()
	}
	return f.Error.Error()
}

// In returns the finding with these parts added to its [Finding.Extent].
func (f Finding) In(parts ...*field.Path) Finding {
	f.Extent = slices.Clone(f.Extent)
	for _, part := range parts {
		f.Extent = append(f.Extent, fieldpath.Of(part))
	}
	return f
}

// List holds findings in the order in which they are reported.
type List []Finding

// Of turns field errors into findings, which share them. A nil among them is no error.
func Of(errs field.ErrorList) List {
	if len(errs) == 0 {
		return nil
	}
	list := make(List, 0, len(errs))
	for _, err := range errs {
		if err != nil {
			list = append(list, Finding{Error: err, Place: fieldpath.Parse(err.Field)})
		}
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

// Sort sorts the findings, in place, by their paths: names in lexical order, indices in numerical order, a parent before its children.
// Findings at one path are ordered by rule, then by text.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Finding) int {
		return cmp.Or(fieldpath.Compare(a.Field, b.Field), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Detail, b.Detail))
	})
}

// Report is the result of a check. Errors deny an object; warnings never do. The zero Report has no findings.
type Report struct {
	Errors, Warnings List
	// Silenced are errors that are not reported because others explain them, such as errors about an entry that is readable only in part.
	// They matter when two versions of an object are compared.
	Silenced List
	// ErrorsLeftOut and WarningsLeftOut are set if the lists are incomplete: see [Most].
	ErrorsLeftOut, WarningsLeftOut bool
}

// Most limits the errors of a report, including silenced ones, and separately its warnings. Nobody reads more, and an object may have a
// hundred thousand: finding and comparing them all would cost too much memory and time.
const Most = 1000

// Full reports whether the report has as many errors as it may have, so that a check can stop looking for more.
func (r *Report) Full() bool { return len(r.Errors)+len(r.Silenced) >= Most }

// LeavesOut is [Report.Full], for a check that stops looking then. A full report records that errors are left out, although there may be
// none.
func (r *Report) LeavesOut() bool {
	r.ErrorsLeftOut = r.ErrorsLeftOut || r.Full()
	return r.Full()
}

// Warn appends a warning unless the report has [Most] warnings already. It reports whether it did.
func (r *Report) Warn(warning Finding) bool {
	if len(r.Warnings) >= Most {
		r.WarningsLeftOut = true
		return false
	}
	r.Warnings = append(r.Warnings, warning)
	return true
}

// leftOut marks a finding about omitted ones, in About.
const leftOut = "left out"

// End adds an error at the path if the report leaves errors out, and a warning if it leaves warnings out. Each has the rule of the last
// finding in its list. It adds neither of them twice.
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

// Add appends the report of another check. A zero Finding in it is none, and is left out.
func (r *Report) Add(o Report) {
	add := func(list *List, found List) {
		for _, f := range found {
			if f.Error != nil {
				*list = append(*list, f)
			}
		}
	}
	add(&r.Errors, o.Errors)
	add(&r.Warnings, o.Warnings)
	add(&r.Silenced, o.Silenced)
	r.ErrorsLeftOut, r.WarningsLeftOut = r.ErrorsLeftOut || o.ErrorsLeftOut, r.WarningsLeftOut || o.WarningsLeftOut
}

// Silence moves the errors that others explain to the silenced ones.
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

// Found appends a finding of the rule to the list of its severity, unless that is full; see [New]. The detail is formatted as by Sprintf.
// The returned finding may be modified until the next one is appended.
func (r *Report) Found(rule Rule, kind field.ErrorType, at *field.Path, value any, format string, args ...any) *Finding {
	list, left, full := &r.Errors, &r.ErrorsLeftOut, r.Full()
	if rule.Severity == SeverityWarning {
		list, left, full = &r.Warnings, &r.WarningsLeftOut, len(r.Warnings) >= Most
	}
	if full {
		*left = true
		return &Finding{Error: &field.Error{}} // the caller's changes to it are lost
	}
	*list = append(*list, rule.Fault(kind, at, value, format, args...))
	return &(*list)[len(*list)-1]
}

// Sorted sorts both lists in place, see [List.Sort], and returns the report. So the same input gives the same report.
func (r Report) Sorted() Report {
	r.Errors.Sort()
	r.Warnings.Sort()
	return r
}

// Failed returns a report with one error.
func Failed(f Finding) Report { return Report{Errors: List{f}} }

// Severity is the severity of a rule.
type Severity string

// The severities. They are part of the command line's JSON.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Rule is an entry of the catalogue of rules, from which documentation and SARIF output are generated. The command rules prints it as JSON,
// which is an interface: a published field keeps its name and meaning.
type Rule struct {
	// Name is the stable name, and the Origin of the rule's findings. A published name keeps its meaning.
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	// Escalates marks a warning that lint turns into an error in the case that Means names.
	Escalates bool `json:"-"`
	// Object is the subject of the rule: one of the Object constants, or the kind of another object. Empty: not specified.
	Object string `json:"object"`
	// Online rules need older versions of an object, its users, or credentials, which only admission has.
	Online bool `json:"online"`
	// Command names the only command that checks the rule. Empty: lint or admission check it.
	Command string `json:"command,omitempty"`
	// Means says in a sentence or two what the rule demands, and why.
	Means string `json:"means"`
	// Repair says how to repair a finding.
	Repair string `json:"repair"`
}

// Fault returns a finding of the rule, see [New]. The detail is formatted as by Sprintf.
func (r *Rule) Fault(kind field.ErrorType, at *field.Path, value any, format string, args ...any) Finding {
	return New(r.Name, kind, at, value, fmt.Sprintf(format, args...))
}

// InManifests reports whether lint can check the rule, from manifests alone.
func (r *Rule) InManifests() bool { return !r.Online && r.Command == "" }

// Severities returns the possible severities of the rule's findings, in words.
func (r *Rule) Severities() string {
	if r.Escalates {
		return string(SeverityError) + " or " + string(r.Severity)
	}
	return string(r.Severity)
}

// Subjects of a [Rule]: a kind of object, any object, or a file that is not parsed yet.
const (
	ObjectCloudProfile           = "CloudProfile"
	ObjectNamespacedCloudProfile = "NamespacedCloudProfile"
	ObjectShoot                  = "Shoot"
	ObjectSecret                 = "Secret"
	ObjectAny                    = "any object"
	ObjectFile                   = "file"
)

// On sets the object of each rule that has none. It modifies the rules in place and returns them.
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

// Escalates returns a warning rule with Escalates set: lint reports an error in the case that Means names.
func Escalates(rule Rule) Rule {
	rule.Escalates = true
	return rule
}

// Online marks the rules as Online. It modifies them in place and returns them.
func Online(rules []Rule) []Rule {
	for i := range rules {
		rules[i].Online = true
	}
	return rules
}
