// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/proof"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/internal/cli/transform/lifecycle"
	"github.com/capkit/capkit/pkg/capability"
)

// How migrate changes the objects. proof.go proves the result, and steps.go finds the next step.

// migration is one step of migrate. Faults become findings of the inputs.
type migration struct {
	*input.Given
	options transform.Options
	back    bool
	// lifecycle converts only lifecycles, to or from them.
	lifecycle bool
	// reserved registers or unregisters only reserved capabilities. accept allows that worker pools boot other images then.
	reserved, accept bool
	// input is the first input, which the finding names if there is no profile.
	input string
	// text returns a file's content before the step.
	text func(name string) (string, error)
	// used are the users of image versions.
	used proof.Uses
	// besides are the operations on other objects, for files that change anyway.
	besides map[*manifest.Object][]edit.Op

	// was are lint's findings before the migration.
	was []report.Finding
	// warnings are lint's warnings that exist only after the migration.
	warnings []report.Finding
	// folded is set if there are versions to fold.
	folded bool
	// becomes are the edits of the manifests.
	becomes map[*manifest.Object]files.Edit
	kept    []keptVersion
	// reservedUses are the reserved capabilities that CloudProfiles and their NamespacedCloudProfiles use, computed on first use.
	reservedUses map[*input.Source[v1beta1.CloudProfile]][]string
	// changes counts the findings about images of worker pools, which can be accepted.
	changes int
	// remarks are notes about places of the files.
	remarks []*report.Finding
	// after are the inputs after the migration.
	after *input.Given
}

// run migrates all profiles in files. The answer is meaningless if there are findings. The error means that flags
// match none of the profiles, or that files cannot be read.
func (m *migration) run() (migrated, error) {
	answer := migrated{Files: []files.Changed{}, Kept: []keptVersion{}, Steps: []migratedStep{}}
	if len(m.Findings) == 0 { // findings are about unreadable inputs
		m.checkReferences()
	}
	if len(m.Findings) > 0 {
		m.obstacles()
		return answer, nil
	}
	if err := m.checkFlags(); err != nil {
		return answer, err
	}
	m.used = m.uses()
	hasLifecycles := m.Server.Enabled(lifecycleGate)
	if m.lifecycle { // the gate allows lifecycles at all
		m.Server = m.Server.With(lifecycleGate)
	}
	files, err := m.step()
	if err != nil || len(m.Findings) > 0 {
		return answer, err
	}
	if m.lifecycle && !m.back && len(files) > 0 && !hasLifecycles {
		m.Notes = append(m.Notes, "Gardener refuses lifecycles unless its feature gate "+lifecycleGate+" is on, which it is not by default: "+
			"if your landscape has it on, use --feature-gates "+lifecycleGate+"=true, or write it into gardener.featureGates of .capkit.yaml")
	}
	if len(m.options.MachineTypes) > 0 && !m.folded {
		m.Notes = append(m.Notes, "no version is left to fold, so --machine-types changes nothing; to change what a machine type supports, "+
			"change its capabilities in the file")
	}
	if m.reserved {
		m.noteReserved(len(files) > 0)
	}
	next, err := m.further(files)
	if next != nil {
		answer.Steps = append(answer.Steps, *next)
		for i := range m.kept {
			if k := &m.kept[i]; next.goes[k.use] {
				k.step = k.File + stepSuffix
			}
		}
	}
	answer.Files, answer.Kept = append(answer.Files, files...), append(answer.Kept, m.kept...)
	m.NameStdin(m.warnings)
	report.Sort(m.warnings)
	answer.Findings = append([]report.Finding{}, m.warnings...)
	return answer, err
}

// lifecycleGate is the Gardener feature gate that lifecycles require.
const lifecycleGate = "VersionClassificationLifecycle"

// step returns the files that change.
func (m *migration) step() ([]files.Changed, error) {
	m.becomes = map[*manifest.Object]files.Edit{}
	m.migrateAll()
	changing := map[string]bool{}
	for o := range m.becomes {
		changing[o.File] = true
	}
	for o, ops := range m.besides {
		if changing[o.File] {
			m.becomes[o] = files.Edit{Ops: ops}
		}
	}
	changed, after, err := proof.Files(m.Given, transform.Rule, m.becomes, m.text)
	if m.after = after; err == nil && len(m.Findings) == 0 {
		m.prove()
	}
	return changed, err
}

