// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"encoding/json"
	globs "path"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
)

// unavailable is the common prefix of a zone's lists of unavailable types.
const unavailable = "spec.regions[].zones[].unavailable"

// use adds the users of a difference to an offer, without Shoots that are being deleted, and without those whose NamespacedCloudProfile has
// an entry of its own instead.
func (d *differing[R]) use(found difference, o *Offer) {
	for i := range d.views {
		uses := d.uses(found, &d.views[i])
		for k := range d.views[i].Users {
			u := &d.views[i].Users[k]
			if u.leaving() {
				continue
			}
			used, workers := uses(u)
			if used {
				o.Used = append(o.Used, u.Name())
			}
			for _, w := range workers {
				o.Pools = append(o.Pools, Pool{u.Name(), u.Shoot.Spec.Provider.Workers[w].Name, i, k, w})
			}
		}
	}
	slices.Sort(o.Used)
	o.Used = slices.Compact(o.Used)
}

// usage reports whether a Shoot uses something, and which of its worker pools do, if worker pools choose it.
type usage func(*User) (used bool, workers []int)

// byWorkers returns the usage of something that worker pools choose.
func byWorkers(uses func(*v1beta1.Worker) bool) usage {
	return func(u *User) (bool, []int) {
		var workers []int
		for i := range u.Shoot.Spec.Provider.Workers {
			if uses(&u.Shoot.Spec.Provider.Workers[i]) {
				workers = append(workers, i)
			}
		}
		return len(workers) > 0, workers
	}
}

// byShoot returns the usage of something that a Shoot chooses as a whole.
func byShoot(uses func(*User) bool) usage {
	return func(u *User) (bool, []int) { return uses(u), nil }
}

// uses returns the usage, in a view, of the entry of a difference.
func (d *differing[R]) uses(found difference, v *View[R]) usage {
	pattern, keys := found.path.pattern(), found.path.keys()
	switch {
	case strings.HasPrefix(pattern, "spec.regions[].zones[]"):
		inZone := byWorkers(func(w *v1beta1.Worker) bool {
			switch {
			case !slices.Contains(w.Zones, keys[1]) || len(keys) < 3:
				return slices.Contains(w.Zones, keys[1])
			case below(unavailable+"MachineTypes", pattern):
				return w.Machine.Type == keys[2]
			}
			return usesVolume(w, keys[2])
		})
		return func(u *User) (bool, []int) {
			if u.Shoot.Spec.Region != keys[0] {
				return false, nil
			}
			return inZone(u)
		}
	case below("spec.regions[].accessRestrictions[]", pattern):
		return byShoot(func(u *User) bool {
			return u.Shoot.Spec.Region == keys[0] && slices.ContainsFunc(u.Shoot.Spec.AccessRestrictions,
				func(r v1beta1.AccessRestrictionWithOptions) bool { return r.Name == keys[1] })
		})
	case strings.HasPrefix(pattern, "spec.regions[]"):
		return byShoot(func(u *User) bool { return u.Shoot.Spec.Region == keys[0] })
	case strings.HasPrefix(pattern, "spec.machineTypes[]"):
		changed := changes(v, func(s *v1beta1.CloudProfileSpec) any { return gardenerrules.FindMachineType(s, keys[0]) })
		return byWorkers(func(w *v1beta1.Worker) bool { return changed && w.Machine.Type == keys[0] })
	case strings.HasPrefix(pattern, "spec.volumeTypes[]"):
		changed := changes(v, func(s *v1beta1.CloudProfileSpec) any {
			i := slices.IndexFunc(s.VolumeTypes, func(t v1beta1.VolumeType) bool { return t.Name == keys[0] })
			return s.VolumeTypes[max(i, 0) : i+1]
		})
		return byWorkers(func(w *v1beta1.Worker) bool { return changed && usesVolume(w, keys[0]) })
	case strings.HasPrefix(pattern, "spec.machineImages[]"):
		return byWorkers(func(w *v1beta1.Worker) bool {
			image := w.Machine.Image
			return image != nil && image.Name == keys[0] && image.Version != nil && (len(keys) == 1 || *image.Version == keys[1]) &&
				changes(v, func(s *v1beta1.CloudProfileSpec) any { return versionOf(s, image.Name, *image.Version) })
		})
	}
	return byShoot(d.chooses(found))
}

// chooses returns a function that reports whether a Shoot names the entry of a difference in the provider config. An entry that is restricted
// to a region by the update is still there for the Shoots in it.
func (d *differing[R]) chooses(found difference) func(*User) bool {
	field, keys := d.offered[d.list(found.path.pattern())], found.path.keys()
	if field == "" || len(keys) == 0 {
		return func(*User) bool { return false }
	}
	name, _, _ := strings.Cut(keys[0], ",")
	place := strings.Split(field, ".")
	return func(u *User) bool {
		var chosen any
		raw, err := json.Marshal(u.Shoot.Spec.Provider)
		return err == nil && json.Unmarshal(raw, &chosen) == nil && has(chosen, place, name) &&
			(found.region == "" || found.region == u.Shoot.Spec.Region) &&
			(!strings.HasSuffix(found.path.pattern(), "].region") || found.is != u.Shoot.Spec.Region)
	}
}

func usesVolume(w *v1beta1.Worker, name string) bool {
	if w.Volume != nil && w.Volume.Type != nil && *w.Volume.Type == name {
		return true
	}
	return slices.ContainsFunc(w.DataVolumes, func(v v1beta1.DataVolume) bool { return v.Type != nil && *v.Type == name })
}

// has reports whether a string at a place in a value equals a name, or is matched by a name with wildcards. The place leads through lists.
func has(value any, place []string, name string) bool {
	switch value := value.(type) {
	case map[string]any:
		return len(place) > 0 && has(value[place[0]], place[1:], name)
	case []any:
		return slices.ContainsFunc(value, func(entry any) bool { return has(entry, place, name) })
	case string:
		matches, err := globs.Match(name, value)
		return len(place) == 0 && (value == name || err == nil && matches)
	}
	return false
}
