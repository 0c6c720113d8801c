// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan

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

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// The two versions that plan compares, and its other inputs.

// readUpdate reads plan's inputs. It fails if OLD or NEW cannot be read, or if they are different objects.
func readUpdate(ctx context.Context, c *command.Call, args []string, flags *planFlags) (*changes.Update, error) {
	versions := args[:1] // NEW, preceded by OLD unless OLD comes from git or the cluster
	var earlierText []byte
	switch {
	case flags.Given("git"):
		text, err := earlier(ctx, c.Name, flags.git, args[0], args[1:]...)
		if err != nil {
			return nil, err
		}
		earlierText = text
	case !flags.Live() || sameProfile(c, args):
		versions = args[:2]
	}
	flags.Apart = versions
	g, err := input.LoadFor(ctx, c, args[len(versions):], flags.Flags, true, true)
	if err != nil {
		return nil, err
	}
	is, err := readVersion(c, g, "NEW", versions[len(versions)-1], nil)
	if err != nil {
		return nil, err
	}
	was := g // the cluster
	switch {
	case flags.Given("git"):
		was, err = readVersion(c, g, "OLD", flags.git+":"+args[0], bytes.NewReader(earlierText))
	case len(versions) > 1:
		was, err = readVersion(c, g, "OLD", versions[0], nil)
	}
	if err != nil {
		return nil, err
	}
	if flags.compare {
		return newComparison(g, was, is)
	}
	if flags.Given("git") {
		noteOthers(ctx, c, g, args, flags)
	}
	return newUpdate(g, was, is)
}

// noteOthers notes which files with further profiles differ from the revision, too, and the command that compares one of them: it has the
// same arguments, with this file first. A file that the revision does not have is not an update.
func noteOthers(ctx context.Context, c *command.Call, g *input.Given, args []string, flags *planFlags) {
	var files, differ []string
	for _, s := range g.Profiles.All {
		files = append(files, fileOf(s))
	}
	for _, s := range g.Namespaced.All {
		files = append(files, fileOf(s))
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if file == "" || file == manifest.Stdin {
			continue
		}
		was, err := earlier(ctx, c.Name, flags.git, file)
		if is, failed := os.ReadFile(file); err == nil && failed == nil && !bytes.Equal(was, is) {
			differ = append(differ, file)
		}
	}
	if len(differ) > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("further profiles differ from %s, and are taken as they are now: %s; compare each by itself: %s",
			flags.git, words.Few(differ), command.Line(c.Name+" plan", flags.Words(), slices.Concat(differ[:1], args)...)))
	}
}

// fileOf returns the file of a profile; empty if it is from a cluster.
func fileOf[T any](s *input.Source[T]) string {
	if s.Live {
		return ""
	}
	return s.Manifest.File
}

// newComparison compares the CloudProfiles in OLD and NEW as if the second replaced the first. Shoots in the two files are ignored.
func newComparison(g, was, is *input.Given) (*changes.Update, error) {
	for i, one := range []*input.Given{was, is} {
		if len(one.Profiles.All) != 1 || one.Profiles.All[0].Object == nil || len(one.Namespaced.All) > 0 {
			return nil, fmt.Errorf("%s has %s: --compare takes one CloudProfile in each of the two files", []string{"OLD", "NEW"}[i], describe(one))
		}
	}
	old, other := was.Profiles.All[0], is.Profiles.All[0]
	renamed := other.Object.DeepCopy()
	renamed.Name = old.Object.Name
	updated := *other
	updated.Object, updated.Name = renamed, old.Name
	u := &changes.Update{Kind: "CloudProfile", Name: old.Name, ComparedWith: other.Name, Before: g}
	u.Profile = &changes.Pair[v1beta1.CloudProfile]{Old: old, Updated: updated.UpdateOf(old.Object)}
	u.After = &input.Given{Providers: g.Providers, Landscape: g.Landscape, Profiles: g.Profiles.Clone()}
	g.Profiles.Replace(old)
	u.After.Profiles.Replace(u.Profile.Updated)
	return u, nil
}

// sameProfile reports whether the first two files contain one profile each, with the same name. They are then OLD and
// NEW even if a cluster is given. Standard input is not read.
func sameProfile(c *command.Call, args []string) bool {
	var names []string
	for _, arg := range args[:min(2, len(args))] {
		if arg == "-" {
			return false
		}
		g, err := input.Files([]string{arg}, nil, c.Providers, "", input.Unread)
		if err != nil || len(g.Profiles.All)+len(g.Namespaced.All) != 1 {
			return false
		}
		names = append(names, describe(g))
	}
	return len(names) == 2 && names[0] == names[1]
}

// readVersion reads OLD or NEW from a file, or from the reader if it is not nil. It prints the file's faults, and then returns an error.
func readVersion(c *command.Call, others *input.Given, which, file string, from io.Reader) (g *input.Given, err error) {
	if from == nil {
		g, err = input.Files([]string{file}, c.Stdin, c.Providers, others.Namespace, input.Unread)
	} else {
		var read manifest.Input
		read, err = new(manifest.Found).Read(file, from, input.Unread, nil)
		g = &input.Given{Providers: c.Providers, Namespace: others.Namespace}
		g.AddInput(read)
	}
	if err == nil && len(g.Findings) > 0 {
		err = fmt.Errorf("%s cannot be read: repair it", which)
		others.NameStdin(g.Findings)
		report.Sort(g.Findings)
		err = errors.Join(report.Text(c.Stderr, g.Findings), err)
	}
	return g, err
}

