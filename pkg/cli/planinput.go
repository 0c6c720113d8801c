// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/cli/report"
)

// The two versions that plan compares, and everything else that it is given.

// readUpdate reads what plan is about. The error says why that cannot be told: OLD or NEW that cannot be read, or two
// different objects.
func (c *command) readUpdate(ctx context.Context, args []string, flags *planFlags) (*profileUpdate, error) {
	versions := args[:1] // NEW, and OLD before it unless that is elsewhere
	var earlierText []byte
	switch {
	case flags.given("git"):
		text, err := earlier(ctx, flags.git, args[0])
		if err != nil {
			return nil, err
		}
		earlierText = text
	case !flags.live() || c.sameProfile(args):
		versions = args[:2]
	}
	g, err := c.loadFor(ctx, args[len(versions):], flags.inputs, true, true)
	if err != nil {
		return nil, err
	}
	is, err := c.readVersion("NEW", versions[len(versions)-1], c.stdin, g.namespace)
	if err != nil {
		return nil, err
	}
	was := g // the cluster
	switch {
	case flags.given("git"):
		was, err = c.readVersion("OLD", "-", bytes.NewReader(earlierText), g.namespace)
	case len(versions) > 1:
		was, err = c.readVersion("OLD", versions[0], c.stdin, g.namespace)
	}
	if err != nil {
		return nil, err
	}
	return newUpdate(g, was, is)
}

// sameProfile reports whether the first two files have one profile each, and the same: then they are OLD and NEW, although
// there is a cluster. Standard input is not looked at.
func (c *command) sameProfile(args []string) bool {
	var names []string
	for _, arg := range args[:min(2, len(args))] {
		if arg == "-" {
			return false
		}
		g, err := load([]string{arg}, nil, c.providers, "", unread)
		if err != nil || len(g.profiles.all)+len(g.namespaced.all) != 1 {
			return false
		}
		names = append(names, describe(g))
	}
	return len(names) == 2 && names[0] == names[1]
}

// readVersion reads one of the two. What is wrong with it is printed, and the error says so.
func (c *command) readVersion(which, file string, input io.Reader, namespace string) (*garden, error) {
	g, err := load([]string{file}, input, c.providers, namespace, unread)
	if err == nil && len(g.findings) > 0 {
		err = fmt.Errorf("%s cannot be read: repair it, lint says the same", which)
		report.Sort(g.findings)
		err = errors.Join(report.Text(c.stderr, g.findings), err)
	}
	return g, err
}

// earlier returns what a file has been in a revision of the git repository that it is in.
func earlier(ctx context.Context, revision, file string) ([]byte, error) {
	info, err := os.Stat(file)
	var failed *fs.PathError
	switch {
	case file == "-":
		return nil, errors.New("--git goes with a file, and standard input is none: name the file")
	case strings.HasPrefix(revision, "-"):
		return nil, fmt.Errorf("--git %q is no revision: name a commit, a branch or a tag", revision)
	case errors.As(err, &failed):
		return nil, fmt.Errorf("%s: %w", file, failed.Err)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("--git goes with a file, and %s is a directory: name the file in it", file)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "git", "-C", filepath.Dir(path), "cat-file", "blob", revision+":./"+filepath.Base(path))
	cmd.Env = append(os.Environ(), "LC_ALL=C") // which whyNotInGit reads
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, whyNotInGit(revision, file, err, stderr.String())
	}
	return text, nil
}

// whyNotInGit says why git did not return a file of a revision, by the error of running it and by what it has said.
func whyNotInGit(revision, file string, err error, said string) error {
	says := func(text string) bool { return strings.Contains(said, text) }
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("--git needs git, which is not installed: install it, or give OLD and NEW as two files")
	case says("not a git repository"):
		return fmt.Errorf("%s is in no git repository: give OLD and NEW as two files, without --git", file)
	case says("invalid object name"):
		return fmt.Errorf("git has no revision %q: name a commit, a branch or a tag; what a shallow clone lacks has to be fetched first", revision)
	case says("but not in"), says("does not exist in"):
		return fmt.Errorf("git has no %s in revision %q: name a revision that has it; or, if it had another name there, "+
			"hand that version over: git show %s:./OLDNAME | capkit plan - %s", file, revision, revision, file)
	}
	return fmt.Errorf("git does not return %s of revision %q: %s", file, revision, cmp.Or(strings.TrimSpace(said), err.Error()))
}

