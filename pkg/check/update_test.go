// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/update"
)

// use is a Shoot with its worker pools.
type use struct {
	Namespace, Name string
	Pools           []provider.Pool
}

// effects returns admission's warnings about an update, except for maintenance, which needs whole Shoots.
func effects[R any](before, after *profile.Profile[R], uses []use) finding.List {
	users := make([]update.User, 0, len(uses))
	for _, u := range uses {
		shoot := &v1beta1.Shoot{}
		shoot.Namespace, shoot.Name = u.Namespace, u.Name
		shoot.Spec.Provider.Workers = make([]v1beta1.Worker, len(u.Pools))
		users = append(users, update.User{Shoot: shoot, Pools: u.Pools})
	}
	changes := update.Of(given.Library{}, update.View[R]{Before: before, After: after, Users: users})
	changes.Blocked = nil
	return slices.Clip(check.Effects(before, after, &changes, maintenance.Validates))
}

// updated returns the warnings about an update from one CloudProfile spec to another.
func updated(t *testing.T, old, update *v1beta1.CloudProfileSpec, shoots ...use) string {
	t.Helper()
	warnings := effects(given.Sound(t, given.ImagesOnly{}, old), given.Sound(t, given.ImagesOnly{}, update), shoots)
	catalogue.Check(t, warnings)
	return given.Explained(warnings)
}

// updateProfiles updates the CloudProfile of each case, used by these Shoots.
func updateProfiles(t *testing.T, archive string, shoots func(c *cases.Case) []use) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		return updated(c.T(), given.SpecOf(c, "old.yaml"), given.SpecOf(c, "new.yaml"), shoots(c)...)
	})
}

func noShoots(*cases.Case) []use { return nil }

func TestChangedChoices(t *testing.T) { updateProfiles(t, "testdata/changed-choices.txtar", noShoots) }

func TestChangedChoicesBetweenVocabularies(t *testing.T) {
	updateProfiles(t, "testdata/changed-vocabularies.txtar", noShoots)
}

// usedBy returns a Shoot with one pool on gl@1 in europe for each machine type.
func usedBy(name string, types ...string) use {
	u := use{Namespace: "garden-a", Name: name}
	for _, t := range types {
		u.Pools = append(u.Pools, provider.Pool{MachineType: t, Image: "gl", Version: "1", Region: "europe"})
	}
	return u
}

func TestUsesThatBreak(t *testing.T) {
	updateProfiles(t, "testdata/uses-that-break.txtar", func(c *cases.Case) []use {
		var shoots []use
		for line := range strings.Lines(c.Text("shoots")) {
			words := strings.Fields(line)
			shoots = append(shoots, usedBy(words[0], words[1:]...))
		}
		return shoots
	})
}

// The text about pools that are left without an image depends on the provider's policy for them.
func TestUsesThatBreakByPolicy(t *testing.T) {
	delisted, moved := choosy(t), choosy(t)
	delisted.MachineImages = nil
	delisted.ProviderConfig.Raw = []byte(`{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig"}`)
	moved.ProviderConfig.Raw = bytes.ReplaceAll(moved.ProviderConfig.Raw, []byte(`"europe"`), []byte(`"africa"`))
	const goOn, getNone = "they keep booting the images of their machine classes, and new ones are refused", "they get no new machines"
	for _, tc := range []struct {
		what   string
		after  *v1beta1.CloudProfileSpec
		policy policy.Undecided
		want   string
	}{
		{"delisted", delisted, policy.GoesOn, goOn},
		{"delisted", delisted, policy.Fails, goOn},
		{"no image in the region", moved, policy.GoesOn, goOn},
		{"no image in the region", moved, policy.Recalls, goOn},
		{"no image in the region", moved, policy.Fails, getNone},
	} {
		cloud := given.Deciding{Chosen: policy.Policies{Undecided: tc.policy}}
		before, _ := profile.Compile(cloud, choosy(t), field.NewPath("spec"))
		after, _ := profile.Compile(cloud, tc.after, field.NewPath("spec"))
		got := given.Explained(effects(before, after, []use{usedBy("s", choosy(t).MachineTypes[0].Name)}))
		if !strings.Contains(strings.ReplaceAll(got, "\n  ", " "), tc.want) {
			t.Errorf("%s, policy %d: %s", tc.what, tc.policy, got)
		}
	}
}

// A pool that had no image, or leaves the choice to Gardener, does not lose one.
func TestUsesThatWereBroken(t *testing.T) {
	broken := usedBy("s", "any")
	broken.Pools[0].Version = "9"
	open := usedBy("t", "any")
	open.Pools[0].Image, open.Pools[0].Version = "", ""
	other := usedBy("u", "bare")
	other.Pools[0].Architecture = "arm64"
	update := choosy(t)
	update.MachineImages[0].Versions[0].Version = "2"
	update.ProviderConfig.Raw = bytes.ReplaceAll(update.ProviderConfig.Raw, []byte(`"version":"1"`), []byte(`"version":"2"`))
	if got := updated(t, choosy(t), update, broken, open, other); got != "" {
		t.Error(got)
	}
}

// choosy has an image version with two flavors, and most machine types can boot both.
func choosy(t *testing.T) *v1beta1.CloudProfileSpec {
	t.Helper()
	return given.File[v1beta1.CloudProfileSpec](t, "testdata/choosy.yaml")
}

// The warnings do not depend on the order of Shoots, and the Shoots are not modified.
func TestOrderOfShootsDoesNotMatter(t *testing.T) {
	var shoots []use
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		shoots = append(shoots, usedBy(name, "bare", "any", "big"))
	}
	shoots[3].Namespace, shoots[4].Namespace = "garden-b", "garden-0"
	fewer := choosy(t)
	fewer.Regions, fewer.MachineTypes, fewer.MachineImages = fewer.Regions[:1], fewer.MachineTypes[3:], nil
	fewer.ProviderConfig.Raw = []byte(`{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig"}`)
	want := updated(t, choosy(t), fewer, shoots...)
	findings := strings.Split(strings.ReplaceAll(want, "\n  ", " "), "\n")
	if len(findings) != 4 || !strings.Contains(findings[0], "garden-0/e, garden-a/a, garden-a/b, garden-a/c, garden-a/f, and 3 more") {
		t.Error(want)
	}
	for range 20 {
		shuffled := slices.Clone(shoots)
		rand.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		handed := slices.Clone(shuffled)
		if diff := cmp.Diff(want, updated(t, choosy(t), fewer, shuffled...)); diff != "" {
			t.Fatal(diff)
		}
		if !slices.EqualFunc(handed, shuffled, func(a, b use) bool { return a.Namespace == b.Namespace && a.Name == b.Name }) {
			t.Fatal("the Shoots were reordered")
		}
	}
}

func TestAnUpdateOfNothingSaysNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := given.DrawSpec(t)
		p, _ := profile.Compile(local.Provider{}, spec, field.NewPath("spec"))
		again, _ := profile.Compile(local.Provider{}, spec.DeepCopy(), field.NewPath("spec"))
		var shoots []use
		for _, image := range spec.MachineImages {
			for _, version := range image.Versions {
				for _, machine := range []string{"m0", "m1", "m2", "none"} {
					pool := provider.Pool{MachineType: machine, Image: image.Name, Version: version.Version, Region: "local"}
					shoots = append(shoots, use{Name: machine, Pools: []provider.Pool{pool}})
				}
			}
		}
		if warnings := effects(p, again, shoots); len(warnings) > 0 {
			t.Fatal(warnings)
		}
	})
}