// earlier returns a file's content in a revision of its git repository. A symbolic link that is the same in the
// revision is followed. Suggested commands begin with name, and have more inputs.
func earlier(ctx context.Context, name, revision, file string, more ...string) ([]byte, error) {
	info, err := os.Stat(file)
	var failed *fs.PathError
	switch {
	case file == "-":
		return nil, errors.New("--git needs a file, not standard input: name the file")
	case strings.HasPrefix(revision, "-"):
		return nil, fmt.Errorf("--git %q is not a revision: name a commit, a branch or a tag", revision)
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
	// A directory that looks like a bare repository may come with the manifests, and its settings may name programs.
	cmd := exec.CommandContext(ctx, "git", "-c", "safe.bareRepository=explicit", "-C", filepath.Dir(path),
		"cat-file", "blob", revision+":./"+filepath.Base(path))
	cmd.Env = append(os.Environ(), "LC_ALL=C") // whyNotInGit reads the English messages
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, whyNotInGit(name, revision, file, more, err, stderr.String())
	}
	if link, _ := os.Readlink(path); link != "" && link == string(text) {
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		return earlier(ctx, name, revision, link, more...)
	}
	return text, nil
}

// whyNotInGit explains why git did not return a file of a revision, from the error of running it and from its error
// output. Suggested commands begin with name, and have more inputs.
func whyNotInGit(name, revision, file string, more []string, err error, said string) error {
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
			"hand that version over: git show %s:./OLDNAME | %s", file, revision, command.InShell(revision),
			command.Line(name+" plan", nil, slices.Concat([]string{"-", file}, more)...))
	}
	return fmt.Errorf("git does not return %s of revision %q: %s", file, revision, cmp.Or(strings.TrimSpace(said), err.Error()))
}

// newUpdate finds the updated object and combines it with the other inputs. Other objects in OLD and NEW are used
// unless the files, g, contain them.
func newUpdate(g, was, is *input.Given) (*changes.Update, error) {
	names := is.ProfileNames()
	switch {
	case len(names) == 0:
		why := is.EmptyInputs()
		if len(is.Shoots.All) > 0 {
			why = ", and plan does not compare Shoots (lint checks a changed one, and select shows what it boots)"
		}
		return nil, fmt.Errorf("NEW has no CloudProfile or NamespacedCloudProfile%s: name the file with the one that is to be updated", why)
	case len(names) > 1:
		return nil, fmt.Errorf("NEW has several profiles, %s: give it one, the one that is to be updated, and the others as FILE",
			strings.Join(names, ", "))
	}
	u := &changes.Update{Kind: "CloudProfile", Name: names[0], Before: g}
	var found bool
	if len(is.Profiles.All) > 0 {
		u.Profile, found = changeOf(&was.Profiles, is.Profiles.All[0])
	} else {
		u.Kind = "NamespacedCloudProfile"
		u.Namespaced, found = changeOf(&was.Namespaced, is.Namespaced.All[0])
	}
	switch {
	case !found && was == g:
		return nil, fmt.Errorf("%s has no %s %s to be updated, of those that were read: correct the name, name its namespace or give OLD",
			g.Cluster, u.Kind, u.Name)
	case !found:
		wanted := "give two versions of the same object"
		if len(was.Profiles.All) > 0 && len(is.Profiles.All) > 0 {
			wanted += ", or compare two landscapes, by --compare"
		}
		return nil, fmt.Errorf("OLD has %s, and NEW has %s %s%s: %s", describe(was), u.Kind, u.Name, was.EmptyInputs(), wanted)
	}
	for _, other := range []*input.Given{is, was} { // one of which may be g
		other.TakeOver(g, nil)
	}
	u.After = &input.Given{Providers: g.Providers, Landscape: g.Landscape, Profiles: g.Profiles.Clone(), Namespaced: g.Namespaced.Clone()}
	if u.Profile != nil {
		g.Profiles.Replace(u.Profile.Old)
		u.After.Profiles.Replace(u.Profile.Updated)
	} else {
		g.Namespaced.Replace(u.Namespaced.Old)
		u.After.Namespaced.Replace(u.Namespaced.Updated)
	}
	return u, nil
}

// changeOf pairs an object with its earlier version of the same name, and reports whether there is one.
func changeOf[T any](was *input.Objects[T], is *input.Source[T]) (*changes.Pair[T], bool) {
	old := was.ByName[is.Name]
	if old == nil || old.Object == nil {
		return nil, false
	}
	is.Old, old.Which = old.Object, " before the update"
	return &changes.Pair[T]{Old: old, Updated: is}, true
}

// describe names the profiles among the inputs.
func describe(g *input.Given) string {
	var all []string
	for _, s := range g.Profiles.All {
		all = append(all, "CloudProfile "+s.Name)
	}
	for _, s := range g.Namespaced.All {
		all = append(all, "NamespacedCloudProfile "+s.Name)
	}
	if len(all) == 0 {
		return "no profile"
	}
	return strings.Join(all, ", ")
}