// newUpdate finds the object that is updated, and returns it with everything else: what is in OLD and NEW besides counts
// where the files, g, do not have it.
func newUpdate(g, was, is *garden) (*profileUpdate, error) {
	names := is.profileNames()
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("NEW has no CloudProfile or NamespacedCloudProfile%s: name the file with the one that is to be updated",
			is.emptyInputs())
	case len(names) > 1:
		return nil, fmt.Errorf("NEW has several profiles, %s: give it one, the one that is to be updated, and the others as FILE",
			strings.Join(names, ", "))
	}
	u := &profileUpdate{kind: "CloudProfile", name: names[0], before: g}
	var found bool
	if len(is.profiles.all) > 0 {
		u.profile, found = changeOf(&was.profiles, is.profiles.all[0])
	} else {
		u.kind = "NamespacedCloudProfile"
		u.namespaced, found = changeOf(&was.namespaced, is.namespaced.all[0])
	}
	switch {
	case !found && was == g:
		return nil, fmt.Errorf("%s has no %s %s to be updated, of those that were read: correct the name, name its namespace or give OLD",
			g.cluster, u.kind, u.name)
	case !found:
		return nil, fmt.Errorf("OLD has %s, and NEW has %s %s%s: give two versions of the same object",
			describe(was), u.kind, u.name, was.emptyInputs())
	}
	for _, other := range []*garden{is, was} { // of which one may be g
		adopt(&g.profiles, &other.profiles)
		adopt(&g.namespaced, &other.namespaced)
		adopt(&g.shoots, &other.shoots)
	}
	u.after = &garden{providers: g.providers, profiles: g.profiles.clone(), namespaced: g.namespaced.clone()}
	if u.profile != nil {
		g.profiles.replace(u.profile.old)
		u.after.profiles.replace(u.profile.updated)
	} else {
		g.namespaced.replace(u.namespaced.old)
		u.after.namespaced.replace(u.namespaced.updated)
	}
	return u, nil
}

// changeOf returns the change to an object from the one of the same name, and reports whether there is one.
func changeOf[T any](was *objects[T], is *source[T]) (*change[T], bool) {
	old := was.byName[is.name]
	if old == nil || old.object == nil {
		return nil, false
	}
	is.old = old.object
	return &change[T]{old, is}, true
}

// describe names the profiles among the inputs.
func describe(g *garden) string {
	var all []string
	for _, s := range g.profiles.all {
		all = append(all, "CloudProfile "+s.name)
	}
	for _, s := range g.namespaced.all {
		all = append(all, "NamespacedCloudProfile "+s.name)
	}
	if len(all) == 0 {
		return "no profile"
	}
	return strings.Join(all, ", ")
}

// adopt adds what another garden has, unless there is one of its name.
func adopt[T any](to, from *objects[T]) {
	for _, s := range from.all {
		if to.byName[s.name] == nil {
			to.put(s)
		}
	}
}

// replace adds a source, in the place of one with the same name if there is one.
func (o *objects[T]) replace(s *source[T]) {
	first := o.byName[s.name]
	if first == nil {
		o.put(s)
		return
	}
	o.byName[s.name] = s
	o.all[slices.Index(o.all, first)] = s
}

// clone returns objects of which nothing is compiled yet.
func (o *objects[T]) clone() objects[T] {
	var cloned objects[T]
	for _, s := range o.all {
		other := *s
		other.compiled = nil
		cloned.put(&other)
	}
	return cloned
}
