// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/pkg/words"
)

// Effects returns warnings about the effects of a profile update on its users (semantics S9), sorted by path. They are about:
//
//   - machine types that boot another flavor,
//   - flavors that start to claim a feature by omitting a capability,
//   - removed machine types and mappings that worker pools use,
//   - minimum sizes above those of volumes,
//   - versions that maintenance will choose, and expiration dates that leave it no choice.
//
// changes are those of the updated profile, whose spec is at the path spec. by says which webhooks are installed, which determines the
// result of maintenance (S15).
func Effects[R any](before, after *profile.Profile[R], changes *update.Changes[R], by maintenance.Admission) finding.List {
	e := &effects[R]{after: after, changes: changes, at: field.NewPath("spec")}
	e.redirected(update.Redirected(before, after))
	e.claims()
	e.types()
	e.volumes()
	e.mappings()
	e.maintenance(by)
	e.expirations()
	warnings := e.report.Sorted().Warnings
	for i := range warnings {
		warnings[i].Concern = finding.Effect
	}
	return warnings
}

// effects words changes as warnings.
type effects[R any] struct {
	after   *profile.Profile[R]
	changes *update.Changes[R]
	at      *field.Path
	report  finding.Report
}

// redirected warns about image versions for which new machines boot another flavor.
func (e *effects[R]) redirected(redirects []update.Redirect) {
	for _, r := range redirects {
		e.report.Found(ruleChoiceChanged, field.ErrorTypeInvalid, r.PathIn(e.at), r.ID.Version,
			"%s: new machines of machine %s boot another flavor than the existing ones, which would still do",
			r.ID, counted("type", r.MachineTypes))
	}
}

// claims warns once for each reserved capability that flavors start to claim by omission. It names some of the flavors.
func (e *effects[R]) claims() {
	all := e.changes.Meanings
	for len(all) > 0 {
		first, of, gained := all[0], []string(nil), []string(nil)
		n := 0
		for n < len(all) && all[n].Capability == first.Capability {
			if m := all[n]; len(m.Claims) > 0 {
				of, gained = append(of, fmt.Sprintf("%s %s", m.ImageVersion, e.after.Vocabulary().Format(m.Flavor))), m.Claims
			}
			n++
		}
		all = all[n:]
		if len(of) > 0 {
			e.report.Found(ruleReservedRegistered, field.ErrorTypeInvalid, e.at.Child("machineCapabilities"), first.Capability,
				"%s: flavors that say nothing about it have %s from now on, and serve worker pools that ask for that: %s; write on each of them "+
					"what its image supports", first.Capability, words.Or(gained), words.JoinFew(of, "; "))
		}
	}
}

// types warns about machine types that are in use, but gone.
func (e *effects[R]) types() {
	for _, t := range e.changes.Types {
		then, is, remedy := "their worker pools keep their machine classes, and new ones are refused", "is removed and still used", "put it back"
		if provider.PoliciesOf(e.after.Provider()).Undecided == policy.Fails {
			then = "their worker pools get no new machines"
		}
		if t.Locks {
			then = "Gardener rejects all later updates of them, even the confirmation of their deletion"
		}
		if !t.Had {
			is, remedy = "is not in the profile and used", "add it"
		}
		e.report.Found(ruleMachineTypeInUse, field.ErrorTypeForbidden, e.at.Child("machineTypes"), t.Name,
			"machine type %s %s by %s; %s; %s with usable: false until nobody uses it", t.Name, is, shootsOf(t.Pools), then, remedy)
	}
}

// volumes warns about minimum sizes that are raised above the volumes of worker pools.
func (e *effects[R]) volumes() {
	for _, v := range e.changes.Volumes {
		at, of := e.at.Child("volumeTypes"), "volume type "+v.VolumeType
		if v.MachineType != "" {
			at, of = e.at.Child("machineTypes"), fmt.Sprintf("%s of machine type %s", of, v.MachineType)
		}
		e.report.Found(ruleVolumeSizeInUse, field.ErrorTypeForbidden, at, v.Minimum,
			"%s: the minimum size is %s, and volumes of %s are smaller; Gardener then refuses every update of these Shoots that leaves the volumes as "+
				"they are, even the confirmation of their deletion; raise it once all volumes are large enough", of, v.Minimum, shootsOf(v.Pools))
	}
}

// These are the ways in which worker pools lose an image version. If the pools boot nothing else, goOn or getNone describes the
// consequence.
const (
	lostFlavor = "the image that worker pools of %s boot is removed, and new machines boot another one; " +
		"put the flavor or the reference back"
	lostAll = "no image is left for worker pools of %s: they "
	lostFit = "the image is still there, but no longer fits worker pools of %s, because its capabilities, or those of the machine " +
		"types, have changed: they "
	lostUpdates = "no flavor in core fits the machine types of worker pools of %s any more: Gardener then refuses every " +
		"update of these Shoots, even the confirmation of their deletion; revert this"

	goOn    = "keep booting the images of their machine classes, and new ones are refused"
	getNone = "get no new machines"

	putBack = "; put the flavor or the reference back"
	leave   = "; revert this"
)

