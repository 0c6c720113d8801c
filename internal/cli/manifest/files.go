// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
	"github.com/capkit/capkit/internal/cli/manifest/folder"
)

// maxDocument is the size of a document, in bytes, from which on it is not read.
const maxDocument = 32 << 20

// Load reads the manifests in args: files, directories, or "-" for stdin, which is not touched otherwise and may be nil
// then. Of a directory it takes the *.yaml, *.yml and *.json files, in lexical order, with those of its subdirectories;
// names that begin with a dot are passed over, as are symbolic links to directories or to nothing, and what the directory's file
// .capkitignore lists, in the syntax of .dockerignore. A file that occurs twice is read once, also by a symbolic link.
//
// Objects and problems come in the order of the input; problems of one file by line and column. An object with
// duplicate keys is returned all the same, along with its problems. Documents without content are ignored.
//
// err joins what kept files from being read at all, in order. The other results are complete for the other files.
func Load(args []string, stdin io.Reader) (objects []*Object, problems []Problem, err error) {
	in, err := Read(args, stdin, "", nil)
	return in.Objects, in.Problems, err
}

// Read reads the manifests in args as Load does, but of a folder it leaves out what repositories have beside manifests:
// Helm charts, patches of kustomizations, templates, documents that are no objects, and those that cannot be read unless
// they mention the group, like gardener.cloud. Files that are named, and standard input, are read as by Load. An empty
// group leaves nothing out.
//
// Objects have no values that are unread, so that dumps of many need less memory; nil keeps all. What is wrong in those,
// like a key that is given twice, is among the problems all the same. Files that are apart are not read: somebody reads them by themselves.
func Read(args []string, stdin io.Reader, group string, unread Unread, apart ...string) (in Input, err error) {
	var errs []error
	seen := map[string]bool{}
	for _, arg := range apart {
		f, _ := Find(arg, group) // who reads them says what is wrong
		for _, file := range f.Files {
			seen[identity(file)] = true
		}
	}
	for _, arg := range args {
		f, err := Find(arg, group)
		errs = append(errs, err)
		in.Skipped = append(in.Skipped, f.Skipped...)
		for _, file := range f.Files {
			path := identity(file)
			if seen[path] {
				continue
			}
			seen[path] = true
			from := stdin
			if file != "-" {
				from = nil
			}
			more, err := f.Read(file, from, unread, nil)
			errs = append(errs, err)
			in.add(more)
		}
	}
	return in, errors.Join(errs...)
}

// identity is the same for all paths of a file, apart from hard links.
func identity(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil && file != "-" {
		file = target
	}
	if absolute, err := filepath.Abs(file); err == nil {
		return absolute
	}
	return filepath.Clean(file)
}

// Read reads the manifests of one of the files: from, or what is on disk if that is nil. The error is as that of the function Read. The
// memory is that of the file; it may be nil.
func (f *Found) Read(file string, from io.Reader, unread Unread, m *Memory) (Input, error) {
	s := newSource(file, m)
	s.group, s.unread = f.group, unread
	err := s.load(from)
	if f.folder {
		s.Empty = nil
	}
	return s.Input, err
}

// Find returns the files that an argument of [Read] stands for. The error is about those that cannot be found.
func Find(arg, group string) (f Found, err error) {
	if arg == "-" {
		return Found{Files: []string{arg}}, nil
	}
	info, err := os.Stat(arg)
	switch link := folder.Nowhere(arg, err); {
	case link != "":
		return Found{}, fmt.Errorf("%s: %s", arg, link)
	case err != nil:
		return Found{}, fmt.Errorf("%s: %w", arg, errors.Unwrap(err))
	case !info.IsDir():
		return Found{Files: []string{arg}}, nil
	}
	f = Found{group: group, folder: true}
	f.Files, f.Skipped, err = folder.Files(arg, group != "")
	return f, err
}

// load reads the source and everything in it, from the file of its name if that is nil. An error means that it could not be read.
func (s *source) load(from io.Reader) error {
	if s.name == "-" {
		s.name = Stdin
	} else if from == nil {
		file, err := os.Open(s.name)
		if err != nil {
			return err
		}
		defer file.Close()
		from = file
	}
	if from == nil {
		return fmt.Errorf("read %s: there is no input", s.name)
	}
	var begin strings.Builder
	_, err := io.Copy(&begin, io.LimitReader(from, maxAtOnce+1))
	text := begin.String()
	if err == nil && strings.TrimSpace(text) == "" {
		s.Empty = []string{s.name}
	}
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", s.name, err)
	case strings.HasPrefix(text, "\x1f\x8b"):
		s.fault(&fault{at: cut.Place{Line: 1, Column: 1}, rule: RuleSyntax, message: "the file is compressed by gzip; unpack it, or: gunzip -c FILE | capkit lint -"}, Identity{})
	case len(text) > maxAtOnce:
		return s.stream(io.MultiReader(strings.NewReader(text), from), text[:1<<10])
	case len(text) <= maxWhole || !s.parseLarge(text):
		cut.Documents(text, s.takePart)
	}
	return nil
}

// maxWhole is the size of an input, in bytes, up to which a List is parsed at once, and maxAtOnce that up to which it is if it
// cannot be read item by item.
const (
	maxWhole  = 256 << 10
	maxAtOnce = 16 << 20
)

// parseLarge reads an input item by item, as [source.stream] does: the parser's nodes of a List take thirty times its size.
// It reports false, having done nothing, for what is to be parsed at once after all: what is more than a List, like anchors that
// several items share, or has mistakes; what has a [Mark], since a comment may stand between two items, and about both of them;
// and what is not UTF-8, of which the keys of a List in JSON say nothing.
func (s *source) parseLarge(text string) bool {
	if hasMark(text) || !utf8.ValidString(text) {
		return false
	}
	trial := *s
	_ = trial.stream(strings.NewReader(text), text[:1<<10]) // what is in memory can be read
	if trial.noList || len(trial.Problems)+len(trial.Skipped)+trial.Foreign > 0 {
		return false
	}
	*s = trial
	return true
}

// apart returns the outermost folders of two files that are not the same; empty if one of the files is in the folder of the
// other, or in one below it, or is standard input.
func apart(a, b string) (folderOfA, folderOfB string) {
	if a == Stdin || b == Stdin {
		return "", ""
	}
	separator := string(filepath.Separator)
	as, bs := strings.Split(filepath.Clean(a), separator), strings.Split(filepath.Clean(b), separator)
	for i := range min(len(as), len(bs)) - 1 {
		if as[i] != bs[i] {
			return strings.Join(as[:i+1], separator), strings.Join(bs[:i+1], separator)
		}
	}
	return "", ""
}

// OrAlone says what else to do about an object that two files describe: if these are in folders of their own, one for each
// landscape as a rule, to give the command one folder at a time. It is empty if they are not.
func OrAlone(a, b string) string {
	x, y := apart(a, b)
	if x == "" {
		return ""
	}
	return fmt.Sprintf("; or, if %s and %s are of two landscapes, run the command for each of them alone, or "+
		"report with --landscape for each: what is given together is one landscape", x, y)
}
