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

// Text writes findings for people, one to a line as compilers do, with the field below it, as a [Writer] does. What is said of many is
// written once, as [Groups] has it. Severities are in colour if that is one to a terminal and the environment has no NO_COLOR, and no TERM=dumb.
func Text(w io.Writer, findings []Finding) error {
	return writeGroups(w, Groups(pointers(findings)), "")
}

// repeated is how many findings that say the same are written one by one, and first how many places are named of more.
const (
	repeated = 3
	first    = 3
)

// textReport writes the findings that count: those that say the same as one, unless all are wanted.
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

// Group is findings that say the same, of the same or of others: at least one.
type Group []*Finding

// Groups returns findings in groups, in the order of the first of each. Those that say the same are together if they are more than a few.
func Groups(findings []*Finding) []Group {
	type said struct {
		severity            finding.Severity
		rule, before, after string
	}
	same := map[said]Group{}
	each := func(do func(f *Finding, key said)) {
		for _, f := range findings {
			before, _, after := f.split()
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

// value matches how a message begins that is about a value: as those of Gardener and Kubernetes do.
var value = regexp.MustCompile(`^[A-Z][a-z]+ value: ("(?:[^"\\]|\\.)*"): `)

// split returns who or which value a finding is about, and what its message says before and after that; all is after if that is not known.
func (f *Finding) split() (before, who, after string) {
	if m := value.FindStringSubmatchIndex(f.Message); m != nil {
		return f.Message[:m[2]], f.Message[m[2]:m[3]], f.Message[m[3]:]
	}
	who, _, found := strings.Cut(f.Message, ": ")
	if !found || strings.ContainsAny(who, "{(,;") || strings.HasSuffix(who, " value") { // which is a clause
		return "", "", f.Message
	}
	return "", who, f.Message[len(who):]
}

// Message returns what the findings say: about who they are, as far as that is not the same either.
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
	if len(all) < 2 {
		return g[0].Message
	}
	noun := who[:strings.LastIndexByte(who, ' ')+1] // that all begin with, as in "machine type a"
	if noun == "" || slices.ContainsFunc(all, func(other string) bool { return !strings.HasPrefix(other, noun) }) {
		return before + words.Few(all) + after
	}
	for i := range all {
		all[i] = all[i][len(noun):]
	}
	return before + strings.TrimSuffix(noun, " ") + "s " + words.Few(all) + after
}

// Others says how many more there are than the first one, and where some are; nothing if it is the only one.
func (g Group) Others(place func(*Finding) string) string {
	more := g[1:]
	if len(more) == 0 {
		return ""
	}
	places := make([]string, 0, first)
	for _, other := range more[:min(first, len(more))] {
		places = append(places, place(other))
	}
	return fmt.Sprintf("the same %d times more: %s", len(more), words.JoinFirst(len(more), places, ", "))
}

// writeGroups writes the findings of a group as one. Of more, a hint says how each is shown.
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

// inGroup is where one of several findings is: an object of the cluster has no place but its name.
func (f *Finding) inGroup() string {
	if f.Line == 0 {
		return f.Object.String()
	}
	return f.place()
}

// RuleCount is how many findings a rule has.
type RuleCount struct {
	Rule     string
	Findings int
}

// ByRule returns how many findings that count each rule has, of those that have any: most first, then by name.
func (r *Report) ByRule() []RuleCount {
	return r.count(func(f *Finding) bool { return !f.suppressed() })
}

// SilencedErrors returns how many errors of each rule are suppressed, in the same order.
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

// Reference prints a reference as its fields and their values: id 1234-amd64.
func Reference(reference any) string {
	raw, _ := json.Marshal(reference)               // a reference is made to be printed
	if text, isText := reference.(string); isText { // which stands for one
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
