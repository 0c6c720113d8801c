// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// Text writes findings for people in the notation of compilers, with the field on a second line. Similar findings are written once, see
// [Groups]. A [Writer] shows severities in colour on a terminal, unless the environment has NO_COLOR or TERM=dumb.
func Text(w io.Writer, findings []Finding) error {
	return writeGroups(w, Groups(pointers(findings)), "")
}

// repeated is the largest number of similar findings that are written one by one. first is the number of other places that a group names.
const (
	repeated = 3
	first    = 3
)

// textReport writes the findings that are not suppressed, in groups unless options.All is set.
func textReport(w io.Writer, r *Report, options *Options) error {
	findings := slices.DeleteFunc(pointers(r.Findings), (*Finding).suppressed)
	if !options.All {
		return writeGroups(w, Groups(findings), " (--all shows each)")
	}
	groups := make([]Group, 0, len(findings))
	for _, f := range findings {
		groups = append(groups, Group{f})
	}
	return writeGroups(w, groups, "")
}

func pointers(findings []Finding) []*Finding {
	all := make([]*Finding, 0, len(findings))
	for i := range findings {
		all = append(all, &findings[i])
	}
	return all
}

// Group is one finding, or several with the same message about the same or different subjects, or several for the same reason.
type Group []*Finding

// Groups returns findings in groups, ordered by the first finding of each. A few similar ones stay separate.
func Groups(findings []*Finding) []Group {
	type said struct {
		severity            finding.Severity
		rule, before, after string
	}
	same := map[said]Group{}
	each := func(do func(f *Finding, key said)) {
		for _, f := range findings {
			before, _, after := f.split()
			if f.Subject.Reason != "" {
				before, after = "", index.ReplaceAllString(f.Subject.Reason, "[]")
			}
			do(f, said{f.Severity, f.Rule, before, after})
		}
	}
	each(func(f *Finding, key said) { same[key] = append(same[key], f) })
	var groups []Group
	each(func(f *Finding, key said) {
		switch all := same[key]; {
		case len(all) <= repeated:
			groups = append(groups, Group{f})
		case f == all[0]:
			groups = append(groups, all)
		}
	})
	return groups
}

// index matches an index in a path. Reasons that differ in indices are the same one, about several parts of a list.
var index = regexp.MustCompile(`\[\d+\]`)

// value matches the beginning of a message about a value, in the notation of Gardener and Kubernetes.
var value = regexp.MustCompile(`^(?:[A-Z][a-z]+ value: |Forbidden: [^"]*)("(?:[^"\\]|\\.)*")[: ]`)

// split returns a finding's subject, a name or value, and its message before and after that. If the subject is unknown, after is the whole
// message.
func (f *Finding) split() (before, who, after string) {
	if m := value.FindStringSubmatchIndex(f.Message); m != nil {
		return f.Message[:m[2]], f.Message[m[2]:m[3]], f.Message[m[3]:]
	}
	who, _, found := strings.Cut(f.Message, ": ")
	if !found || strings.ContainsAny(who, "{(,;") || strings.HasSuffix(who, " value") { // a clause
		return "", "", f.Message
	}
	return "", who, f.Message[len(who):]
}

// alike reports whether all findings have the same message, apart from their subjects.
func (g Group) alike() bool {
	before, _, after := g[0].split()
	return !slices.ContainsFunc(g, func(f *Finding) bool {
		b, _, a := f.split()
		return b != before || a != after
	})
}

// Message returns the common message of the findings, with all subjects; that of the first one if they only have the same reason.
func (g Group) Message() string {
	before, who, after := g[0].split()
	var all []string
	known := map[string]bool{}
	for _, f := range g {
		if _, other, _ := f.split(); !known[other] {
			known[other] = true
			all = append(all, other)
		}
	}
	if len(all) < 2 || !g.alike() {
		return g[0].Message
	}
	noun := who[:strings.LastIndexByte(who, ' ')+1] // perhaps the noun of all subjects, as in "machine type a"
	if noun == "" || slices.ContainsFunc(all, func(other string) bool { return !strings.HasPrefix(other, noun) }) {
		return before + words.Few(all) + after
	}
	for i := range all {
		all[i] = all[i][len(noun):]
	}
	return before + strings.TrimSuffix(noun, " ") + "s " + words.Few(all) + after
}

