// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/decoding"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/lsp/protocol"
	"github.com/capkit/capkit/internal/cli/lsp/text"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/repair"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// Result is the result of a check. It does not change, except that its inputs memoize compiled profiles.
type Result struct {
	*landscape
	// options are the landscape's options at that time.
	options *checks.Options
	// Rules are the catalogue.
	Rules []finding.Rule
	// Mutex guards the inputs, which compile profiles on demand.
	Mutex sync.Mutex
	Given *input.Given
	// loaded is the number of findings from reading the inputs.
	loaded int
	// files are the checked files, and open the open documents at that time, both by name.
	files map[string]*file
	open  map[string]*Document
	shape string
	// found has the findings of each checked object before silencing. All are the findings of the report.
	found map[*manifest.Object][]report.Finding
	All   []report.Finding

	// fixing guards the following fields. fixes maps indices of findings to actions, with -1 for all findings; nil values mean none.
	fixing  sync.Mutex
	fixes   map[int]*protocol.CodeAction
	repairs *repair.Run
}

// Outline returns the outline of a checked file, or nil.
func (r *Result) Outline(name string) *text.Outline { return r.files[name].outlined() }

// run checks the present files. Objects whose inputs have not changed keep the findings of the last check. open are all documents. run
// returns nil if the context ends first.
func (l *landscape) run(ctx context.Context, open map[string]*Document) *Result {
	g := new(input.Given)
	*g = *l.empty
	g.Decoded = l.memory
	r := &Result{
		landscape: l, options: l.options, Rules: l.rules, Given: g, files: map[string]*file{}, open: open, found: map[*manifest.Object][]report.Finding{},
	}
	kept := decoding.Memory{}
	for _, name := range l.order {
		f := *l.files[name]
		r.files[name] = &f
		g.AddInput(f.Input)
		for _, o := range f.Objects {
			if known, found := l.memory[o]; found {
				kept[o] = known
			}
		}
	}
	l.memory, g.Decoded = kept, kept
	g.TakeAsMeant()
	g.Decoded = nil
	r.loaded, r.shape = len(g.Findings), shape(g)
	c := &checking{Result: r, ctx: ctx, last: &Result{}, same: map[*manifest.Object]bool{}}
	if l.last != nil && l.last.shape == r.shape {
		c.last = l.last
	}
	c.profiles()
	c.shoots()
	if ctx.Err() != nil {
		return nil
	}
	found := report.New(g.Findings, g.Summary)
	checks.Silence(g, &found, l.options.Disabled, l.rules, (*finding.Rule).InManifests)
	r.All = found.Findings
	return r
}

// checking is one run.
type checking struct {
	*Result
	ctx  context.Context
	last *Result // the last result; empty if all objects must be checked
	// same are the profiles that have not changed, including everything that they depend on.
	same map[*manifest.Object]bool
}

// keep takes over the findings of an object from the last check, and reports whether there was one.
func (c *checking) keep(o *manifest.Object) bool {
	found, known := c.last.found[o]
	if known {
		c.found[o] = found
		c.Given.Findings = append(c.Given.Findings, found...)
	}
	return known
}

// anew checks an object, unless the context has ended.
func (c *checking) anew(o *manifest.Object, check func()) {
	if c.ctx.Err() != nil {
		return
	}
	before := len(c.Given.Findings)
	check()
	c.found[o] = append([]report.Finding{}, c.Given.Findings[before:]...)
}

// profiles checks profiles of both kinds.
func (c *checking) profiles() {
	g := c.Given
	for _, s := range g.Profiles.All {
		if c.keep(s.Manifest) {
			keepCompiled(c, s, &c.last.Given.Profiles)
			continue
		}
		c.anew(s.Manifest, func() { checks.Profile(g, s) })
	}
	for _, s := range g.Namespaced.All {
		var parent *input.Source[v1beta1.CloudProfile]
		if s.Object != nil {
			parent = g.ParentOf(s)
		}
		if (parent == nil || c.same[parent.Manifest]) && c.keep(s.Manifest) {
			keepCompiled(c, s, &c.last.Given.Namespaced)
			continue
		}
		c.anew(s.Manifest, func() { checks.Namespaced(g, s) })
	}
}

// keepCompiled takes over the compilation of an unchanged profile.
func keepCompiled[T any](c *checking, s *input.Source[T], last *input.Objects[T]) {
	c.same[s.Manifest] = true
	if old := last.ByName[s.Name]; old != nil && old.Manifest == s.Manifest {
		c.last.Mutex.Lock()
		defer c.last.Mutex.Unlock()
		s.Compiled = old.Compiled
	}
}

func (c *checking) shoots() {
	for _, s := range c.Given.Shoots.All {
		if s.Object == nil {
			continue
		}
		if of := c.profileOf(s.Object); (of == nil || c.same[of]) && c.keep(s.Manifest) {
			continue
		}
		c.anew(s.Manifest, func() { checks.Shoot(c.Given, s) })
	}
}

// profileOf returns the manifest of a Shoot's profile, or nil if it is not among the inputs.
func (r *Result) profileOf(shoot *v1beta1.Shoot) *manifest.Object {
	kind, name, _ := input.ProfileNameOf(shoot)
	return r.Manifest(kind, shoot.Namespace, name)
}
