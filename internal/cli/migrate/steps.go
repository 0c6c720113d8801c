// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/proof"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// The step after one that keeps versions because Shoots use them. By then, the Shoots use the versions without the
// suffix, so the others have no users left.

// further returns the step after this one, given this step's changed files; nil if no further step can be proved. It
// records in kept why versions stay.
func (m *migration) further(first []files.Changed) (*migratedStep, error) {
	if len(m.kept) == 0 || m.lifecycle {
		return nil, nil
	}
	step := &migratedStep{Step: 2, Moves: []move{}, Files: []files.Changed{}}
	moved := m.moves(step)
	if len(step.goes) == 0 {
		return nil, nil
	}
	next := &migration{
		Given: proof.CopyOf(m.after, m.forLater()), options: m.options, text: textAfter(first, m.text),
		used: proof.Uses{}, besides: map[*manifest.Object][]edit.Op{},
	}
	for key, by := range m.used {
		if !step.goes[key] {
			next.used[key] = by
		}
	}
	for _, s := range next.Shoots.All {
		if object := moved[s.Name]; object != nil {
			if ops := m.movedOps(s.Manifest.JSON, object); len(ops) > 0 && !s.Live {
				next.besides[s.Manifest] = ops
			}
			s.Object = object
		}
	}
	changed, err := next.step()
	if err != nil || len(next.Findings) > 0 {
		if len(next.Findings) > 0 {
			m.staysFor(slices.Collect(maps.Keys(step.goes)), "to leave it out is not possible yet: "+next.Findings[0].Message)
		}
		return nil, err
	}
	for _, f := range changed {
		f.Of, f.File = f.File, f.File+stepSuffix
		before, err := next.text(f.Of)
		if err != nil {
			return nil, err
		}
		f.Diff = files.Diff(f.Of, f.File, before, f.Text)
		step.Files = append(step.Files, f)
	}
	return step, nil
}

// stepSuffix ends the file names of the second step, so that tools that read all manifests of a folder ignore them.
const stepSuffix = ".step-2"

// textAfter returns a function that reads files as changed.
func textAfter(files []files.Changed, text func(string) (string, error)) func(string) (string, error) {
	return func(name string) (string, error) {
		for i := range files {
			if files[i].File == name {
				return files[i].Text, nil
			}
		}
		return text(name)
	}
}

// moves finds the worker pools that can leave the kept versions, and returns their Shoots after the move. The step
// removes the versions that all their users can leave.
func (m *migration) moves(step *migratedStep) map[string]*v1beta1.Shoot {
	step.goes = map[string]bool{}
	for i := range m.kept {
		step.goes[m.kept[i].use] = !slices.ContainsFunc(m.kept[i].UsedBy, func(by string) bool {
			return strings.HasPrefix(by, "NamespacedCloudProfile ") // NamespacedCloudProfiles that extend it
		})
	}
	m.eachUser(step.goes, func(_ *v1beta1.Shoot, _ int, pool provider.Pool, keys []string, p input.AnyProfile, plain string) {
		if why := cannotMove(p, pool, plain); why != "" {
			for _, key := range keys {
				step.goes[key] = false
			}
			m.staysFor(keys, why)
		}
	})
	moved := map[string]*v1beta1.Shoot{}
	m.eachUser(step.goes, func(shoot *v1beta1.Shoot, i int, pool provider.Pool, _ []string, _ input.AnyProfile, plain string) {
		name := shoot.Namespace + "/" + shoot.Name
		if moved[name] == nil {
			moved[name] = shoot.DeepCopy()
		}
		moved[name].Spec.Provider.Workers[i].Machine.Image.Version = &plain
		step.Moves = append(step.Moves, move{name, pool.Name, pool.Image, pool.Version, plain})
	})
	for key, goes := range step.goes {
		if !goes {
			delete(step.goes, key)
		}
	}
	return moved
}

// staysFor records why versions stay.
func (m *migration) staysFor(keys []string, why string) {
	for i := range m.kept {
		if slices.Contains(keys, m.kept[i].use) && m.kept[i].stays == "" {
			m.kept[i].stays = why
		}
	}
}

// eachUser calls do for each worker pool that uses versions to be removed, with its Shoot and index. keys identify
// the versions, p is the Shoot's profile after this step, and plain is the version without the suffix. If a Shoot
// leaves the version to Gardener, its version from before this step is used.
func (m *migration) eachUser(
	goes map[string]bool, do func(shoot *v1beta1.Shoot, i int, pool provider.Pool, keys []string, p input.AnyProfile, plain string),
) {
	for _, s := range m.after.Shoots.All {
		p, _ := m.after.ProfileOf(s.Object)
		if p == nil {
			continue
		}
		shoot := proof.Completed(m.Given, s.Object)
		for i, pool := range provider.PoolsOf(shoot) {
			plain, _ := m.options.Fold.Folds(pool.Version)
			var keys []string
			for _, profile := range proof.ProfilesOf(m.Given, s.Object) {
				if key := proof.Use(profile, pool.Image, pool.Version); goes[key] {
					keys = append(keys, key)
				}
			}
			if len(keys) > 0 {
				do(shoot, i, pool, keys, p, plain)
			}
		}
	}
}

// cannotMove explains why a worker pool cannot boot the same image from another version; empty if it can.
func cannotMove(p input.AnyProfile, pool provider.Pool, version string) string {
	to := pool
	to.Version = version
	if v, _ := v1beta1helper.FindMachineImageVersion(p.Spec().MachineImages, pool.Image, version); v1beta1helper.VersionIsExpired(v.ExpirableVersion) {
		return fmt.Sprintf("worker pool %s cannot have %s@%s, which has expired", pool.Name, pool.Image, version)
	}
	was, is := resolve.Explain(p, pool), resolve.Explain(p, to)
	if was.Err == nil && is.Err == nil && reflect.DeepEqual(was.Decision.Reference, is.Decision.Reference) {
		return ""
	}
	text := func(r resolve.Resolution[any]) string {
		if r.Err != nil {
			return booted(nil)
		}
		return booted(r.Decision.Reference)
	}
	return fmt.Sprintf("with %s@%s, worker pool %s would not boot %s, but %s: --machine-types says which machine types support what",
		pool.Image, version, pool.Name, text(was), text(is))
}

// movedOps returns the operations that set a Shoot's worker pools to the versions in object, where the manifest names
// one with the suffix.
func (m *migration) movedOps(raw json.RawMessage, object *v1beta1.Shoot) (ops []edit.Op) {
	says := edit.Decoded(raw)
	for i, worker := range object.Spec.Provider.Workers {
		at := fieldpath.Parse(fmt.Sprintf("spec.provider.workers[%d].machine.image.version", i))
		version, _ := edit.Value(says, at).(string)
		image := worker.Machine.Image
		if plain, folds := m.options.Fold.Folds(version); folds && image != nil && image.Version != nil && plain == *image.Version {
			ops = append(ops, edit.Replace(at, plain))
		}
	}
	return ops
}
