// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/words"
)

// A misspelt word in spec.machineCapabilities causes errors wherever it is written correctly. This file replaces them with one error at the
// mistake.

// word is a capability's name, or one of its values. For a name, capability is empty.
type word struct{ capability, text string }

// registration finds misspelt words in a profile's vocabulary.
type registration struct {
	profile *v1beta1.CloudProfile
	errs    field.ErrorList
	report  finding.Report
	// uses are the errors about unregistered words, by word.
	uses map[word]finding.List
	// used are the words in machine types and core flavors.
	used map[word]bool
	// wrong are the findings about the vocabulary.
	wrong finding.List
}

// WithoutMisregistered replaces errors that follow from a misspelt word in a profile's vocabulary with one finding about the word. It takes
// the errors of core, and a report. A registered word is misspelt if nothing uses it, and if at least two places use an unregistered word
// that is almost the same. If the finding is silenced, the replaced errors are reported.
func WithoutMisregistered(
	profile *v1beta1.CloudProfile, errs field.ErrorList, report finding.Report,
) (wrong finding.List, rest field.ErrorList, restOfReport finding.Report) {
	r := &registration{profile: profile, errs: errs, report: report, uses: usesIn(errs, report), used: usedIn(&profile.Spec)}
	at := field.NewPath("spec", "machineCapabilities")
	for i, def := range profile.Spec.MachineCapabilities {
		r.look(capability.RuleUnregistered, word{"", def.Name}, at.Index(i).Child("name"), "capability %q", def.Name)
		for k, value := range def.Values {
			r.look(capability.RuleValueUnregistered, word{def.Name, value}, at.Index(i).Child("values").Index(k),
				"value %q of capability %s", value, def.Name)
		}
	}
	return r.wrong, r.errs, r.report
}

// look reports the registered word at a path if another word is meant.
func (r *registration) look(rule string, registered word, at *field.Path, format string, args ...any) {
	meant := r.meantBy(registered)
	uses := r.uses[word{registered.capability, meant}]
	if meant == "" || len(uses) < 2 {
		return
	}
	wrong := finding.New(rule, field.ErrorTypeNotSupported, at, registered.text, fmt.Sprintf(format, args...)+fmt.Sprintf(
		" is used nowhere, and %q, which is not registered, in %d places%s", meant, len(uses), words.DidYouMean(meant)))
	wrong.Suggestion = finding.Suggest(finding.ReplaceValue, registered.text, meant, words.Certain(registered.text, []string{meant}))
	type place struct{ rule, path string }
	places := map[place]bool{}
	for _, use := range uses {
		places[place{use.Origin, use.Field}] = true
	}
	required := field.NewPath("spec", "machineCapabilities").Child(meant).String() // where core reports a missing architecture
	follows := func(f finding.Finding) bool {
		return places[place{f.Origin, f.Field}] || f.Field == wrong.Field || // other errors about the word
			registered.capability == "" && f.Field == required
	}
	wrong.Implied = r.take(follows)
	wrong.Parts = wrong.Implied
	r.wrong = append(r.wrong, wrong)
}

// take removes the findings for which follows is true, and returns the errors among them.
func (r *registration) take(follows func(finding.Finding) bool) finding.List {
	var taken finding.List
	keep := func(list finding.List) finding.List {
		var kept finding.List
		for _, f := range list {
			if follows(f) {
				taken = append(taken, f)
			} else {
				kept = append(kept, f)
			}
		}
		return kept
	}
	r.errs = keep(finding.Of(r.errs)).Errors()
	r.report.Errors = keep(r.report.Errors)
	r.report.Warnings = slices.DeleteFunc(slices.Clone(r.report.Warnings), follows)
	return taken
}

// meantBy returns the word that is meant by an unused registered word. It is empty if the word is used or unlike all others. Gardener's
// architectures are meant as written: arm64 is similar to amd64.
func (r *registration) meantBy(registered word) string {
	raw := r.profile.Spec.ProviderConfig
	isArchitecture := registered.capability == capability.Architecture && slices.Contains(v1beta1constants.ValidArchitectures, registered.text)
	if isArchitecture || r.used[registered] || raw != nil && bytes.Contains(raw.Raw, fmt.Appendf(nil, "%q", registered.text)) {
		return ""
	}
	var others []string
	for use := range r.uses {
		if use.capability == registered.capability {
			others = append(others, use.text)
		}
	}
	slices.Sort(others)
	return capability.MeantValue(registered.capability, registered.text, others)
}

// usesIn returns the errors about unregistered words, by word.
func usesIn(errs field.ErrorList, report finding.Report) map[word]finding.List {
	uses := map[word]finding.List{}
	add := func(f finding.Finding, isName, isValue bool) {
		text, _ := f.BadValue.(string)
		switch name := ofCapability.FindStringSubmatch(f.Field); {
		case isName:
			uses[word{"", text}] = append(uses[word{"", text}], f)
		case isValue && name != nil:
			uses[word{name[1], text}] = append(uses[word{name[1], text}], f)
		}
	}
	for _, err := range finding.Of(errs) {
		if err.Type == field.ErrorTypeNotSupported {
			add(err, namesCapabilities(err.Field), valueOf.MatchString(err.Field))
		}
	}
	for _, f := range report.Errors {
		add(f, f.Origin == capability.RuleUnregistered, f.Origin == capability.RuleValueUnregistered)
	}
	return uses
}

// ofCapability matches the path of a capability's value.
var ofCapability = regexp.MustCompile(`\.([^.\[\]]+)(?:\[\d+\])?$`)

// usedIn returns the words in the machine types and core flavors of a profile.
func usedIn(spec *v1beta1.CloudProfileSpec) map[word]bool {
	used := map[word]bool{}
	for declared := range entries.Declarations[any](spec, nil) {
		for name, values := range declared.Capabilities {
			used[word{"", name}] = true
			for _, value := range values {
				used[word{name, value}] = true
			}
		}
	}
	return used
}

// misregisteredArchitecture moves core's error about an architecture unknown to Gardener to its registration, and suggests the right name.
func misregisteredArchitecture(profile *v1beta1.CloudProfile, err *field.Error) {
	value, isText := err.BadValue.(string)
	if err.Type != field.ErrorTypeInvalid || err.Field != "spec.machineCapabilities.architecture" || !isText {
		return
	}
	for i, d := range profile.Spec.MachineCapabilities {
		if k := slices.Index(d.Values, value); k >= 0 && d.Name == capability.Architecture {
			err.Field = field.NewPath("spec", "machineCapabilities").Index(i).Child("values").Index(k).String()
		}
	}
	meant := capability.MeantValue(capability.Architecture, value, v1beta1constants.ValidArchitectures)
	hint := words.DidYouMean(meant)
	if meant != "" && usedIn(&profile.Spec)[word{capability.Architecture, value}] {
		hint = "; write " + meant + " here and wherever the profile has " + value
	}
	err.Detail += hint
}
