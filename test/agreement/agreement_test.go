// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package agreement compares the admission warnings about a profile update with the output of capkit plan for the same update.
package agreement

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/internal/testing/worlds"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/webhooks"
)

// Consequences of an update for a Shoot, which has only one worker pool.
const (
	locked     = "locked"
	tooSmall   = "too small a volume"
	goOn       = "go on"
	otherImage = "another image"
	blocked    = "maintenance"
)

// consequences holds the consequences of an update by Shoot. A Shoot may have several.
type consequences map[string][]string

func (c consequences) add(shoot, what string) {
	if !slices.Contains(c[shoot], what) {
		c[shoot] = append(c[shoot], what)
		slices.Sort(c[shoot])
	}
}

// update is an update of a profile.
type update struct {
	kind         string
	old, updated client.Object
	// profile is the stored CloudProfile. child is the NamespacedCloudProfile, or nil if there is none.
	profile *v1beta1.CloudProfile
	child   *v1beta1.NamespacedCloudProfile
	shoots  []*v1beta1.Shoot
}

const namespace = "garden-x"

func cloudProfile(w *worlds.World) *v1beta1.CloudProfile {
	profile := &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "profile"}, Spec: *w.Spec(1)}
	profile.APIVersion, profile.Kind = "core.gardener.cloud/v1beta1", "CloudProfile"
	return profile
}

func childProfile(w *worlds.World) *v1beta1.NamespacedCloudProfile {
	child := w.Child(namespace, "child", "profile")
	child.APIVersion, child.Kind = "core.gardener.cloud/v1beta1", "NamespacedCloudProfile"
	return child
}

// drawShoots draws Shoots with one worker pool each that use a profile of a kind. As in the API server, each pool names the
// architecture that its machine type has before the update.
func drawShoots(t *rapid.T, kind, name string, of ...*worlds.World) []*v1beta1.Shoot {
	var names []worlds.Names
	architectures := map[string]string{}
	for _, w := range of {
		names = append(names, w.Names)
		for machineType, capabilities := range w.Types {
			architectures[machineType] = capabilities["architecture"][0]
		}
	}
	shoots := worlds.Shoots(t, 2, 1, names...) // of more than five, a warning names only some
	for _, s := range shoots {
		s.APIVersion, s.Kind = "core.gardener.cloud/v1beta1", "Shoot"
		s.Name = strings.ToLower(kind[:1]) + s.Name
		machine := &s.Spec.Provider.Workers[0].Machine
		machine.Architecture = new(architectures[machine.Type])
		s.Spec.Provider.Type = "openstack"
		s.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: kind, Name: name}
		if rapid.IntRange(0, 4).Draw(t, "is being deleted") == 0 {
			s.DeletionTimestamp = new(metav1.Unix(1, 0))
		}
		s.Spec.Maintenance = &v1beta1.Maintenance{AutoUpdate: &v1beta1.MaintenanceAutoUpdate{
			KubernetesVersion: true, MachineImageVersion: new(rapid.Bool().Draw(t, "updates automatically")),
		}}
	}
	return shoots
}

// reserve may add reserved capabilities to flavors of a world, and may register some of them.
func reserve(t *rapid.T, w *worlds.World) {
	if rapid.Bool().Draw(t, "reserved") {
		w.Reserve(t)
	}
}

// changed draws an update of a world, which may change the registered reserved capabilities, under the names of either text.
func changed(t *rapid.T, w *worlds.World) *worlds.World {
	is := w.Changed(t)
	if rapid.IntRange(0, 2).Draw(t, "registers") == 0 {
		is.Register(t)
	}
	return is
}