// Others returns a text with the number of findings after the first one, and some of their places; empty if there are none.
func (g Group) Others(place func(*Finding) string) string {
	more := g[1:]
	if len(more) == 0 {
		return ""
	}
	places := make([]string, 0, first)
	for _, other := range more[:min(first, len(more))] {
		places = append(places, place(other))
	}
	same := "the same"
	if !g.alike() {
		same = "for the same reason"
	}
	return fmt.Sprintf("%s %d times more: %s", same, len(more), words.JoinFirst(len(more), places, ", "))
}

// Notes writes remarks, one in a line. Many that differ only in their subjects, or in the command at their end, are written once.
func Notes(w io.Writer, notes []string) {
	all := make([]*Finding, 0, len(notes))
	for _, note := range notes {
		f := &Finding{Message: note}
		if _, who, after := f.split(); who != "" {
			f.Subject.Reason, _, _ = strings.Cut(after, ": run ")
		}
		all = append(all, f)
	}
	for _, same := range Groups(all) {
		Printf(w, "note: %s\n", same.Message())
		if len(same) > 1 && !same.alike() {
			Printf(w, "    %s\n", same.Others(func(f *Finding) string { _, who, _ := f.split(); return who }))
		}
	}
}

// writeGroups writes each group as one finding. For larger groups, hint says how to print each finding.
func writeGroups(out io.Writer, groups []Group, hint string) error {
	w := NewWriter(out)
	var text bytes.Buffer
	for _, group := range groups {
		f := group[0]
		Printf(&text, "%s: ", f.place())
		text.WriteString(w.severity(f.Severity))
		Printf(&text, ": %s [%s]\n", group.Message(), f.Rule)
		if f.Field != "" {
			Printf(&text, "    %s\n", f.where())
		}
		if others := group.Others((*Finding).inGroup); others != "" {
			Printf(&text, "    %s%s\n", others, hint)
		}
	}
	_, err := text.WriteTo(w)
	return err
}

// inGroup returns the place of a finding in a group. For an object of the cluster, that is its name.
func (f *Finding) inGroup() string {
	if f.Line == 0 {
		return f.Object.String()
	}
	return f.place()
}

// RuleCount is the number of findings of a rule.
type RuleCount struct {
	Rule     string
	Findings int
}

// ByRule returns the number of findings that are not suppressed, for each rule with any: most first, then by name.
func (r *Report) ByRule() []RuleCount {
	return r.count(func(f *Finding) bool { return !f.suppressed() })
}

// SilencedErrors returns the number of suppressed errors, for each rule with any, in the order of [Report.ByRule].
func (r *Report) SilencedErrors() []RuleCount {
	return r.count(func(f *Finding) bool { return f.suppressed() && f.Severity == finding.SeverityError })
}

func (r *Report) count(of func(*Finding) bool) []RuleCount {
	counts := map[string]int{}
	for i := range r.Findings {
		if f := &r.Findings[i]; of(f) {
			counts[f.Rule]++
		}
	}
	all := make([]RuleCount, 0, len(counts))
	for rule, n := range counts {
		all = append(all, RuleCount{rule, n})
	}
	slices.SortFunc(all, func(a, b RuleCount) int {
		return cmp.Or(cmp.Compare(b.Findings, a.Findings), cmp.Compare(a.Rule, b.Rule))
	})
	return all
}

// Reference formats a reference as its fields and their values: id 1234-amd64.
func Reference(reference any) string {
	raw, _ := json.Marshal(reference)               // references can be marshalled
	if text, isText := reference.(string); isText { // a text in place of a reference
		return text
	}
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return string(raw)
	}
	values := make([]string, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		values = append(values, fmt.Sprintf("%s %v", name, fields[name]))
	}
	return strings.Join(values, ", ")
}
