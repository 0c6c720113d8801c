// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/api/core/validation"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// RuleNoLongerOffered is the origin of warnings about versions and types that a profile no longer offers to new Shoots.
const RuleNoLongerOffered = "no-longer-offered"

// ValidateShootIn returns errors of Gardener's admission plugin ShootValidator for the creation of a Shoot with a profile, except about
// regions and unknown machine types and images. Expired versions and unusable machine types are warnings, because an existing Shoot may
// keep them. An empty profile is an unknown one: then only values that no profile can have are errors.
//
// For the index of a worker pool, works returns a function that reports whether the pool could have another image version or machine type.
// Only these are suggested. If works or its result is nil, everything in the profile is suggested.
func ValidateShootIn(
	shoot *v1beta1.Shoot, profile *v1beta1.CloudProfileSpec, works func(worker int) Works,
) (errs, warnings field.ErrorList) {
	c := &offer{profile: profile, errs: ValidateKubernetesIn(shoot, profile), exists: exists(shoot)}
	lacks := gardenerrules.InRegion(profile, shoot.Spec.Region)
	for at, version := range kubernetesOf(shoot) {
		c.kubernetes(version, at, goesWith(shoot, at, version))
	}
	for i := range shoot.Spec.Provider.Workers {
		worker, at := &shoot.Spec.Provider.Workers[i], field.NewPath("spec", "provider", "workers").Index(i)
		c.works = sync.OnceValue(func() Works { return worksFor(works, i) })
		c.machineType(worker, at.Child("machine", "type"))
		c.image(worker, at.Child("machine", "image"))
		c.volume(worker, at.Child("volume"))
		c.zones(worker, lacks, at)
	}
	return c.errs, c.warnings
}

// Works reports whether a worker pool could have an image version on a machine type, instead of its own. Nil means unknown.
type Works func(machineType, image, version string) bool

// worksFor returns the result of works for a worker pool, or a function that accepts everything.
func worksFor(works func(worker int) Works, worker int) Works {
	if works != nil {
		if of := works(worker); of != nil {
			return of
		}
	}
	return func(string, string, string) bool { return true }
}

// offer compares a Shoot with what its profile offers.
type offer struct {
	profile        *v1beta1.CloudProfileSpec
	errs, warnings field.ErrorList
	// exists reports whether the Shoot has been created, and so may keep its values.
	exists bool
	// works is for the current worker pool.
	works func() Works
}

func (c *offer) warn(at *field.Path, value, format string, args ...any) {
	c.warnings = append(c.warnings, &field.Error{
		Type: field.ErrorTypeNotSupported, Field: at.String(), BadValue: value, Origin: RuleNoLongerOffered,
		Detail: fmt.Sprintf(format, args...),
	})
}

// soon is the time before a version's expiration in which its Shoots get a warning.
const soon = 30 * 24 * time.Hour

// expirable warns that a version is inactive or expires soon. It suggests active versions that work, longest-lasting first (semantics S13).
func (c *offer) expirable(
	at *field.Path, v v1beta1.ExpirableVersion, what string, all []v1beta1.ExpirableVersion, works func(version string) bool,
) {
	then := " has expired: a new Shoot with it is refused, and maintenance may update an existing one by force"
	if next, later := versions.Available(v, time.Now()); later {
		then = fmt.Sprintf(" is unavailable, and becomes %s: a new Shoot with it is refused", next)
		if next.Classification != v1beta1.ClassificationExpired {
			then += " until then"
		}
	} else if v1beta1helper.VersionIsActive(v) {
		expiry := versions.ExpiryOf(v)
		if expiry == nil || time.Until(*expiry) > soon {
			return
		}
		then = fmt.Sprintf(" expires on %s: maintenance updates it by force then, or finds nothing that replaces it", expiry.Format(time.DateOnly))
	}
	var advised []string
	none, whose := "none is active", "worker pool"
	if !strings.HasPrefix(at.String(), "spec.provider") {
		whose = "Shoot"
	}
	for _, choice := range versions.NewChoices(all).Advised(v.Version) {
		switch {
		case choice.Version == v.Version:
		case works(choice.Version):
			advised = append(advised, choice.String())
		default:
			none = "no other active version would work for this " + whose
		}
	}
	c.warn(at, v.Version, "%s%s; %s", what, then, oneOf("write", none, advised))
}

