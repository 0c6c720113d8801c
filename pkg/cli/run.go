// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// Version is the version of the command, with the commit after a plus sign if it is known: 0.1.0+0123456789ab. It is set at link time, and
// read by each [Run].
var Version = command.Unversioned

// These are the exit statuses.
const (
	exitOK     = 0 // done, and nothing found wrong
	exitWrong  = 1 // something found wrong
	exitFailed = 2 // the command could not do its work
)

// quieten discards the Kubernetes client's log output: its errors carry the same information in words meant for users.
var quieten = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// Provider is a [provider.Provider] whose reference type the command need not know. [For] makes one.
type Provider = command.Provider

// For wraps a provider for the command.
func For[R any](cloud provider.Provider[R]) Provider { return provider.Untyped(cloud) }

// Rules returns all rules that lint and admission can report about objects of these providers, sorted by name: the rules for every
// provider, and those of providers that implement [provider.RuleDescriber]. If a name occurs twice, the rule for every provider wins, or
// else that of the first provider. Rules that none of the providers can cause are left out. The caller owns the slice.
func Rules(providers ...Provider) []finding.Rule { return checks.Rules(providers...) }

// Run runs the command with its arguments and returns its exit status: 0 for success, 1 for a negative result, 2 for a usage or I/O error.
// args[0] is the name by which it was called. Results go to stdout, and everything else to stderr. The command knows the given providers,
// one for each type. If two have the same type, the later wins. If [provider.Check] finds faults in a provider, Run only reports them, and
// returns 2.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, providers ...Provider) int {
	quieten()
	c := &command.Call{
		Stdin: stdin, Stdout: report.NewWriter(stdout), Stderr: report.NewWriter(stderr), Terminal: command.TerminalOf(stderr), Shown: command.IsTerminal(stdout),
		Raw: stdout, Providers: map[string]Provider{}, Linked: Version,
		Completes: len(args) > 1 && strings.HasPrefix(args[1], cobra.ShellCompRequestCmd),
	}
	defer c.Flush()
	var faults []error
	for _, p := range providers {
		c.Providers[p.Type()] = p
		faults = append(faults, provider.Check(p))
	}
	name := programName(args)
	c.Name = name
	if err := errors.Join(faults...); err != nil {
		return fail(c, name, err)
	}
	root := root(c, name)
	root.SetArgs(args[min(1, len(args)):])
	root.SetIn(stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	addCompletion(root)
	if c.Completes {
		command.RegisterCompletions(root)
	}
	err := root.Execute()
	if lost := c.Stdout.Flush(); lost != nil && (err == nil || errors.Is(err, command.ErrWrong)) {
		err = lost
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, command.ErrWrong):
		return exitWrong
	default:
		return fail(c, name, err)
	}
}

// fail prints the error that made the command fail, and returns the exit status.
func fail(c *command.Call, name string, err error) int {
	for _, single := range apart(err) {
		report.Printf(c.Stderr, "%s: %s%s\n", name, strings.TrimSpace(single.Error()), notAFile(c, name, single))
	}
	return exitFailed
}

// notAFile adds advice for the name of a missing file that is a rule, a URL or a pattern instead.
func notAFile(c *command.Call, name string, err error) string {
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	file, _, _ := strings.Cut(err.Error(), ": ") // the message begins with the file
	if strings.HasPrefix(file, "https://") || strings.HasPrefix(file, "http://") {
		return "; URLs are not read: pipe what is there, as in curl -s URL | " + name + " lint -"
	}
	if slices.ContainsFunc(checks.Catalogue(c), func(rule finding.Rule) bool { return rule.Name == file }) {
		return "; that is a rule: " + name + " explain-rule " + file
	}
	if strings.ContainsAny(err.Error(), "*?[") {
		return "; patterns are not expanded here, and a shell leaves one as it is if no file matches: name files, or their folder"
	}
	return ""
}

// apart returns the errors that errors.Join has joined.
func apart(err error) (all []error) {
	joined, several := err.(interface{ Unwrap() []error })
	if !several || errors.Join(joined.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	for _, single := range joined.Unwrap() {
		all = append(all, apart(single)...)
	}
	return all
}

// programName returns the name by which the user calls the command. As a kubectl plugin, it is installed as kubectl-capkit.
func programName(args []string) string {
	if len(args) == 0 || args[0] == "" {
		return "capkit"
	}
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if plugin, found := strings.CutPrefix(name, "kubectl-"); found {
		return "kubectl " + strings.ReplaceAll(plugin, "_", "-")
	}
	return name
}
