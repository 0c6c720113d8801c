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

// The step that follows on one that keeps versions because Shoots use them: these boot from the versions without suffix by
// then, and nobody uses the others any more.

// further returns the step after this one, whose files are given; nil if there is none that can be proved. In kept it notes why
// versions stay.
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

// stepSuffix ends the names of the files of the second step, so that nothing that takes all manifests of a folder takes them.
const stepSuffix = ".step-2"

// textAfter returns what is in files once some have changed.
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

// moves finds out which worker pools can leave the versions that were kept, and returns their Shoots as they are then. The step
// leaves out the versions which all can leave.
func (m *migration) moves(step *migratedStep) map[string]*v1beta1.Shoot {
	step.goes = map[string]bool{}
	for i := range m.kept {
		step.goes[m.kept[i].use] = !slices.ContainsFunc(m.kept[i].UsedBy, func(by string) bool {
			return strings.HasPrefix(by, "NamespacedCloudProfile ") // who extend it
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

// staysFor notes why versions stay.
func (m *migration) staysFor(keys []string, why string) {
	for i := range m.kept {
		if slices.Contains(keys, m.kept[i].use) && m.kept[i].stays == "" {
			m.kept[i].stays = why
		}
	}
}

// eachUser calls a function for each worker pool, by its Shoot and index, that uses versions which are to go, whose keys are
// given; with the profile of the Shoot after this step, and the version without the suffix. Of a Shoot that leaves the version to Gardener it is
// the one that it has before this step.
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

// cannotMove says why a worker pool cannot boot from another version of its image instead; empty if it can, and boots the same.
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

// movedOps returns what gives the worker pools of a Shoot the versions that they have in the object, where they name one with the suffix.
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
