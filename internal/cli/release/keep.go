// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/release/source"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// Deprecating older versions when new ones arrive.

// keep deprecates the versions of the release's images that are not among the newest of their x.y. Versions in use stay as they are.
func (t *target) keep(wanted []*wanted) {
	if t.options.Keep == 0 {
		return
	}
	imported := map[string][]string{}
	for _, w := range wanted {
		imported[w.id.Image] = append(imported[w.id.Image], w.id.Version)
	}
	for i := range t.Spec.MachineImages {
		image := &t.Spec.MachineImages[i]
		if t.minorsDiffer(image, imported[image.Name]) {
			t.notes = append(t.notes, fmt.Sprintf("--keep deprecates none of %s: it keeps the newest of each x.y, and no two of its versions have the same",
				words.Quoted(image.Name)))
		}
		for k := range image.Versions {
			v := &image.Versions[k]
			if len(imported[image.Name]) == 0 || slices.Contains(imported[image.Name], v.Version) || t.newer(image, imported[image.Name], v.Version) < t.options.Keep {
				continue
			}
			t.deprecate(image.Name, v, fmt.Sprintf("spec.machineImages[%d].versions[%d]", i, k))
		}
	}
}

// newer counts an image's versions, including new ones, that are newer than version and have the same x.y.
func (t *target) newer(image *v1beta1.MachineImage, imported []string, version string) int {
	newer := map[string]bool{}
	count := func(other string) {
		if minorOf(other) != "" && minorOf(other) == minorOf(version) && source.Older(version, other) {
			newer[other] = true
		}
	}
	for i := range image.Versions {
		count(image.Versions[i].Version)
	}
	for _, other := range imported {
		count(other)
	}
	return len(newer)
}

// minorsDiffer reports whether an image has versions beside the imported ones, and no two of all have the same x.y.
func (t *target) minorsDiffer(image *v1beta1.MachineImage, imported []string) bool {
	all := slices.Clone(imported)
	for i := range image.Versions {
		all = append(all, image.Versions[i].Version)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return len(imported) > 0 && len(all) > len(imported) &&
		!slices.ContainsFunc(all, func(version string) bool { return t.newer(image, imported, version) > 0 })
}

// minorOf returns x.y of a version; empty if it is not a semantic version.
func minorOf(version string) string {
	v, err := semver.NewVersion(version)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor())
}

// usedBy names the users of a version.
func (t *target) usedBy(id provider.ImageVersion) []string {
	if t.Used == nil {
		return nil
	}
	return t.Used(id.Image, id.Version)
}

// deprecate deprecates the version at a path, and sets its expiration date if requested.
func (t *target) deprecate(image string, v *v1beta1.MachineImageVersion, at string) {
	classified := versions.Classification(v.ExpirableVersion) == v1beta1.ClassificationDeprecated
	dates := t.options.Expire != "" && versions.ExpiryOf(v.ExpirableVersion) == nil
	id := provider.ImageVersion{Image: image, Version: v.Version}
	by := t.usedBy(id)
	switch {
	case versions.Expired(v.ExpirableVersion) || classified && !dates:
		return
	case len(by) > 0:
		t.notes = append(t.notes, fmt.Sprintf("%s stays as it is, because it is used by %s", id, words.Few(by)))
		return
	case transform.Inherits(t.Parent, id):
		t.notes = append(t.notes, fmt.Sprintf("%s stays as it is, because it is a version of the parent: deprecate it there", id))
		return
	case len(v.Lifecycle) > 0:
		t.notes = append(t.notes, fmt.Sprintf("%s stays as it is, because it has a lifecycle: deprecate it there", id))
		return
	}
	behind := []string{"architectures", "capabilityFlavors", "cri", "inPlaceUpdates", "kubeletVersionConstraint"}
	if !classified {
		t.set(at+".classification", string(v1beta1.ClassificationDeprecated), append([]string{"expirationDate"}, behind...)...)
	}
	if dates {
		t.set(at+".expirationDate", strings.TrimSpace(t.options.Expire), behind...)
	}
}
