// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"fmt"
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/versions"
)

// RuleVersionUnavailable is the origin of warnings about unavailable versions in a profile that Gardener mishandles.
const RuleVersionUnavailable = "version-unavailable"

// Unavailable warns about unavailable versions of a CloudProfile that Gardener's maintenance would choose, because it only skips previews
// and expired versions. If corrected, mutate-shoot replaces its choice of an image (semantics S15), so there are no warnings about images.
func Unavailable(spec *v1beta1.CloudProfileSpec, corrected bool) (warnings field.ErrorList) {
	at := field.NewPath("spec", "kubernetes", "versions")
	for _, i := range chosenUnavailable(spec.Kubernetes.Versions, v1beta1.UpdateStrategyPatch) {
		v := spec.Kubernetes.Versions[i]
		warnings = append(warnings, unavailable(at.Index(i), "Kubernetes version "+v.Version, v,
			"Gardener's maintenance updates Shoots with another patch version to it anyway; "+preview))
	}
	for i := range spec.MachineImages {
		image := &spec.MachineImages[i]
		all := stagesOf(image)
		for _, k := range chosenUnavailable(all, ptr.Deref(image.UpdateStrategy, v1beta1.UpdateStrategyMajor)) {
			if !corrected {
				warnings = append(warnings, unavailable(field.NewPath("spec", "machineImages").Index(i).Child("versions").Index(k), image.Name+"@"+all[k].Version,
					all[k], "Gardener's maintenance chooses it anyway for worker pools with an older one, and fails, since Gardener refuses it; "+preview))
			}
		}
	}
	return warnings
}

// UnavailableOwn warns about unavailable image versions of a NamespacedCloudProfile, because Gardener drops them.
func UnavailableOwn(images []v1beta1.MachineImage) (warnings field.ErrorList) {
	for i := range images {
		for k, v := range stagesOf(&images[i]) {
			if _, later := versions.Available(v, time.Now()); later {
				warnings = append(warnings, unavailable(field.NewPath("spec", "machineImages").Index(i).Child("versions").Index(k), images[i].Name+"@"+v.Version, v,
					"Gardener leaves it out of a NamespacedCloudProfile that does not have it yet; "+preview+", or add it then"))
			}
		}
	}
	return warnings
}

const preview = "let it begin as preview, in a first stage without startTime"

func unavailable(at *field.Path, what string, v v1beta1.ExpirableVersion, then string) *field.Error {
	next, _ := versions.Available(v, time.Now())
	return &field.Error{
		Type: field.ErrorTypeInvalid, Field: at.Child("lifecycle").String(), BadValue: v.Version, Origin: RuleVersionUnavailable,
		Detail: fmt.Sprintf("%s is unavailable, and becomes %s: %s", what, next, then),
	}
}

func stagesOf(image *v1beta1.MachineImage) []v1beta1.ExpirableVersion {
	all := make([]v1beta1.ExpirableVersion, len(image.Versions))
	for i := range image.Versions {
		all[i] = image.Versions[i].ExpirableVersion
	}
	return all
}

// chosenUnavailable returns the indices of unavailable versions that maintenance with an update strategy chooses, starting from any active
// version. It ignores architectures, container runtimes and kubelets.
func chosenUnavailable(all []v1beta1.ExpirableVersion, strategy v1beta1.MachineImageUpdateStrategy) (chosen []int) {
	unavailable := map[string]int{}
	var plain []v1beta1.ExpirableVersion
	for i, v := range all {
		if _, err := semver.NewVersion(v.Version); err != nil {
			continue // refused by Gardener
		}
		plain = append(plain, v)
		if _, later := versions.Available(v, time.Now()); later {
			unavailable[v.Version] = i
		}
	}
	if len(unavailable) == 0 {
		return nil
	}
	next := v1beta1helper.GetOverallLatestVersionForAutoUpdate
	switch strategy {
	case v1beta1.UpdateStrategyPatch:
		next = v1beta1helper.GetLatestVersionForPatchAutoUpdate
	case v1beta1.UpdateStrategyMinor:
		next = v1beta1helper.GetLatestVersionForMinorAutoUpdate
	}
	for _, from := range plain {
		if !v1beta1helper.VersionIsActive(from) {
			continue
		}
		_, to, _ := next(plain, from.Version) // cannot fail: all versions can be parsed
		if i, is := unavailable[to]; is && !slices.Contains(chosen, i) {
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen)
	return chosen
}
