// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/update"
)

// Kind is what a [Change] is about. Its values are part of the command line's JSON.
type Kind string

// The kinds, the worst first.
const (
	// Refused: Gardener or admission would refuse the update.
	Refused Kind = "refused"
	// Locked: no later update of the Shoots would pass Gardener (semantics S16).
	Locked Kind = "locked"
	// NoMachines: worker pools that boot something get no new machines any more, by the policy of the provider (semantics S14).
	NoMachines Kind = "no-machines"
	// Kept: worker pools keep booting the images of their machine classes, which the profile no longer has for them (semantics S14).
	Kept Kind = "kept"
	// Maintenance: a version that Gardener's maintenance would choose for worker pools that do not boot it.
	Maintenance Kind = "maintenance"
	// Expires: an image version has another expiration date.
	Expires Kind = "expires"
	// Kubernetes: a version of Kubernetes is new or gone, has another expiration date or classification, or is chosen by maintenance.
	Kubernetes Kind = "kubernetes"
	// WillUpdate: the next maintenance moves worker pools to another version than before the update.
	WillUpdate Kind = "will-update"
	// OtherImage: another image is booted.
	OtherImage Kind = "other-image"
	// Meaning: a reserved capability is registered in another way, and a flavor that says nothing about it supports something else
	// (semantics S3).
	Meaning Kind = "meaning"
	// Offer: owners of Shoots have something else to choose from.
	Offer Kind = "offer"
	// New: a combination boots now that did not before.
	New Kind = "new"
	// Gone: a combination does not boot any more, and no worker pool uses it.
	Gone Kind = "gone"
)

// Kinds returns all kinds, in their order. The caller owns the result.
func Kinds() []Kind {
	return []Kind{Refused, Locked, NoMachines, Kept, Maintenance, Expires, Kubernetes, WillUpdate, OtherImage, Meaning, Offer, New, Gone}
}

// Breaks reports whether each change of this kind breaks something.
func (k Kind) Breaks() bool {
	return slices.Contains([]Kind{Refused, Locked, NoMachines, Kept, Maintenance}, k)
}

// Breaks reports whether a change breaks something: by its kind, or because somebody gets stuck by it, or loses what is used.
func (c *Change) Breaks() bool {
	return c.Kind.Breaks() || c.Kind == Offer && c.Change == update.IsGone && len(c.Used) > 0 ||
		slices.ContainsFunc(c.Then, func(f Fate) bool { return f.worse })
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
	// Capability is that of a Meaning, by the name under which it is registered; and Flavor what the flavor declares.
	Capability string               `json:"capability,omitempty"`
	Flavor     v1beta1.Capabilities `json:"flavor,omitempty"`
	// FlavorText is the Flavor as an operator writes it.
	FlavorText string `json:"-"`
	// From and To are what is booted before and after the update, in the provider's own form; versions, for WillUpdate; and dates or
	// classifications, or null, for Expires and Kubernetes; the values, for an Offer that is one, and lists of them, for a Meaning.
	From any `json:"from,omitempty"`
	To   any `json:"to,omitempty"`

	// Action of a WillUpdate is updated, or forced if the pools could not stay.
	Action maintenance.Action `json:"action,omitempty"`

	// Path of an Offer, with the names of what is in lists; and Change, of that, of Kubernetes or of what is registered, says how it differs.
	Path   string        `json:"path,omitempty"`
	Change update.Aspect `json:"change,omitempty"`
	// Used are the Shoots, NAMESPACE/NAME, that use what is an Offer.
	Used []string `json:"used,omitzero"`
	// Then is what becomes of worker pools and Shoots: once a date has come, or at the next maintenance.
	Then []Fate `json:"then,omitempty"`

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

// Fate is what becomes of the version of a worker pool or, without one, of the control plane of a Shoot.
type Fate struct {
	Shoot  string             `json:"shoot"`
	Pool   string             `json:"pool,omitempty"`
	Action maintenance.Action `json:"action"`
	To     string             `json:"to,omitempty"`
	// Boots is false if the pool does not boot To, and nobody refuses that; nil otherwise.
	Boots *bool `json:"boots,omitempty"`

	// worse says that it is stuck, fails or boots nothing, and would not without the update.
	worse bool
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
		slices.SortStableFunc(changes[i].Then, func(a, b Fate) int { return cmp.Or(cmp.Compare(a.Shoot, b.Shoot), cmp.Compare(a.Pool, b.Pool)) })
	}
	slices.SortStableFunc(changes, compare)
}

// compare orders changes, Now before NextRoll. What takes longer is only looked at where the rest is the same.
func compare(a, b Change) int {
	order := cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(a.Profile, b.Profile),
		cmp.Compare(a.Capability, b.Capability), cmp.Compare(a.Image, b.Image))
	if order == 0 {
		order = compareVersions(a.Version, b.Version)
	}
	if order == 0 && len(a.Requested)+len(b.Requested) > 0 {
		order = cmp.Or(cmp.Compare(len(a.Requested), len(b.Requested)), cmp.Compare(keyOf(a.Requested), keyOf(b.Requested)))
	}
	if order == 0 {
		order = cmp.Or(cmp.Compare(a.MachineType, b.MachineType), cmp.Compare(a.Region, b.Region), cmp.Compare(b.When, a.When),
			fieldpath.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Change, b.Change),
			cmp.Compare(a.FlavorText, b.FlavorText))
	}
	if order == 0 {
		order = cmp.Or(cmp.Compare(keyOf(a.From), keyOf(b.From)), cmp.Compare(keyOf(a.To), keyOf(b.To)), cmp.Compare(a.Action, b.Action))
	}
	return order
}

var kinds = Kinds()

func rank(kind Kind) int { return slices.Index(kinds, kind) }

// Summary counts changes by their kinds. Each kind is there.
type Summary map[Kind]int

// MarshalJSON writes the kinds in their order.
func (s Summary) MarshalJSON() ([]byte, error) {
	counts := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		counts = append(counts, fmt.Sprintf("%q:%d", kind, s[kind]))
	}
	return []byte("{" + strings.Join(counts, ",") + "}"), nil
}

// Summarize counts changes by their kinds.
func Summarize(changes []Change) Summary {
	s := Summary{}
	for i := range changes {
		s[changes[i].Kind]++
	}
	return s
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

// Settings names what is asked for.
func Settings(requested []capability.Requirement) string {
	names := make([]string, 0, len(requested))
	for i := range requested {
		names = append(names, requested[i].Setting)
	}
	return strings.Join(names, ", ")
}
