// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package rules has the commands rules and explain-rule.
package rules

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/example"
	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// catalogue is the output of the commands rules and explain-rule. Its JSON is an interface: a published field keeps its name and meaning.
type catalogue struct {
	Rules []ruleEntry `json:"rules"`
}

// ruleEntry is a rule. For explain-rule, it has an example if there is one.
type ruleEntry struct {
	finding.Rule
	Example *ruleExample `json:"example,omitempty"`
}

// ruleExample is a manifest that breaks a rule.
type ruleExample struct {
	File string `json:"file"`
	// Excerpt has the lines around the finding, without common indentation.
	Excerpt string         `json:"excerpt"`
	Finding report.Finding `json:"finding"`
}

// List returns the command rules.
func List(c *command.Call) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List the rules that lint and admission check",
		Long: `Lists the rules that lint and admission check: name, severity, kind of objects, and what the rule demands. An error denies the object
at admission, a warning does not. Online rules need more than manifests: only admission checks them. For one rule, with its example
and its repair, see explain-rule.`,
		Example: "  capkit rules\n  capkit rules -o json",
		Args:    command.NoFiles("rules takes no arguments: explain-rule says more about one"),
		RunE: func(*cobra.Command, []string) error {
			all := catalogue{Rules: []ruleEntry{}}
			for _, r := range checks.Catalogue(c) {
				all.Rules = append(all.Rules, ruleEntry{Rule: r})
			}
			return command.PrintAs(c.Stdout, output, all, all.print)
		},
	}
	command.OutputFlag(cmd, &output, command.AnswerFormats)
	return cmd
}

func (a catalogue) print(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RULE\tSEVERITY\tOBJECT\tMEANING")
	for _, r := range a.Rules {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.Name, r.kind(), cmp.Or(r.Object, "-"), checks.FirstSentence(r.Means))
	}
	_ = table.Flush() // as with all answers, a closed pipe is not reported
}

// kind returns the severities, with a mark for rules that only admission or a command other than lint checks.
func (r *ruleEntry) kind() string {
	mark := r.Command
	if r.Online {
		mark = "online"
	}
	return strings.TrimSuffix(r.Severities()+", "+mark, ", ")
}

// Explain returns the command explain-rule.
func Explain(c *command.Call) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "explain-rule RULE...",
		Short: "Explain what a rule demands and why, with an example and a repair",
		Long: `Explains what a rule demands and why, with a manifest that breaks it, the output of lint for it, and a repair. Each finding ends
with the name of its rule, in brackets.`,
		Example: "  capkit explain-rule region-unknown\n  capkit explain-rule -o json gardener-core syntax",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no RULE given: the command rules lists them")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, named []string, _ string) ([]string, cobra.ShellCompDirective) {
			isNamed := func(r finding.Rule) bool { return slices.Contains(named, r.Name) }
			return checks.Completions(checks.Catalogue(c), isNamed), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			explained, err := explainRules(c, args)
			if err != nil {
				return err
			}
			return command.PrintAs(c.Stdout, output, explained, explained.printAll)
		},
	}
	command.OutputFlag(cmd, &output, command.AnswerFormats)
	return cmd
}

// explainRules returns the named rules, in the given order. The error lists unknown names.
func explainRules(c *command.Call, names []string) (catalogue, error) {
	rules := checks.Catalogue(c)
	explained := catalogue{Rules: []ruleEntry{}}
	var unknown []error
	for _, name := range names {
		i := slices.IndexFunc(rules, func(r finding.Rule) bool { return r.Name == name })
		if i < 0 {
			unknown = append(unknown, errors.New(checks.NoRule(name, rules)))
			continue
		}
		explained.Rules = append(explained.Rules, ruleEntry{rules[i], exampleOf(name, c.Providers)})
	}
	return explained, errors.Join(unknown...)
}

// exampleOf returns a rule's example; nil if there is none, or if it needs a provider that the command lacks.
func exampleOf(rule string, providers map[string]command.Provider) *ruleExample {
	file := "broken/" + rule + ".yaml"
	text, err := example.Broken.ReadFile(file)
	if err != nil {
		return nil
	}
	file = "example/" + file
	g := &input.Given{Providers: providers}
	g.AddInput(manifest.Parse(file, string(text), nil))
	found := checks.All(g, nil)
	checks.Silence(g, &found, nil, checks.Rules(command.ByType(providers)...), (*finding.Rule).InManifests)
	for _, f := range found.Findings {
		if f.Rule == rule {
			return &ruleExample{File: file, Excerpt: excerpt(string(text), f.Line), Finding: f}
		}
	}
	return nil
}

// around is the number of lines that an excerpt has above and below the finding.
const around = 2

// excerpt returns the lines around a line, which counts from 1, without common indentation.
func excerpt(text string, line int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = lines[max(0, line-1-around):min(len(lines), line+around)]
	shared := len(text)
	for _, l := range lines {
		if content := strings.TrimLeft(l, " "); strings.TrimSpace(l) != "" {
			shared = min(shared, len(l)-len(content))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l[min(shared, len(l)):], " ") + "\n")
	}
	return b.String()
}

func (a catalogue) printAll(w io.Writer) {
	for i := range a.Rules {
		if i > 0 {
			fmt.Fprintln(w)
		}
		a.Rules[i].print(w)
	}
}

func (r *ruleEntry) print(w io.Writer) {
	about := strings.TrimSuffix(r.kind()+", "+r.Object, ", ")
	fmt.Fprintf(w, "%s (%s)\n\n%s\n", r.Name, about, command.Wrapped(r.Means))
	if r.Online {
		fmt.Fprintf(w, "\nAdmission alone finds this: it takes more than manifests.\n")
	}
	if e := r.Example; e != nil {
		fmt.Fprintf(w, "\nExample:\n\n%s\n", indented(e.Excerpt))
		var said strings.Builder
		_ = report.Text(&said, []report.Finding{e.Finding}) // writing into a Builder does not fail
		fmt.Fprint(w, indented(said.String()))
	}
	fmt.Fprintf(w, "\nRepair:\n\n%s\n", command.Wrapped(r.Repair))
}

// contentLine matches the beginning of a line that is not blank.
var contentLine = regexp.MustCompile(`(?m)^[ \t]*[^ \t\n]`)

// indented indents the lines of a text by four columns, except blank ones.
func indented(text string) string { return contentLine.ReplaceAllString(text, "    $0") }