var (
	// wellFormed matches Kubernetes versions that a profile may have.
	wellFormed = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	// partial matches prefixes of versions that Gardener tries to complete.
	partial = regexp.MustCompile(`^(\d+(\.\d*)?)?$`)
)

// ValidateKubernetesIn returns errors about a Shoot's Kubernetes versions that are not full versions, and that Gardener cannot complete. It
// does not check whether the profile has a full version; [ValidateShootIn] does.
func ValidateKubernetesIn(shoot *v1beta1.Shoot, profile *v1beta1.CloudProfileSpec) field.ErrorList {
	var errs field.ErrorList
	for at, version := range kubernetesOf(shoot) {
		if !wellFormed.MatchString(version) && !completed(version, profile) {
			errs = append(errs, unsupported(at, version, profile, goesWith(shoot, at, version)))
		}
	}
	return errs
}

// kubernetesOf yields a Shoot's Kubernetes versions with their paths: the control plane's version, and the versions that worker pools set.
func kubernetesOf(shoot *v1beta1.Shoot) iter.Seq2[*field.Path, string] {
	return func(yield func(*field.Path, string) bool) {
		spec := field.NewPath("spec")
		if !yield(spec.Child("kubernetes", "version"), shoot.Spec.Kubernetes.Version) {
			return
		}
		for i, worker := range shoot.Spec.Provider.Workers {
			if worker.Kubernetes != nil && worker.Kubernetes.Version != nil &&
				!yield(spec.Child("provider", "workers").Index(i).Child("kubernetes", "version"), *worker.Kubernetes.Version) {
				return
			}
		}
	}
}

// goesWith returns a function that reports whether a Kubernetes version can replace the old one at a path of [kubernetesOf]. A worker
// pool's version is at most the control plane's, and at most three minor versions older: the rule of
// validateWorkerGroupAndControlPlaneKubernetesVersion. In an existing Shoot, Gardener must also accept the update.
func goesWith(shoot *v1beta1.Shoot, at *field.Path, old string) func(version string) bool {
	return func(version string) bool {
		controlPlane := shoot.Spec.Kubernetes.Version
		ofControlPlane := at.String() == "spec.kubernetes.version"
		if exists(shoot) && wellFormed.MatchString(old) && len(validation.ValidateKubernetesVersionUpdate(version, old, !ofControlPlane, at)) > 0 {
			return false
		}
		if ofControlPlane || !wellFormed.MatchString(controlPlane) {
			return true
		}
		kubelet, err := semver.NewVersion(version)
		limit, wrong := semver.NewVersion(controlPlane)
		return err != nil || wrong != nil || !kubelet.GreaterThan(limit) && limit.Minor() <= kubelet.Minor()+3
	}
}

// completed reports whether Gardener completes a partial Kubernetes version. A profile without versions is refused or unknown, so it is
// true for all partial versions.
func completed(version string, profile *v1beta1.CloudProfileSpec) bool {
	if !partial.MatchString(version) {
		return false
	}
	_, err := shoots.DefaultKubernetes(profile, version)
	return err == nil || len(profile.Kubernetes.Versions) == 0
}

// unsupported returns the error about a Kubernetes version that the profile does not offer. It lists the possible replacements.
func unsupported(at *field.Path, version string, profile *v1beta1.CloudProfileSpec, could func(version string) bool) *field.Error {
	if len(profile.Kubernetes.Versions) == 0 {
		return field.Invalid(at, version, "write a full version such as 1.33.2").WithOrigin(RuleCore)
	}
	_, active := offeredKubernetes(profile)
	active = slices.DeleteFunc(active, func(v string) bool { return !could(v) })
	err := field.NotSupported(at, version, active).WithOrigin(RuleCore)
	isMalformed := func(v v1beta1.ExpirableVersion) bool { return !wellFormed.MatchString(v.Version) }
	if i := slices.IndexFunc(profile.Kubernetes.Versions, isMalformed); i >= 0 {
		err.Detail = fmt.Sprintf("the profile has an error at %s; repair that first",
			field.NewPath("spec", "kubernetes", "versions").Index(i))
	}
	return err
}

