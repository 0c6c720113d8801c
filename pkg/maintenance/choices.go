// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// choices are Gardener's choices among the versions of a profile, for worker pools of which many are alike: Gardener is
// asked once for those that are. It is not safe for concurrent use.
type choices struct {
	profile *v1beta1.CloudProfileSpec
	made    map[question]choice
	// offers have no autoUpdate in the question, and a version only if that matters.
	offers map[question]offer
	// equal has the versions of offers by what Gardener reads of them when it picks one.
	equal map[string]*allowed
	// before are the choices among the versions of the profile before an update; nil if there are none. same says which
	// machine types and images are as they were.
	before *choices
	same   *unchanged
}

func newChoices(profile *v1beta1.CloudProfileSpec) *choices {
	return &choices{
		profile: profile, made: map[question]choice{}, offers: map[question]offer{}, equal: map[string]*allowed{},
	}
}

// after returns the choices among the versions of the profile after an update. What both have is found out once.
func (c *choices) after(update *v1beta1.CloudProfileSpec) *choices {
	after := newChoices(update)
	after.before, after.same = c, newUnchanged(c.profile, update)
	return after
}

// question is what Gardener goes by when it chooses a version for a worker pool. Of fields that can be left out it says
// whether they are there.
type question struct {
	machineType, image, version, architecture string
	inPlace                                   bool
	kubernetes, kubelet, runtime              string
	autoUpdate                                bool
}

// offer is what Gardener chooses from. The error is one after which it looks at no further worker pool.
type offer struct {
	*allowed
	err error
}

// allowed are the versions of an image that a worker pool can have.
type allowed struct {
	image *v1beta1.MachineImage
	// stages and numbers are those of the versions. There are no numbers if one of them is no plain version.
	stages  []string
	numbers []*semver.Version
	picked  map[pickable]Outcome
}

// pickable is what a pick among allowed versions depends on.
type pickable struct {
	version    string
	autoUpdate bool
}

// choice is what Gardener chooses. ends says that it looks at no further worker pool.
type choice struct {
	Outcome
	ends bool
}

// of returns the choice for a worker pool of a Shoot. There is no version for one that names none itself.
func (c *choices) of(shoot *v1beta1.Shoot, worker *v1beta1.Worker) choice {
	if worker.Machine.Image == nil || worker.Machine.Image.Version == nil {
		return choice{}
	}
	q := ask(shoot, worker)
	made, done := c.made[q]
	if !done {
		o := c.offerTo(worker, q)
		if made = (choice{Outcome{Err: o.err}, true}); o.err == nil {
			made = choice{Outcome: o.pick(worker.Machine.Image, q.autoUpdate)}
		}
		c.made[q] = made
	}
	return made
}

// ofThose returns what Gardener would choose if there were only the versions that a filter admits, as [Next] does. The
// worker names a version.
func (c *choices) ofThose(shoot *v1beta1.Shoot, worker *v1beta1.Worker, admits Filter) Outcome {
	o := c.offerTo(worker, ask(shoot, worker))
	if o.err != nil {
		return Outcome{Err: o.err}
	}
	rest := &v1beta1.MachineImage{Name: o.image.Name, UpdateStrategy: o.image.UpdateStrategy}
	for _, v := range o.image.Versions {
		if admits(o.image.Name, v.Version) {
			rest.Versions = append(rest.Versions, v)
		}
	}
	return newAllowed(rest).pick(worker.Machine.Image, UpdatesImages(shoot))
}

// offerTo returns what Gardener chooses from for a worker that asks a question.
func (c *choices) offerTo(worker *v1beta1.Worker, q question) offer {
	q.autoUpdate = false
	if !q.inPlace {
		q.version = ""
	}
	if c.before != nil && c.same.has(q.machineType, q.image) {
		return c.before.offerTo(worker, q)
	}
	o, done := c.offers[q]
	if done {
		return o
	}
	image, err := allowedVersions(c.profile, worker, q.kubernetes, nil)
	if o.err = err; err == nil {
		key := readOf(image)
		if c.equal[key] == nil {
			c.equal[key] = newAllowed(image)
		}
		o.allowed = c.equal[key]
	}
	c.offers[q] = o
	return o
}

// readOf returns what Gardener reads of an image when it picks a version: two that have the same text get the same.
func readOf(image *v1beta1.MachineImage) string {
	text := []string{image.Name, string(*image.UpdateStrategy)}
	for _, v := range image.Versions {
		text = append(text, v.Version, stageOf(v))
	}
	return strings.Join(text, "\n")
}

// stageOf returns a text that is the same for versions between which Gardener tells no difference but their numbers.
func stageOf(v v1beta1.MachineImageVersion) string {
	return fmt.Sprint(v1beta1helper.CurrentLifecycleClassification(v.ExpirableVersion),
		v1beta1helper.VersionIsExpired(v.ExpirableVersion), v1beta1helper.VersionIsDeprecated(v.ExpirableVersion))
}

func newAllowed(image *v1beta1.MachineImage) *allowed {
	a := &allowed{image: image, picked: map[pickable]Outcome{}}
	allPlain := true
	for _, v := range image.Versions {
		number, plain := plainVersion(v.Version)
		a.numbers, a.stages = append(a.numbers, number), append(a.stages, stageOf(v))
		allPlain = allPlain && plain
	}
	if !allPlain {
		a.numbers = nil
	}
	return a
}

