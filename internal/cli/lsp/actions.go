// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/repair"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// The kinds of code actions: a repair, and all repairs of a file.
const (
	kindQuickFix = "quickfix"
	kindFixAll   = "source.fixAll"
)

// actions returns the repairs of what is found in a range of a document, and with them all of the file in one.
func (s *server) actions(ctx context.Context, p actionParams) (any, error) {
	doc := s.work.doc(p.TextDocument.URI)
	if doc == nil {
		return nil, nil
	}
	r, err := s.work.known(ctx, doc, true)
	if err != nil || r == nil {
		return nil, err
	}
	all, here := []codeAction{}, false
	if f := r.files[doc.name]; f == nil || f.doc != doc || s.work.doc(doc.uri) != doc { // it has changed again
		return all, nil
	}
	for i := range r.all {
		f := &r.all[i]
		if f.File != doc.name || len(f.Suppressions) > 0 || !repair.Known(f.Rule) {
			continue
		}
		d := r.diagnostic(f, r.open())
		if d.Range.End.Line < p.Range.Start.Line || d.Range.Start.Line > p.Range.End.Line {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		action := r.fixed(i, func() *codeAction { return r.fix(f, d) })
		if here = here || action != nil; action != nil && wanted(p.Context.Only, kindQuickFix) {
			all = append(all, *action)
		}
	}
	if wanted(p.Context.Only, kindFixAll) && (here || len(p.Context.Only) > 0) {
		if action := r.fixed(-1, func() *codeAction { return r.fixAll() }); action != nil && action.Edit.Changes[doc.uri] != nil {
			action := *action
			action.Edit = &workspaceEdit{map[string][]textEdit{doc.uri: action.Edit.Changes[doc.uri]}}
			all = append(all, action)
		}
	}
	return all, ctx.Err()
}

// fixed returns what a function makes of the finding of an index, or of all if that is negative, once for all who ask.
func (r *result) fixed(i int, make func() *codeAction) *codeAction {
	r.fixing.Lock()
	defer r.fixing.Unlock()
	if action, known := r.fixes[i]; known {
		return action
	}
	if r.fixes == nil {
		r.fixes = map[int]*codeAction{}
	}
	r.fixes[i] = make()
	return r.fixes[i]
}

// fix returns the action that repairs a finding; nil if it cannot be repaired.
func (r *result) fix(f *report.Finding, d diagnostic) *codeAction {
	after, made, does, err := r.repairing().One(r.all, *f)
	if err != nil || !does {
		return nil
	}
	return &codeAction{
		Title: words.Printable(made.What()), Kind: kindQuickFix, Diagnostics: []diagnostic{d}, IsPreferred: true,
		Edit: r.edit(map[string]string{f.File: after}),
	}
}

// wanted reports whether an editor asks for a kind of code actions: for all if it names none.
func wanted(only []string, kind string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool { return o == kind || strings.HasPrefix(kind, o+".") })
}

// open returns the documents that the files were read from, by name.
func (r *result) open() map[string]*document {
	open := map[string]*document{}
	for name, f := range r.files {
		if f.doc != nil {
			open[name] = f.doc
		}
	}
	return open
}

// repairing returns a run of repairs of the inputs, as they were read.
func (r *result) repairing() *repair.Run {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	g := new(input.Given)
	*g = *r.given
	g.Findings = slices.Clone(g.Findings[:r.loaded])
	return &repair.Run{Given: g, Disabled: r.options.Disabled, Read: func(name string) (string, error) {
		if f := r.files[name]; f != nil && f.doc != nil {
			return f.doc.String(), nil
		}
		content, err := os.ReadFile(name)
		return string(content), err
	}}
}

// fixAll returns the action that makes all repairs, of all files that are open; nil if there is none.
func (r *result) fixAll() *codeAction {
	run := r.repairing()
	changed, _, err := run.All()
	if err != nil || len(changed) == 0 {
		return nil
	}
	after := map[string]string{}
	for _, c := range changed {
		after[c.File] = c.Text
	}
	return &codeAction{Title: "capkit: make all repairs in this file", Kind: kindFixAll, Edit: r.edit(after)}
}

// edit returns the edit that makes texts of files that are open.
func (r *result) edit(after map[string]string) *workspaceEdit {
	edit := &workspaceEdit{Changes: map[string][]textEdit{}}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if f := r.files[name]; f != nil && f.doc != nil {
			edit.Changes[f.doc.uri] = edits(f.doc.Text, after[name], r.counting())
		}
	}
	return edit
}

// edits returns what makes one text of another: line by line as far as both have as many lines, or else what differs between their ends.
func edits(before *text.Text, after string, encoding text.Encoding) []textEdit {
	old, changed := strings.SplitAfter(before.String(), "\n"), strings.SplitAfter(after, "\n")
	if len(old) != len(changed) {
		return []textEdit{difference(before, 0, before.String(), after, encoding)}
	}
	all, offset := []textEdit{}, 0
	for i := range old {
		if old[i] != changed[i] {
			all = append(all, difference(before, offset, old[i], changed[i], encoding))
		}
		offset += len(old[i])
	}
	return all
}

// difference returns the edit of a part of a text, which begins at an offset.
func difference(t *text.Text, offset int, from, to string, encoding text.Encoding) textEdit {
	same := 0
	for _, r := range from { // whole characters
		if n := same + len(string(r)); n > len(to) || n > len(from) || to[same:n] != from[same:n] {
			break
		} else {
			same = n
		}
	}
	ends := 0
	for ends < len(from)-same && ends < len(to)-same && from[len(from)-1-ends] == to[len(to)-1-ends] {
		ends++
	}
	for ends > 0 && (!begins(from[len(from)-ends]) || from[len(from)-ends] == '\n') {
		ends--
	}
	return textEdit{
		span{t.Position(offset+same, encoding), t.Position(offset+len(from)-ends, encoding)}, to[same : len(to)-ends],
	}
}

// begins reports whether a byte begins a character.
func begins(b byte) bool { return b&0xc0 != 0x80 }
