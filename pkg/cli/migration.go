// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/edit"
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/migrate"
	"github.com/capkit/capkit/pkg/provider"
)

// What migrate does: to the objects, to their files, and to prove it.

// migration is one run of migrate. What is wrong becomes findings of the garden.
type migration struct {
	*garden
	options migrate.Options
	back    bool
	stdin   func() string
	// nothing is set if there is no profile to migrate, and warnings are what lint warns about afterwards, and not before.
	nothing  bool
	warnings []report.Finding

	// becomes holds what manifests become, as JSON.
	becomes map[*manifest.Object]json.RawMessage
	kept    []keptVersion
	// after is what the garden becomes.
	after *garden
}

// run migrates all profiles that are in files. The answer counts for nothing if there are findings, or nothing to migrate.
func (m *migration) run() (migrated, error) {
	answer := migrated{Files: []migratedFile{}, Kept: []keptVersion{}}
	m.becomes = map[*manifest.Object]json.RawMessage{}
	if len(m.findings) > 0 { // of what could not be read
		return answer, nil
	}
	m.nothing = !m.migrateAll()
	if m.nothing || len(m.findings) > 0 {
		return answer, nil
	}
	files, err := m.files()
	if err != nil || len(m.findings) > 0 {
		return answer, err
	}
	m.prove()
	if len(m.findings) > 0 {
		return answer, nil
	}
	answer.Files = append(answer.Files, files...)
	answer.Kept = append(answer.Kept, m.kept...)
	return answer, nil
}

// migrateAll finds out what becomes of each profile, parents first, and reports whether there is any.
func (m *migration) migrateAll() bool {
	found := false
	in := m.uses()
	for _, s := range m.profiles.all {
		if !s.live {
			found = true
			m.migrateProfile(s, in)
		}
	}
	for _, s := range m.namespaced.all {
		if !s.live {
			found = true
			m.migrateNamespaced(s, in)
		}
	}
	return found
}

func (m *migration) migrateProfile(s *source[v1beta1.CloudProfile], in uses) {
	cloud := m.providers[s.object.Spec.Type]
	if cloud == nil {
		m.error(s.manifest, m.unknownProvider(s.object.Spec.Type, "spec.type"))
		return
	}
	input := migrate.Input{Raw: s.manifest.JSON, Used: in.in("CloudProfile " + s.name)}
	if m.options.Fold != nil {
		input.FoldsBelow = slices.ContainsFunc(m.namespaced.all, func(n *source[v1beta1.NamespacedCloudProfile]) bool {
			return !n.live && m.parentOf(n) == s &&
				migrate.FoldsAny(cloud.Untyped(), migrate.Input{Raw: n.manifest.JSON, Parent: &s.object.Spec}, m.options.Fold)
		})
	}
	m.become(s.manifest, s.name, cloud, input)
}

func (m *migration) migrateNamespaced(s *source[v1beta1.NamespacedCloudProfile], in uses) {
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
	m.become(s.manifest, s.name, m.providers[parent.object.Spec.Type],
		migrate.Input{Raw: s.manifest.JSON, Parent: spec, Used: in.in("NamespacedCloudProfile " + s.name)})
}

