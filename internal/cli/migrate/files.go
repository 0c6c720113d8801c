// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/finding"
)

// files returns the files that change, and reads them into m.after.
func (m *migration) files() ([]files.Changed, error) {
	m.after = &input.Given{Providers: m.Providers, Namespace: m.Namespace}
	var changed []files.Changed
	edited := map[string]bool{}
	names := map[string]bool{}
	for o := range m.becomes {
		names[o.File] = true
	}
	for o, ops := range m.besides {
		if names[o.File] {
			m.becomes[o], m.ops[o] = resultOf(o, ops), ops
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
	m.Given.TakeOver(m.after, edited)
	return changed, nil
}

// edit changes a file, and reads it again. It reports whether the file says what it should, and is silent otherwise.
func (m *migration) edit(name, text string) (files.Changed, bool) {
	var objects []edit.Change
	var first *manifest.Object
	for _, o := range slices.SortedFunc(maps.Keys(m.becomes), func(a, b *manifest.Object) int {
		line, _ := a.Position("")
		other, _ := b.Position("")
		return cmp.Compare(line, other)
	}) {
		if o.File == name {
			line, column := o.Position("")
			objects = append(objects, edit.Change{Line: line, Column: column, Ops: m.ops[o]})
			first = cmp.Or(first, o)
		}
	}
	changed, err := edit.Apply(text, objects)
	var fault *edit.Fault
	switch {
	case errors.As(err, &fault):
		m.Findings = append(m.Findings, report.Finding{
			Severity: finding.SeverityError, Rule: transform.Rule, Type: field.ErrorTypeForbidden, Message: fault.Message,
			Object: report.Object(first.Identity), File: name, Line: fault.Line, Column: fault.Column,
		})
		return files.Changed{}, false
	case err == nil && m.readAgain(name, text, changed):
		return files.Changed{File: name, Diff: files.Diff(name, name, text, changed), Text: changed}, true
	}
	m.AddErrors(first, input.Problem(transform.Rule, field.ErrorTypeForbidden, changedAt(first.JSON, m.becomes[first]), nil,
		"the file is written in a way that cannot be changed without changing more than has to; write what is to change in plain block style, without aliases"))
	return files.Changed{}, false
}

// resultOf returns what operations make of a manifest.
func resultOf(o *manifest.Object, ops []edit.Op) json.RawMessage {
	if raw, err := json.Marshal(edit.Result(edit.Decoded(o.JSON), ops)); err == nil {
		return raw
	}
	return o.JSON
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

// readAgain reads a file that has been changed into m.after, and reports whether each object in it
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
		if !manifest.SameJSON(json.RawMessage(want), is[i].JSON) {
			return false
		}
		m.after.Add(is[i])
	}
	return len(m.after.Findings) == 0
}