// drawVolumes draws volumes for Shoots, and minimum sizes for them before and after an update of a profile.
func drawVolumes(t *rapid.T, was, is *v1beta1.CloudProfile, shoots []*v1beta1.Shoot) {
	sizes := []string{"10Gi", "20Gi", "30Gi"}
	volumeType := rapid.SampledFrom([]string{"disk", "disk", "other"})
	minimum := func(label string) *resource.Quantity {
		return new(resource.MustParse(rapid.SampledFrom(sizes).Draw(t, label)))
	}
	for i, p := range []*v1beta1.CloudProfile{was, is} {
		of := []string{"before", "after"}[i]
		p.Spec.VolumeTypes = []v1beta1.VolumeType{{Name: "disk", Class: "standard"}, {Name: "other", Class: "standard"}}
		if rapid.Bool().Draw(t, "minimum "+of) {
			p.Spec.VolumeTypes[0].MinSize = minimum("minimum size " + of)
		}
		for i := range p.Spec.MachineTypes {
			if rapid.IntRange(0, 3).Draw(t, "own minimum "+of) == 0 {
				p.Spec.MachineTypes[i].Storage = &v1beta1.MachineTypeStorage{
					Class: "standard", Type: volumeType.Draw(t, "type "+of), MinSize: minimum("own minimum size " + of),
				}
			}
		}
	}
	for _, s := range shoots {
		s.Spec.Provider.Workers[0].Volume = &v1beta1.Volume{
			Type: new(volumeType.Draw(t, "volume type")), VolumeSize: rapid.SampledFrom(sizes).Draw(t, "volume size"),
		}
	}
}

// ofProfile draws an update of a CloudProfile that is used directly.
func ofProfile(t *rapid.T) update {
	old := worlds.Draw(t)
	reserve(t, old)
	was, is := cloudProfile(old), cloudProfile(changed(t, old))
	shoots := drawShoots(t, "CloudProfile", "profile", old)
	drawVolumes(t, was, is, shoots)
	return update{"CloudProfile", was, is, was, nil, shoots}
}

// ofChild draws an update of a NamespacedCloudProfile.
func ofChild(t *rapid.T) update {
	parent := worlds.Draw(t)
	reserve(t, parent)
	old := worlds.DrawChild(t, parent)
	old.Reserving = parent.Reserving
	was, is := childProfile(old), childProfile(old.Changed(t))
	shoots := drawShoots(t, "NamespacedCloudProfile", "child", parent, old)
	return update{"NamespacedCloudProfile", was, is, cloudProfile(parent), was, shoots}
}

// ofParent draws an update of a CloudProfile that Shoots use directly, and through a NamespacedCloudProfile whose own
// definitions they do not use. Admission knows only worker pools that use the CloudProfile's definitions.
func ofParent(t *rapid.T) update {
	parent := worlds.Draw(t)
	reserve(t, parent)
	updated, child := changed(t, parent), worlds.DrawChild(t, parent)
	updated.Capabilities, child.Versions = parent.Capabilities, nil
	was, is := cloudProfile(parent), cloudProfile(updated)
	shoots := append(drawShoots(t, "CloudProfile", "profile", parent), drawShoots(t, "NamespacedCloudProfile", "child", parent)...)
	drawVolumes(t, was, is, shoots)
	return update{"CloudProfile", was, is, was, childProfile(child), shoots}
}

// warnings returns the admission warnings about the update.
func (u *update) warnings(tb testing.TB) []string {
	g := webhooks.New(u.profile)
	g.Child = u.child
	for _, s := range u.shoots {
		g.Shoots = append(g.Shoots, *s)
	}
	handler := webhooks.Handlers(tb, openstack.With(gardenerlib.Library{}), g)["validate-"+strings.ToLower(u.kind)]
	return handler.Handle(tb.Context(), webhooks.Request(tb, u.kind, u.updated, u.old)).Warnings
}

// change holds the fields of a change in capkit plan's output that this test needs.
type change struct {
	Kind, When, Version, Region, Profile, Capability, VolumeType string

	From, To json.RawMessage
	Pools    []struct{ Shoot string }
}

