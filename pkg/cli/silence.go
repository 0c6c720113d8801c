// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/edit"
	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/strictjson"
)

// The rules about comments that silence findings.
const (
	ruleIgnoreComment = "ignore-comment"
	ruleIgnoreUnused  = "ignore-unused"
)

// notRead are the rules because of which something is not checked: whoever silenced them would be told that all is well where
// nobody has looked.
var notRead = map[string]bool{
	strictjson.OriginSyntax: true, strictjson.OriginDuplicateKey: true, strictjson.OriginUnknownField: true,
	strictjson.OriginFieldType: true, manifest.RuleTooLarge: true, manifest.RuleNotAnObject: true, ruleObjectKind: true,
	ruleObjectDuplicate: true, ruleFlavorWrapped: true, provider.RuleConfigKind: true,
}

// halfChecked are further rules because of which less is found out about an object.
var halfChecked = map[string]bool{
	consistency.RuleProfileMissing: true, ruleProfileUnreadable: true, ruleProviderUnknown: true, rulePoolNotChecked: true,
}

// whyNotSilenced says why a rule cannot be silenced in a comment; empty if it can.
func whyNotSilenced(rule string) string {
	if notRead[rule] {
		return rule + " cannot be silenced: what it is about could not be read, and was not checked"
	}
	return ""
}

// whyNotDisabled says why a rule cannot be disabled as a whole; empty if it can.
func whyNotDisabled(rule string) string {
	if rule == gardener.RuleCore {
		return rule + " cannot be disabled: it stands for all that Gardener's API server checks; silence one finding, in a comment with the reason"
	}
	return whyNotSilenced(rule)
}

// ignore is a comment that silences rules.
type ignore struct {
	file         string
	line, column int
	// of is the line that is silenced, or where the object begins that is.
	of     int
	object *began
	rules  []string
	reason string
	used   map[string]bool
	// in is the object that the comment stands in, or above.
	in *began
}

// began is where an object begins.
type began struct {
	file string
	line int
	who  report.Object
}

// ignoreComment matches a comment that silences: its rules, and the reason.
var ignoreComment = regexp.MustCompile(`^#+\s*` + manifest.Mark + `\s*ignore\b([^:]*)(?::(.*))?$`)

// otherMark matches any other comment that begins as the command's own do.
var otherMark = regexp.MustCompile(`^#+\s*` + manifest.Mark)

// silence suppresses the findings of rules that are disabled, or that comments in the manifests name, and adds warnings about
// those comments. What follows from a finding that is suppressed is added: nobody has silenced that.
func (g *garden) silence(found *report.Report, disabled map[string]report.Suppression, rules []finding.Rule) {
	ignores, wrong := g.ignores(rules)
	partly := map[report.Object]bool{}
	disable := func(f *report.Finding) {
		if why, off := disabled[f.Rule]; off && len(f.Suppressions) == 0 {
			f.Suppressions = []report.Suppression{why}
		}
	}
	for i := 0; i < len(found.Findings); i++ { // which become more
		f := &found.Findings[i]
		partly[f.Object] = partly[f.Object] || notRead[f.Rule] || halfChecked[f.Rule]
		for _, ig := range ignores {
			if ig.covers(f) {
				ig.used[f.Rule] = true
				f.Suppressions = []report.Suppression{{Kind: report.InSource, Justification: ig.reason}}
			}
		}
		if disable(f); len(f.Suppressions) > 0 {
			found.Findings = append(found.Findings, f.Instead...)
		}
	}
	for _, ig := range ignores {
		for _, rule := range ig.rules {
			if !ig.used[rule] && !partly[ig.in.who] {
				wrong = append(wrong, ig.warning(ruleIgnoreUnused, field.ErrorTypeInvalid,
					fmt.Sprintf("rule %s finds nothing %s; remove the comment", rule, ig.where())))
			}
		}
	}
	for i := range wrong {
		disable(&wrong[i])
	}
	found.Findings = append(found.Findings, wrong...)
	report.Sort(found.Findings)
	found.Count()
}

// covers reports whether the comment silences a finding.
func (ig *ignore) covers(f *report.Finding) bool {
	if ig.file != f.File || !slices.Contains(ig.rules, f.Rule) {
		return false
	}
	if ig.object != nil {
		return f.Object == ig.object.who && f.Line >= ig.object.line
	}
	return f.Line == ig.of
}

