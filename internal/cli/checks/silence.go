// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/verify"
	"github.com/capkit/capkit/pkg/words"
)

// The rules about comments that silence findings.
const (
	ruleIgnoreComment = "ignore-comment"
	ruleIgnoreUnused  = "ignore-unused"
)

// NotRead are the rules after which something remains unchecked. They cannot be silenced, because the result would look clean.
var NotRead = map[string]bool{
	strictjson.OriginSyntax: true, strictjson.OriginDuplicateKey: true, strictjson.OriginUnknownField: true,
	strictjson.OriginFieldType: true, manifest.RuleTooLarge: true, manifest.RuleNotAnObject: true, input.RuleObjectKind: true,
	input.RuleObjectDuplicate: true, input.RuleFlavorWrapped: true, providerconfig.RuleConfigKind: true,
}

// HalfChecked are further rules after which an object is checked only in part.
var HalfChecked = map[string]bool{
	check.RuleProfileMissing: true, input.RuleProfileUnreadable: true, input.RuleProviderUnknown: true, input.RulePoolNotChecked: true,
	"reserved-capability-incomplete": true, // about what ordinary worker pools boot
}

// cannotSilence returns the reason why a rule cannot be silenced; empty if it can. elsewhere ends the message about a rule that neither
// lint nor verify checks.
func cannotSilence(name string, rules []finding.Rule, elsewhere string) string {
	i := slices.IndexFunc(rules, func(r finding.Rule) bool { return r.Name == name })
	switch {
	case i < 0:
		return NoRule(name, rules)
	case !rules[i].InManifests() && rules[i].Command != verify.Command:
		return name + " is not found by lint, " + elsewhere
	case NotRead[name]:
		return name + " cannot be silenced: what it is about could not be read, and was not checked"
	}
	return ""
}

// Unsilenceable returns a function that reports whether no comment can silence a rule.
func Unsilenceable(rules []finding.Rule) func(finding.Rule) bool {
	return func(r finding.Rule) bool { return cannotSilence(r.Name, rules, "") != "" }
}

// cannotDisable returns the reason why a rule cannot be disabled as a whole; empty if it can.
func cannotDisable(name string, rules []finding.Rule) string {
	if name == gardener.RuleCore {
		return name + " cannot be disabled: it stands for all that Gardener's API server checks; silence one finding, in a comment with the reason"
	}
	return cannotSilence(name, rules, "so it cannot be disabled here")
}

// ignore is a comment that silences rules.
type ignore struct {
	file         string
	line, column int
	// of is the silenced line; 0 if nothing follows. If whole is true, the whole object is silenced.
	of     int
	whole  bool
	rules  []string
	reason string
	used   map[string]bool
	// in is the object that has the comment, or that follows it; nil if there is none.
	in *input.Began
}

var (
	// ownMark matches a comment with capkit's mark, which is the first group.
	ownMark = regexp.MustCompile(`^#+\s*(` + manifest.Mark + `(?:\s*ignore\b\S*|\S+))`)
	// ignoreComment matches a silencing comment: its rules, and the reason.
	ignoreComment = regexp.MustCompile(`^#+\s*` + manifest.Mark + `\s*ignore(?:\s([^:]*))?(?::(.*))?$`)
	// wordLike matches a possible rule name, as opposed to a dash before a reason.
	wordLike = regexp.MustCompile(`^\w`)
	// nearlyMark matches a comment with a similar mark: the mark, the separator of its words, and the word after it.
	nearlyMark = regexp.MustCompile(`^#+\s*((?i:capkit([\s:_-]*)ignore))\b[\s:]*([\w-]*)`)
	// lateMark matches a comment with the mark after other text: the text, and the first rule.
	lateMark = regexp.MustCompile(`^#(.*[\s#.,;(])` + manifest.Mark + `\s*ignore\s+([\w-]+)`)
	// commentedOut matches the text before a late mark if the comment is a disabled line of a manifest.
	commentedOut = regexp.MustCompile(`^[\s#]*($|-\s|[^\s:]+:\s)`)
)

// notOwn returns the mistake in a comment without capkit's mark that looks like a silencing one; empty for other comments. Prose about
// silencing only looks like that if it names a rule.
func notOwn(c edit.Comment, rules []finding.Rule) string {
	ruleMeant := func(word string) bool { return words.Closest(word, ruleNames(rules)) != "" }
	if near := nearlyMark.FindStringSubmatch(c.Text); len(near) > 0 && (strings.ContainsAny(near[2], ":_-") || ruleMeant(near[3])) {
		return fmt.Sprintf("the comment silences nothing, because it begins with %s; %s", near[1], ignoreForm)
	}
	late := lateMark.FindStringSubmatch(c.Text)
	if len(late) == 0 || !ruleMeant(late[2]) || c.Of != c.Line && commentedOut.MatchString(late[1]) {
		return ""
	}
	return "the comment silences nothing, because it does not begin with capkit:ignore; write that first, or in a comment of its own in the line above"
}

