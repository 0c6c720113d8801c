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

// Text writes findings for people, one to a line as compilers do, with the field below it, as a [Writer] does. Severities are in
// colour if that is one to a terminal and the environment has no NO_COLOR.
func Text(w io.Writer, findings []Finding) error {
	groups := make([][]*Finding, 0, len(findings))
	for i := range findings {
		groups = append(groups, []*Finding{&findings[i]})
	}
	return writeGroups(w, groups)
}

// repeated is how many findings that say the same are written one by one, and first how many places are named of more.
const (
	repeated = 3
	first    = 3
)

// textReport writes the findings that count. Of those that say the same, of the same or of others, in more places than a few it writes
// the first one, unless all are wanted.
func textReport(w io.Writer, r *Report, options *Options) error {
	type said struct {
		severity            finding.Severity
		rule, before, after string
	}
	same := map[said][]*Finding{}
	each := func(do func(f *Finding, key said)) {
		for i := range r.Findings {
			if f := &r.Findings[i]; !f.suppressed() {
				before, _, after := f.split()
				do(f, said{f.Severity, f.Rule, before, after})
			}
		}
	}
	each(func(f *Finding, key said) { same[key] = append(same[key], f) })
	var groups [][]*Finding
	each(func(f *Finding, key said) {
		switch all := same[key]; {
		case options.All || len(all) <= repeated:
			groups = append(groups, []*Finding{f})
		case f == all[0]:
			groups = append(groups, all)
		}
	})
	return writeGroups(w, groups)
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

// together returns a message for findings that say the same: about who they are, as far as that is not the same either.
func together(group []*Finding) string {
	before, who, after := group[0].split()
	var all []string
	for _, f := range group {
		if _, other, _ := f.split(); !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	if len(all) < 2 {
		return group[0].Message
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

// writeGroups writes findings that say the same as one, for each group.
func writeGroups(out io.Writer, groups [][]*Finding) error {
	w := NewWriter(out)
	var text bytes.Buffer
	for _, group := range groups {
		f := group[0]
		Printf(&text, "%s: ", f.place())
		text.WriteString(w.severity(f.Severity))
		Printf(&text, ": %s [%s]\n", together(group), f.Rule)
		if f.Field != "" {
			Printf(&text, "    %s\n", f.where())
		}
		if more := group[1:]; len(more) > 0 {
			places := make([]string, 0, first)
			for _, other := range more[:min(first, len(more))] {
				places = append(places, other.inGroup())
			}
			Printf(&text, "    the same %d times more: %s (--all shows each)\n",
				len(more), words.JoinFirst(len(more), places, ", "))
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
