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

// Version of the command, with the commit behind a plus if it is known: 0.1.0+0123456789ab. It is set when the command is
// linked, and read by each [Run].
var Version = command.Unversioned

// The exit statuses.
const (
	exitOK     = 0 // done, and nothing found wrong
	exitWrong  = 1 // something found wrong
	exitFailed = 2 // the command could not do its work
)

// quieten drops what the client of Kubernetes logs: the errors that it returns say the same, and in words for the user.
var quieten = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// Provider is a [provider.Provider] whose type of reference the command need not know. [For] makes one.
type Provider = command.Provider

// For makes a provider known to the command.
func For[R any](cloud provider.Provider[R]) Provider { return provider.Untyped(cloud) }

// Rules returns the catalogue of all rules that lint and admission can report about objects of these providers, sorted
// by name: those that hold for every provider, and those of providers that are a [provider.RuleDescriber]. Each name is
// there once; of two rules with one name that counts which holds for every provider, or else that of the first
// provider. What none of the providers can be the cause of is left out. The caller owns the slice.
func Rules(providers ...Provider) []finding.Rule { return checks.Rules(providers...) }

// Run runs the command with its arguments, args[0] being the name by which it was called, and returns its exit status:
// 0 for success, 1 for a negative result, 2 for a usage or I/O error. Results go to stdout, everything else to stderr.
// It knows the given providers, one for each type; of two for one type the later counts. A provider with faults, see
// [provider.Check], is a reason to do nothing.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, providers ...Provider) int {
	quieten()
	c := &command.Call{
		Stdin: stdin, Stdout: report.NewWriter(stdout), Stderr: report.NewWriter(stderr), Terminal: command.TerminalOf(stderr), Shown: command.IsTerminal(stdout),
		Raw: stdout, Providers: map[string]Provider{}, Linked: Version,
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
	if len(args) > 1 && strings.HasPrefix(args[1], cobra.ShellCompRequestCmd) {
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

// fail says why the command could not do its work, and returns its status.
func fail(c *command.Call, name string, err error) int {
	for _, single := range apart(err) {
		report.Printf(c.Stderr, "%s: %s%s\n", name, strings.TrimSpace(single.Error()), notAFile(c, name, single))
	}
	return exitFailed
}

// notAFile says what to do with the name of a file that does not exist, and is something else: a rule, or a URL.
func notAFile(c *command.Call, name string, err error) string {
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	file, _, _ := strings.Cut(err.Error(), ": ") // which begins the message
	if strings.HasPrefix(file, "https://") || strings.HasPrefix(file, "http://") {
		return "; URLs are not read: pipe what is there, as in curl -s URL | " + name + " lint -"
	}
	if slices.ContainsFunc(checks.Catalogue(c), func(rule finding.Rule) bool { return rule.Name == file }) {
		return "; that is a rule: " + name + " explain-rule " + file
	}
	return ""
}

// apart returns the errors that errors.Join has put together.
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

// programName is how the user calls the command; as a kubectl plugin it is installed as kubectl-capkit.
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