// Silence suppresses the findings of disabled rules, and findings that comments in the manifests silence. It adds warnings about faulty and
// unused comments. It also adds the findings that a suppressed one implies, because nobody has silenced them. ran reports whether a rule
// was checked: comments about other rules are not unused.
func Silence(
	g *input.Given, found *report.Report, disabled map[string]report.Suppression, rules []finding.Rule, ran func(*finding.Rule) bool,
) {
	ignores, wrong := ignores(g, rules)
	partly := map[report.Object]bool{}
	disable := func(f *report.Finding) {
		if why, off := disabled[f.Rule]; off && len(f.Suppressions) == 0 {
			f.Suppressions = []report.Suppression{why}
		}
	}
	at := bySilenced(ignores)
	for i := 0; i < len(found.Findings); i++ { // grows in the loop
		f := &found.Findings[i]
		partly[f.Object] = partly[f.Object] || NotRead[f.Rule] || HalfChecked[f.Rule]
		for _, ig := range slices.Concat(at[silenced{file: f.File, object: f.Object}], at[silenced{file: f.File, line: f.Line}]) {
			if slices.Contains(ig.rules, f.Rule) && (!ig.whole || f.Line >= ig.in.Line) {
				ig.used[f.Rule] = true
				f.Suppressions = []report.Suppression{{Kind: report.InSource, Justification: ig.reason}}
			}
		}
		if disable(f); len(f.Suppressions) > 0 {
			found.Findings = append(found.Findings, f.Implied...)
		}
	}
	looked := map[string]bool{}
	for i := range rules {
		looked[rules[i].Name] = ran(&rules[i])
	}
	for _, ig := range ignores {
		if ig.in == nil || !partly[ig.in.Who] {
			wrong = append(wrong, ig.unused(looked)...)
		}
	}
	for i := range wrong {
		disable(&wrong[i])
	}
	found.Findings = append(found.Findings, wrong...)
	report.Sort(found.Findings)
	found.Count()
}

// silenced is the scope of a comment in a file: a line, or an object.
type silenced struct {
	file   string
	line   int
	object report.Object
}

// bySilenced returns the comments by scope. Comments that nothing follows have none.
func bySilenced(ignores []*ignore) map[silenced][]*ignore {
	by := map[silenced][]*ignore{}
	for _, ig := range ignores {
		what := silenced{file: ig.file, line: ig.of}
		if ig.whole {
			what = silenced{file: ig.file, object: ig.in.Who}
		}
		if ig.whole || ig.of > 0 {
			by[what] = append(by[what], ig)
		}
	}
	return by
}

// unused returns a warning for each of the comment's rules that was checked and has not been used.
func (ig *ignore) unused(looked map[string]bool) (warnings []report.Finding) {
	for _, rule := range ig.rules {
		if !ig.used[rule] && looked[rule] {
			warnings = append(warnings, ig.warning(ruleIgnoreUnused, fmt.Sprintf("rule %s finds nothing %s", rule, ig.where())))
		}
	}
	return warnings
}

// where describes the scope of an unused comment, and the remedy.
func (ig *ignore) where() string {
	switch {
	case ig.of == 0 && !ig.whole:
		return "here, because nothing follows the comment; write it behind what it is about, or in the line above"
	case ig.in == nil:
		return fmt.Sprintf("in line %d, which is in no object; write the comment above one, or remove it", ig.of)
	case !ig.in.Checked:
		return "in " + strings.TrimSpace(ig.in.Who.String()) + ", which is not checked; remove the comment"
	case ig.whole:
		return "in " + strings.TrimSpace(ig.in.Who.String()) + "; remove the comment"
	}
	return fmt.Sprintf("in line %d; remove the comment", ig.of)
}

func (ig *ignore) warning(rule, message string) report.Finding {
	w := report.Finding{
		Severity: finding.SeverityWarning, Rule: rule, Type: field.ErrorTypeInvalid, Message: message,
		File: ig.file, Line: ig.line, Column: ig.column,
	}
	if ig.in != nil {
		w.Object = ig.in.Who
	}
	return w
}

