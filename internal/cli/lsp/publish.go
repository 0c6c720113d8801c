// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// publish tells the editor what was found: of each file that is open, and of others if that is not what it was told before.
func (l *landscape) publish(ctx context.Context, r *result, docs map[string]*document) {
	byFile := map[string][]diagnostic{}
	for name := range docs {
		byFile[name] = []diagnostic{}
	}
	for i := range r.all {
		if f := &r.all[i]; len(f.Suppressions) == 0 {
			byFile[f.File] = append(byFile[f.File], r.diagnostic(f, docs))
		}
	}
	if l.settings != "" {
		for _, fault := range l.faults {
			byFile[l.settings] = append(byFile[l.settings], l.settingsDiagnostic(fault))
		}
	}
	now := map[string]string{}
	for name, diagnostics := range byFile {
		p := publishParams{URI: uriOf(name, docs), Diagnostics: diagnostics}
		if doc := docs[name]; doc != nil {
			p.Version = doc.version
		}
		said, err := json.Marshal(p)
		if err != nil { // which texts and numbers do not make
			l.log("%s", err.Error())
			continue
		}
		now[p.URI] = string(said)
		if l.published[p.URI] != now[p.URI] {
			l.say(ctx, p)
		}
	}
	for uri := range l.published {
		if _, still := now[uri]; !still {
			l.say(ctx, publishParams{URI: uri, Diagnostics: []diagnostic{}})
		}
	}
	l.published = now
}

// say publishes. An editor that is gone is noticed elsewhere.
func (l *landscape) say(ctx context.Context, p publishParams) {
	_ = l.rpc.Notify(ctx, "textDocument/publishDiagnostics", p)
}

// retract takes back what was published, but for what other landscapes have published instead.
func (l *landscape) retract(ctx context.Context, byPlace map[place]map[string]*document) {
	open := map[string]bool{}
	for _, docs := range byPlace {
		for _, doc := range docs {
			open[doc.uri] = true
		}
	}
	for uri := range l.published {
		if !open[uri] {
			l.say(ctx, publishParams{URI: uri, Diagnostics: []diagnostic{}})
		}
	}
}

// diagnostic returns a finding as the editor shows it.
func (r *result) diagnostic(f *report.Finding, docs map[string]*document) diagnostic {
	d := diagnostic{
		Severity: severityError, Code: f.Rule, Source: "capkit", Message: words.Printable(r.short(f.Message)),
		Range: r.rangeOf(f.File, f.Line, f.Column),
	}
	if f.Severity == finding.SeverityWarning {
		d.Severity = severityWarning
	}
	if slices.ContainsFunc(r.rules, func(rule finding.Rule) bool { return rule.Name == f.Rule }) {
		d.CodeDescription = &codeDescription{report.HelpURI(f.Rule)}
	}
	if o, field, what := r.elsewhere(f); o != nil {
		line, column := o.Position(field)
		d.Related = []related{{location{uriOf(o.File, docs), r.rangeOf(o.File, line, column)}, what}}
	}
	return d
}

// elsewhere returns another place that a finding is about, and what is there; nil if there is none.
func (r *result) elsewhere(f *report.Finding) (o *manifest.Object, field, what string) {
	name := f.Object.Namespace + "/" + f.Object.Name
	switch {
	case f.Rule == input.RuleObjectDuplicate && f.Object.Kind == "CloudProfile":
		return manifestOf(r.given.Profiles.ByName[f.Object.Name]), "metadata.name", "described here already"
	case f.Rule == input.RuleObjectDuplicate && f.Object.Kind == "NamespacedCloudProfile":
		return manifestOf(r.given.Namespaced.ByName[name]), "metadata.name", "described here already"
	case f.Rule == input.RuleObjectDuplicate:
		return manifestOf(r.given.Shoots.ByName[name]), "metadata.name", "described here already"
	case f.Object.Kind == "NamespacedCloudProfile":
		if s := r.given.Namespaced.ByName[name]; s != nil && s.Object != nil {
			return manifestOf(r.given.ParentOf(s)), "metadata.name", "the parent"
		}
	case f.Object.Kind == "Shoot":
		if s := r.given.Shoots.ByName[name]; s != nil && s.Object != nil {
			return r.profileOf(s.Object), "metadata.name", "the profile of the Shoot"
		}
	}
	return nil, "", ""
}

func manifestOf[T any](s *input.Source[T]) *manifest.Object {
	if s == nil {
		return nil
	}
	return s.Manifest
}

// rangeOf returns what a finding at a place of a file is about: a member with its value if that is a scalar, or a scalar, or what follows.
func (r *result) rangeOf(name string, line, column int) span {
	o := r.files[name].outline()
	if o == nil || line == 0 {
		at := text.Position{Line: max(line-1, 0), Character: max(column-1, 0)}
		return span{at, at}
	}
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
	return r.span(o, start, end)
}

func (l *landscape) span(o *text.Outline, start, end int) span {
	encoding := l.counting()
	return span{o.Position(start, encoding), o.Position(end, encoding)}
}

// settingsDiagnostic returns what is wrong with the settings.
func (l *landscape) settingsDiagnostic(fault settingsFault) diagnostic {
	content, _ := os.ReadFile(l.settings) // what cannot be read has no lines
	o := text.Read(text.New(string(content)))
	start := o.Placed(fault.line, fault.column)
	_, end := o.Line(start)
	return diagnostic{Severity: severityError, Source: "capkit", Message: words.Printable(fault.message), Range: l.span(o, start, max(start, end))}
}

// kindOf returns the kind of object that a document of an outline is.
func kindOf(document *text.Node) string {
	if document.Text("apiVersion") != "" && !strings.HasPrefix(document.Text("apiVersion"), v1beta1.GroupName+"/") {
		return ""
	}
	return document.Text("kind")
}
