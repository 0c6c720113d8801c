// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
)

// Offer is a change of something that shoot owners choose from.
type Offer struct {
	// Path is its place, with the names of list entries: spec.regions[europe].zones[europe-1a].
	Path string
	// How is [IsNew], [IsGone] or [Differs].
	How Aspect
	// From and To are a changed string, number or boolean before and after the update; nil otherwise.
	From, To any
	// Lost reports whether owners can no longer choose it: it is removed, unusable, unavailable in a zone, or for another region. Kept
	// reports whether Gardener nevertheless leaves it to the worker pools that have it.
	Lost, Kept bool
	// Unavailable is set if a type becomes unavailable in a zone, or is no longer.
	Unavailable *Unavailable
	// Used are the Shoots that use it, as NAMESPACE/NAME, sorted; nil if it is new, or available in a zone again.
	Used []string
	// Pools are the worker pools of these Shoots that use it; nil if it is nothing that worker pools choose.
	Pools []Pool
}

// Unavailable is a machine type or volume type that a zone lists as unavailable.
type Unavailable struct {
	Region, Zone, Type string
	// OfVolumes reports whether it is a volume type.
	OfVolumes bool
}

// Differences completes the facts about an update of a CloudProfile or NamespacedCloudProfile. The facts must be those of [Of] for the same
// views. old and updated are the object's two versions, as the API server has them.
//
// offers are the changes of what shoot owners choose from. others are the paths of further differences that the facts do not cover.
// rewritten are the paths of parts that are only written differently: image and Kubernetes versions with the same stages from now on, and
// names in the other text of GEP-0054. All three are sorted by path. They are empty if the parts that users write are equal, apart from the
// order of lists whose order has no meaning.
func Differences[R any](
	cloud provider.Provider[R], old, updated any, changes *Changes[R], views ...View[R],
) (offers []Offer, others, rewritten []string) {
	d := differing[R]{changes: changes, views: views, covered: map[provider.ImageVersion]bool{}, now: time.Now()}
	if describer, ok := provider.As[provider.OfferDescriber](cloud); ok {
		d.offered = describer.Offers()
	}
	d.cover()
	was, is := imagesOf(old), imagesOf(updated)
	d.before, d.after = Expirable(old), Expirable(updated)
	if len(views) > 0 { // for a NamespacedCloudProfile this is the result of the merge, which begins with the parent's images
		was, is = views[0].Before.Spec().MachineImages, views[0].After.Spec().MachineImages
	}
	d.classifications(was, is)
	switch images := (path{"spec", ".machineImages"}); {
	case len(was) > 0 && len(is) > 0 && was[0].Name != is[0].Name:
		d.offer(difference{path: images}, true, Offer{How: Differs, From: was[0].Name, To: is[0].Name})
	case reordered(imageNames(was), imageNames(is)): // a worker pool's default is the first image for its architecture
		d.other(images)
	}
	d.renaming = renamingOf(written(old), written(updated))
	for _, found := range differences(written(old), written(updated)) {
		d.assign(found)
	}
	slices.SortFunc(d.offers, func(a, b Offer) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(d.others)
	slices.Sort(d.rewritten)
	return d.offers, slices.Compact(d.others), slices.Compact(d.rewritten)
}

// differing divides differences into offers, others and rewritten.
type differing[R any] struct {
	changes *Changes[R]
	views   []View[R]
	// offered are the lists of the provider config that shoot owners choose from, as a [provider.OfferDescriber] returns them.
	offered map[string]string
	// covered are the image versions that the facts cover.
	covered map[provider.ImageVersion]bool
	// before and after have the result of [Expirable].
	before, after map[provider.ImageVersion]v1beta1.ExpirableVersion
	now           time.Time
	renaming      renaming

	offers            []Offer
	others, rewritten []string
}

func imagesOf(object any) []v1beta1.MachineImage {
	switch object := object.(type) {
	case *v1beta1.CloudProfile:
		return object.Spec.MachineImages
	case *v1beta1.NamespacedCloudProfile:
		return object.Spec.MachineImages
	}
	return nil
}

func imageNames(images []v1beta1.MachineImage) []string {
	names := make([]string, 0, len(images))
	for _, image := range images {
		names = append(names, image.Name)
	}
	return names
}

// Expirable returns the image versions and Kubernetes versions of a *CloudProfile or *NamespacedCloudProfile. Kubernetes versions have an
// empty image name. If a version is listed twice, the last entry wins.
func Expirable(object any) map[provider.ImageVersion]v1beta1.ExpirableVersion {
	found := expirable(imagesOf(object))
	var kubernetes *v1beta1.KubernetesSettings
	switch object := object.(type) {
	case *v1beta1.CloudProfile:
		kubernetes = &object.Spec.Kubernetes
	case *v1beta1.NamespacedCloudProfile:
		kubernetes = object.Spec.Kubernetes
	}
	if kubernetes != nil {
		for _, v := range kubernetes.Versions {
			found[provider.ImageVersion{Version: v.Version}] = v
		}
	}
	return found
}

func expirable(images []v1beta1.MachineImage) map[provider.ImageVersion]v1beta1.ExpirableVersion {
	found := map[provider.ImageVersion]v1beta1.ExpirableVersion{}
	for _, image := range images {
		for i := range image.Versions {
			found[provider.ImageVersion{Image: image.Name, Version: image.Versions[i].Version}] = image.Versions[i].ExpirableVersion
		}
	}
	return found
}

// cover records the image versions that the facts cover.
func (d *differing[R]) cover() {
	for _, c := range d.changes.Choices {
		d.covered[provider.ImageVersion{Image: c.Image, Version: c.Version}] = true
	}
	for _, l := range d.changes.Locks {
		d.covered[l.ImageVersion] = true
	}
	for _, b := range d.changes.Blocked {
		d.covered[b.ImageVersion] = true
	}
}

// offer adds an offer at the place of a difference. free means that no users are looked for.
func (d *differing[R]) offer(found difference, free bool, o Offer) {
	o.Path = found.path.String()
	if !free {
		d.use(found, &o)
	}
	d.offers = append(d.offers, o)
}

// classifications offers image versions whose current classification, as Gardener's maintenance sees it, or later stages change. A changed
// expiration is an [Expiry].
func (d *differing[R]) classifications(was, is []v1beta1.MachineImage) {
	before := expirable(was)
	for _, image := range is {
		for _, v := range image.Versions {
			old, known := before[provider.ImageVersion{Image: image.Name, Version: v.Version}]
			if !known || versions.SameFrom(d.now, old, v.ExpirableVersion) {
				continue
			}
			at := path{"spec", ".machineImages"}.entry(image.Name).member("versions").entry(v.Version)
			if from, to := *classificationOf(old), *classificationOf(v.ExpirableVersion); from != to {
				at := at.member("classification")
				d.offer(difference{path: at}, false, Offer{How: Differs, From: from, To: to})
			}
			if from, to := stagesAhead(old, d.now), stagesAhead(v.ExpirableVersion, d.now); from != to {
				at := at.member("lifecycle")
				d.offer(difference{path: at}, false, Offer{How: Differs, From: from, To: to})
			}
		}
	}
}

// stagesAhead describes a version's later stages, apart from its expiration.
func stagesAhead(v v1beta1.ExpirableVersion, now time.Time) string {
	return cmp.Or(versions.Ahead(v, now), "no further stage")
}

// assign adds a difference to offers, others or rewritten, or drops it if a fact covers it.
func (d *differing[R]) assign(found difference) {
	pattern, keys := found.path.pattern(), found.path.keys()
	switch {
	case strings.HasPrefix(pattern, "spec.machineCapabilities[]") && d.redefines(keys[0]):
	case d.renaming.only(found.path):
		d.renamed(found)
	case found.how != Differs && d.isDefault(pattern, cmp.Or(found.was, found.is)):
	case found.how != Differs && d.inherited(pattern, keys):
		d.override(found, keys)
	case strings.HasPrefix(pattern, "spec.machineImages[].versions[]."):
		d.version(found, provider.ImageVersion{Image: keys[0], Version: keys[1]}, pattern)
	case pattern == "spec.machineImages[].updateStrategy" && slices.ContainsFunc(d.changes.Rolls, func(r *Roll) bool { return r.Image == keys[0] }):
	case strings.HasPrefix(pattern, "spec.kubernetes.versions[]"):
		if !slices.ContainsFunc(d.changes.Kubernetes, func(k *KubernetesChange) bool { return k.Version == keys[0] && k.Changes() }) {
			d.stages(found.path, found.path[:4], provider.ImageVersion{Version: keys[0]})
		}
	case strings.HasPrefix(pattern, "spec.machineTypes[].capabilities"), pattern == "spec.machineTypes[].architecture":
		if !slices.ContainsFunc(d.changes.Choices, func(c *Choice[R]) bool { return c.MachineType == keys[0] }) {
			d.other(found.path[:4])
		}
	case strings.HasPrefix(pattern, "spec.providerConfig.machineImages[]"):
		d.mapping(found, keys)
	case d.isOffered(pattern):
		d.choice(found, !strings.HasSuffix(pattern, "]") && len(keys) > 0)
	default:
		d.other(found.path)
	}
}

// isDefault reports whether a value means the same if it is left out: the classification of a supported version, a switch that is off in an
// offered list, and the type of the provider config, which comes and goes with the config.
func (d *differing[R]) isDefault(pattern string, value any) bool {
	switch value {
	case string(v1beta1.ClassificationSupported):
		return strings.HasSuffix(pattern, ".versions[].classification")
	case false:
		return d.list(pattern) != ""
	}
	return pattern == "spec.providerConfig.apiVersion" || pattern == "spec.providerConfig.kind"
}

// choice offers a difference. A new or removed field of an entry that stays is a changed field.
func (d *differing[R]) choice(found difference, fieldOfEntry bool) {
	switch {
	case fieldOfEntry:
		found.how = Differs
	case found.how != Differs:
		found.was, found.is = nil, nil
	}
	o := Offer{How: found.how, From: found.was, To: found.is}
	pattern, keys, isEntry := found.path.pattern(), found.path.keys(), strings.HasSuffix(found.path.String(), "]")
	gain, loss := IsNew, IsGone
	if strings.HasPrefix(pattern, unavailable) && isEntry {
		gain, loss = loss, gain
		o.Unavailable = &Unavailable{keys[0], keys[1], keys[2], pattern == unavailable+"VolumeTypes[]"}
	}
	moved := strings.HasSuffix(pattern, "].region") && d.list(pattern) != "" && o.To != nil // to another region
	o.Lost = isEntry && o.How == loss || strings.HasSuffix(pattern, ".usable") && o.To == false || moved
	o.Kept = o.Lost && (below("spec.regions[].zones", pattern) || below("spec.volumeTypes", pattern) || pattern == "spec.machineTypes[].usable")
	d.offer(found, isEntry && o.How == gain, o)
}

// chosen are the places that shoot owners choose from, with any provider.
var chosen = []string{
	"spec.regions[]", "spec.machineTypes[]", "spec.machineTypes[].usable", "spec.machineTypes[].cpu", "spec.machineTypes[].gpu",
	"spec.machineTypes[].memory", "spec.machineTypes[].storage", "spec.volumeTypes[]", "spec.machineImages[]", "spec.machineImages[].versions[]",
}

func (d *differing[R]) isOffered(pattern string) bool {
	return slices.Contains(chosen, pattern) || below("spec.regions[]", pattern) && !below("spec.regions[].labels", pattern) ||
		below("spec.volumeTypes[]", pattern) || below("spec.machineTypes[].storage", pattern) || d.list(pattern) != ""
}

// list returns the provider config's offered list that a place belongs to; empty if there is none.
func (d *differing[R]) list(pattern string) string {
	for list := range d.offered {
		if below("spec.providerConfig."+list, pattern) {
			return list
		}
	}
	return ""
}

// below reports whether a pattern is that of a place, or of a part of it.
func below(place, pattern string) bool {
	return pattern == place || strings.HasPrefix(pattern, place+".") || strings.HasPrefix(pattern, place+"[")
}

// inherited reports whether an entry that a NamespacedCloudProfile gains or loses is also the parent's, so that shoot owners can choose it
// before and after the update.
func (d *differing[R]) inherited(pattern string, keys []string) bool {
	offers := func(spec *v1beta1.CloudProfileSpec) bool {
		switch pattern {
		case "spec.machineImages[]":
			return gardenerrules.FindMachineImage(spec, keys[0]) != nil
		case "spec.machineImages[].versions[]":
			return versionOf(spec, keys[0], keys[1]) != nil
		case "spec.machineTypes[]":
			return gardenerrules.FindMachineType(spec, keys[0]) != nil
		case "spec.volumeTypes[]":
			return slices.ContainsFunc(spec.VolumeTypes, func(t v1beta1.VolumeType) bool { return t.Name == keys[0] })
		}
		return false
	}
	return len(d.views) > 0 && offers(d.views[0].Before.Spec()) && offers(d.views[0].After.Spec())
}

// override handles an inherited entry; of an image, each version by itself.
func (d *differing[R]) override(found difference, keys []string) {
	switch {
	case len(keys) == 1 && strings.HasPrefix(found.path.String(), "spec.machineImages["):
		versions := map[Aspect]map[provider.ImageVersion]v1beta1.ExpirableVersion{IsGone: d.before, IsNew: d.after}[found.how]
		for id := range versions {
			if id.Image == keys[0] {
				d.assign(difference{path: found.path.member("versions").entry(id.Version), how: found.how})
			}
		}
	case len(keys) == 1 || !d.dated(provider.ImageVersion{Image: keys[0], Version: keys[1]}):
		d.other(found.path)
	}
}

// dated reports whether the update changes the expiration date of an image version.
func (d *differing[R]) dated(id provider.ImageVersion) bool {
	return slices.ContainsFunc(d.changes.Expires, func(e *Expiry) bool { return e.ImageVersion == id && e.Changes() })
}

// redefines reports whether the facts cover a changed registration of a capability.
func (d *differing[R]) redefines(name string) bool {
	return slices.ContainsFunc(d.changes.Meanings, func(m *Meaning) bool {
		return texts.Canonical(m.Capability) == texts.Canonical(name)
	})
}

// renamed adds a place where only names differ. A renamed registration is added once, under the new name.
func (d *differing[R]) renamed(found difference) {
	if found.path.pattern() == "spec.machineCapabilities[]" && found.how == IsGone {
		return
	}
	end := slices.Index(found.path, ".capabilities")
	if end < 0 {
		end = len(found.path)
	}
	for end > 1 && !strings.HasPrefix(found.path[end-1], "[") {
		end--
	}
	d.rewritten = append(d.rewritten, found.path[:end].String())
}

// version handles a changed field of an image version in core.
func (d *differing[R]) version(found difference, id provider.ImageVersion, pattern string) {
	name, _, _ := strings.Cut(strings.TrimPrefix(pattern, "spec.machineImages[].versions[]."), ".")
	name = strings.TrimSuffix(name, "[]")
	at := found.path[:6]
	classified := slices.ContainsFunc(d.offers, func(o Offer) bool {
		return o.Path == at[:5].member("classification").String() || o.Path == at[:5].member("lifecycle").String()
	})
	switch name {
	case "expirationDate", "classification", "lifecycle":
		if !d.dated(id) && !classified {
			d.stages(at, at[:5], id)
		}
	case "capabilityFlavors", "architectures":
		if !d.covered[id] {
			d.other(at)
		}
	default:
		d.other(at)
	}
}

// stages handles a changed lifecycle field. at is reported if the stages change, version if they are only written differently.
func (d *differing[R]) stages(at, version path, id provider.ImageVersion) {
	before, known := d.before[id]
	after, stays := d.after[id]
	if known && stays && versions.SameFrom(d.now, before, after) {
		d.rewritten = append(d.rewritten, version.String())
		return
	}
	d.other(at)
}

// mapping handles a changed image or image version of the provider config.
func (d *differing[R]) mapping(found difference, keys []string) {
	for id := range d.covered {
		if id.Image == keys[0] && (len(keys) == 1 || id.Version == strings.Split(keys[1], ",")[0]) {
			return
		}
	}
	d.other(found.path[:min(len(found.path), 6)])
}

// other adds a difference. Outside of lists it names only the field, whatever differs in it.
func (d *differing[R]) other(at path) {
	end := 2
	if len(at) > 1 && at[0] == "spec" && at[1] == ".providerConfig" {
		end = 3
	}
	for i, step := range at {
		if strings.HasPrefix(step, "[") {
			end = max(end, min(len(at), i+2))
		}
	}
	d.others = append(d.others, at[:min(end, len(at))].String())
}

// versionOf returns a profile's image version; nil if there is none.
func versionOf(spec *v1beta1.CloudProfileSpec, image, version string) *v1beta1.MachineImageVersion {
	if found := gardenerrules.FindMachineImage(spec, image); found != nil {
		return gardenerrules.FindImageVersion(found, version)
	}
	return nil
}

// changes reports whether the update changes an entry for the users of a view. A NamespacedCloudProfile with its own entry keeps that.
func changes[R any](v *View[R], entry func(*v1beta1.CloudProfileSpec) any) bool {
	return v.Name == "" || !reflect.DeepEqual(entry(v.Before.Spec()), entry(v.After.Spec()))
}
