// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
)

// What lint --fix does. A repair is mechanical: there is one thing that can be meant. Its text is read and checked again, and it
// counts only if that finds nothing that was not found before.

// fixing is one run of lint --fix.
type fixing struct {
	*input.Given
	read func(file string) (string, error)
	// disabled are the rules whose findings do not count, and are not repaired.
	disabled map[string]report.Suppression
	// texts are those of the files that were looked at, and before what they were.
	texts, before map[string]string
	// left are the places that are not tried again.
	left map[string]bool
	// tries is how often repairs were tried.
	tries int
	done  []repair
}

// repair is what was done about a finding.
type repair struct {
	finding report.Finding
	patch
}

// String is a line for people.
func (r repair) String() string {
	return fmt.Sprintf("%s:%d: %s [%s]", r.finding.File, r.finding.Line, r.what, r.finding.Rule)
}

// mostTries limits how often a run tries repairs.
const mostTries = 500

// run repairs what it can, and returns the files that change, what was repaired in them, and what is found then.
func (x *fixing) run() ([]files.Changed, []repair, report.Report, error) {
	x.texts, x.before, x.left = map[string]string{}, map[string]string{}, map[string]bool{}
	found := x.lintAgain(nil)
	for x.tries < mostTries {
		next, made, err := x.round(found)
		if err != nil {
			return nil, nil, report.Report{}, err
		}
		if !made {
			break
		}
		found = next
	}
	var changed []files.Changed
	for _, name := range slices.Sorted(maps.Keys(x.texts)) {
		if text, before := x.texts[name], x.before[name]; text != before {
			changed = append(changed, files.Changed{File: name, Diff: files.Diff(name, name, before, text), Text: text})
		}
	}
	return changed, x.done, found, nil
}

// round repairs the first object that can be repaired, and returns what is found then; it reports whether there was one. A repair
// can bring to light what another one can repair.
func (x *fixing) round(found report.Report) (after report.Report, made bool, err error) {
	type together struct {
		file      string
		object    report.Object
		revealing bool
	}
	groups := map[together][]report.Finding{}
	var order []together
	for _, f := range found.Findings {
		if f.Line == 0 || len(f.Suppressions) > 0 || x.left[keyOf(f)] || repairs[f.Rule] == nil {
			continue
		}
		of := together{f.File, f.Object, revealing(f)}
		if groups[of] == nil {
			order = append(order, of)
		}
		groups[of] = append(groups[of], f)
	}
	for _, of := range order {
		if after, made, err = x.try(found, groups[of]); made || err != nil {
			return after, made, err
		}
	}
	return found, false, nil
}

// keyOf is by what a finding is known that is not to be tried again.
func keyOf(f report.Finding) string {
	return fmt.Sprint(f.File, "\x00", f.Object, "\x00", f.Rule, "\x00", f.Field, "\x00", f.Message)
}

// revealing reports whether the repair of a finding may bring other ones to light: because the object was not read before, or not
// wholly checked.
func revealing(f report.Finding) bool { return checks.NotRead[f.Rule] || checks.HalfChecked[f.Rule] }