func (ig *ignore) where() string {
	if ig.object != nil {
		return "in " + strings.TrimSpace(ig.object.who.String())
	}
	return fmt.Sprintf("in line %d", ig.of)
}

func (ig *ignore) warning(rule string, kind field.ErrorType, message string) report.Finding {
	w := report.Finding{
		Severity: finding.SeverityWarning, Rule: rule, Type: kind, Message: message, File: ig.file, Line: ig.line, Column: ig.column,
	}
	if ig.in != nil {
		w.Object = ig.in.who
	}
	return w
}

// ignores returns the comments that silence, of documents with objects that are checked; and what is wrong with others.
func (g *garden) ignores(rules []finding.Rule) (ignores []*ignore, wrong []report.Finding) {
	for _, text := range g.marked {
		for _, c := range edit.Comments(text.Text) {
			if !otherMark.MatchString(c.Text) {
				continue
			}
			ig := &ignore{file: text.File, line: text.Line + c.Line, column: c.Column, used: map[string]bool{}}
			if c.Of > 0 {
				ig.of = text.Line + c.Of
			}
			if !g.place(ig, text) {
				continue
			}
			faults := ig.parse(c.Text, rules)
			for _, message := range faults {
				wrong = append(wrong, ig.warning(ruleIgnoreComment, field.ErrorTypeInvalid, message))
			}
			if len(ig.rules) > 0 {
				ignores = append(ignores, ig)
			}
		}
	}
	return ignores, wrong
}

// place finds out which object the comment belongs to. It reports false if that is none of those that are checked.
func (g *garden) place(ig *ignore, text manifest.Text) bool {
	above := text.Line + strings.Count(text.Text, "\n") // where the next document begins, at least
	for i := range g.began {
		b := &g.began[i]
		switch {
		case b.file != ig.file:
		case ig.of == 0 && b.line > above: // nothing follows in its document: the comment stands above the next one
			if ig.in == nil || b.line < ig.in.line {
				ig.in, ig.object = b, b
			}
		case ig.of != 0 && b.line == ig.of && ig.line < ig.of:
			ig.in, ig.object = b, b
			return true
		case ig.of != 0 && b.line <= ig.of && b.line > text.Line && (ig.in == nil || b.line > ig.in.line):
			ig.in = b
		}
	}
	return ig.in != nil
}

const ignoreForm = "write # capkit:ignore RULE: reason"

// parse reads the comment, and returns what is wrong with it. The rules are those that it can silence; without a reason it
// silences nothing.
func (ig *ignore) parse(text string, rules []finding.Rule) (faults []string) {
	parts := ignoreComment.FindStringSubmatch(text)
	if parts == nil {
		return []string{"capkit has no such comment; " + ignoreForm}
	}
	names := strings.FieldsFunc(parts[1], func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	ig.reason = strings.TrimSpace(parts[2])
	if len(names) == 0 {
		return []string{"the comment names no rule; " + ignoreForm}
	}
	if ig.reason == "" {
		faults = append(faults, "the comment silences nothing, because it has no reason; "+ignoreForm)
	}
	rule := func(name string) int {
		return slices.IndexFunc(rules, func(r finding.Rule) bool { return r.Name == name })
	}
	for n, name := range names {
		i := rule(name)
		switch {
		case i < 0 && ig.reason == "" && n > 0 && rule(names[0]) >= 0: // words of a reason, before which the colon is missing
		case i < 0:
			faults = append(faults, noRule(name, rules))
		case !rules[i].InManifests():
			faults = append(faults, name+" is not found by lint, and nothing else reads comments; remove it here")
		case notRead[name]:
			faults = append(faults, whyNotSilenced(name))
		case ig.reason != "" && !slices.Contains(ig.rules, name):
			ig.rules = append(ig.rules, name)
		}
	}
	return faults
}

// begins notes where an object begins that is checked.
func (g *garden) begins(o *manifest.Object) {
	if line, _ := o.Position(""); line > 0 {
		g.began = append(g.began, began{o.File, line, report.Object(o.Identity)})
	}
}