// migrateAll computes the edits of all profiles, parents first.
func (m *migration) migrateAll() {
	for _, s := range m.Profiles.All {
		if !s.Live {
			m.migrateProfile(s)
		}
	}
	for _, s := range m.Namespaced.All {
		if !s.Live {
			m.migrateNamespaced(s)
		}
	}
	at := func(f *report.Finding) string { return fmt.Sprintf("%s:%d", f.File, f.Line) }
	for _, group := range report.Groups(m.remarks) {
		note := at(group[0]) + ": " + group.Message()
		if others := group.Others(at); others != "" {
			note += "; " + others
		}
		m.Notes = append(m.Notes, note)
	}
}

// note records a note about a place of a manifest.
func (m *migration) note(o *manifest.Object, path, message string) {
	line, _ := o.Position(path)
	m.remarks = append(m.remarks, &report.Finding{Message: message, File: o.File, Line: line})
}

func (m *migration) migrateProfile(s *input.Source[v1beta1.CloudProfile]) {
	cloud := m.Providers[s.Object.Spec.Type]
	if cloud == nil && !m.lifecycle {
		m.AddErrors(s.Manifest, m.NotFor(s.Object.Spec.Type, "spec.type", "migrated"))
		return
	}
	in := transform.Input{Raw: s.Manifest.JSON, Used: m.used.In("CloudProfile " + s.Name)}
	for _, n := range m.Namespaced.All {
		if !n.Live && m.ParentOf(n) == s {
			in.Below = append(in.Below, n.Manifest.JSON)
		}
	}
	m.become(s.Manifest, "CloudProfile "+s.Name, cloud, in, s)
}

func (m *migration) migrateNamespaced(s *input.Source[v1beta1.NamespacedCloudProfile]) {
	parent := m.ParentOf(s)
	switch {
	case parent == nil:
		m.AddErrors(s.Manifest, m.Missing("CloudProfile", s.Object.Spec.Parent.Name, "spec.parent.name"))
		return
	case m.Providers[parent.Object.Spec.Type] == nil && !m.lifecycle:
		m.AddErrors(s.Manifest, m.NotFor(parent.Object.Spec.Type, "spec.parent.name", "migrated"))
		return
	}
	if m.reserved && parent.Live { // the parent stays as it is
		return
	}
	spec := parent.Object.Spec.DeepCopy()
	if becomes, changes := m.becomes[parent.Manifest]; changes && !m.back {
		object := &v1beta1.CloudProfile{}
		_ = json.Unmarshal(becomes.Says, object) // if it cannot be read, the check of its file reports it
		spec = &object.Spec
	}
	m.become(s.Manifest, "NamespacedCloudProfile "+s.Name, m.Providers[parent.Object.Spec.Type],
		transform.Input{Raw: s.Manifest.JSON, Parent: spec, Used: m.used.In("NamespacedCloudProfile " + s.Name)}, parent)
}

// become records a manifest's edit. profile is KIND [NAMESPACE/]NAME; of is the CloudProfile itself or the profile's parent.
func (m *migration) become(
	o *manifest.Object, profile string, cloud command.Provider, in transform.Input, of *input.Source[v1beta1.CloudProfile],
) {
	var result transform.Result
	var errs field.ErrorList
	var err error
	switch {
	case m.lifecycle:
		result, errs, err = lifecycle.Rewrite(in, m.back, time.Now())
	case m.reserved && m.back:
		result, errs, err = transform.Unregister(cloud, in)
	case m.reserved:
		result, errs, err = transform.Register(cloud, in, m.usesOf(of), of.Object.Spec.MachineCapabilities)
	case m.back:
		result, errs, err = transform.Back(cloud, in)
	default:
		result, errs, err = transform.Forward(cloud, in, m.options)
	}
	if err != nil {
		errs = append(errs, input.Problem(transform.Rule, field.ErrorTypeInvalid, "", nil, "%v", err))
	}
	m.AddErrors(o, errs...)
	if len(errs) == 0 && !manifest.SameJSON(o.JSON, result.Raw) {
		m.becomes[o] = files.Edit{Ops: result.Ops, Says: result.Raw}
	}
	m.folded = m.folded || result.Folded
	for _, path := range result.Unreplaced {
		m.note(o, path, capability.GPUSupport+" stays as it is: the second text of GEP-0054 has no replacement")
	}
	for _, a := range result.Unpaired {
		m.note(o, a.Field, fmt.Sprintf("%s@%s: not folded, because %s", a.Image, a.Version, a.Why))
	}
	for _, k := range result.Kept {
		line, _ := o.Position(k.Field)
		m.kept = append(m.kept, keptVersion{
			Profile: profile[strings.IndexByte(profile, ' ')+1:], Image: k.Image, Version: k.Version, UsedBy: k.By, File: o.File, Line: line,
			use: proof.Use(profile, k.Image, k.Version), overridden: m.lifecycle,
		})
	}
}