// try repairs some findings of one object, of which there is at least one: all at once or, if that is no good, as many as it takes
// to find out for which of them it is. What cannot be repaired is not tried again.
func (x *fixing) try(found report.Report, some []report.Finding) (after report.Report, made bool, err error) {
	file := some[0].File
	text, known := x.texts[file]
	if !known {
		if text, err = x.read(file); err != nil {
			return found, false, err
		}
		x.texts[file], x.before[file] = text, text
	}
	x.tries++
	changed, done := x.repaired(text, some)
	if changed != "" {
		after = x.lintAgain(map[string]string{file: changed})
		if better(found.Findings, after.Findings, done) {
			x.texts[file] = changed
			x.done = append(x.done, done...)
			return after, true, nil
		}
	}
	if len(done) < 2 {
		for _, f := range some {
			x.left[keyOf(f)] = true
		}
		return found, false, nil
	}
	some = nil
	for _, r := range done {
		some = append(some, r.finding)
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
func (x *fixing) lintAgain(others map[string]string) report.Report {
	texts := maps.Clone(x.texts)
	maps.Copy(texts, others)
	edited := map[string]bool{}
	for name := range texts {
		edited[name] = true
	}
	g := &input.Given{
		Providers: x.Providers, Namespace: x.Namespace, Domain: x.Domain, ReservedInCore: x.ReservedInCore, Cluster: x.Cluster,
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
		objects, problems := manifest.Parse(name, texts[name])
		g.AddProblems(problems)
		g.Marked = append(g.Marked, manifest.Marked(name, texts[name])...)
		for _, o := range objects {
			g.Add(o)
		}
	}
	found := checks.All(g, nil)
	checks.Silence(g, &found, x.disabled, checks.Rules(command.ByType(x.Providers)...))
	return found
}

// better reports whether findings of one object are gone, and nothing is found instead: but for an object that was not read before,
// or not wholly checked, and for those that depend on it.
func better(before, after []report.Finding, repaired []repair) bool {
	type said struct {
		object        report.Object
		rule, message string
	}
	counts := map[said]int{}
	for _, f := range before {
		counts[said{f.Object, f.Rule, f.Message}]++
	}
	more := 0
	for _, f := range after {
		key := said{f.Object, f.Rule, f.Message}
		if counts[key]--; counts[key] < 0 {
			more++
		}
	}
	for _, r := range repaired {
		key := said{r.finding.Object, r.finding.Rule, r.finding.Message}
		if counts[key]--; counts[key] < 0 && r.finding.Rule != input.RuleObjectKind { // which makes another object of it
			return false
		}
	}
	return more == 0 || revealing(repaired[0].finding)
}

// repaired returns a text in which the causes of some findings of an object are repaired, and the repairs: those of the findings
// that can be repaired. The text is empty if there are none, or if more would change than should.
func (x *fixing) repaired(text string, some []report.Finding) (changed string, done []repair) {
	file, o := some[0].File, objectOf(text, some[0])
	var value map[string]any
	if o == nil || !unmarshal(o.JSON, &value) {
		return "", nil
	}
	for _, f := range some {
		if made := repairs[f.Rule](x.Given, value, f); made.what != "" {
			done = append(done, repair{f, made})
		}
	}
	wanted, err := json.Marshal(value)
	if err != nil || len(done) == 0 {
		return "", nil
	}
	// A word is replaced where it stands; what else changes is written anew.
	line, column := o.Position("")
	for _, from := range []string{renamed(text, done), text} {
		objects, _ := manifest.Parse(file, from)
		i := slices.IndexFunc(objects, func(is *manifest.Object) bool { l, c := is.Position(""); return l == line && c == column })
		if i < 0 {
			continue
		}
		changed, err = edit.Apply(from, []edit.Object{{Line: line, Column: column, Old: objects[i].JSON, New: wanted}}, files.Before)
		if err == nil && saysOnly(file, text, changed, o, wanted) {
			return changed, done
		}
	}
	return "", done
}

// objectOf returns the object that a finding is about, as a text has it; nil if it cannot be told.
func objectOf(text string, f report.Finding) (o *manifest.Object) {
	objects, _ := manifest.Parse(f.File, text)
	for _, other := range objects {
		if line, _ := other.Position(""); line <= f.Line && other.Kind == f.Object.Kind && other.Name == f.Object.Name {
			o = other
		}
	}
	return o
}

// renamed returns a text with other words in the places of findings, but for those where something else stands.
func renamed(text string, done []repair) string {
	lines := strings.SplitAfter(text, "\n")
	fromTheEnd := slices.SortedFunc(slices.Values(done), func(a, b repair) int {
		return cmp.Or(cmp.Compare(b.finding.Line, a.finding.Line), cmp.Compare(b.finding.Column, a.finding.Column))
	})
	for _, r := range fromTheEnd {
		if r.from == "" || r.finding.Line < 1 || r.finding.Line > len(lines) {
			continue
		}
		line := []rune(lines[r.finding.Line-1])
		if r.finding.Column < 1 || r.finding.Column > len(line) {
			continue
		}
		before, rest := string(line[:r.finding.Column-1]), string(line[r.finding.Column-1:])
		if strings.HasPrefix(rest, r.from) {
			lines[r.finding.Line-1] = before + r.to + rest[len(r.from):]
		}
	}
	return strings.Join(lines, "")
}

// saysOnly reports whether a changed text says what is wanted of an object, and of all others what it said before.
func saysOnly(name, text, changed string, o *manifest.Object, wanted json.RawMessage) bool {
	was, lost := manifest.Parse(name, text)
	is, problems := manifest.Parse(name, changed)
	if len(was) != len(is) || len(lost) != len(problems) {
		return false
	}
	line, column := o.Position("")
	for i := range was {
		want := was[i].JSON
		if l, c := was[i].Position(""); l == line && c == column {
			want = wanted
		}
		if !manifest.SameJSON(want, is[i].JSON) {
			return false
		}
	}
	return true
}

// unmarshal reads JSON with its numbers as they are written.
func unmarshal(raw []byte, value any) bool {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(value) == nil
}

// fix prints what --fix changes, or changes it. What it prints ends the command with the status of what is found then.
func fix(c *command.Call, g *input.Given, flags *lintFlags, stdin func() string) error {
	x := &fixing{Given: g, read: files.TextOf(stdin), disabled: flags.Disabled}
	repairing := c.Terminal.Begin("repairing", 0)
	changed, done, left, err := x.run()
	repairing.End()
	if err != nil {
		return err
	}
	slices.SortStableFunc(done, func(a, b repair) int {
		return cmp.Or(strings.Compare(a.finding.File, b.finding.File), cmp.Compare(a.finding.Line, b.finding.Line))
	})
	said := "would repair"
	if flags.write {
		if err := files.Write(changed); err != nil {
			return err
		}
		said = "repaired"
	}
	if !flags.quiet {
		for _, r := range done {
			report.Printf(c.Stderr, "%s: %s\n", said, r)
		}
	}
	if flags.write {
		return nil
	}
	files.PrintDiffs(c.Stdout, changed, false)
	checks.PrintSilenced(c, left)
	if !flags.quiet {
		files.NoteComments(c, changed)
		fmt.Fprintln(c.Stderr, previewed(done, changed, left.Summary))
	}
	if left.Fails(flags.Counting()) {
		return command.ErrWrong
	}
	return nil
}

// previewed says what --fix would do without -w, and what it would leave.
func previewed(done []repair, changed []files.Changed, left report.Summary) string {
	remain := fmt.Sprintf("remaining: %s, %s", report.Count(left.Errors, "error"), report.Count(left.Warnings, "warning"))
	if len(done) == 0 {
		return "nothing to repair; " + remain
	}
	return fmt.Sprintf("%s in %s; %s; -w changes the files, and lints them again",
		report.Count(len(done), "repair"), report.Count(len(changed), "file"), remain)
}