// become notes what a manifest becomes.
func (m *migration) become(o *manifest.Object, name string, cloud Provider, input migrate.Input) {
	var result migrate.Result
	var errs field.ErrorList
	var err error
	if m.back {
		result, errs, err = migrate.Back(cloud.Untyped(), input)
	} else {
		result, errs, err = migrate.Forward(cloud.Untyped(), input, m.options)
	}
	if err != nil {
		errs = append(errs, problem(migrate.Rule, field.ErrorTypeInvalid, "", nil, "%v", err))
	}
	m.error(o, errs...)
	if len(errs) == 0 && !sameJSON(o.JSON, result.Raw) {
		m.becomes[o] = result.Raw
	}
	for _, k := range result.Kept {
		line, _ := o.Position(k.Field)
		m.kept = append(m.kept, keptVersion{name, k.Image, k.Version, k.By, o.File, line})
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// use is the key of an image version of a profile, KIND [NAMESPACE/]NAME, in what uses returns.
func use(profile, image, version string) string { return profile + " " + image + "@" + version }

// uses says who uses which image version of which profile, by what use returns.
type uses map[string][]string

func (u uses) add(key, by string) {
	if !slices.Contains(u[key], by) {
		u[key] = append(u[key], by)
	}
}

// in returns what says who uses an image version of a profile.
func (u uses) in(profile string) func(image, version string) []string {
	return func(image, version string) []string { return u[use(profile, image, version)] }
}

// uses returns who uses image versions: Shoots, and NamespacedCloudProfiles which list a version of their parent, in the order of the
// inputs.
func (m *migration) uses() uses {
	found := uses{}
	if m.options.Fold == nil {
		return found
	}
	for _, s := range m.namespaced.all {
		for _, image := range s.object.Spec.MachineImages {
			for i := range image.Versions {
				found.add(use("CloudProfile "+s.object.Spec.Parent.Name, image.Name, image.Versions[i].Version), "NamespacedCloudProfile "+s.name)
			}
		}
	}
	for _, s := range m.shoots.all {
		for _, pool := range provider.PoolsOf(m.completed(s.object)) {
			for _, profile := range m.profilesOf(s.object) {
				found.add(use(profile, pool.Image, pool.Version), "Shoot "+s.name)
			}
		}
	}
	return found
}

// completed returns a Shoot with the images that it leaves to Gardener.
func (m *migration) completed(shoot *v1beta1.Shoot) *v1beta1.Shoot {
	if p, _ := m.profileOf(shoot); p != nil {
		shoot, _ = filledIn(p, shoot)
	}
	return shoot
}

// profilesOf returns the profile of a Shoot, and the parent of that.
func (m *migration) profilesOf(shoot *v1beta1.Shoot) []string {
	switch ref := shoot.Spec.CloudProfile; {
	case ref != nil && ref.Kind == "NamespacedCloudProfile":
		name := shoot.Namespace + "/" + ref.Name
		profiles := []string{ref.Kind + " " + name}
		if s := m.namespaced.byName[name]; s != nil && s.object != nil {
			profiles = append(profiles, "CloudProfile "+s.object.Spec.Parent.Name)
		}
		return profiles
	case ref != nil:
		return []string{"CloudProfile " + ref.Name}
	case shoot.Spec.CloudProfileName != nil:
		return []string{"CloudProfile " + *shoot.Spec.CloudProfileName}
	}
	return nil
}

// before says where what is new stands in a profile: the vocabulary above what uses it.
var before = edit.Before{"machineCapabilities": {"machineTypes", "machineImages"}}

// files returns the files that change, and makes the garden that they make.
func (m *migration) files() ([]migratedFile, error) {
	m.after = &garden{providers: m.providers, namespace: m.namespace}
	var changed []migratedFile
	edited := map[string]bool{}
	names := map[string]bool{}
	for o := range m.becomes {
		names[o.File] = true
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
	takeOver(m.garden, m.after, edited)
	return changed, nil
}

func (m *migration) text(name string) (string, error) {
	if name == manifest.Stdin {
		return m.stdin(), nil
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

// edit changes a file, and reads it again. It reports whether the file says what it should, and is silent otherwise.
func (m *migration) edit(name, text string) (migratedFile, bool) {
	var objects []edit.Object
	var first *manifest.Object
	for _, o := range slices.SortedFunc(maps.Keys(m.becomes), func(a, b *manifest.Object) int {
		line, _ := a.Position("")
		other, _ := b.Position("")
		return cmp.Compare(line, other)
	}) {
		if o.File == name {
			line, column := o.Position("")
			objects = append(objects, edit.Object{Line: line, Column: column, Old: o.JSON, New: m.becomes[o]})
			first = cmp.Or(first, o)
		}
	}
	changed, err := edit.Apply(text, objects, before)
	var fault *edit.Fault
	switch {
	case errors.As(err, &fault):
		m.findings = append(m.findings, report.Finding{
			Severity: finding.SeverityError, Rule: migrate.Rule, Type: field.ErrorTypeForbidden, Message: fault.Message,
			Object: report.Object(first.Identity), File: name, Line: fault.Line, Column: fault.Column,
		})
		return migratedFile{}, false
	case err == nil && m.readAgain(name, text, changed):
		return migratedFile{File: name, Diff: diff(name, text, changed), text: changed}, true
	}
	m.error(first, problem(migrate.Rule, field.ErrorTypeForbidden, "", nil,
		"the file is written in a way that cannot be changed without changing more than has to; write what is to change in plain block style"))
	return migratedFile{}, false
}

// readAgain reads a file that has been changed into the garden after the migration, and reports whether each object in it
// says what it should.
func (m *migration) readAgain(name, text, changed string) bool {
	was, skipped := manifest.Parse(name, text) // in a folder there may be what is no object
	is, problems := manifest.Parse(name, changed)
	if len(was) != len(is) || len(problems) != len(skipped) {
		return false
	}
	becomes := map[[2]int]json.RawMessage{}
	for o, raw := range m.becomes {
		if o.File == name {
			line, column := o.Position("")
			becomes[[2]int{line, column}] = raw
		}
	}
	for i, o := range was {
		line, column := o.Position("")
		want := cmp.Or(string(becomes[[2]int{line, column}]), string(o.JSON))
		if !sameJSON(json.RawMessage(want), is[i].JSON) {
			return false
		}
		m.after.add(is[i])
	}
	return len(m.after.findings) == 0
}

// takeOver gives a garden the objects of another one, but for those of some files.
func takeOver(from, to *garden, without map[string]bool) {
	takeOverAll(&from.profiles, &to.profiles, without)
	takeOverAll(&from.namespaced, &to.namespaced, without)
	takeOverAll(&from.shoots, &to.shoots, without)
}

func takeOverAll[T any](from, to *objects[T], without map[string]bool) {
	for _, s := range from.all {
		if without[s.manifest.File] {
			continue
		}
		copied := *s
		copied.compiled = nil
		to.put(&copied)
	}
}

// prove reports what would be wrong after the migration and is not before, and each worker pool that would boot anything else.
func (m *migration) prove() {
	was, is := &garden{providers: m.providers, namespace: m.namespace}, &garden{providers: m.providers, namespace: m.namespace}
	takeOver(m.garden, was, nil)
	takeOver(m.after, is, nil)
	m.compare(was.lintProfiles(), is.lintProfiles())
	for _, s := range m.profiles.all {
		now := m.after.profiles.byName[s.name]
		if s.object == nil || now == nil || now.object == nil || m.providers[s.object.Spec.Type] == nil || m.unchanged(s.manifest) {
			continue
		}
		proof := migrate.NewProof(m.providers[s.object.Spec.Type].Untyped(), &m.stored(s).Spec, &m.after.stored(now).Spec, m.options)
		m.report(s.manifest, differences(proof.Combinations(), "spec.machineImages"))
		m.provePools(proof, "CloudProfile", s.name)
	}
	for _, s := range m.namespaced.all {
		now, parent := m.after.namespaced.byName[s.name], m.parentOf(s)
		if s.object == nil || now == nil || now.object == nil || parent == nil || parent.object == nil || m.unchanged(s.manifest, parent.manifest) {
			continue
		}
		before, fault := m.rendered(s, "spec.parent.name")
		after, also := m.after.rendered(now, "spec.parent.name")
		if fault = cmp.Or(fault, also); fault != nil || m.providers[parent.object.Spec.Type] == nil {
			m.error(s.manifest, cmp.Or(fault, m.unknownProvider(parent.object.Spec.Type, "spec.parent.name")))
			continue
		}
		proof := migrate.NewProof(m.providers[parent.object.Spec.Type].Untyped(), before, after, m.options)
		m.report(s.manifest, differences(proof.Combinations(), "spec.machineImages"))
		m.provePools(proof, "NamespacedCloudProfile", s.name)
	}
}

// unchanged reports whether none of some manifests changes.
func (m *migration) unchanged(manifests ...*manifest.Object) bool {
	return !slices.ContainsFunc(manifests, func(o *manifest.Object) bool { return m.becomes[o] != nil })
}

// lintProfiles returns what lint says about profiles.
func (g *garden) lintProfiles() []report.Finding {
	for _, s := range g.profiles.all {
		g.lintProfile(s)
	}
	for _, s := range g.namespaced.all {
		g.lintNamespaced(s)
	}
	return g.findings
}

// compare takes over the errors that there are afterwards and not before, and notes such warnings. The rule and the object tell
// them apart, since a migration changes paths and texts.
func (m *migration) compare(was, is []report.Finding) {
	type key struct {
		severity finding.Severity
		rule     string
		object   report.Object
	}
	counts := map[key]int{}
	for _, f := range was {
		counts[key{f.Severity, f.Rule, f.Object}]++
	}
	for _, f := range is {
		k := key{f.Severity, f.Rule, f.Object}
		if counts[k]--; counts[k] >= 0 {
			continue
		}
		f.Message = "after the migration: " + f.Message
		if f.Severity == finding.SeverityError {
			m.findings = append(m.findings, f)
		} else {
			m.warnings = append(m.warnings, f)
		}
	}
}

// provePools reports the worker pools of Shoots with a profile that would boot anything else.
func (m *migration) provePools(proof *migrate.Proof, kind, name string) {
	for _, s := range m.shoots.all {
		if s.object == nil || s.object.DeletionTimestamp != nil || m.profilesOf(s.object) == nil || m.profilesOf(s.object)[0] != kind+" "+name {
			continue
		}
		for _, pool := range provider.PoolsOf(m.completed(s.object)) {
			if d := proof.Pool(pool); d != nil {
				m.report(s.manifest, differences([]migrate.Difference{*d}, pool.Path.Child("machine").String()))
			}
		}
	}
}

// differences returns an error about the first of some differences, which tells how many there are; none if there are none.
func differences(found []migrate.Difference, at string) finding.Report {
	if len(found) == 0 {
		return finding.Report{}
	}
	d := found[0]
	more := ""
	if len(found) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(found)-1)
	}
	who := ""
	if d.Pool.Name != "" {
		who = "worker pool " + d.Pool.Name + ": "
	}
	return finding.Report{Errors: finding.Of(field.ErrorList{problem(migrate.Rule, field.ErrorTypeForbidden, at, nil,
		"%s%s@%s on %s in %s would not boot what it boots, %s, but %s%s", who, d.Pool.Image, d.Pool.Version, d.Pool.MachineType, d.Pool.Region,
		booted(d.Before), booted(d.After), more)})}
}

// booted prints a reference, or says that there is none.
func booted(reference any) string {
	if reference == nil {
		return "nothing"
	}
	raw, err := json.Marshal(reference)
	if err != nil {
		return fmt.Sprint(reference)
	}
	return string(raw)
}

// writeFiles writes all files, or none: each is written beside the one that it replaces first.
func writeFiles(files []migratedFile) error {
	var written [][2]string
	fail := func(err error) error {
		for _, w := range written {
			err = errors.Join(err, os.Remove(w[0]))
		}
		return err
	}
	for _, f := range files {
		if f.File == manifest.Stdin {
			return errors.New("standard input cannot be changed: leave -w out, or name a file")
		}
		target, err := filepath.EvalSymlinks(f.File)
		if err != nil {
			return fail(err)
		}
		beside, err := writeBeside(target, f.text)
		if beside != "" {
			written = append(written, [2]string{beside, target})
		}
		if err != nil {
			return fail(err)
		}
	}
	for i, w := range written {
		if err := os.Rename(w[0], w[1]); err != nil {
			written = written[i:]
			return fail(err)
		}
	}
	return nil
}

// writeBeside writes a new file into the folder of another one, with its rights, and returns its name; empty if there is none.
func writeBeside(target, text string) (string, error) {
	info, err := os.Stat(target)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return "", err
	}
	_, err = strings.NewReader(text).WriteTo(f)
	return f.Name(), errors.Join(err, f.Chmod(info.Mode().Perm()), f.Close())
}
