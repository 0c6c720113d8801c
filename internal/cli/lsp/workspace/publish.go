// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/strictyaml"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// publish sends the findings of landscapes to the editor, and withdraws all others. It omits files whose findings have not changed. The
// settings above a folder of the workspace may belong to several landscapes, which report the same errors in them.
func (w *Workspace) publish(ctx context.Context, landscapes map[string]*landscape) {
	all := map[string]protocol.PublishParams{}
	for _, key := range slices.Sorted(maps.Keys(landscapes)) {
		for uri, p := range landscapes[key].tells {
			if other, found := all[uri]; found {
				p.Version, p.Diagnostics = cmp.Or(p.Version, other.Version), union(other.Diagnostics, p.Diagnostics)
			}
			all[uri] = p
		}
	}
	for uri := range w.told {
		if _, still := all[uri]; !still {
			all[uri] = protocol.PublishParams{URI: uri, Diagnostics: []protocol.Diagnostic{}}
		}
	}
	told := map[string]string{}
	for _, uri := range slices.Sorted(maps.Keys(all)) {
		said, _ := json.Marshal(all[uri]) // texts and numbers
		if w.told[uri] != string(said) {
			_ = w.Notify(ctx, "textDocument/publishDiagnostics", all[uri]) // a lost connection is detected elsewhere
		}
		told[uri] = string(said)
	}
	w.told = told
}

// union returns the diagnostics of two lists, each once.
func union(some, others []protocol.Diagnostic) []protocol.Diagnostic {
	all := slices.Clone(some)
	for _, d := range others {
		if !slices.ContainsFunc(some, func(other protocol.Diagnostic) bool { return reflect.DeepEqual(d, other) }) {
			all = append(all, d)
		}
	}
	return all
}

// tell collects the findings for the editor: in each of the landscape's open files in docs, and in other files if they have findings.
func (l *landscape) tell(r *Result, docs map[string]*Document) {
	byFile := map[string][]protocol.Diagnostic{}
	for name := range docs {
		byFile[name] = []protocol.Diagnostic{}
	}
	for i := range r.All {
		f := &r.All[i]
		if of := r.files[f.File]; len(f.Suppressions) == 0 && (of == nil || !of.elsewhere) {
			byFile[f.File] = append(byFile[f.File], r.diagnostic(f))
		}
	}
	for _, fault := range slices.Concat(l.faults, l.missing) {
		byFile[fault.File] = append(byFile[fault.File], r.faultDiagnostic(fault))
	}
	l.tells = map[string]protocol.PublishParams{}
	for name, diagnostics := range byFile {
		p := protocol.PublishParams{URI: URIOf(name, docs), Diagnostics: diagnostics}
		if doc := docs[name]; doc != nil {
			p.Version = doc.version
		}
		l.tells[p.URI] = p
	}
}

// diagnostic converts a finding for the editor.
func (r *Result) diagnostic(f *report.Finding) protocol.Diagnostic {
	d := protocol.Diagnostic{
		Severity: protocol.SeverityError, Code: f.Rule, Source: "capkit", Message: words.Printable(r.Short(f.Message)),
		Range: r.rangeOf(f.File, f.Line, f.Column),
	}
	if f.Severity == finding.SeverityWarning {
		d.Severity = protocol.SeverityWarning
	}
	if slices.ContainsFunc(r.Rules, func(rule finding.Rule) bool { return rule.Name == f.Rule }) {
		d.CodeDescription = &protocol.CodeDescription{Href: report.HelpURI(f.Rule)}
	}
	if o, what := r.elsewhere(f); o != nil {
		line, column := o.Position("metadata.name")
		d.Related = []protocol.Related{{Location: protocol.Location{URI: URIOf(o.File, r.open), Range: r.rangeOf(o.File, line, column)}, Message: what}}
	}
	return d
}

// elsewhere returns another object that concerns a finding, with a description, or nil.
func (r *Result) elsewhere(f *report.Finding) (o *manifest.Object, what string) {
	name := f.Object.Namespace + "/" + f.Object.Name
	switch {
	case f.Rule == input.RuleObjectDuplicate:
		return r.Manifest(f.Object.Kind, f.Object.Namespace, f.Object.Name), "described here already"
	case f.Object.Kind == "NamespacedCloudProfile":
		if s := r.Given.Namespaced.ByName[name]; s != nil && s.Object != nil {
			return manifestOf(r.Given.ParentOf(s)), "the parent"
		}
	case f.Object.Kind == "Shoot":
		if s := r.Given.Shoots.ByName[name]; s != nil && s.Object != nil {
			return r.profileOf(s.Object), "the profile of the Shoot"
		}
	}
	return nil, ""
}

// Manifest returns the object of a kind and name, or nil if it is not among the inputs. Unknown kinds are treated as CloudProfile.
func (r *Result) Manifest(kind, namespace, name string) *manifest.Object {
	switch kind {
	case "NamespacedCloudProfile":
		return manifestOf(r.Given.Namespaced.ByName[namespace+"/"+name])
	case "Shoot":
		return manifestOf(r.Given.Shoots.ByName[namespace+"/"+name])
	}
	return manifestOf(r.Given.Profiles.ByName[name])
}

func manifestOf[T any](s *input.Source[T]) *manifest.Object {
	if s == nil {
		return nil
	}
	return s.Manifest
}

// rangeOf returns the range for a finding at a position in a file: a member with its scalar value, a scalar, or the rest of the line.
func (r *Result) rangeOf(name string, line, column int) protocol.Span {
	o := r.files[name].outlined()
	if o == nil || line == 0 {
		at := text.Position{Line: max(line-1, 0), Character: max(column-1, 0)}
		return protocol.Span{Start: at, End: at}
	}
	return r.rangeIn(o, line, column)
}

// rangeIn is rangeOf for an outline.
func (l *landscape) rangeIn(o *text.Outline, line, column int) protocol.Span {
	start := o.Placed(line, column)
	_, end := o.Line(start)
	end = max(start, start+len(strings.TrimRight(o.String()[start:max(start, end)], " \t")))
	switch spot := o.At(start); {
	case spot.Node == nil || spot.Start > start || spot.Role == text.Comment:
	case spot.Role == text.Key && spot.Node.Bracket == 0 && spot.Node.Value != "":
		end = spot.Node.ValueEnd
	case spot.End > start && spot.End < end:
		end = spot.End
	}
	return l.Span(o, start, end)
}

// Span returns the range between two offsets of an outline, in the editor's encoding.
func (l *landscape) Span(o *text.Outline, start, end int) protocol.Span {
	encoding := l.Counting()
	return protocol.Span{Start: o.Position(start, encoding), End: o.Position(end, encoding)}
}

// faultDiagnostic converts a fault of the settings, or of a description that they name.
func (r *Result) faultDiagnostic(fault *strictyaml.Fault) protocol.Diagnostic {
	o := onDisk(fault.File)
	if doc := r.open[fault.File]; doc != nil {
		o = doc.Outline()
	}
	return protocol.Diagnostic{
		Severity: protocol.SeverityError, Source: "capkit", Message: words.Printable(r.Short(fault.Message)), Range: r.rangeIn(o, fault.Line, fault.Column),
	}
}
