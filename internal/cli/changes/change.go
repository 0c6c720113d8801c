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

// Kind classifies a [Change]. Its values are part of the command line's JSON.
type Kind string

// The kinds, the worst first.
const (
	// Refused: Gardener or admission would refuse the update.
	Refused Kind = "refused"
	// Locked: no later update of the Shoots would pass Gardener (semantics S16).
	Locked Kind = "locked"
	// NoMachines: worker pools that boot an image can no longer create machines, by the provider's policy (semantics S14).
	NoMachines Kind = "no-machines"
	// Kept: worker pools keep booting the images of their machine classes, which the profile no longer has for them (semantics S14).
	Kept Kind = "kept"
	// Maintenance: Gardener's maintenance would choose the version for worker pools that cannot boot it.
	Maintenance Kind = "maintenance"
	// Expires: an image version gets another expiration date, or worker pools get stuck on the one that it has.
	Expires Kind = "expires"
	// Kubernetes: a Kubernetes version is new or gone, changes its expiration date or classification, or is chosen by maintenance.
	Kubernetes Kind = "kubernetes"
	// WillUpdate: the next maintenance leaves worker pools with another version than it would without the update, or stuck.
	WillUpdate Kind = "will-update"
	// OtherImage: the booted image changes.
	OtherImage Kind = "other-image"
	// Meaning: the registration of a reserved capability changes, so a flavor that leaves it out supports other values (semantics S3).
	Meaning Kind = "meaning"
	// Offer: the choices of shoot owners change.
	Offer Kind = "offer"
	// New: a combination boots only after the update.
	New Kind = "new"
	// Gone: a combination no longer boots, and no worker pool uses it.
	Gone Kind = "gone"
)

// Kinds returns all kinds, the worst first. The caller owns the result.
func Kinds() []Kind {
	return []Kind{Refused, Locked, NoMachines, Kept, Maintenance, Expires, Kubernetes, WillUpdate, OtherImage, Meaning, Offer, New, Gone}
}

// Breaks reports whether every change of this kind breaks something.
func (k Kind) Breaks() bool {
	return slices.Contains([]Kind{Refused, Locked, NoMachines, Kept, Maintenance}, k)
}

// Breaks reports whether a change breaks something: because of its kind, because a user gets stuck, or because an
// offer in use is removed.
func (c *Change) Breaks() bool {
	return c.Kind.Breaks() || c.Lost && len(c.Used) > 0 || c.Action == maintenance.Stuck ||
		slices.ContainsFunc(c.Then, func(f Fate) bool { return f.worse })
}

// When says when another image reaches existing worker pools (semantics S14). Its values are part of the command line's JSON.
type When string

const (
	// Now means with the next machine that is created.
	Now When = "now"
	// NextRoll means when the machines of the pool are replaced.
	NextRoll When = "next-roll"
)

// Change is an effect of an update, with the worker pools it concerns. Fields that do not apply are empty. Its JSON
// is an interface: a published field keeps its name and meaning.
type Change struct {
	Kind Kind `json:"kind"`
	// When is set for OtherImage.
	When When `json:"when,omitempty"`
	// Profile is the NamespacedCloudProfile, NAMESPACE/NAME, that alone sees its parent's change this way. Empty
	// means the profile itself.
	Profile string `json:"profile,omitempty"`

	Image       string `json:"image,omitempty"`
	Version     string `json:"version,omitempty"`
	MachineType string `json:"machineType,omitempty"`
	VolumeType  string `json:"volumeType,omitempty"`
	Region      string `json:"region,omitempty"`
	// Requested are the explicit requirements, without the implied ones.
	Requested []capability.Requirement `json:"requested,omitempty"`
	// Capability is the registered name of a Meaning's capability, and Flavor the capabilities that the flavor declares.
	Capability string               `json:"capability,omitempty"`
	Flavor     v1beta1.Capabilities `json:"flavor,omitempty"`
	// FlavorText is Flavor as an operator writes it.
	FlavorText string `json:"-"`
	// From and To are the values before and after the update. They are references in the provider's own form if an
	// image is booted; versions for WillUpdate; dates, classifications or null for Expires and Kubernetes; the
	// values, if any, for Offer; and lists of values for Meaning.
	From any `json:"from,omitempty"`
	To   any `json:"to,omitempty"`

	// Action of WillUpdate is updated, or forced if the pools cannot stay. Without To, it is stays if they are no longer updated, or stuck.
	Action maintenance.Action `json:"action,omitempty"`

	// Path of Offer identifies list items by name. Change says how the offer, the Kubernetes version or the registration differs.
	Path   string        `json:"path,omitempty"`
	Change update.Aspect `json:"change,omitempty"`
	// Used are the Shoots, NAMESPACE/NAME, that use the Offer. Lost is set if it cannot be chosen any more.
	Used []string `json:"used,omitzero"`
	Lost bool     `json:"lost,omitempty"`
	// Unavailable is set for an Offer of a type in a zone.
	Unavailable *update.Unavailable `json:"-"`
	// Then are the fates of worker pools and Shoots once the date has passed, or at the next maintenance.
	Then []Fate `json:"then,omitempty"`

	// Rule and Field are set for Refused. Field belongs to the updated object.
	Rule  string `json:"rule,omitempty"`
	Field string `json:"field,omitempty"`
	// Message gives the reason. It is empty for changes that break nothing.
	Message string `json:"message,omitempty"`

	// Pools are the affected worker pools, ordered by Shoot; never nil. Count is their number.
	Pools []Pool `json:"pools"`
	Count int    `json:"count"`
}

