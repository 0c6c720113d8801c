// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/provider"
)

// unversioned is the version of a program that was linked without one.
const unversioned = "dev"

// Version of the command, with the commit behind a plus if it is known: 0.1.0+0123456789ab. It is set when the command is
// linked, and read by each [Run].
var Version = unversioned

// The exit statuses.
const (
	exitOK     = 0 // done, and nothing found wrong
	exitWrong  = 1 // something found wrong
	exitFailed = 2 // the command could not do its work
)

// errWrong ends a command that has printed what is wrong.
var errWrong = errors.New("something was found wrong")

// command is one run.
type command struct {
	stdin io.Reader
	// stdout and stderr let nothing through that is not printable.
	stdout, stderr *report.Writer
	providers      map[string]Provider
	// terminal is the one that stderr is; nil if it is none, or is to be left alone.
	terminal *watched
	// name is what the user calls the command by.
	name string
}

// quieten drops what the client of Kubernetes logs: the errors that it returns say the same, and in words for the user.
var quieten = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// Run runs the command with its arguments, args[0] being the name by which it was called, and returns its exit status:
// 0 if all is well, 1 if something was found wrong, 2 if it could not do its work. Results go to stdout, everything
// else to stderr. It knows the given providers, one for each type; of two for one type the later counts. A provider
// with faults, see [provider.Check], is a reason to do nothing.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, providers ...Provider) int {
	quieten()
	c := &command{
		stdin: stdin, stdout: report.NewWriter(stdout), stderr: report.NewWriter(stderr), terminal: terminalOf(stderr),
		providers: map[string]Provider{},
	}
	defer c.flush()
	var faults []error
	for _, p := range providers {
		c.providers[p.Type()] = p
		faults = append(faults, provider.Check(p))
	}
	name := programName(args)
	c.name = name
	if err := errors.Join(faults...); err != nil {
		return c.fail(name, err)
	}
	root := c.root(name)
	root.SetArgs(args[min(1, len(args)):])
	root.SetIn(stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	addCompletion(root)
	switch err := root.Execute(); {
	case err == nil:
		return exitOK
	case errors.Is(err, errWrong):
		return exitWrong
	default:
		return c.fail(name, err)
	}
}

// flush writes what has no end of its line yet. What cannot be written is lost.
func (c *command) flush() {
	_ = c.stdout.Flush()
	_ = c.stderr.Flush()
}

// fail says why the command could not do its work, and returns its status.
func (c *command) fail(name string, err error) int {
	for _, single := range apart(err) {
		report.Printf(c.stderr, "%s: %s\n", name, strings.TrimSpace(single.Error()))
	}
	return exitFailed
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
