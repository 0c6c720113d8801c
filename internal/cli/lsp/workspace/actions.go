// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/repair"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// The kinds of code actions: one repair, and all repairs of a file.
const (
	KindQuickFix = "quickfix"
	KindFixAll   = "source.fixAll"
)

// mostRepairs bounds the findings of a range that are repaired one by one, because each repair checks the inputs again.
const mostRepairs = 32

// Actions returns repairs for a range of a document, one for each of its first [mostRepairs] findings. It adds an action with all repairs
// of the file if it returns any, if the range may have more, or if the editor names the kinds that it wants.
func (w *Workspace) Actions(ctx context.Context, p protocol.ActionParams) (any, error) {
	doc := w.Doc(p.TextDocument.URI)
	if doc == nil {
		return nil, nil
	}
	r, err := w.Known(ctx, doc, true)
	if err != nil || r == nil {
		return nil, err
	}
	all, tried := []protocol.CodeAction{}, 0
	if r.open[doc.Name] != doc || w.Doc(doc.URI) != doc { // the document has changed again
		return all, nil
	}
	for i := 0; i < len(r.All) && tried < mostRepairs && wanted(p.Context.Only, KindQuickFix); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		action, mayBe := r.repairIn(doc, i, p.Range)
		if mayBe {
			tried++
		}
		if action != nil {
			all = append(all, *action)
		}
	}
	if wanted(p.Context.Only, KindFixAll) && (len(all) > 0 || tried == mostRepairs || len(p.Context.Only) > 0) {
		if action := r.fixed(-1, r.fixAll); action != nil && action.Edit.Changes[doc.URI] != nil {
			action := *action
			action.Edit = &protocol.WorkspaceEdit{Changes: map[string][]protocol.TextEdit{doc.URI: action.Edit.Changes[doc.URI]}}
			all = append(all, action)
		}
	}
	return all, ctx.Err()
}

// repairIn returns the action for the finding with this index, or nil. mayBe reports whether the finding is in the range and its rule has
// repairs.
func (r *Result) repairIn(doc *Document, i int, within protocol.Span) (action *protocol.CodeAction, mayBe bool) {
	f := &r.All[i]
	if f.File != doc.Name || len(f.Suppressions) > 0 || !repair.Known(f.Rule) {
		return nil, false
	}
	d := r.diagnostic(f)
	if d.Range.End.Line < within.Start.Line || d.Range.Start.Line > within.End.Line {
		return nil, false
	}
	return r.fixed(i, func() *protocol.CodeAction { return r.fix(f, d) }), true
}

// fixed memoizes the action for the finding with this index, or for all findings if it is negative.
func (r *Result) fixed(i int, create func() *protocol.CodeAction) *protocol.CodeAction {
	r.fixing.Lock()
	defer r.fixing.Unlock()
	if action, known := r.fixes[i]; known {
		return action
	}
	if r.fixes == nil {
		r.fixes = map[int]*protocol.CodeAction{}
	}
	r.fixes[i] = create()
	return r.fixes[i]
}

// fix returns the action that repairs a finding, or nil if there is none.
func (r *Result) fix(f *report.Finding, d protocol.Diagnostic) *protocol.CodeAction {
	after, made, does, err := r.repairing().One(r.All, *f)
	if err != nil || !does {
		return nil
	}
	return &protocol.CodeAction{
		Title: words.Printable(made.What()), Kind: KindQuickFix, Diagnostics: []protocol.Diagnostic{d}, IsPreferred: true,
		Edit: r.edit(map[string]string{f.File: after}),
	}
}

// wanted reports whether an editor requests a kind of code actions. It requests all if it names none.
func wanted(only []string, kind string) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(o string) bool { return o == kind || strings.HasPrefix(kind, o+".") })
}

// repairing returns a run of repairs on the inputs as they were read. The caller must hold fixing.
func (r *Result) repairing() *repair.Run {
	if r.repairs != nil {
		return r.repairs
	}
	r.Mutex.Lock()
	defer r.Mutex.Unlock()
	g := new(input.Given)
	*g = *r.Given
	g.Findings = slices.Clone(g.Findings[:r.loaded])
	r.repairs = &repair.Run{Given: g, Disabled: r.options.Disabled, Read: func(name string) (string, error) {
		if doc := r.open[name]; doc != nil {
			return doc.String(), nil
		}
		content, err := os.ReadFile(name)
		return string(content), err
	}}
	return r.repairs
}

// fixAll returns the action with all repairs of all open files, or nil if there is none.
func (r *Result) fixAll() *protocol.CodeAction {
	changed, _, err := r.repairing().All()
	if err != nil || len(changed) == 0 {
		return nil
	}
	after := map[string]string{}
	for _, c := range changed {
		after[c.File] = c.Text
	}
	return &protocol.CodeAction{Title: "capkit: make all repairs in this file", Kind: KindFixAll, Edit: r.edit(after)}
}

// edit returns the edit that results in these texts of open files.
func (r *Result) edit(after map[string]string) *protocol.WorkspaceEdit {
	edit := &protocol.WorkspaceEdit{Changes: map[string][]protocol.TextEdit{}}
	for name, changed := range after {
		if doc := r.open[name]; doc != nil {
			edit.Changes[doc.URI] = edits(doc.Text, changed, r.Counting())
		}
	}
	return edit
}

// edits returns the difference between two texts: line by line if both have the same number of lines, or else as one edit.
func edits(before *text.Text, after string, encoding text.Encoding) []protocol.TextEdit {
	old, changed := strings.SplitAfter(before.String(), "\n"), strings.SplitAfter(after, "\n")
	if len(old) != len(changed) {
		return []protocol.TextEdit{difference(before, 0, before.String(), after, encoding)}
	}
	all, offset := []protocol.TextEdit{}, 0
	for i := range old {
		if old[i] != changed[i] {
			all = append(all, difference(before, offset, old[i], changed[i], encoding))
		}
		offset += len(old[i])
	}
	return all
}

// difference returns the edit that changes a part of a text, from at an offset, to another one.
func difference(t *text.Text, offset int, from, to string, encoding text.Encoding) protocol.TextEdit {
	same := 0
	for _, r := range from { // compares whole characters
		n := same + len(string(r))
		if n > len(to) || n > len(from) || to[same:n] != from[same:n] {
			break
		}
		same = n
	}
	ends := 0
	for ends < len(from)-same && ends < len(to)-same && from[len(from)-1-ends] == to[len(to)-1-ends] {
		ends++
	}
	for ends > 0 && (!begins(from[len(from)-ends]) || from[len(from)-ends] == '\n') {
		ends--
	}
	return protocol.TextEdit{
		Range:   protocol.Span{Start: t.Position(offset+same, encoding), End: t.Position(offset+len(from)-ends, encoding)},
		NewText: to[same : len(to)-ends],
	}
}

// begins reports whether a byte begins a character.
func begins(b byte) bool { return b&0xc0 != 0x80 }
