// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package proof

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
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
)

// Files returns the files that change with edits of manifests, and the inputs afterwards. A file that cannot be changed stays, and becomes
// a finding of g with the given rule. text returns the content of files.
func Files(
	g *input.Given, rule string, becomes map[*manifest.Object]files.Edit, text func(name string) (string, error),
) (changed []files.Changed, after *input.Given, err error) {
	after = empty(g)
	byFile, edited := map[string]map[*manifest.Object]files.Edit{}, map[string]bool{}
	for o, e := range becomes {
		if byFile[o.File] == nil {
			byFile[o.File] = map[*manifest.Object]files.Edit{}
		}
		byFile[o.File][o] = e
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		before, err := text(name)
		if err != nil {
			return nil, nil, err
		}
		said, now, err := files.Edited(name, before, nil, byFile[name])
		for _, o := range now.Objects {
			after.Add(o)
		}
		if err != nil || len(after.Findings) > 0 {
			cannotChange(g, rule, byFile[name], err)
			continue
		}
		edited[name] = true
		changed = append(changed, files.Changed{File: name, Diff: files.Diff(name, name, before, said), Before: before, Text: said})
		after.Marked = append(after.Marked, now.Marked...)
	}
	g.TakeOver(after, edited)
	after.Marked = append(after.Marked, slices.DeleteFunc(slices.Clone(g.Marked), func(t manifest.Text) bool { return edited[t.File] })...)
	after.Began = append(after.Began, slices.DeleteFunc(slices.Clone(g.Began), func(b input.Began) bool { return edited[b.File] })...)
	return changed, after, nil
}

// cannotChange adds a finding with the reason why a file cannot be changed, about the manifest with the obstacle or, if that is unknown,
// about the first one. edits are the edits of the file's manifests.
func cannotChange(g *input.Given, rule string, edits map[*manifest.Object]files.Edit, err error) {
	edited := slices.SortedFunc(maps.Keys(edits), func(a, b *manifest.Object) int { return files.PlaceOf(a).Compare(files.PlaceOf(b)) })
	about := edited[0]
	var fault *edit.Fault
	if errors.As(err, &fault) {
		for _, o := range edited {
			if files.PlaceOf(o).Compare(files.Place{fault.Line, fault.Column}) <= 0 {
				about = o
			}
		}
		g.Findings = append(g.Findings, report.Finding{
			Severity: finding.SeverityError, Rule: rule, Type: field.ErrorTypeForbidden, Message: fault.Message,
			Object: report.Object(about.Identity), File: about.File, Line: fault.Line, Column: fault.Column,
		})
		return
	}
	ops := edits[about].Ops
	at := ops[len(ops)-1].At()
	g.AddErrors(about, input.Problem(rule, field.ErrorTypeForbidden, pathOf(at[:len(at)-1]), nil,
		"the file is written in a way that cannot be changed without changing more than has to; write what is to change in plain block style, without aliases"))
}

// pathOf formats a path.
func pathOf(at fieldpath.Path) string {
	path := ""
	for _, step := range at {
		if step.IsIndex() {
			path += fmt.Sprintf("[%d]", step.Index)
		} else {
			path += "." + step.Name
		}
	}
	return strings.TrimPrefix(path, ".")
}