// offered returns the names of a list's items, and the names that a new Shoot can have.
func offered[T any](list []T, entry func(T) (name string, active bool)) (all, active []string) {
	for _, item := range list {
		name, isActive := entry(item)
		all = append(all, name)
		if isActive {
			active = append(active, name)
		}
	}
	return all, active
}

func offeredKubernetes(profile *v1beta1.CloudProfileSpec) (all, active []string) {
	return offered(profile.Kubernetes.Versions, func(v v1beta1.ExpirableVersion) (string, bool) {
		return v.Version, wellFormed.MatchString(v.Version) && v1beta1helper.VersionIsActive(v)
	})
}

// readable returns the well-formed Kubernetes versions.
func readable(all []v1beta1.ExpirableVersion) []v1beta1.ExpirableVersion {
	return slices.DeleteFunc(slices.Clone(all), func(v v1beta1.ExpirableVersion) bool { return !wellFormed.MatchString(v.Version) })
}

// kubernetes compares a full version with the profile's versions. A profile without versions is refused or unknown.
func (c *offer) kubernetes(version string, at *field.Path, could func(version string) bool) {
	all := c.profile.Kubernetes.Versions
	if !wellFormed.MatchString(version) || len(all) == 0 {
		return
	}
	i := slices.IndexFunc(all, func(v v1beta1.ExpirableVersion) bool { return v.Version == version })
	if i < 0 {
		c.errs = append(c.errs, unsupported(at, version, c.profile, could))
		return
	}
	c.expirable(at, all[i], "Kubernetes version "+version, readable(all), could)
}

// withoutUnreadable removes Kubernetes versions from a Shoot that Gardener's validation cannot parse. It would report them as internal
// errors elsewhere, and panic for those of worker pools. [ValidateKubernetesIn] reports them.
func withoutUnreadable(shoot *v1beta1.Shoot) {
	isReadable := func(version string) bool {
		_, err := semver.NewVersion(version)
		return err == nil
	}
	controlPlane := isReadable(shoot.Spec.Kubernetes.Version)
	if !controlPlane {
		shoot.Spec.Kubernetes.Version = ""
	}
	for _, worker := range shoot.Spec.Provider.Workers {
		if own := worker.Kubernetes; own != nil && own.Version != nil && (!controlPlane || !isReadable(*own.Version)) {
			own.Version = nil
		}
	}
}

func (c *offer) machineType(worker *v1beta1.Worker, at *field.Path) {
	all, usable := offered(c.profile.MachineTypes, func(t v1beta1.MachineType) (string, bool) { return t.Name, ptr.Deref(t.Usable, true) })
	name := worker.Machine.Type
	if !slices.Contains(all, name) || slices.Contains(usable, name) {
		return
	}
	none := "none is usable"
	if image := worker.Machine.Image; image != nil && image.Version != nil {
		usable = slices.DeleteFunc(usable, func(other string) bool { return !c.works()(other, image.Name, *image.Version) })
		none = "no usable one boots " + image.Name + "@" + *image.Version
	}
	c.warn(at, name, "worker pool %s: machine type %s is not usable any more: existing pools may keep it; %s",
		worker.Name, name, oneOf("for a new one take", none, usable))
}

