// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package repair makes the repairs that lint --fix and the language server offer. A repair is mechanical: there is one thing that can be
// meant. The text with it is read and checked again, and it counts only if that finds nothing that was not found before. Start reading at
// [Run].
package repair

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// Run repairs what is found in some inputs, which it leaves as they are. It is not safe for concurrent use.
type Run struct {
	*input.Given
	// Read returns the text of a file that has one of the inputs.
	Read func(file string) (string, error)
	// Disabled are the rules whose findings do not count, and are not repaired.
	Disabled map[string]report.Suppression
	// Done are the repairs that were made, in the order in which that happened.
	Done []Repair
	// Refused are the repairs that the notation of the file prevents, in the order of the attempts.
	Refused []Refusal

	// texts are those of the files that were looked at, and before what they were.
	texts, before map[string]string
	// left are the findings that are not tried again, by what keyOf returns.
	left map[string]bool
	// memories are those of the files that were read.
	memories map[string]*manifest.Memory
	// tries is how often repairs were tried.
	tries int
}

// Repair is what was done about a finding.
type Repair struct {
	Finding report.Finding
	patch
}

// Refusal is a repair that was not made.
type Refusal struct {
	Finding report.Finding
	// Fault is the reason, with the place in the text so far.
	Fault *edit.Fault
}

// String returns the reason as a line for people, with the place of the obstacle.
func (r Refusal) String() string {
	return fmt.Sprintf("%s:%d: %s [%s]", r.Finding.File, r.Fault.Line, r.Fault.Message, r.Finding.Rule)
}

// What says in words what was done.
func (r Repair) What() string { return r.what }

// String is a line for people.
func (r Repair) String() string {
	return fmt.Sprintf("%s:%d: %s [%s]", r.Finding.File, r.Finding.Line, r.what, r.Finding.Rule)
}

// Known reports whether findings of a rule can be repaired at all.
func Known(rule string) bool { return repairs[rule] != nil }

// mostTries limits how often a run tries repairs.
const mostTries = 500

