// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"fmt"
	"regexp"
	"slices"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/finding"
)

// RuleNoLongerOffered is the origin of warnings about what a profile does not offer to new Shoots any more.
const RuleNoLongerOffered = "no-longer-offered"

// ValidateShootIn returns what Gardener's admission, its plugin ShootValidator, says about a Shoot and its profile besides
// regions, machine types and images, as if the Shoot were created. What a Shoot that exists may keep is a warning: versions
// that have expired, and what is not usable any more. A version that is not written in full is chosen by Gardener, and passes.
func ValidateShootIn(shoot *v1beta1.Shoot, profile *v1beta1.CloudProfileSpec) (errs, warnings field.ErrorList) {
	c := &offer{profile: profile}
	spec := field.NewPath("spec")
	c.kubernetes(shoot.Spec.Kubernetes.Version, spec.Child("kubernetes", "version"))
	for i := range shoot.Spec.Provider.Workers {
		worker, at := &shoot.Spec.Provider.Workers[i], spec.Child("provider", "workers").Index(i)
		if worker.Kubernetes != nil {
			c.kubernetes(ptr.Deref(worker.Kubernetes.Version, ""), at.Child("kubernetes", "version"))
		}
		c.machineType(worker, at.Child("machine", "type"))
		c.image(worker, at.Child("machine", "image", "version"))
		c.volume(worker, at.Child("volume"))
	}
	return c.errs, c.warnings
}

// offer compares a Shoot with what its profile offers.
type offer struct {
	profile        *v1beta1.CloudProfileSpec
	errs, warnings field.ErrorList
}

func (c *offer) warn(at *field.Path, value, format string, args ...any) {
	c.warnings = append(c.warnings, &field.Error{
		Type: field.ErrorTypeNotSupported, Field: at.String(), BadValue: value, Origin: RuleNoLongerOffered,
		Detail: fmt.Sprintf(format, args...),
	})
}

// expired warns that a version has expired, and names those that are active.
func (c *offer) expired(at *field.Path, version, what string, active []string) {
	c.warn(at, version, "%s has expired: a new Shoot with it is refused, and maintenance may update an existing one by force; %s",
		what, oneOf("write", "active", active))
}

var (
	// complete matches a version that leaves nothing to Gardener.
	complete = regexp.MustCompile(`^v?\d+\.\d+\.\d+`)
	// wellFormed matches the versions that a profile may have.
	wellFormed = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
)

func (c *offer) kubernetes(version string, at *field.Path) {
	if !complete.MatchString(version) || len(c.profile.Kubernetes.Versions) == 0 { // without any the profile is refused
		return
	}
	var active []string
	found, malformed := false, -1
	for i, v := range c.profile.Kubernetes.Versions {
		switch {
		case !wellFormed.MatchString(v.Version):
			malformed = i
		case v1beta1helper.VersionIsActive(v):
			active = append(active, v.Version)
		}
		found = found || v.Version == version
	}
	switch {
	case !found && malformed >= 0:
		err := field.NotSupported(at, version, active).WithOrigin(RuleCore)
		err.Detail = fmt.Sprintf("the profile has an error at %s; repair that first",
			field.NewPath("spec", "kubernetes", "versions").Index(malformed))
		c.errs = append(c.errs, err)
	case !found:
		c.errs = append(c.errs, field.NotSupported(at, version, active).WithOrigin(RuleCore))
	case !slices.Contains(active, version):
		c.expired(at, version, "version "+version+" of Kubernetes", active)
	}
}

func (c *offer) machineType(worker *v1beta1.Worker, at *field.Path) {
	found, usable := false, []string(nil)
	for i := range c.profile.MachineTypes {
		switch t := &c.profile.MachineTypes[i]; {
		case ptr.Deref(t.Usable, true):
			usable = append(usable, t.Name)
		case t.Name == worker.Machine.Type:
			found = true
		}
	}
	if found {
		c.warn(at, worker.Machine.Type,
			"worker pool %s: machine type %s is not usable any more: existing pools may keep it; %s",
			worker.Name, worker.Machine.Type, oneOf("for a new one take", "usable", usable))
	}
}

func (c *offer) image(worker *v1beta1.Worker, at *field.Path) {
	image := worker.Machine.Image
	if image == nil || image.Version == nil {
		return
	}
	for i := range c.profile.MachineImages {
		if c.profile.MachineImages[i].Name != image.Name {
			continue
		}
		var active []string
		found := false
		for _, v := range c.profile.MachineImages[i].Versions {
			if v1beta1helper.VersionIsActive(v.ExpirableVersion) {
				active = append(active, v.Version)
			}
			found = found || v.Version == *image.Version
		}
		if found && !slices.Contains(active, *image.Version) {
			c.expired(at, *image.Version, fmt.Sprintf("worker pool %s: %s@%s", worker.Name, image.Name, *image.Version), active)
		}
		return
	}
}

// volume demands the size that the machine type has as its minimum for the type of the volume, and that of the type itself.
func (c *offer) volume(worker *v1beta1.Worker, at *field.Path) {
	if worker.Volume == nil || worker.Volume.Type == nil {
		return
	}
	size, err := resource.ParseQuantity(worker.Volume.VolumeSize)
	if err != nil {
		return // which is an error already
	}
	demand := func(minimum *resource.Quantity) bool {
		if minimum == nil || size.Cmp(*minimum) >= 0 {
			return false
		}
		c.errs = append(c.errs, field.Invalid(at.Child("size"), worker.Volume.VolumeSize,
			fmt.Sprintf("size must be >= %s", minimum)).WithOrigin(RuleCore))
		return true
	}
	for i := range c.profile.MachineTypes {
		t := &c.profile.MachineTypes[i]
		if t.Name == worker.Machine.Type && t.Storage != nil && t.Storage.Type == *worker.Volume.Type && demand(t.Storage.MinSize) {
			return
		}
	}
	for i := range c.profile.VolumeTypes {
		if t := &c.profile.VolumeTypes[i]; t.Name == *worker.Volume.Type && demand(t.MinSize) {
			return
		}
	}
}

// oneOf says to write or take one of the versions or machine types that there still are, which are those in a state.
func oneOf(do, state string, names []string) string {
	switch len(names) {
	case 0:
		return "none is " + state
	case 1:
		return do + " " + names[0]
	}
	return do + " one of " + finding.Few(names)
}