// Pool is a worker pool of a Shoot, named NAMESPACE/NAME.
type Pool struct {
	Shoot string `json:"shoot"`
	Name  string `json:"pool"`
}

// Fate is what happens to the version of a worker pool or, if Pool is empty, of a Shoot's control plane.
type Fate struct {
	Shoot  string             `json:"shoot"`
	Pool   string             `json:"pool,omitempty"`
	Action maintenance.Action `json:"action"`
	To     string             `json:"to,omitempty"`
	// Boots is false if the pool cannot boot To, and nothing refuses the move; nil otherwise.
	Boots *bool `json:"boots,omitempty"`

	// worse is set if the pool is stuck, fails or boots nothing only because of the update.
	worse bool
}

// SortPools sorts worker pools by Shoot and name.
func SortPools(pools []Pool) {
	slices.SortFunc(pools, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(a.Shoot, b.Shoot), cmp.Compare(a.Name, b.Name))
	})
}

// ShootsOf returns the Shoot names of sorted worker pools, each once.
func ShootsOf(pools []Pool) []string {
	var names []string
	for _, pool := range pools {
		if len(names) == 0 || names[len(names)-1] != pool.Shoot {
			names = append(names, pool.Shoot)
		}
	}
	return names
}

// Sort sorts changes for display, and the pools and fates of each change. The result does not depend on the original order.
func Sort(changes []Change) {
	for i := range changes {
		SortPools(changes[i].Pools)
		slices.SortStableFunc(changes[i].Then, func(a, b Fate) int { return cmp.Or(cmp.Compare(a.Shoot, b.Shoot), cmp.Compare(a.Pool, b.Pool)) })
	}
	slices.SortStableFunc(changes, compare)
}

// compare orders changes, Now before NextRoll. It computes expensive keys only if the cheaper ones are equal.
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

// Summary counts changes by kind. Its JSON contains every kind.
type Summary map[Kind]int

// MarshalJSON writes the kinds in their order.
func (s Summary) MarshalJSON() ([]byte, error) {
	counts := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		counts = append(counts, fmt.Sprintf("%q:%d", kind, s[kind]))
	}
	return []byte("{" + strings.Join(counts, ",") + "}"), nil
}

// Summarize counts changes by kind.
func Summarize(changes []Change) Summary {
	s := Summary{}
	for i := range changes {
		s[changes[i].Kind]++
	}
	return s
}

// compareVersions compares versions by semantic version. Versions that do not parse come last, as text; the empty one is first.
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

// keyOf returns a text that is the same for equal values. The value must be encodable as JSON.
func keyOf(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// Settings lists the requested settings.
func Settings(requested []capability.Requirement) string {
	names := make([]string, 0, len(requested))
	for i := range requested {
		names = append(names, requested[i].Setting)
	}
	return strings.Join(names, ", ")
}
