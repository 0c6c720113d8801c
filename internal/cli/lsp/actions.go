// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"context"
	"fmt"
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

// actions returns the repairs of what is found in a range of a document, and all of the file in one if anything can be repaired.
func (s *server) actions(ctx context.Context, p actionParams) (any, error) {
	doc := s.work.doc(p.TextDocument.URI)
	if doc == nil {
		return nil, nil
	}
	r, err := s.work.known(ctx, doc, true)
	if err != nil || r == nil {
		return nil, err
	}
	if doc = s.work.doc(doc.uri); doc == nil || r.files[doc.name] == nil {
		return nil, nil
	}
	open := s.work.openIn(r)
	all := []codeAction{}
	repairable := false
	for i := range r.all {
		f := &r.all[i]
		if f.File != doc.name || len(f.Suppressions) > 0 || !repair.Known(f.Rule) {
			continue
		}
		repairable = true
		d := r.diagnostic(f, open)
		if !wanted(p.Context.Only, kindQuickFix) || d.Range.End.Line < p.Range.Start.Line || d.Range.Start.Line > p.Range.End.Line {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		after, made, does, err := r.repairing(open).One(r.all, *f)
		if err != nil || !does {
			continue
		}
		edit := r.edit(map[string]string{f.File: after}, open)
		all = append(all, codeAction{Title: words.Printable(made.What()), Kind: kindQuickFix, Diagnostics: []diagnostic{d}, IsPreferred: true, Edit: edit})
	}
	if repairable && wanted(p.Context.Only, kindFixAll) {
		if action := r.fixAll(doc.name, open); action != nil {
			all = append(all, *action)
		}
	}
	return all, ctx.Err()
}

// wanted reports whether an editor asks for a kind of code actions: for all if it names none.
func wanted(only []string, kind string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool { return o == kind || strings.HasPrefix(kind, o+".") })
}

// openIn returns the open documents of a landscape, by name.
func (w *workspace) openIn(r *result) map[string]*document {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	open := map[string]*document{}
	for _, doc := range w.docs {
		if r.files[doc.name] != nil {
			open[doc.name] = doc
		}
	}
	return open
}

// repairing returns a run of repairs of the inputs, as they were read.
func (r *result) repairing(open map[string]*document) *repair.Run {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	g := new(input.Given)
	*g = *r.given
	g.Findings = slices.Clone(g.Findings[:r.loaded])
	return &repair.Run{Given: g, Disabled: r.options.Disabled, Read: func(name string) (string, error) {
		if doc := open[name]; doc != nil {
			return doc.String(), nil
		}
		content, err := os.ReadFile(name)
		return string(content), err
	}}
}

// fixAll returns the action that makes all repairs; nil if none of a file can be made.
func (r *result) fixAll(name string, open map[string]*document) *codeAction {
	run := r.repairing(open)
	changed, _, err := run.All()
	here, after := 0, map[string]string{}
	for _, made := range run.Done {
		if made.Finding.File == name {
			here++
		}
	}
	if err != nil || here == 0 {
		return nil
	}
	for _, c := range changed {
		if c.File == name {
			after[c.File] = c.Text
		}
	}
	return &codeAction{
		Title: fmt.Sprintf("capkit: make %s in this file", report.Count(here, "repair")), Kind: kindFixAll, Edit: r.edit(after, open),
	}
}

// edit returns the edit that makes texts of files: of each, what is between its first and its last change.
func (r *result) edit(after map[string]string, open map[string]*document) *workspaceEdit {
	edit := &workspaceEdit{Changes: map[string][]textEdit{}}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		doc := open[name]
		if doc == nil {
			continue
		}
		edit.Changes[doc.uri] = edits(doc.Text, after[name], r.counting())
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
