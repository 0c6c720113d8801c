// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package repair makes the repairs that lint --fix and the language server offer. A repair is mechanical: only one meaning is possible.
// The repaired text is parsed and checked again. The repair is kept only if the check finds nothing new. Start reading at [Run].
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

// Run repairs findings about some inputs. It does not modify the inputs. It is not safe for concurrent use.
type Run struct {
	*input.Given
	// Read returns the text of a file that contains inputs.
	Read func(file string) (string, error)
	// Disabled are the rules whose findings are suppressed and not repaired.
	Disabled map[string]report.Suppression
	// Done are the repairs made, in order.
	Done []Repair
	// Refused are the repairs that the notation of the file prevents, in the order of the attempts.
	Refused []Refusal

	// texts are the current texts of the files involved; before are the original ones.
	texts, before map[string]string
	// left are the keys of findings that are not tried again.
	left map[string]bool
	// memories are the parser memories of the files.
	memories map[string]*manifest.Memory
	// tries counts the attempts.
	tries int
}

// Repair is the repair of a finding.
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

// What describes the repair.
func (r Repair) What() string { return r.what }

// String returns a line of text output.
func (r Repair) String() string {
	return fmt.Sprintf("%s:%d: %s [%s]", r.Finding.File, r.Finding.Line, r.what, r.Finding.Rule)
}

// Known reports whether findings of a rule can be repaired at all.
func Known(rule string) bool { return repairs[rule] != nil }

// mostTries limits the attempts of a run.
const mostTries = 500

// All makes all possible repairs, and returns the changed files and the remaining findings. A repair can reveal
// findings that are repaired next. The error means that a file cannot be read.
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

// memory returns a file's parser memory, which is shared by all its parsed texts.
func (x *Run) memory(file string) *manifest.Memory {
	if x.memories == nil {
		x.memories = map[string]*manifest.Memory{}
	}
	if x.memories[file] == nil {
		x.memories[file] = new(manifest.Memory)
	}
	return x.memories[file]
}

// One repairs a single finding about the inputs; before are all of them. It returns the new text of the finding's file.
// made is false if the finding cannot be repaired, or if something new would be found. The error is as for [Run.All].
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

// next returns findings to repair together: the ones that may hide others or, if there are none, all.
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

// keyOf returns the key of a finding that is not tried again.
func keyOf(f report.Finding) string {
	return fmt.Sprint(f.File, "\x00", f.Object, "\x00", f.Rule, "\x00", f.Field, "\x00", f.Message)
}

// revealing reports whether repairing a finding may reveal others, because the object was not read or not completely checked.
func revealing(f report.Finding) bool { return checks.NotRead[f.Rule] || checks.HalfChecked[f.Rule] }

// try repairs at least one finding: all at once or, if that fails, halves of them recursively until something succeeds. It
// does not retry findings that cannot be repaired. It returns the findings afterwards, and whether anything was repaired.
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

// lintAgain returns the findings for the current texts, overridden by others.
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

// better reports whether the repaired findings are gone, and no new ones replace them. New findings are accepted if the repair made an
// object readable or completely checkable. A warning that differs only in its text is not new, because it may quote the repaired text.
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
		if counts[inWords(r.Finding)] < 0 && r.Finding.Rule != input.RuleObjectKind { // the repair makes another object of it
			return false
		}
	}
	return revealing(repaired[0].Finding) || !slices.ContainsFunc(others, func(f report.Finding) bool {
		counts[inPlace(f)]--
		return f.Severity == finding.SeverityError || counts[inPlace(f)] < 0
	})
}

// repaired returns the texts of files with some findings repaired, and the repairs made. There are no texts if more would change than
// intended, or nothing at all. refused is the reason why a text cannot be changed.
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
	edits, values := map[*manifest.Object]files.Edit{}, map[*manifest.Object]any{}
	for _, f := range some {
		o := objectOf(objects, f)
		if o == nil {
			continue
		}
		if values[o] == nil {
			values[o] = edit.Decoded(o.JSON)
		}
		made, e := repairs[f.Rule](x.Given, values[o], f), edits[o]
		if made.what != "" && !overlap(made.ops, e.Ops) {
			done = append(done, Repair{f, made})
			e.Ops = append(e.Ops, made.ops...)
			edits[o] = e
		}
	}
	changed, _, err = files.Edited(file, text, x.memory(file), edits)
	return changed, done, err
}

// overlap reports whether operations of both lists have the same path: the change is then made already.
func overlap(some, others []edit.Op) bool {
	return slices.ContainsFunc(some, func(op edit.Op) bool {
		return slices.ContainsFunc(others, func(other edit.Op) bool { return slices.Equal(op.At(), other.At()) })
	})
}

// objectOf returns the object of a finding; nil if it is unknown. In the file it may lack a name.
func objectOf(objects []*manifest.Object, f report.Finding) (o *manifest.Object) {
	for _, other := range objects {
		before := files.PlaceOf(other).Compare(files.Place{f.Line, f.Column}) <= 0
		if before && other.Kind == f.Object.Kind && (other.Name == f.Object.Name || other.Name == "") {
			o = other
		}
	}
	return o
}
