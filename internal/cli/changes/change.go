// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/capkit/capkit/pkg/capability"

	"github.com/Masterminds/semver/v3"
)

// Kind is what a [Change] is about. Its values are part of the command line's JSON.
type Kind string

// The kinds, the worst first.
const (
	// Refused: Gardener or admission would refuse the update.
	Refused Kind = "refused"
	// Locked: no later update of the Shoots would pass Gardener (semantics S16).
	Locked Kind = "locked"
	// NoMachines: worker pools that boot something get no new machines any more.
	NoMachines Kind = "no-machines"
	// Maintenance: a version that Gardener's maintenance would choose for worker pools that do not boot it.
	Maintenance Kind = "maintenance"
	// OtherImage: another image is booted.
	OtherImage Kind = "other-image"
	// New: a combination boots now that did not before.
	New Kind = "new"
	// Gone: a combination does not boot any more, and no worker pool uses it.
	Gone Kind = "gone"
)

// Kinds returns all kinds, in their order. The caller owns the result.
func Kinds() []Kind {
	return []Kind{Refused, Locked, NoMachines, Maintenance, OtherImage, New, Gone}
}

// Breaks reports whether a change of this kind breaks something.
func (k Kind) Breaks() bool {
	return slices.Contains([]Kind{Refused, Locked, NoMachines, Maintenance}, k)
}

// When says when another image reaches worker pools that exist (semantics S14). Its values are part of the command
// line's JSON.
type When string

const (
	// Now is with the next machine that is created.
	Now When = "now"
	// NextRoll is once the machines of the pool are replaced.
	NextRoll When = "next-roll"
)

// Change is something that an update does, and whom it concerns. Fields that do not apply are empty. Its JSON is an
// interface: a field once published keeps its name and meaning.
type Change struct {
	Kind Kind `json:"kind"`
	// When is said of an OtherImage.
	When When `json:"when,omitempty"`
	// Profile is the NamespacedCloudProfile, NAMESPACE/NAME, that alone sees the change of its parent like this. Empty: the
	// profile itself.
	Profile string `json:"profile,omitempty"`

	Image       string `json:"image,omitempty"`
	Version     string `json:"version,omitempty"`
	MachineType string `json:"machineType,omitempty"`
	Region      string `json:"region,omitempty"`
	// Requested is what is asked for, without what is implied.
	Requested []capability.Requirement `json:"requested,omitempty"`
	// From and To are what is booted before and after the update, in the provider's own form.
	From any `json:"from,omitempty"`
	To   any `json:"to,omitempty"`

	// Rule and Field are those of what is Refused, the field being that of the updated object.
	Rule  string `json:"rule,omitempty"`
	Field string `json:"field,omitempty"`
	// Message says why. It is empty for changes that break nothing.
	Message string `json:"message,omitempty"`

	// Pools are the worker pools that are concerned, in the order of their Shoots; never nil. Count is how many there are.
	Pools []Pool `json:"pools"`
	Count int    `json:"count"`
}

// Pool is a worker pool of a Shoot, which is named as NAMESPACE/NAME.
type Pool struct {
	Shoot string `json:"shoot"`
	Name  string `json:"pool"`
}

// SortPools brings worker pools into the order of their Shoots.
func SortPools(pools []Pool) {
	slices.SortFunc(pools, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(a.Shoot, b.Shoot), cmp.Compare(a.Name, b.Name))
	})
}

// ShootsOf returns the names of the Shoots of worker pools that are in order, each once.
func ShootsOf(pools []Pool) []string {
	var names []string
	for _, pool := range pools {
		if len(names) == 0 || names[len(names)-1] != pool.Shoot {
			names = append(names, pool.Shoot)
		}
	}
	return names
}

// Sort brings changes into the order in which they are shown, and the pools of each as well. The order does not depend on
// the one in which they come.
func Sort(changes []Change) {
	for i := range changes {
		SortPools(changes[i].Pools)
	}
	slices.SortStableFunc(changes, compare)
}

// compare orders changes, Now before NextRoll. What takes longer is only looked at where the rest is the same.
func compare(a, b Change) int {
	order := cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Image, b.Image))
	if order == 0 {
		order = compareVersions(a.Version, b.Version)
	}
	if order == 0 && len(a.Requested)+len(b.Requested) > 0 {
		order = cmp.Or(cmp.Compare(len(a.Requested), len(b.Requested)), cmp.Compare(keyOf(a.Requested), keyOf(b.Requested)))
	}
	if order == 0 {
		order = cmp.Or(cmp.Compare(a.MachineType, b.MachineType), cmp.Compare(a.Region, b.Region), cmp.Compare(b.When, a.When),
			cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	}
	if order == 0 {
		order = cmp.Or(cmp.Compare(keyOf(a.From), keyOf(b.From)), cmp.Compare(keyOf(a.To), keyOf(b.To)))
	}
	return order
}

var kinds = Kinds()

func rank(kind Kind) int { return slices.Index(kinds, kind) }

// Summary counts changes by their kinds.
type Summary struct {
	Refused     int `json:"refused"`
	Locked      int `json:"locked"`
	NoMachines  int `json:"no-machines"`
	Maintenance int `json:"maintenance"`
	OtherImage  int `json:"other-image"`
	New         int `json:"new"`
	Gone        int `json:"gone"`
}

// Summarize counts changes by their kinds.
func Summarize(changes []Change) Summary {
	var s Summary
	for i := range changes {
		*s.of(changes[i].Kind)++
	}
	return s
}

// Of returns the number of changes of a kind.
func (s Summary) Of(kind Kind) int { return *s.of(kind) }

func (s *Summary) of(kind Kind) *int {
	return map[Kind]*int{
		Refused: &s.Refused, Locked: &s.Locked, NoMachines: &s.NoMachines, Maintenance: &s.Maintenance,
		OtherImage: &s.OtherImage, New: &s.New, Gone: &s.Gone,
	}[kind]
}

// compareVersions compares versions by their numbers. Those without any come last, by their texts, and none comes first.
func compareVersions(a, b string) int {
	if a == b {
		return 0
	}
	group := func(version string, err error) int {
		switch {
		case version == "":
			return 0
		case err == nil:
			return 1
		}
		return 2
	}
	x, noNumber := semver.NewVersion(a)
	y, noOther := semver.NewVersion(b)
	order := cmp.Compare(group(a, noNumber), group(b, noOther))
	if order == 0 && noNumber == nil {
		order = x.Compare(y)
	}
	return cmp.Or(order, cmp.Compare(a, b))
}

// keyOf returns a text that is the same for equal values, which can be encoded.
func keyOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}