// plainVersion parses a version of three numbers. It reports false for any other.
func plainVersion(version string) (*semver.Version, bool) {
	number, err := semver.StrictNewVersion(version)
	return number, err == nil && number.Prerelease() == "" && number.Metadata() == ""
}

// pick returns what becomes of the version that a worker pool has.
func (a *allowed) pick(current *v1beta1.ShootMachineImage, autoUpdate bool) Outcome {
	key := pickable{*current.Version, autoUpdate}
	picked, done := a.picked[key]
	if !done {
		picked.Update, picked.Err = pick(a.image, a.decisive, current, autoUpdate)
		a.picked[key] = picked
	}
	return picked
}

// scope is where an update may lead that is not forced: to the versions of a stage that have as many numbers in common
// with the one that there is, from the major on.
type scope struct {
	stage string
	same  int
}

// decisive returns the image with those versions alone that decide which one Gardener picks, unless it has to. It takes
// the latest of those that are newer, of some stages and with the same minor, the same major or any: so the latest of each
// stage in each of these are enough. Gardener parses all versions several times, and there may be hundreds.
func (a *allowed) decisive(current *v1beta1.ShootMachineImage) *v1beta1.MachineImage {
	from, plain := plainVersion(*current.Version)
	if !plain || a.numbers == nil {
		return a.image
	}
	latest := map[scope]int{}
	for i, number := range a.numbers {
		for same := range 1 + inCommon(number, from) {
			at := scope{a.stages[i], same}
			if k, found := latest[at]; number.GreaterThan(from) && (!found || number.GreaterThan(a.numbers[k])) {
				latest[at] = i
			}
		}
	}
	decisive := &v1beta1.MachineImage{Name: a.image.Name, UpdateStrategy: a.image.UpdateStrategy}
	indices := slices.Sorted(maps.Values(latest))
	for _, i := range slices.Compact(indices) {
		decisive.Versions = append(decisive.Versions, a.image.Versions[i])
	}
	return decisive
}

// inCommon returns how many of their first two numbers two versions have in common, from the major on.
func inCommon(a, b *semver.Version) int {
	switch {
	case a.Major() != b.Major():
		return 0
	case a.Minor() != b.Minor():
		return 1
	}
	return 2
}

// ask returns what Gardener goes by.
func ask(shoot *v1beta1.Shoot, worker *v1beta1.Worker) question {
	q := question{
		machineType: worker.Machine.Type, image: worker.Machine.Image.Name, version: *worker.Machine.Image.Version,
		architecture: said(worker.Machine.Architecture), inPlace: v1beta1helper.IsUpdateStrategyInPlace(worker.UpdateStrategy),
		kubernetes: shoot.Spec.Kubernetes.Version, runtime: runtimesOf(worker), autoUpdate: UpdatesImages(shoot),
	}
	if worker.Kubernetes != nil {
		q.kubelet = said(worker.Kubernetes.Version)
	}
	return q
}

// said tells an empty text from one that is missing.
func said(text *string) string {
	if text == nil {
		return ""
	}
	return "=" + *text
}

// runtimesOf names the container runtimes of a worker; it is empty if the worker leaves them to Gardener.
func runtimesOf(worker *v1beta1.Worker) string {
	if worker.CRI == nil {
		return ""
	}
	name := string(worker.CRI.Name)
	names := []string{said(&name)}
	for _, runtime := range worker.CRI.ContainerRuntimes {
		names = append(names, runtime.Type)
	}
	return strings.Join(names, "/")
}

// unchanged says which of the machine types and images of a profile an update leaves as they were.
type unchanged struct {
	before, after *v1beta1.CloudProfileSpec
	vocabulary    bool
	types, images map[string]bool
}

func newUnchanged(before, after *v1beta1.CloudProfileSpec) *unchanged {
	vocabulary := equality.Semantic.DeepEqual(before.MachineCapabilities, after.MachineCapabilities)
	return &unchanged{before, after, vocabulary, map[string]bool{}, map[string]bool{}}
}

// has reports whether the same is said of a machine type and an image.
func (u *unchanged) has(machineType, image string) bool {
	return u.vocabulary &&
		same(u.types, machineType, u.before.MachineTypes, u.after.MachineTypes, func(t *v1beta1.MachineType) string { return t.Name }) &&
		same(u.images, image, u.before.MachineImages, u.after.MachineImages, func(i *v1beta1.MachineImage) string { return i.Name })
}

// same reports whether two lists have the same of a name, which is then known.
func same[T any](known map[string]bool, name string, before, after []T, nameOf func(*T) string) bool {
	equal, done := known[name]
	if !done {
		equal = equality.Semantic.DeepEqual(allNamed(before, name, nameOf), allNamed(after, name, nameOf))
		known[name] = equal
	}
	return equal
}

// allNamed returns the elements of a name.
func allNamed[T any](list []T, name string, nameOf func(*T) string) (found []T) {
	for i := range list {
		if nameOf(&list[i]) == name {
			found = append(found, list[i])
		}
	}
	return found
}