// plan returns the output of capkit plan for the update. A note names the Shoots that are being deleted and are locked.
func (u *update) plan(tb testing.TB, folder string) []change {
	write := func(name string, objects ...client.Object) string {
		file := filepath.Join(folder, name)
		var all [][]byte
		for _, object := range objects {
			raw, err := json.Marshal(object)
			if err != nil {
				tb.Fatal(err)
			}
			all = append(all, raw)
		}
		if err := os.WriteFile(file, bytes.Join(all, []byte("\n---\n")), 0o600); err != nil {
			tb.Fatal(err)
		}
		return file
	}
	var others []client.Object
	if u.kind != "CloudProfile" {
		others = append(others, u.profile)
	} else if u.child != nil {
		others = append(others, u.child)
	}
	for _, s := range u.shoots {
		others = append(others, s)
	}
	args := []string{"capkit", "plan", "-o", "json", write("old.json", u.old), write("new.json", u.updated)}
	if len(others) > 0 {
		args = append(args, write("others.json", others...))
	}
	var stdout, stderr bytes.Buffer
	if status := cli.Run(args, &bytes.Buffer{}, &stdout, &stderr, cli.For(openstack.With(gardenerlib.Library{}))); status > 1 {
		tb.Fatal(stderr.String())
	}
	var answer struct{ Changes []change }
	if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil {
		tb.Fatalf("%v: %s %s", err, &stdout, &stderr)
	}
	for _, name := range shootNames.FindAllString(deleting.FindString(stderr.String()), -1) {
		answer.Changes = append(answer.Changes, change{Kind: "locked", Pools: []struct{ Shoot string }{{name}}})
	}
	return answer.Changes
}

var (
	shootNames = regexp.MustCompile(namespace + `/[cn]shoot-[0-9]`)
	deleting   = regexp.MustCompile("note: the update of .* locks Shoots that are being deleted.*")
)

// warned returns the consequences that the warnings name. That of a Shoot that is being deleted is locked, as in the note of plan.
func (u *update) warned(tb testing.TB, warnings []string) consequences {
	found, leaving := consequences{}, map[string]bool{}
	for _, s := range u.shoots {
		leaving[namespace+"/"+s.Name] = s.DeletionTimestamp != nil
	}
	for _, warning := range warnings {
		shoots := shootNames.FindAllString(warning, -1)
		if len(shoots) == 0 {
			continue
		}
		what := ""
		for _, by := range []struct{ words, what string }{
			{"the minimum size is", tooSmall}, {"confirmation of their deletion", locked}, {"Gardener's maintenance would choose", blocked},
			{"keep booting", goOn}, {"keep their machine classes", goOn}, {"boot another one", otherImage},
		} {
			if what == "" && strings.Contains(warning, by.words) {
				what = by.what
			}
		}
		if what == "" {
			tb.Fatalf("a warning about Shoots: %s", warning)
		}
		for _, s := range shoots {
			if what == tooSmall && leaving[s] {
				found.add(s, locked)
			} else {
				found.add(s, what)
			}
		}
	}
	return found
}

// planned returns the consequences of the changes. Admission does not warn about other images of a locked Shoot. It need
// not warn about another image, and cannot while the profile still has the old reference.
func (u *update) planned(changes []change, warned consequences) consequences {
	found := consequences{}
	for _, kind := range []string{locked, tooSmall, goOn, blocked, otherImage} {
		for _, c := range changes {
			for _, pool := range c.Pools {
				what, lockedAlready := consequenceOf(&c), slices.Contains(found[pool.Shoot], locked)
				if what != kind || lockedAlready && what != blocked && what != tooSmall {
					continue
				}
				if what == otherImage && (u.has(&c) || !slices.Contains(warned[pool.Shoot], what)) {
					continue
				}
				found.add(pool.Shoot, what)
			}
		}
	}
	return found
}

var claiming = regexp.MustCompile(`(\S+): flavors that say nothing about it have (\S+) from now on`)

// claimsWarned returns the features that silent flavors newly claim according to the warnings, as capability and value.
func claimsWarned(warnings []string) []string {
	var claims []string
	for _, warning := range warnings {
		if found := claiming.FindStringSubmatch(warning); found != nil {
			claims = append(claims, found[1]+" "+found[2])
		}
	}
	slices.Sort(claims)
	return claims
}

// claimsPlanned returns the same features according to the profile's own changes. It excludes values that all images have,
// and in-place updates that core declares.
func (u *update) claimsPlanned(tb testing.TB, changes []change) []string {
	var claims []string
	for i := range changes {
		c := &changes[i]
		if c.Kind != "meaning" || c.Profile != "" {
			continue
		}
		var from, to []string
		if err := errors.Join(json.Unmarshal(c.From, &from), json.Unmarshal(c.To, &to)); err != nil {
			tb.Fatal(err)
		}
		for _, value := range to {
			ordinary := value == "standard" || value == "rolling"
			if !ordinary && !slices.Contains(from, value) && (texts.Canonical(c.Capability) != capability.UpdateType || !u.inPlace(c.Version)) {
				claims = append(claims, c.Capability+" "+value)
			}
		}
	}
	slices.Sort(claims)
	return slices.Compact(claims)
}

