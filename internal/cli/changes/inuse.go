// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/pkg/gardenerrules/inuse"
	"github.com/capkit/capkit/pkg/gardenerrules/releases"
	"github.com/capkit/capkit/pkg/words"
)

// inUse returns what Gardener refuses in an update of a CloudProfile because something still uses what it removes. Users are
// Shoots, directly or through a child, and the children themselves: NamespacedCloudProfiles with this parent. The caller must
// leave out objects that are being deleted. The result has one change for each cause, in the order of [Sort]. See [inuse.Of].
func inUse(
	release releases.Release, updated, old *v1beta1.CloudProfile, children []*v1beta1.NamespacedCloudProfile, shoots []*v1beta1.Shoot,
) []Change {
	return refused(inuse.Of(release, &updated.Spec, &old.Spec, children, shoots), children, shoots)
}

// inUseNamespaced returns what Gardener refuses in an update of a NamespacedCloudProfile with a parent because Shoots
// use what its own spec no longer contains. The order is that of [Sort]. See [inuse.OfNamespaced].
func inUseNamespaced(
	updated, old *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, shoots []*v1beta1.Shoot,
) []Change {
	uses := inuse.OfNamespaced(&updated.Spec, &old.Spec, &parent.Spec, shoots)
	return refused(uses, nil, shoots)
}

// nameOf returns a Shoot's name as NAMESPACE/NAME.
func nameOf(shoot *v1beta1.Shoot) string { return shoot.Namespace + "/" + shoot.Name }

// refused converts uses to sorted changes.
func refused(uses []inuse.Use, children []*v1beta1.NamespacedCloudProfile, shoots []*v1beta1.Shoot) []Change {
	var changes []Change
	for _, use := range uses {
		c := Change{Kind: Refused, Rule: gardener.RuleCore, Image: use.Image.Name, Version: use.Image.Version, Count: len(use.Pools), Pools: []Pool{}}
		c.Field, c.Message = sayUse(use, children)
		for _, at := range use.Pools {
			shoot := shoots[at.Shoot]
			c.Pools = append(c.Pools, Pool{nameOf(shoot), shoot.Spec.Provider.Workers[at.Worker].Name})
		}
		changes = append(changes, c)
	}
	Sort(changes)
	return changes
}

// sayUse returns the field of a use, and a message with the remedy.
func sayUse(use inuse.Use, children []*v1beta1.NamespacedCloudProfile) (at, message string) {
	user, remedy, child := "used by Shoots", "put it back, with an expirationDate, until nobody uses it", ""
	if use.Child >= 0 {
		child = "NamespacedCloudProfile " + children[use.Child].Namespace + "/" + children[use.Child].Name
		user, remedy = "extended by "+child, "put it back, or remove it there first"
	}
	switch use.Kind {
	case inuse.KubernetesRemoved:
		return "spec.kubernetes.versions", fmt.Sprintf(
			"Kubernetes version %s is removed and still %s; %s", use.Kubernetes, user, remedy)
	case inuse.VersionRemoved:
		return "spec.machineImages", fmt.Sprintf("%s is removed and still %s; %s", use.Image, user, remedy)
	case inuse.ImageRemoved:
		return "spec.machineImages", fmt.Sprintf("image %s is removed and still %s; %s", use.Image.Name, user, remedy)
	case inuse.ImageAdded:
		return "spec.machineImages", fmt.Sprintf(
			"image %s is added, and defined by %s already; remove it there first, or take another name", use.Image.Name, child)
	case inuse.LimitExceeded:
		return "spec.limits.maxNodesTotal", fmt.Sprintf(
			"the worker pools of Shoots have a minimum of more than %d nodes in total; set no lower limit than they need", use.MaxNodes)
	case inuse.CapabilityRemoved:
		return "spec.machineCapabilities", fmt.Sprintf("capability %s with [%s] is removed and still declared by %s; %s",
			use.Capability, words.Few(use.Values), child, remedy)
	}
	return "", ""
}
