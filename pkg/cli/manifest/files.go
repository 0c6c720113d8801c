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
)

// maxFile is the size of a file or of standard input, in bytes, from which on it is not read.
const maxFile = 32 << 20

// Load reads the manifests in args: files, directories, or "-" for stdin, which is not touched otherwise and may be nil
// then. Of a directory it takes the *.yaml, *.yml and *.json files, in lexical order, with those of its subdirectories;
// names that begin with a dot are passed over, as are symbolic links to directories. A file that occurs twice is read
// once.
//
// Objects and problems come in the order of the input; problems of one file by line and column. An object with
// duplicate keys is returned all the same, along with its problems. Documents without content are ignored.
//
// err joins what kept files from being read at all, in order. The other results are complete for the other files.
func Load(args []string, stdin io.Reader) (objects []*Object, problems []Problem, err error) {
	var errs []error
	seen := map[string]bool{}
	for _, arg := range args {
		files, err := expand(arg)
		errs = append(errs, err)
		for _, file := range files {
			if key := filepath.Clean(file); seen[key] {
				continue
			} else {
				seen[key] = true
			}
			src := source{name: file}
			if err := src.load(stdin); err != nil {
				errs = append(errs, err)
				continue
			}
			objects, problems = append(objects, src.objects...), append(problems, src.problems...)
		}
	}
	return objects, problems, errors.Join(errs...)
}

// expand returns the files that an argument stands for.
func expand(arg string) ([]string, error) {
	if arg == "-" {
		return []string{arg}, nil
	}
	info, err := os.Stat(arg)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{arg}, nil
	}
	return list(arg)
}

// list returns the manifest files below a directory. With an error it returns those it could find.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	var files []string
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir():
			below, err := list(path)
			files, errs = append(files, below...), append(errs, err)
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			info, err := os.Stat(path)
			errs = append(errs, err)
			if err == nil && info.Mode().IsRegular() {
				files = append(files, path)
			}
		}
	}
	return files, errors.Join(errs...)
}

// load reads the source and everything in it. An error means that it could not be read.
func (s *source) load(stdin io.Reader) error {
	if s.name == "-" {
		s.name = Stdin
		return s.readFrom(stdin)
	}
	file, err := os.Open(s.name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > maxFile {
		s.tooBig()
		return nil
	}
	return s.readFrom(file)
}

func (s *source) readFrom(r io.Reader) error {
	if r == nil {
		return fmt.Errorf("read %s: there is no input", s.name)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", s.name, err)
	}
	if len(data) > maxFile {
		s.tooBig()
		return nil
	}
	s.parse(data)
	return nil
}

func (s *source) tooBig() {
	s.problem(place{1, 1}, RuleTooLarge, fmt.Sprintf("the input is larger than %d MiB", maxFile>>20))
}
