// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/landscape"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/finding"
)

// files returns the files that change, and reads them into m.after.
func (m *migration) files() ([]files.Changed, error) {
	m.after = &input.Given{Providers: m.Providers, Landscape: landscape.Landscape{Server: m.Server}, Namespace: m.Namespace}
	var changed []files.Changed
	edited := map[string]bool{}
	names := map[string]bool{}
	for o := range m.becomes {
		names[o.File] = true
	}
	for o, ops := range m.besides {
		if names[o.File] {
			m.becomes[o] = files.Edit{Ops: ops}
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

// edit changes a file, and takes what it says then into m.after. It reports whether it says what it should; otherwise there is a
// finding.
func (m *migration) edit(name, text string) (files.Changed, bool) {
	edits := map[*manifest.Object]files.Edit{}
	var first *manifest.Object
	for o, becomes := range m.becomes {
		if o.File == name {
			edits[o] = becomes
			if first == nil || files.PlaceOf(o)[0] < files.PlaceOf(first)[0] {
				first = o
			}
		}
	}
	changed, objects, err := files.Edited(name, text, nil, edits)
	for _, o := range objects {
		m.after.Add(o)
	}
	var fault *edit.Fault
	switch {
	case errors.As(err, &fault):
		m.Findings = append(m.Findings, report.Finding{
			Severity: finding.SeverityError, Rule: transform.Rule, Type: field.ErrorTypeForbidden, Message: fault.Message,
			Object: report.Object(first.Identity), File: name, Line: fault.Line, Column: fault.Column,
		})
		return files.Changed{}, false
	case err == nil && len(m.after.Findings) == 0:
		return files.Changed{File: name, Diff: files.Diff(name, name, text, changed), Before: text, Text: changed}, true
	}
	m.AddErrors(first, input.Problem(transform.Rule, field.ErrorTypeForbidden, lastChange(m.becomes[first].Ops), nil,
		"the file is written in a way that cannot be changed without changing more than has to; write what is to change in plain block style, without aliases"))
	return files.Changed{}, false
}

// lastChange returns the path of the mapping or list in which the last operation changes something.
func lastChange(ops []edit.Op) string {
	at, path := ops[len(ops)-1].At(), ""
	for _, step := range at[:len(at)-1] {
		if step.IsIndex() {
			path += fmt.Sprintf("[%d]", step.Index)
		} else {
			path += "." + step.Name
		}
	}
	return strings.TrimPrefix(path, ".")
}