// inPlace reports whether core declares that a version can be updated in place.
func (u *update) inPlace(version string) bool {
	var images []v1beta1.MachineImage
	switch updated := u.updated.(type) {
	case *v1beta1.CloudProfile:
		images = updated.Spec.MachineImages
	case *v1beta1.NamespacedCloudProfile:
		images = updated.Spec.MachineImages
	}
	for _, v := range images[0].Versions {
		if v.Version == version {
			return v.InPlaceUpdates.Supported
		}
	}
	return false
}

func consequenceOf(c *change) string {
	switch c.Kind + c.When {
	case "locked":
		if c.VolumeType != "" {
			return tooSmall
		}
		return locked
	case "kept":
		return goOn
	case "maintenance":
		return blocked
	case "other-imagenow":
		return otherImage
	}
	return ""
}

// has reports whether the updated profile still has the old reference of a change, for the same version and region.
func (u *update) has(c *change) bool {
	var from struct{ ID string }
	_ = json.Unmarshal(c.From, &from) // every reference is an object
	of := u.profile
	if updated, is := u.updated.(*v1beta1.CloudProfile); is {
		of = updated
	}
	configs := []*runtime.RawExtension{of.Spec.ProviderConfig}
	if child, is := u.updated.(*v1beta1.NamespacedCloudProfile); is {
		configs = append(configs, child.Spec.ProviderConfig)
	} else if u.child != nil {
		configs = append(configs, u.child.Spec.ProviderConfig)
	}
	for _, config := range configs {
		var read v1alpha1.CloudProfileConfig
		if config == nil || json.Unmarshal(config.Raw, &read) != nil {
			continue
		}
		for _, image := range read.MachineImages {
			for _, v := range image.Versions {
				regions := v.Regions
				for _, f := range v.CapabilityFlavors {
					regions = append(regions, f.Regions...)
				}
				if v.Version == c.Version && slices.ContainsFunc(regions, func(r v1alpha1.RegionIDMapping) bool {
					return r.Name == c.Region && r.ID == from.ID
				}) {
					return true
				}
			}
		}
	}
	return false
}

// Admission and capkit plan name the same Shoots, consequences and newly claimed features of silent flavors.
func TestAdmissionAndPlanAgree(t *testing.T) {
	seen := map[string]int{}
	for name, draw := range map[string]func(*rapid.T) update{
		"a CloudProfile": ofProfile, "a NamespacedCloudProfile": ofChild, "a CloudProfile with a child": ofParent,
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			rapid.Check(t, func(r *rapid.T) {
				for range 5 { // some consequences are rare
					u := draw(r)
					warnings, changes := u.warnings(t), u.plan(t, folder)
					warned := u.warned(t, warnings)
					planned := u.planned(changes, warned)
					for _, s := range u.shoots {
						if s.DeletionTimestamp != nil && len(warned[namespace+"/"+s.Name]) > 0 {
							seen["being deleted"]++
						}
					}
					for _, all := range warned {
						for _, what := range all {
							seen[what]++
						}
					}
					claims := claimsWarned(warnings)
					for _, claim := range claims {
						seen[claim]++
					}
					if diff := gocmp.Diff(claims, u.claimsPlanned(t, changes)); diff != "" {
						r.Fatalf("claims, -admission +plan: %s\n%s\n%+v", diff, strings.Join(warnings, "\n"), changes)
					}
					if diff := gocmp.Diff(warned, planned); diff != "" {
						r.Fatalf("-admission +plan: %s\n%s\n%+v", diff, strings.Join(warnings, "\n"), changes)
					}
				}
			})
		})
	}
	for _, what := range []string{locked, tooSmall, goOn, otherImage, blocked, "being deleted", "gardener-boot-type secure", "gardener-update-type in-place"} {
		if seen[what] == 0 {
			t.Errorf("never seen: %s", what)
		}
	}
}
