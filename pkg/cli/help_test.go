// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capkit/capkit/pkg/cli"
)

// subcommands returns the commands in the help and their subcommands, without topics and cobra's own commands.
func subcommands(root *cobra.Command) (all []*cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Runnable() && cmd.Name() != "completion" {
			all = append(append(all, cmd), subcommands(cmd)...)
		}
	}
	return all
}

func TestHelpOfEveryCommand(t *testing.T) {
	root := cli.Command(providers...)
	if !root.AllChildCommandsHaveGroup() {
		for _, cmd := range root.Commands() {
			if cmd.GroupID == "" && cmd.Runnable() {
				t.Errorf("%s is in no group", cmd.Name())
			}
		}
	}
	for _, cmd := range append(subcommands(root), root) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || cmd.Example == "" {
			t.Errorf("%s: Short is %q, and the examples are %q", cmd.Name(), cmd.Short, cmd.Example)
		}
		if !strings.HasSuffix(cmd.Long, ".") {
			t.Errorf("%s: Long is no sentence: %q", cmd.Name(), cmd.Long)
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			name, usage := pflag.UnquoteUsage(flag)
			if name == "string" || name == "strings" || name == "int" || usage == "" || strings.HasSuffix(usage, ".") {
				t.Errorf("%s --%s %s: %q: name the value between backquotes, and say in a phrase what the flag does", cmd.Name(), flag.Name, name, usage)
			}
		})
	}
}

// The examples in help texts can be copied: their commands, flags and values exist.
func TestExamplesInHelp(t *testing.T) {
	for _, cmd := range append(subcommands(cli.Command(providers...)), cli.Command(providers...)) {
		for line := range strings.Lines(cmd.Example) {
			_, args, found := strings.Cut(line, "capkit ")
			if !found || !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: no example: %q", cmd.Name(), line)
				continue
			}
			args, _, _ = strings.Cut(args, " > ")
			args = strings.ReplaceAll(args, "'", "")
			// A separate tree, because flags keep their values.
			asked, rest, err := cli.Command(providers...).Find(strings.Fields(args))
			if err == nil {
				err = asked.ParseFlags(rest)
			}
			if err != nil || !strings.HasPrefix(asked.CommandPath(), cmd.CommandPath()) {
				t.Errorf("%s: %q is about %s: %v", cmd.Name(), strings.TrimSpace(line), asked.Name(), err)
			}
		}
	}
}

// Every command with answers documents when it exits with 1.
func TestExitStatusesOfEveryCommand(t *testing.T) {
	r := run(t, "", "help", "exit-statuses")
	for _, cmd := range subcommands(cli.Command(providers...)) {
		if listed := strings.Contains(r.stdout, "\n  "+cmd.Name()+" "); !listed && cmd.Flags().Lookup("kubeconfig") != nil {
			t.Errorf("%s is not in:\n%s", cmd.Name(), r.stdout)
		}
	}
	for _, said := range []string{r.stdout, run(t, "", "help", "plan").stdout} { // pages and both texts name the same
		contains(t, strings.Join(strings.Fields(said), " "), "stuck at an expiration date or in the next maintenance")
	}
}

func TestHelpIsNotTooWide(t *testing.T) {
	for _, cmd := range append(subcommands(cli.Command(providers...)), cli.Command(providers...)) {
		r := run(t, "", strings.Fields(strings.TrimPrefix(cmd.CommandPath()+" --help", "capkit "))...)
		text, examples, _ := strings.Cut(r.stdout, "\nExamples:\n")
		_, flags, _ := strings.Cut(examples, "\nFlags:\n")
		for line := range strings.Lines(text + flags) {
			if len(line) > 121 || len(line) > 101 && !strings.HasPrefix(line, " ") {
				t.Errorf("%s: %d characters: %s", cmd.Name(), len(line), line)
			}
		}
	}
}

// A plugin's name has two words, but its completion is for a single one.
func TestHelpOfPlugin(t *testing.T) {
	var stdout, stderr strings.Builder
	if status := cli.Run([]string{"kubectl-capkit", "help", "help"}, nil, &stdout, &stderr); status != 0 {
		t.Error(status, stderr.String())
	}
	contains(t, stdout.String(), "  kubectl capkit help lint\n", "Usage:\n  kubectl capkit help [COMMAND]")
	stdout.Reset()
	cli.Run([]string{"kubectl-capkit", "completion", "bash"}, nil, &stdout, &stderr)
	contains(t, stdout.String(), "complete -o default -F __start_kubectl-capkit kubectl-capkit\n")
	stdout.Reset()
	cli.Run([]string{"kubectl-capkit", "lnt"}, nil, &stdout, &stderr)
	if want := "kubectl capkit: unknown command \"lnt\": did you mean lint?\n"; stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("%q", stderr.String())
	}
}

func TestCompletionOfHelp(t *testing.T) {
	r := run(t, "", "__complete", "help", "")
	contains(t, r.stdout, "lint\t", "exit-statuses\t", "\n:4\n")
}

// The shell completes names of rules with their meanings: only suitable ones that are not given yet.
func TestCompletesRules(t *testing.T) {
	for _, tc := range []struct {
		args       []string
		has, lacks string
	}{
		{[]string{"lint", "--disable", ""}, "region-unknown\tThe provider config has images", "syntax\t"},
		{[]string{"lint", "--disable", "region-unknown,"}, "region-unknown,region-uncovered\t", "region-unknown,region-unknown\t"},
		{[]string{"report", "--disable", ""}, "region-unknown\t", "mapping-in-use\t"}, // only admission finds it
		{[]string{"explain-rule", ""}, "mapping-in-use\t", "no-such-rule\t"},
		{[]string{"explain-rule", "region-unknown", "syn"}, "syntax\t", "region-unknown\t"},
	} {
		r := run(t, "", append([]string{"__complete"}, tc.args...)...)
		text := "\n" + r.stdout
		if !strings.Contains(text, "\n"+tc.has) || strings.Contains(text, "\n"+tc.lacks) || !strings.HasSuffix(text, "\n:4\n") {
			t.Errorf("%v: %s%s", tc.args, r.stdout, r.stderr)
		}
	}
}
