// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/edit"
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/migrate"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// What migrate makes of files.

// before says where what is new stands in a profile: the vocabulary above what uses it.
var before = edit.Before{"machineCapabilities": {"machineTypes", "machineImages"}}

// files returns the files that change, and makes the garden that they make.
func (m *migration) files() ([]migratedFile, error) {
	m.after = &garden{providers: m.providers, namespace: m.namespace}
	var changed []migratedFile
	edited := map[string]bool{}
	names := map[string]bool{}
	for o := range m.becomes {
		names[o.File] = true
	}
	for o, raw := range m.besides {
		if names[o.File] {
			m.becomes[o] = raw
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		text, err := m.text(name)
		if err != nil {
			return nil, err
		}
		file, done := m.edit(name, text)
		if !done {
			continue
		}
		edited[name] = true
		changed = append(changed, file)
	}
	takeOver(m.garden, m.after, edited)
	return changed, nil
}

// textOf returns what is in files, and in standard input.
func textOf(stdin func() string) func(name string) (string, error) {
	return func(name string) (string, error) {
		if name == manifest.Stdin {
			return stdin(), nil
		}
		text, err := os.ReadFile(name)
		return string(text), err
	}
}

// edit changes a file, and reads it again. It reports whether the file says what it should, and is silent otherwise.
func (m *migration) edit(name, text string) (migratedFile, bool) {
	var objects []edit.Object
	var first *manifest.Object
	for _, o := range slices.SortedFunc(maps.Keys(m.becomes), func(a, b *manifest.Object) int {
		line, _ := a.Position("")
		other, _ := b.Position("")
		return cmp.Compare(line, other)
	}) {
		if o.File == name {
			line, column := o.Position("")
			objects = append(objects, edit.Object{Line: line, Column: column, Old: o.JSON, New: m.becomes[o]})
			first = cmp.Or(first, o)
		}
	}
	changed, err := edit.Apply(text, objects, before)
	var fault *edit.Fault
	switch {
	case errors.As(err, &fault):
		m.findings = append(m.findings, report.Finding{
			Severity: finding.SeverityError, Rule: migrate.Rule, Type: field.ErrorTypeForbidden, Message: fault.Message,
			Object: report.Object(first.Identity), File: name, Line: fault.Line, Column: fault.Column,
		})
		return migratedFile{}, false
	case err == nil && m.readAgain(name, text, changed):
		return migratedFile{File: name, Diff: diff(name, name, text, changed), text: changed}, true
	}
	m.error(first, problem(migrate.Rule, field.ErrorTypeForbidden, changedAt(first.JSON, m.becomes[first]), nil,
		"the file is written in a way that cannot be changed without changing more than has to; write what is to change in plain block style, without aliases"))
	return migratedFile{}, false
}

// changedAt returns the path of the first value that has to change, and does not become another one as a whole.
func changedAt(before, after json.RawMessage) string {
	var was, is any
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return ""
	}
	return strings.TrimPrefix(firstChange(was, is, ""), ".")
}

func firstChange(was, is any, at string) string {
	members, others := asMembers(was), asMembers(is)
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if other, stays := others[key]; stays && !reflect.DeepEqual(members[key], other) {
			return firstChange(members[key], other, at+key)
		}
	}
	return at
}

// asMembers returns the members of a mapping by their keys, or the entries of a list by their indices, as they stand in a path.
func asMembers(value any) map[string]any {
	members := map[string]any{}
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			members["."+name] = member
		}
	case []any:
		for i, entry := range value {
			members[fmt.Sprintf("[%d]", i)] = entry
		}
	}
	return members
}

// readAgain reads a file that has been changed into the garden after the migration, and reports whether each object in it
// says what it should.
func (m *migration) readAgain(name, text, changed string) bool {
	was, skipped := manifest.Parse(name, text) // in a folder there may be what is no object
	is, problems := manifest.Parse(name, changed)
	if len(was) != len(is) || len(problems) != len(skipped) {
		return false
	}
	becomes := map[[2]int]json.RawMessage{}
	for o, raw := range m.becomes {
		if o.File == name {
			line, column := o.Position("")
			becomes[[2]int{line, column}] = raw
		}
	}
	for i, o := range was {
		line, column := o.Position("")
		want := cmp.Or(string(becomes[[2]int{line, column}]), string(o.JSON))
		if !sameJSON(json.RawMessage(want), is[i].JSON) {
			return false
		}
		m.after.add(is[i])
	}
	return len(m.after.findings) == 0
}

// takeOver gives a garden the objects of another one, but for those of some files.
func takeOver(from, to *garden, without map[string]bool) {
	takeOverAll(&from.profiles, &to.profiles, without)
	takeOverAll(&from.namespaced, &to.namespaced, without)
	takeOverAll(&from.shoots, &to.shoots, without)
}

func takeOverAll[T any](from, to *objects[T], without map[string]bool) {
	for _, s := range from.all {
		if without[s.manifest.File] {
			continue
		}
		copied := *s
		copied.compiled = nil
		to.put(&copied)
	}
}

// writeFiles writes all files. Each is written beside the one that it replaces, or is to replace later, before any is replaced: one
// that cannot be written leaves all as they are. So does one of a further step whose name something else has.
func writeFiles(files []migratedFile) error {
	var written [][2]string
	fail := func(err error) error {
		for _, w := range written {
			err = errors.Join(err, os.Remove(w[0]))
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
		target := like
		if f.Of != "" {
			target = f.File
			if taken, err := os.ReadFile(target); err == nil && string(taken) != f.text {
				return fail(fmt.Errorf("nothing is written, because %s is there already and says something else: move it away", target))
			}
		}
		beside, err := writeBeside(like, f.text)
		if beside != "" {
			written = append(written, [2]string{beside, target})
		}
		if err != nil {
			return fail(err)
		}
	}
	for i, w := range written {
		if err := os.Rename(w[0], w[1]); err != nil {
			written = written[i:]
			return fail(notWritten(w[1], err))
		}
	}
	return nil
}

// writeBeside writes a new file into the folder of another one, with its rights, and returns its name; empty if there is none.
func writeBeside(target, text string) (string, error) {
	info, err := os.Stat(target)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return "", notWritten(target, fmt.Errorf("no new file can be made in its folder: %w", causeOf(err)))
	}
	_, err = strings.NewReader(text).WriteTo(f)
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close()); err != nil {
		return f.Name(), notWritten(target, err)
	}
	return f.Name(), nil
}

// notWritten says why a file cannot be written, without the name of the one that was to replace it.
func notWritten(target string, err error) error {
	return fmt.Errorf("%s cannot be written: %w", target, causeOf(err))
}

// causeOf returns why something could not be done with a file, without its name, which the user may not know.
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
