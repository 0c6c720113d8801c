// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/migrate"
	"github.com/capkit/capkit/pkg/cli/report"
)

// What migrate does to the objects. migrationfiles.go writes it into their files, migrationproof.go proves it, and
// migrationsteps.go finds the steps that follow.

// migration is one step of migrate. What is wrong becomes findings of the garden.
type migration struct {
	*garden
	options migrate.Options
	back    bool
	// input is the first one, in which it is missed that there is no profile.
	input string
	// text returns what is in a file before the step.
	text func(name string) (string, error)
	// used says who uses which image version.
	used uses
	// besides are other objects of files that change, and what they become there.
	besides map[*manifest.Object]json.RawMessage

	// warnings are what lint warns about afterwards, and not before.
	warnings []report.Finding
	// folded is set if there are versions to fold.
	folded bool
	// becomes holds what manifests become, as JSON.
	becomes map[*manifest.Object]json.RawMessage
	kept    []keptVersion
	// after is what the garden becomes.
	after *garden
}

// run migrates all profiles that are in files. The answer counts for nothing if there are findings. The error is about flags that
// go with none of the profiles, or files that cannot be read.
func (m *migration) run() (migrated, error) {
	answer := migrated{Files: []migratedFile{}, Kept: []keptVersion{}, Steps: []migratedStep{}}
	if len(m.findings) == 0 { // of what could not be read
		m.checkReferences()
	}
	if len(m.findings) > 0 {
		return answer, nil
	}
	if err := m.checkFlags(); err != nil {
		return answer, err
	}
	m.used = m.uses()
	files, err := m.step()
	if err != nil || len(m.findings) > 0 {
		return answer, err
	}
	if len(m.options.MachineTypes) > 0 && !m.folded {
		m.notes = append(m.notes, "no version is left to fold, so --machine-types changes nothing; to change what a machine type supports, "+
			"change its capabilities in the file")
	}
	next, err := m.further(files)
	if next != nil {
		answer.Steps = append(answer.Steps, *next)
		for i := range m.kept {
			m.kept[i].step = next.leavesOut(&m.kept[i])
		}
	}
	answer.Files, answer.Kept = append(answer.Files, files...), append(answer.Kept, m.kept...)
	answer.Findings = append([]report.Finding{}, m.warnings...)
	return answer, err
}

// step returns the files that change.
func (m *migration) step() ([]migratedFile, error) {
	m.becomes = map[*manifest.Object]json.RawMessage{}
	m.migrateAll()
	if len(m.findings) > 0 {
		return nil, nil
	}
	files, err := m.files()
	if err == nil && len(m.findings) == 0 {
		m.prove()
	}
	return files, err
}

// migrateAll finds out what becomes of each profile, parents first.
func (m *migration) migrateAll() {
	for _, s := range m.profiles.all {
		if !s.live {
			m.migrateProfile(s)
		}
	}
	for _, s := range m.namespaced.all {
		if !s.live {
			m.migrateNamespaced(s)
		}
	}
}

func (m *migration) migrateProfile(s *source[v1beta1.CloudProfile]) {
	cloud := m.providers[s.object.Spec.Type]
	if cloud == nil {
		m.error(s.manifest, m.unknownProvider(s.object.Spec.Type, "spec.type"))
		return
	}
	input := migrate.Input{Raw: s.manifest.JSON, Used: m.used.in("CloudProfile " + s.name)}
	if m.options.Fold != nil {
		input.FoldsBelow = slices.ContainsFunc(m.namespaced.all, func(n *source[v1beta1.NamespacedCloudProfile]) bool {
			return !n.live && m.parentOf(n) == s &&
				migrate.FoldsAny(cloud, migrate.Input{Raw: n.manifest.JSON, Parent: &s.object.Spec}, m.options.Fold)
		})
	}
	m.become(s.manifest, "CloudProfile "+s.name, cloud, input)
}

func (m *migration) migrateNamespaced(s *source[v1beta1.NamespacedCloudProfile]) {
	parent := m.parentOf(s)
	switch {
	case parent == nil:
		m.error(s.manifest, m.missing("CloudProfile", s.object.Spec.Parent.Name, "spec.parent.name"))
		return
	case m.providers[parent.object.Spec.Type] == nil:
		m.error(s.manifest, m.unknownProvider(parent.object.Spec.Type, "spec.parent.name"))
		return
	}
	spec := parent.object.Spec.DeepCopy()
	if becomes, changes := m.becomes[parent.manifest]; changes && !m.back {
		object := &v1beta1.CloudProfile{}
		if err := json.Unmarshal(becomes, object); err != nil {
			m.error(s.manifest, problem(migrate.Rule, field.ErrorTypeInternal, "spec.parent", nil, "the parent cannot be read: %v", err))
			return
		}
		spec = &object.Spec
	}
	m.become(s.manifest, "NamespacedCloudProfile "+s.name, m.providers[parent.object.Spec.Type],
		migrate.Input{Raw: s.manifest.JSON, Parent: spec, Used: m.used.in("NamespacedCloudProfile " + s.name)})
}

// become notes what a manifest becomes, that of the profile KIND [NAMESPACE/]NAME.
func (m *migration) become(o *manifest.Object, profile string, cloud Provider, input migrate.Input) {
	var result migrate.Result
	var errs field.ErrorList
	var err error
	if m.back {
		result, errs, err = migrate.Back(cloud, input)
	} else {
		result, errs, err = migrate.Forward(cloud, input, m.options)
	}
	if err != nil {
		errs = append(errs, problem(migrate.Rule, field.ErrorTypeInvalid, "", nil, "%v", err))
	}
	m.error(o, errs...)
	if len(errs) == 0 && !sameJSON(o.JSON, result.Raw) {
		m.becomes[o] = result.Raw
	}
	m.folded = m.folded || result.Folded
	for _, a := range result.Unpaired {
		line, _ := o.Position(a.Field)
		m.notes = append(m.notes, fmt.Sprintf("%s:%d: %s@%s stays as it is, because %s", o.File, line, a.Image, a.Version, a.Why))
	}
	for _, k := range result.Kept {
		line, _ := o.Position(k.Field)
		m.kept = append(m.kept, keptVersion{
			Profile: profile[strings.IndexByte(profile, ' ')+1:], Image: k.Image, Version: k.Version, UsedBy: k.By, File: o.File, Line: line,
			use: use(profile, k.Image, k.Version),
		})
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