// All repairs what it can, and returns the files that change, and what is found then. A repair can bring to light what another one
// can repair. The error is about files that cannot be read.
func (x *Run) All() (changed []files.Changed, found report.Report, err error) {
	x.begin()
	found = x.lintAgain(nil)
	for some := x.next(found); len(some) > 0 && x.tries < mostTries; some = x.next(found) {
		if found, _, err = x.try(found, some); err != nil {
			return nil, found, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(x.texts)) {
		if text, before := x.texts[name], x.before[name]; text != before {
			changed = append(changed, files.Changed{File: name, Diff: files.Diff(name, name, before, text), Before: before, Text: text})
		}
	}
	return changed, found, nil
}

func (x *Run) begin() {
	x.texts, x.before, x.left, x.Done, x.Refused, x.tries = map[string]string{}, map[string]string{}, map[string]bool{}, nil, nil, 0
}

// memory returns that of a file, which is read with repairs and without them.
func (x *Run) memory(file string) *manifest.Memory {
	if x.memories == nil {
		x.memories = map[string]*manifest.Memory{}
	}
	if x.memories[file] == nil {
		x.memories[file] = new(manifest.Memory)
	}
	return x.memories[file]
}

// One repairs a single finding, one of those that the inputs have, which are before. It returns the text that the file of the finding has
// then; made is false if the finding cannot be repaired, or if something else would be found then. The error is as that of [Run.All].
func (x *Run) One(before []report.Finding, f report.Finding) (text string, r Repair, made bool, err error) {
	x.begin()
	if f.Line == 0 || !Known(f.Rule) {
		return "", r, false, nil
	}
	changed, done, _, err := x.repaired([]report.Finding{f})
	if err != nil || len(done) == 0 || len(changed) == 0 {
		return "", r, false, err
	}
	made = better(before, x.lintAgain(changed).Findings, done)
	return changed[f.File], done[0], made, nil
}

// next returns the findings that can be repaired together: those whose repair brings others to light or, if there are none, all.
func (x *Run) next(found report.Report) []report.Finding {
	var first, others []report.Finding
	for _, f := range found.Findings {
		switch {
		case f.Line == 0 || len(f.Suppressions) > 0 || x.left[keyOf(f)] || repairs[f.Rule] == nil:
		case revealing(f):
			first = append(first, f)
		default:
			others = append(others, f)
		}
	}
	if len(first) > 0 {
		return first
	}
	return others
}

// keyOf is by what a finding is known that is not to be tried again.
func keyOf(f report.Finding) string {
	return fmt.Sprint(f.File, "\x00", f.Object, "\x00", f.Rule, "\x00", f.Field, "\x00", f.Message)
}

// revealing reports whether the repair of a finding may bring other ones to light: because the object was not read before, or not
// wholly checked.
func revealing(f report.Finding) bool { return checks.NotRead[f.Rule] || checks.HalfChecked[f.Rule] }

// try repairs some findings, of which there is at least one: all at once or, if that is no good, as many as it takes to find out for
// which of them it is. What cannot be repaired is not tried again. It returns what is found then, and whether anything is repaired.
func (x *Run) try(found report.Report, some []report.Finding) (after report.Report, made bool, err error) {
	x.tries++
	changed, done, refused, err := x.repaired(some)
	if err != nil {
		return found, false, err
	}
	if len(changed) > 0 {
		after = x.lintAgain(changed)
		if better(found.Findings, after.Findings, done) {
			maps.Copy(x.texts, changed)
			x.Done = append(x.Done, done...)
			return after, true, nil
		}
	}
	if len(done) < 2 {
		for _, f := range some {
			x.left[keyOf(f)] = true
		}
		if fault := new(edit.Fault); errors.As(refused, &fault) {
			x.Refused = append(x.Refused, Refusal{done[0].Finding, fault})
		}
		return found, false, nil
	}
	some = nil
	for _, r := range done {
		some = append(some, r.Finding)
	}
	for half := range slices.Chunk(some, (len(some)+1)/2) {
		if x.tries == mostTries {
			break
		}
		if after, made, err = x.try(found, half); made || err != nil {
			return after, made, err
		}
	}
	return found, false, nil
}

// lintAgain returns what is found with the texts so far, and some others.
func (x *Run) lintAgain(others map[string]string) report.Report {
	texts := maps.Clone(x.texts)
	maps.Copy(texts, others)
	edited := map[string]bool{}
	for name := range texts {
		edited[name] = true
	}
	g := &input.Given{
		Providers: x.Providers, Namespace: x.Namespace, Domain: x.Domain, ReservedInCore: x.ReservedInCore, Cluster: x.Cluster,
		Landscape: x.Landscape, Names: x.Names.Again(),
	}
	x.Given.TakeOver(g, edited)
	for _, f := range x.Findings {
		if !edited[f.File] {
			g.Findings = append(g.Findings, f)
		}
	}
	g.Marked = slices.DeleteFunc(slices.Clone(x.Marked), func(t manifest.Text) bool { return edited[t.File] })
	g.Began = slices.DeleteFunc(slices.Clone(x.Began), func(b input.Began) bool { return edited[b.File] })
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		g.AddInput(manifest.Parse(name, texts[name], x.memory(name)))
	}
	if x.AsMeant {
		g.TakeAsMeant()
	}
	found := checks.All(g, nil)
	checks.Silence(g, &found, x.Disabled, checks.Rules(command.ByType(x.Providers)...), (*finding.Rule).InManifests)
	return found
}

