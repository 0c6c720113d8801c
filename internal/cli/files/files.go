// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/manifest"
)

// Changed is a file that a command changes. Its JSON is an interface.
type Changed struct {
	File string `json:"file"`
	// Of is the file that this one replaces in a further step.
	Of string `json:"of,omitempty"`
	// Diff is a unified diff; in a further step, from the result of the previous step.
	Diff string `json:"diff"`
	// Before is the current text, and Text the new one.
	Before, Text string `json:"-"`
}

// TextOf returns a function that returns the text of files that were read before, and of the command's standard input, which is recorded
// from now on. The function fails for files that cannot be read twice, like pipes.
func TextOf(c *command.Call) func(name string) (string, error) {
	var stdin strings.Builder
	if c.Stdin != nil {
		c.Stdin = io.TeeReader(c.Stdin, &stdin)
	}
	return func(name string) (string, error) {
		if name == manifest.Stdin {
			return stdin.String(), nil
		}
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return "", fmt.Errorf("%s cannot be read twice: name a file that can, or use - for standard input", name)
		}
		text, err := os.ReadFile(name)
		return string(text), err
	}
}

// Write writes all files. It writes each beside the file that it replaces, or that it is to replace later, before it replaces any. So
// nothing changes if one cannot be written, if a file has changed meanwhile, or if the file of a further step exists with another text.
// If a rename fails, it restores the files that are replaced already. The error names those that it cannot restore.
func Write(files []Changed) error {
	var written []replacement
	fail := func(err error) error {
		for _, w := range written {
			err = errors.Join(err, os.Remove(w.beside))
		}
		return err
	}
	for _, f := range files {
		like := cmp.Or(f.Of, f.File)
		if like == manifest.Stdin {
			return fail(errors.New("standard input cannot be changed: leave -w out, or name a file"))
		}
		like, err := filepath.EvalSymlinks(like)
		if err != nil {
			return fail(err)
		}
		target, before, err := targetOf(&f, like)
		if err != nil {
			return fail(err)
		}
		beside, err := writeBeside(like, target, f.Text)
		if beside != "" {
			written = append(written, replacement{beside, target, before})
		}
		if err != nil {
			return fail(err)
		}
	}
	for i, w := range written {
		if err := os.Rename(w.beside, w.target); err != nil {
			err = notWritten(w.target, err)
			for k := range i {
				err = errors.Join(err, written[k].undo())
			}
			written = written[i:]
			return fail(err)
		}
	}
	return nil
}

// replacement is a file that has been written beside its target. before is the text of the target, nil if that is new.
type replacement struct {
	beside, target string
	before         *string
}

// undo restores a target that has been replaced.
func (r *replacement) undo() (err error) {
	beside := ""
	if r.before == nil {
		err = os.Remove(r.target)
	} else if beside, err = writeBeside(r.target, r.target, *r.before); err == nil {
		err = os.Rename(beside, r.target)
	}
	if err != nil {
		err = notRestored(r.target, err)
		if beside != "" {
			err = errors.Join(err, os.Remove(beside))
		}
	}
	return err
}

// targetOf returns the path to write a file to, and the text that is there, nil if there is no file. like is the file that it replaces,
// now or in a further step. The error says why nothing must be written.
func targetOf(f *Changed, like string) (target string, before *string, err error) {
	if f.Of == "" {
		if now, err := os.ReadFile(like); err != nil || string(now) != f.Before {
			return "", nil, fmt.Errorf("nothing is written, because %s has changed meanwhile: run the command again", f.File)
		}
		return like, &f.Before, nil
	}
	switch taken, err := os.ReadFile(f.File); {
	case err == nil && string(taken) == f.Text:
		return f.File, &f.Text, nil
	case errors.Is(err, fs.ErrNotExist):
		return f.File, nil, nil
	case err == nil, errors.Is(err, syscall.EISDIR):
		return "", nil, fmt.Errorf("nothing is written, because %s is there already and says something else: move it away", f.File)
	default:
		return "", nil, notWritten(f.File, err)
	}
}

// writeBeside writes a new file into the folder of target, and returns its name; empty if there is none. The file has the mode of like and,
// if permitted, its owner and group.
func writeBeside(like, target, text string) (string, error) {
	info, err := os.Stat(like)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(like)+".*")
	if err != nil {
		return "", notWritten(target, fmt.Errorf("no new file can be made in its folder: %w", causeOf(err)))
	}
	_, err = strings.NewReader(text).WriteTo(f)
	keepOwner(f, info) // before the mode, because it clears some of its bits
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close()); err != nil {
		return f.Name(), notWritten(target, err)
	}
	return f.Name(), nil
}

// notWritten returns the error that a file cannot be written. It does not name the temporary file.
func notWritten(target string, err error) error {
	return fmt.Errorf("%s cannot be written: %w", target, causeOf(err))
}

// notRestored returns the error that a file stays replaced although another one could not be.
func notRestored(target string, err error) error {
	return fmt.Errorf("%s is written already, and cannot be restored: %w", target, causeOf(err))
}

// causeOf returns the cause of a file error without the file's name, which the user may not know.
func causeOf(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