// loss is an image version that worker pools lose in a certain way.
type loss struct {
	provider.ImageVersion
	how string
}

// mappings warns about worker pools that lose an image, and about Shoots that flavors of core lock.
func (e *effects[R]) mappings() {
	lost, order := map[loss][]update.Pool{}, []loss(nil)
	add := func(l loss, pools ...update.Pool) {
		if lost[l] == nil {
			order = append(order, l)
		}
		lost[l] = append(lost[l], pools...)
	}
	locked := map[update.Pool]bool{} // a loss of the image is no more than that
	for _, lock := range e.changes.Locks {
		for _, pool := range lock.Pools {
			locked[pool] = true
		}
		add(loss{lock.ImageVersion, lostUpdates}, lock.Pools...)
	}
	gone := map[string]bool{} // already a warning
	for _, t := range e.changes.Types {
		gone[t.Name] = true
	}
	for _, choice := range e.changes.Choices {
		l := loss{provider.ImageVersion{Image: choice.Image, Version: choice.Version}, howLost(choice)}
		if l.how == "" || gone[choice.MachineType] {
			continue
		}
		for _, pool := range choice.Pools {
			if !locked[pool] {
				add(l, pool)
			}
		}
	}
	for _, l := range order {
		at := e.at.Child("providerConfig", "machineImages")
		if strings.HasPrefix(l.how, lostFit) || l.how == lostUpdates {
			at = e.at.Child("machineImages")
		}
		e.report.Found(ruleMappingInUse, field.ErrorTypeForbidden, at, l.String(), "%s: "+l.how+" until nobody uses it", l, shootsOf(lost[l]))
	}
}

// howLost returns the way in which worker pools lose their image, or "" if they keep it.
func howLost[R any](choice *update.Choice[R]) string {
	then := getNone
	if choice.Kept != nil {
		then = goOn
	}
	switch {
	case choice.Before == nil:
		return ""
	case choice.After == nil && choice.Gone == update.Unfit:
		return lostFit + then + leave
	case choice.After == nil:
		return lostAll + then + putBack
	case choice.Gone == update.Removed:
		return lostFlavor
	}
	return ""
}

// maintenance warns about versions that Gardener's maintenance would choose for worker pools that cannot boot them.
func (e *effects[R]) maintenance(by maintenance.Admission) {
	for _, b := range e.changes.Blocked {
		then := "the maintenance of these Shoots then fails as a whole"
		switch {
		case by == maintenance.GardenerAlone:
			then = "they are updated to it, and get no new machines"
		case by == maintenance.Corrects && b.Instead != "":
			then = fmt.Sprintf("they are updated to %s instead", b.Instead)
		case by == maintenance.Corrects:
			then = "they stay on the versions that they have"
		}
		e.report.Found(ruleMaintenanceBlocked, field.ErrorTypeForbidden, e.at.Child("machineImages"), b.ImageVersion.String(),
			"%s: Gardener's maintenance would choose it for worker pools of %s, but they cannot boot it: %s; %s; give the version "+
				"what they need, or classify it as preview",
			b.ImageVersion, shootsOf(b.Pools), resolve.Pool(e.after, b.Example).Message, then)
	}
}

// expirations warns about expiration dates of image versions without a replacement for some worker pools.
func (e *effects[R]) expirations() {
	for _, x := range e.changes.Expires {
		var stuck []update.Pool
		for _, fate := range x.Then {
			if fate.Worse {
				stuck = append(stuck, fate.Pool)
			}
		}
		if len(stuck) > 0 {
			e.report.Found(ruleMaintenanceBlocked, field.ErrorTypeForbidden, e.at.Child("machineImages"), x.ImageVersion.String(),
				"%s: it expires on %s, and then maintenance has no version that worker pools of %s boot; give it a later date, or add a "+
					"version that they boot", x.ImageVersion, x.To.Format(time.DateOnly), shootsOf(stuck))
		}
	}
}

// shootsOf names the Shoots of worker pools, in lexical order, and counts the pools.
func shootsOf(pools []update.Pool) string {
	shoots := make([]string, 0, len(pools))
	for _, pool := range pools {
		shoots = append(shoots, pool.Shoot)
	}
	slices.Sort(shoots)
	return fmt.Sprintf("%s (%s)", counted("Shoot", slices.Compact(shoots)), words.Count(len(pools), "pool"))
}

// TypeInUse returns the error about an update that changes the type of a CloudProfile in use (semantics S10). users names the users, as
// "Shoot garden-demo/shop", in the order to show them.
func TypeInUse(updated, old *v1beta1.CloudProfile, users []string) finding.Finding {
	from, to := words.Quoted(old.Spec.Type), words.Quoted(updated.Spec.Type)
	return ruleTypeInUse.Fault(field.ErrorTypeForbidden, field.NewPath("spec", "type"), updated.Spec.Type,
		"the type cannot be changed from %s to %s while the CloudProfile is used by %s; "+
			"leave it as it is, and create another CloudProfile for type %s", from, to, words.Few(users), to)
}