func (c *offer) image(worker *v1beta1.Worker, at *field.Path) {
	named := worker.Machine.Image
	if named != nil && named.Name == "" && !c.exists {
		c.errs = append(c.errs, field.Required(at.Child("name"),
			"write the name of an image, or leave image out: Gardener labels the Shoot with the name, and a label cannot be empty").WithOrigin(RuleCore))
	}
	if named == nil || named.Version == nil {
		return
	}
	i := slices.IndexFunc(c.profile.MachineImages, func(image v1beta1.MachineImage) bool { return image.Name == named.Name })
	if i < 0 {
		return
	}
	var all []v1beta1.ExpirableVersion
	for _, v := range c.profile.MachineImages[i].Versions {
		all = append(all, v.ExpirableVersion)
	}
	k := slices.IndexFunc(all, func(v v1beta1.ExpirableVersion) bool { return v.Version == *named.Version })
	if k >= 0 {
		c.expirable(at.Child("version"), all[k], fmt.Sprintf("worker pool %s: %s@%s", worker.Name, named.Name, *named.Version), all,
			func(version string) bool { return c.works()(worker.Machine.Type, named.Name, version) })
	}
}

// volume enforces the profile's minimum volume size.
func (c *offer) volume(worker *v1beta1.Worker, at *field.Path) {
	if minimum := gardenerrules.VolumeTooSmall(c.profile, worker.Machine.Type, worker.Volume); minimum != nil {
		c.errs = append(c.errs, field.Invalid(at.Child("size"), worker.Volume.VolumeSize,
			fmt.Sprintf("size must be >= %s", &minimum.Size)).WithOrigin(RuleCore))
	}
}

// zones refuses a worker pool in zones without its machine type or volume type. For an existing Shoot, which may keep it, that is a
// warning.
func (c *offer) zones(worker *v1beta1.Worker, lacks gardenerrules.Unavailability, at *field.Path) {
	say := func(what, name string, without []string, at *field.Path, instead func([]string) string) {
		if len(without) == 0 {
			return
		}
		rest := slices.DeleteFunc(slices.Clone(worker.Zones), func(zone string) bool {
			return slices.Contains(without, zone) || !slices.Contains(lacks.Zones(), zone)
		})
		err := &field.Error{Type: field.ErrorTypeInvalid, Field: at.String(), BadValue: name, Origin: RuleAdmission, Detail: fmt.Sprintf(
			"worker pool %s: %s %s is unavailable in %s, according to the profile; ", worker.Name, what, name, words.Plural(without, "zone")+" "+words.And(without))}
		if c.exists {
			err.Origin = RuleNoLongerOffered
			err.Detail += "the pool may keep it, and a new one is refused"
			c.warnings = append(c.warnings, err)
			return
		}
		err.Detail += instead(rest)
		c.errs = append(c.errs, err)
	}
	onlyIn := func(rest []string) string {
		if len(rest) == 0 {
			return "use other zones"
		}
		return "use " + words.Plural(rest, "zone") + " " + words.And(rest) + " alone"
	}
	name := worker.Machine.Type
	say("machine type", name, lacks.MachineType(name, worker.Zones), at.Child("machine", "type"), func(rest []string) string {
		choices := lacks.Choices(c.profile, worker)
		if len(choices) == 0 {
			return onlyIn(rest) + "; no machine type that could replace it is available in all of these"
		}
		return onlyIn(rest) + ", or " + oneOf("take", "", choices)
	})
	if worker.Volume != nil && worker.Volume.Type != nil {
		name := *worker.Volume.Type
		unusable := func(t v1beta1.VolumeType) bool { return t.Name == name && !ptr.Deref(t.Usable, true) }
		if c.exists && slices.ContainsFunc(c.profile.VolumeTypes, unusable) { // for a new pool, the plugin has an error
			c.warn(at.Child("volume", "type"), name, "worker pool %s: volume type %s is not usable any more: existing pools may keep it; %s",
				worker.Name, name, oneOf("for a new one take", "none is usable", lacks.VolumeTypes(c.profile, worker.Zones)))
			return
		}
		say("volume type", name, lacks.VolumeType(name, worker.Zones), at.Child("volume", "type"), func(rest []string) string {
			return onlyIn(rest) + ", or another volume type"
		})
	}
}

// oneOf returns the suggestion to write or take one of the names, or none if there are no names.
func oneOf(do, none string, names []string) string {
	switch len(names) {
	case 0:
		return none
	case 1:
		return do + " " + names[0]
	}
	return do + " one of " + words.Few(names)
}
