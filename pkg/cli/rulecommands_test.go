// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/finding"
)

// printed is the JSON output of rules and explain-rule.
type printed struct {
	Rules []struct {
		Name, Object, Means, Repair string
		Severity                    finding.Severity
		Online                      bool
		Command                     string
		Example                     *struct {
			File, Excerpt string
			Finding       struct {
				Rule, File string
				Line       int
			}
		}
	}
}

func TestRulesAreListed(t *testing.T) {
	catalogue := cli.Rules(providers...)
	table := strings.Split(strings.TrimSpace(run(t, "", "rules").stdout), "\n")
	all := decoded[printed](t, run(t, "", "rules", "-o", "json")).Rules
	if len(table) != len(catalogue)+1 || len(all) != len(catalogue) {
		t.Fatalf("%d lines and %d entries for %d rules", len(table), len(all), len(catalogue))
	}
	for i, r := range catalogue {
		row, entry := strings.Fields(table[i+1]), all[i]
		severity := map[bool]string{true: "error or warning", false: string(r.Severity)}[r.Escalates]
		if row[0] != r.Name || !strings.Contains(table[i+1], "  "+severity) || !strings.Contains(table[i+1], r.Object) {
			t.Errorf("%s: %s", r.Name, table[i+1])
		}
		if got := (finding.Rule{
			Name: entry.Name, Severity: entry.Severity, Escalates: r.Escalates, Object: entry.Object, Online: entry.Online, Command: entry.Command,
			Means: entry.Means, Repair: entry.Repair,
		}); got != r || entry.Example != nil {
			t.Errorf("%+v is not %+v", entry, r)
		}
	}
}

// Every rule in a finding can be explained, with an example if a manifest alone can break it.
func TestEachRuleIsExplained(t *testing.T) {
	catalogue := cli.Rules(table...)
	args := []string{"explain-rule", "-o", "json"}
	for _, r := range catalogue {
		args = append(args, r.Name)
	}
	for i, entry := range decoded[printed](t, runFor(table, "", args...)).Rules {
		name, example := catalogue[i].Name, entry.Example
		switch {
		case entry.Name != name:
			t.Errorf("%s where %s was asked for", entry.Name, name)
		case (example != nil) != catalogue[i].InManifests():
			t.Errorf("%s: %+v, and the example %v", name, catalogue[i], example)
		case example == nil:
		case example.Finding.Rule != name || example.Finding.File != example.File || example.Excerpt == "":
			t.Errorf("%s: %+v", name, example)
		case !strings.Contains(read(t, root+"/"+example.File), strings.TrimSpace(strings.Split(example.Excerpt, "\n")[0])):
			t.Errorf("%s is not in %s", example.Excerpt, example.File)
		}
	}
}

func TestExplainRule(t *testing.T) {
	golden(t, "explain-rule.text", run(t, "", "explain-rule", "region-unknown", "image-choice-changed").stdout)
	for line := range strings.Lines(run(t, "", "explain-rule", "mapping-in-use").stdout) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 100 {
			t.Errorf("%q is too long", line)
		}
	}
	// A provider's own rule has an example if the provider is known, and does not exist otherwise.
	if r := run(t, "", "explain-rule", "aws-ami"); r.status != 2 {
		t.Error(r)
	}
	contains(t, runFor(table, "", "explain-rule", "aws-ami").stdout, "aws-ami (error, CloudProfile)\n", "[aws-ami]")
}
