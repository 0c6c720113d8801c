// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/proof"
	"github.com/capkit/capkit/internal/cli/release"
	"github.com/capkit/capkit/internal/cli/release/source"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// How import changes the profiles among its inputs.

// importing is one run of import.
type importing struct {
	flags    *importFlags
	call     *command.Call
	contents *source.Contents
	// text returns a file's content.
	text func(name string) (string, error)
	// faults are the faults of the source or the map, for all landscapes.
	faults []report.Finding

	profiles []*imported
	findings []report.Finding
	notes    []string
	// noted has the names of the profiles that a note is about; none if it is about all.
	noted map[string][]string
	files []files.Changed
}

// load reads the inputs as one landscape or, if two arguments contain objects of the same name, as one landscape for each argument.
func (flags *importFlags) load(ctx context.Context, c *command.Call, args []string) ([]*input.Given, error) {
	g, err := input.Load(ctx, c, args, flags.in, true)
	if err != nil {
		return nil, err
	}
	again := func(f report.Finding) bool { return f.Rule == input.RuleObjectDuplicate }
	if len(args) < 2 || slices.Contains(args, "-") || !slices.ContainsFunc(g.Findings, again) {
		return []*input.Given{g}, nil
	}
	if g.Cluster != "" {
		return nil, errors.New("the arguments have objects of the same names, as several landscapes have, and a cluster is one landscape: " +
			"import into one at a time")
	}
	var all []*input.Given
	for i, arg := range args {
		flags.in.Apart = args[:i]
		one, err := input.Load(ctx, c, []string{arg}, flags.in, true)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	all[0].Notes = append(all[0].Notes, "each argument is taken for a landscape of its own, since they have objects of the same names")
	return all, nil
}

func ofFault(f source.Fault) report.Finding {
	return report.Finding{
		Severity: finding.SeverityError, Rule: f.Rule, Type: f.Type, Field: f.Field, Message: report.ShortWords(f.Message),
		File: f.File, Line: f.Line, Column: f.Column,
	}
}

// inLandscape is a landscape during the import.
type inLandscape struct {
	*importing
	*input.Given
	// named are the full names of the profiles selected with --profile.
	named   []string
	used    proof.Uses
	becomes map[*manifest.Object]files.Edit
	// answers are the results by the profiles' manifests; order lists these manifests.
	answers map[*manifest.Object]*imported
	order   []*manifest.Object
	after   *input.Given
	// unknown are verify's notes about parts of the result that it could not check.
	unknown []string
}

// landscape imports into the profiles of a landscape.
func (run *importing) landscape(g *input.Given) error {
	l := &inLandscape{importing: run, Given: g, becomes: map[*manifest.Object]files.Edit{}, answers: map[*manifest.Object]*imported{}}
	for _, name := range run.flags.profiles {
		l.named = append(l.named, meantBy(name, g)...)
	}
	for _, s := range g.Profiles.All {
		l.ask(s.Manifest, s.Name, s.Live)
	}
	for _, s := range g.Namespaced.All {
		l.ask(s.Manifest, s.Name, s.Live)
	}
	if len(g.Findings) > 0 || len(run.faults) > 0 {
		l.nothing()
		return nil
	}
	l.used = proof.Uses{}
	l.used.AddShoots(g)
	l.noteUnseen()
	for _, s := range g.Profiles.All {
		if l.answers[s.Manifest] != nil {
			l.importProfile(s)
		}
	}
	for _, s := range g.Namespaced.All {
		if l.answers[s.Manifest] != nil {
			l.importNamespaced(s)
		}
	}
	changed, after, err := proof.Files(g, release.RuleProfile, l.becomes, run.text)
	if l.after = after; err == nil && !slices.ContainsFunc(g.Findings, isError) {
		err = l.prove()
	}
	l.close(changed)
	return err
}

// nothing completes the answers if the inputs or the source cannot be read.
func (l *inLandscape) nothing() {
	l.close(nil)
	type said struct {
		message, file string
		line          int
	}
	for _, o := range l.order {
		answer, known := l.answers[o], map[said]bool{}
		for _, f := range answer.Findings {
			known[said{f.Message, f.File, f.Line}] = true
		}
		for _, f := range l.faults {
			is := said{f.Message, f.File, f.Line}
			if !known[is] {
				known[is] = true
				answer.Findings = append(answer.Findings, f)
			}
		}
	}
}

// ask begins the answer for a profile if it gets images: a profile in a file, selected by --profile if that is given.
func (l *inLandscape) ask(o *manifest.Object, name string, live bool) {
	if live || len(l.flags.profiles) > 0 && !slices.Contains(l.named, name) {
		return
	}
	l.answers[o] = &imported{Profile: name, Versions: []release.Version{}, Findings: []report.Finding{}, Files: []files.Changed{}}
	l.order = append(l.order, o)
	l.profiles = append(l.profiles, l.answers[o])
}

// find checks that each landscape has profiles to import into, and that --profile names profiles in files. Several
// landscapes correspond to the arguments.
func (flags *importFlags) find(landscapes []*input.Given, args []string) error {
	var errs []error
	var there []string
	wrong := false // the profile may be in an unreadable file
	for i, g := range landscapes {
		names := slices.DeleteFunc(g.ProfileNames(), func(name string) bool { return len(meantBy(name, g)) == 0 })
		there = append(there, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(there, name) })...)
		wrong = wrong || len(g.Findings) > 0
		switch {
		case len(g.Findings)+len(names) > 0:
		case len(landscapes) == 1:
			errs = append(errs, fmt.Errorf("no CloudProfile or NamespacedCloudProfile among the files%s: name those that are to get the images", g.EmptyInputs()))
		default:
			errs = append(errs, fmt.Errorf("no CloudProfile or NamespacedCloudProfile in %s that is not in the arguments before it%s: since these have profiles "+
				"of the same names, each argument is a landscape of its own; give one for each landscape", args[i], g.EmptyInputs()))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, name := range flags.profiles {
		found := 0
		for _, g := range landscapes {
			meant := meantBy(name, g)
			if found += len(meant); len(meant) > 1 {
				errs = append(errs, fmt.Errorf("--profile: the files have several profiles named %s: %s", words.Quoted(name), words.Few(meant)))
			}
		}
		if found == 0 && !wrong {
			errs = append(errs, fmt.Errorf("--profile: %s is not in the files, which have %s%s", words.Quoted(name), words.Few(there),
				words.DidYouMean(words.Closest(name, there))))
		}
	}
	return errors.Join(errs...)
}

// meantBy returns the full names of a landscape's profiles in files that match --profile [NAMESPACE/]NAME.
func meantBy(name string, g *input.Given) (meant []string) {
	if s := g.Profiles.ByName[name]; s != nil && !s.Live {
		meant = []string{name}
	}
	for _, s := range g.Namespaced.All {
		if !s.Live && (s.Name == name || s.Manifest.Name == name && g.Profiles.ByName[name] == nil) {
			meant = append(meant, s.Name)
		}
	}
	return meant
}

func (l *inLandscape) importProfile(s *input.Source[v1beta1.CloudProfile]) {
	cloud := l.Providers[s.Object.Spec.Type]
	if cloud == nil {
		if s.Object.Spec.Type == "" {
			l.AddErrors(s.Manifest, input.Problem(release.RuleProfile, field.ErrorTypeRequired, "spec.type", nil, "the profile has no type: write the provider's"))
			return
		}
		l.AddErrors(s.Manifest, l.NotFor(s.Object.Spec.Type, "spec.type", "imported into"))
		return
	}
	l.become(s.Manifest, s.Name, release.Profile{
		Raw: s.Manifest.JSON, Cloud: cloud, Spec: s.Object.Spec, Used: l.used.In("CloudProfile " + s.Name),
	})
}

func (l *inLandscape) importNamespaced(s *input.Source[v1beta1.NamespacedCloudProfile]) {
	parent := l.ParentOf(s)
	switch {
	case parent == nil:
		l.AddErrors(s.Manifest, l.Missing("CloudProfile", s.Object.Spec.Parent.Name, "spec.parent.name"))
		return
	case l.Providers[parent.Object.Spec.Type] == nil:
		l.AddErrors(s.Manifest, l.NotFor(parent.Object.Spec.Type, "spec.parent.name", "imported into"))
		return
	}
	spec := &parent.Object.Spec
	if becomes, changes := l.becomes[parent.Manifest]; changes {
		object := &v1beta1.CloudProfile{}
		raw, _ := json.Marshal(edit.Result(edit.Decoded(parent.Manifest.JSON), becomes.Ops))
		_ = json.Unmarshal(raw, object) // if it cannot be read, the check of its file reports it
		spec = &object.Spec
	}
	l.become(s.Manifest, s.Name, release.Profile{
		Raw: s.Manifest.JSON, Cloud: l.Providers[parent.Object.Spec.Type], Parent: spec, Used: l.used.In("NamespacedCloudProfile " + s.Name),
		Spec: v1beta1.CloudProfileSpec{
			Type: parent.Object.Spec.Type, MachineImages: s.Object.Spec.MachineImages, ProviderConfig: s.Object.Spec.ProviderConfig,
		},
	})
}

// become computes and records a manifest's change.
func (l *inLandscape) become(o *manifest.Object, name string, p release.Profile) {
	result := release.Import(p, l.contents, l.flags.options)
	l.answers[o].Versions = append(l.answers[o].Versions, result.Versions...)
	l.AddErrors(o, result.Errors...)
	l.AddWarnings(o, result.Warnings...)
	for _, f := range result.Faults {
		found := ofFault(f)
		found.Object = report.Object(o.Identity)
		l.Findings = append(l.Findings, found)
	}
	for _, note := range result.Notes {
		l.note(name, note)
	}
	if len(result.Errors)+len(result.Faults) == 0 && len(result.Ops) > 0 {
		l.becomes[o] = files.Edit{Ops: result.Ops}
	}
}

// note adds a note about a profile. One that many profiles have is printed once.
func (run *importing) note(profile, note string) {
	if run.noted[note] == nil {
		run.notes = append(run.notes, note)
	}
	if !slices.Contains(run.noted[note], profile) {
		run.noted[note] = append(run.noted[note], profile)
	}
}

// close assigns findings and files to the profiles, and adds the landscape's output to the run.
func (l *inLandscape) close(changed []files.Changed) {
	l.NameStdin(l.Findings)
	report.Sort(l.Findings)
	for _, o := range l.order {
		is := l.answers[o]
		for _, f := range l.Findings {
			if f.Object == report.Object(o.Identity) && f.Object.Kind != "" || f.File == o.File && f.Object.Kind == "" {
				is.Findings = append(is.Findings, f)
			}
		}
		if _, changes := l.becomes[o]; !changes {
			continue
		}
		for _, f := range changed {
			if f.File == o.File {
				is.Files = append(is.Files, f)
			}
		}
	}
	l.importing.findings = append(l.importing.findings, l.Findings...)
	l.importing.files = append(l.importing.files, changed...)
	l.importing.notes = append(l.importing.notes, l.Notes...)
}