// ignores returns the silencing comments, and warnings about faulty ones. In objects that are not checked, it only considers comments with
// capkit's mark.
func ignores(g *input.Given, rules []finding.Rule) (ignores []*ignore, wrong []report.Finding) {
	objects := objectsByFile(g)
	for _, text := range g.Marked {
		lost := isLost(g, text)
		for _, c := range edit.Comments(text.Text) {
			own, message := ownMark.MatchString(c.Text), notOwn(c, rules)
			if !own && message == "" {
				continue
			}
			ig := newIgnore(c, text, objects[text.File])
			var faults []string
			switch {
			case own && (ig.in != nil || !lost):
				faults = ig.parse(c.Text, rules)
			case !own && ig.in != nil && ig.in.Checked:
				faults = []string{message}
			}
			for _, message := range faults {
				wrong = append(wrong, ig.warning(ruleIgnoreComment, message))
			}
			if len(ig.rules) > 0 {
				ignores = append(ignores, ig)
			}
		}
	}
	return ignores, wrong
}

// objectsByFile returns the positions of the objects in each file, by line.
func objectsByFile(g *input.Given) map[string][]*input.Began {
	objects := map[string][]*input.Began{}
	for i := range g.Began {
		b := &g.Began[i]
		objects[b.File] = append(objects[b.File], b)
	}
	for _, in := range objects {
		slices.SortStableFunc(in, func(a, b *input.Began) int { return cmp.Compare(a.Line, b.Line) })
	}
	return objects
}

// newIgnore returns an unparsed comment with its scope. objects are the file's objects, by line. The comment belongs to the object directly
// below it, else to the object around it.
func newIgnore(c edit.Comment, text manifest.Text, objects []*input.Began) *ignore {
	ig := &ignore{file: text.File, line: text.Line + c.Line, column: c.Column, used: map[string]bool{}}
	if c.Of > 0 {
		ig.of = text.Line + c.Of
	}
	from := func(line int) int {
		i, _ := slices.BinarySearchFunc(objects, line, func(b *input.Began, line int) int { return cmp.Compare(b.Line, line) })
		return i
	}
	if next := from(ig.line + 1); next < len(objects) && (ig.of == 0 || objects[next].Line == ig.of) { // maybe in the next document
		ig.in, ig.whole = objects[next], true
	} else if last := from(max(ig.line, ig.of)+1) - 1; last >= 0 && objects[last].Line > text.Line {
		ig.in = objects[last]
	}
	return ig
}

// isLost reports whether a part of a document could not be read, so that it yields no object.
func isLost(g *input.Given, text manifest.Text) bool {
	end := text.Line + strings.Count(text.Text, "\n") + 1
	return slices.ContainsFunc(g.Lost, func(p manifest.Problem) bool {
		return p.File == text.File && text.Line < p.Line && p.Line <= end
	})
}

const ignoreForm = "write # capkit:ignore RULE: reason"

// parse parses the comment, and returns its faults. It sets the rules only if there are none.
func (ig *ignore) parse(text string, rules []finding.Rule) (faults []string) {
	parts := ignoreComment.FindStringSubmatch(text)
	if parts == nil {
		return []string{fmt.Sprintf("capkit has no comment %s; %s", strings.TrimSuffix(ownMark.FindStringSubmatch(text)[1], ":"), ignoreForm)}
	}
	names := strings.FieldsFunc(parts[1], func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	ig.reason = strings.TrimSpace(parts[2])
	known := ruleNames(rules)
	other := slices.IndexFunc(names, func(name string) bool { return !slices.Contains(known, name) })
	isRule := func(name string) bool { return slices.Contains(known, name) }
	switch {
	case len(names) == 0:
		return []string{"the comment names no rule; " + ignoreForm}
	case other > 0 && (ig.reason == "" || !wordLike.MatchString(names[other])):
		return []string{"the comment silences nothing, because there is no colon before the reason; " + ignoreForm}
	case other == 0 && len(names) > 1 && ig.reason == "" && !slices.ContainsFunc(names, isRule):
		return []string{"the comment names no rule before its reason; " + ignoreForm}
	case ig.reason == "":
		faults = append(faults, "the comment silences nothing, because it has no reason; "+ignoreForm)
	}
	for _, name := range names {
		if message := cannotSilence(name, rules, "and nothing else reads comments; remove it here"); message != "" {
			faults = append(faults, message)
		}
	}
	if len(faults) == 0 {
		slices.Sort(names)
		ig.rules = slices.Compact(names)
	}
	return faults
}