// better reports whether findings of one object are gone, and nothing is found instead: but for an object that was not read before,
// or not wholly checked, and for those that depend on it. A warning whose words alone differ is none instead: it quotes what was repaired.
func better(before, after []report.Finding, repaired []Repair) bool {
	type said struct {
		object               report.Object
		rule, message, field string
	}
	inWords := func(f report.Finding) said { return said{f.Object, f.Rule, f.Message, ""} }
	inPlace := func(f report.Finding) said { return said{f.Object, f.Rule, "", f.Field} }
	counts := map[said]int{}
	for _, f := range before {
		counts[inWords(f)]++
		counts[inPlace(f)]++
	}
	for _, r := range repaired {
		counts[inWords(r.Finding)]--
		counts[inPlace(r.Finding)]--
	}
	var others []report.Finding
	for _, f := range after {
		if counts[inWords(f)]--; counts[inWords(f)] < 0 {
			others = append(others, f)
		} else {
			counts[inPlace(f)]--
		}
	}
	for _, r := range repaired {
		if counts[inWords(r.Finding)] < 0 && r.Finding.Rule != input.RuleObjectKind { // which makes another object of it
			return false
		}
	}
	return revealing(repaired[0].Finding) || !slices.ContainsFunc(others, func(f report.Finding) bool {
		counts[inPlace(f)]--
		return f.Severity == finding.SeverityError || counts[inPlace(f)] < 0
	})
}

// repaired returns the texts of files in which the causes of some findings are repaired, and the repairs: those of the findings that
// can be repaired. There are no texts if there are none, or if more would change than should.
// refused is the reason why a text cannot be changed.
func (x *Run) repaired(some []report.Finding) (changed map[string]string, done []Repair, refused, err error) {
	changed = map[string]string{}
	inFiles := map[string][]report.Finding{}
	for _, f := range some {
		inFiles[f.File] = append(inFiles[f.File], f)
	}
	for _, file := range slices.Sorted(maps.Keys(inFiles)) {
		if _, known := x.texts[file]; !known {
			text, err := x.Read(file)
			if err != nil {
				return nil, nil, nil, err
			}
			x.texts[file], x.before[file] = text, text
		}
		text, made, err := x.repairedFile(file, inFiles[file])
		if done = append(done, made...); len(made) > 0 {
			changed[file], refused = text, cmp.Or(refused, err)
		}
	}
	if refused != nil {
		return nil, done, refused, nil
	}
	return changed, done, nil, nil
}

// repairedFile repairs one file, and returns the new text. The error is that of [files.Edited].
func (x *Run) repairedFile(file string, some []report.Finding) (changed string, done []Repair, err error) {
	text := x.texts[file]
	objects := manifest.Parse(file, text, x.memory(file)).Objects
	edits := map[*manifest.Object]files.Edit{}
	for _, f := range some {
		o := objectOf(objects, f)
		if o == nil {
			continue
		}
		made, e := repairs[f.Rule](x.Given, edit.Decoded(o.JSON), f), edits[o]
		if made.what != "" && !overlap(made.ops, e.Ops) {
			done = append(done, Repair{f, made})
			e.Ops = append(e.Ops, made.ops...)
			edits[o] = e
		}
	}
	changed, _, err = files.Edited(file, text, x.memory(file), edits)
	return changed, done, err
}

// overlap reports whether some operations change what others change: what a repair has repaired already.
func overlap(some, others []edit.Op) bool {
	return slices.ContainsFunc(some, func(op edit.Op) bool {
		return slices.ContainsFunc(others, func(other edit.Op) bool { return slices.Equal(op.At(), other.At()) })
	})
}

// objectOf returns the object that a finding is about; nil if it cannot be told. In a file it may have no name.
func objectOf(objects []*manifest.Object, f report.Finding) (o *manifest.Object) {
	for _, other := range objects {
		at := files.PlaceOf(other)
		before := slices.Compare(at[:], []int{f.Line, f.Column}) <= 0
		if before && other.Kind == f.Object.Kind && (other.Name == f.Object.Name || other.Name == "") {
			o = other
		}
	}
	return o
}
