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
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
	"github.com/capkit/capkit/internal/cli/manifest/folder"
)

// maxDocument bounds the size of a document that is read, in bytes.
const maxDocument = 32 << 20

// Load reads the manifests in args: files, directories, or "-" for stdin, which is only used then and may otherwise be nil. In a
// directory it reads the *.yaml, *.yml and *.json files in lexical order, including subdirectories. It skips names that begin with a dot,
// and symbolic links to directories or to nothing. It also skips files listed in the directory's .capkitignore, which has the syntax of
// .dockerignore. A file that occurs twice, possibly through a symbolic link, is read once.
//
// Objects and problems have the order of the input; problems of one file are sorted by line and column. An object with duplicate keys is
// returned along with its problems. Documents without content are ignored.
//
// err joins the errors about unreadable files, in order. The other results are complete for the other files.
func Load(args []string, stdin io.Reader) (objects []*Object, problems []Problem, err error) {
	in, err := Read(args, stdin, "", nil)
	return in.Objects, in.Problems, err
}

// Read reads the manifests in args as Load does, but leaves out other contents of folders in repositories: Helm charts, patches of
// kustomizations, templates, documents that are not objects, and unreadable documents that do not mention the group, such as
// gardener.cloud. This does not apply to standard input and files that args name. An empty group leaves nothing out.
//
// Values for which unread returns a path are dropped, so that large dumps need less memory; nil keeps all. Problems in these values, such
// as a duplicate key, are still returned. Files in apart are skipped; the caller reads them separately.
func Read(args []string, stdin io.Reader, group string, unread Unread, apart ...string) (in Input, err error) {
	var errs []error
	seen := map[string]bool{}
	for _, arg := range apart {
		f, _ := Find(arg, group) // the caller's own reading reports errors
		for _, file := range f.Files {
			seen[realPath(file)] = true
		}
	}
	for _, arg := range args {
		f, err := Find(arg, group)
		errs = append(errs, err)
		in.Skipped = append(in.Skipped, f.Skipped...)
		own := map[string]bool{} // a file counts before links to it
		for _, file := range f.Files {
			own[absolute(file)] = true
		}
		for _, file := range f.Files {
			path := realPath(file)
			if seen[path] || own[path] && path != absolute(file) {
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
	in.Skipped = slices.DeleteFunc(in.Skipped, func(s Skipped) bool { return s.Reason == folder.ReasonLink && readBelow(realPath(s.File), seen) })
	return in, errors.Join(errs...)
}

// readBelow reports whether some of the read files are below a folder. All paths are real ones.
func readBelow(dir string, read map[string]bool) bool {
	for file := range read {
		if strings.HasPrefix(file, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// realPath returns the same text for all paths of a file, except hard links.
func realPath(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil && file != "-" {
		file = target
	}
	return absolute(file)
}

func absolute(file string) string {
	if absolute, err := filepath.Abs(file); err == nil {
		return absolute
	}
	return filepath.Clean(file)
}

// Read reads the manifests of one of the files, from the reader if it is not nil and else from disk. Errors are those of the function
// Read. m is the memory of this file, or nil.
func (f *Found) Read(file string, from io.Reader, unread Unread, m *Memory) (Input, error) {
	s := newSource(file, m)
	s.group, s.unread = f.group, unread
	err := s.load(from)
	if f.folder {
		s.Empty = nil
	}
	return s.Input, err
}

// Find returns the files for an argument of [Read]. The error is about those that cannot be found.
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

// load reads the source completely, from its file if from is nil. An error means that it could not be read.
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

// maxWhole is the size of an input, in bytes, up to which a List is parsed as a whole. Up to maxAtOnce this happens only if it cannot be
// read item by item.
const (
	maxWhole  = 256 << 10
	maxAtOnce = 16 << 20
)

// parseLarge reads an input item by item, like [source.stream], because the parser's nodes of a List take thirty times its size. It
// returns false without effect if the input must be parsed as a whole. That is the case if it is not just Lists, for example with anchors
// that items share, or if it has errors. It is also the case with a [Mark], since a comment between two items may be about both, and with
// invalid UTF-8, which keys of a List in JSON would hide.
func (s *source) parseLarge(text string) bool {
	if hasMark(text) || !utf8.ValidString(text) {
		return false
	}
	trial := *s
	_ = trial.stream(strings.NewReader(text), text[:1<<10]) // reading from memory does not fail
	if trial.noList || len(trial.Problems)+len(trial.Skipped)+trial.Foreign > 0 {
		return false
	}
	*s = trial
	return true
}

// foldersApart returns the outermost differing folders of two files. It returns "" if one file is in or below the folder of the other, or is
// standard input.
func foldersApart(a, b string) (folderOfA, folderOfB string) {
	separator := string(filepath.Separator)
	as, bs := strings.Split(filepath.Clean(a), separator), strings.Split(filepath.Clean(b), separator)
	for i := range min(len(as), len(bs)) - 1 {
		if as[i] != bs[i] {
			return strings.Join(as[:i+1], separator), strings.Join(bs[:i+1], separator)
		}
	}
	return "", ""
}

// OrAlone returns advice about an object that two files describe. If the files are in different folders, usually one for each landscape,
// the command should get one folder at a time. Otherwise it returns "".
func OrAlone(a, b string) string {
	x, y := foldersApart(a, b)
	if x == "" {
		return ""
	}
	return fmt.Sprintf("; or, if %s and %s are of two landscapes, run the command for each of them alone, or "+
		"report with --landscape for each: what is given together is one landscape", x, y)
}
