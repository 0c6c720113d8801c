// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/provider"
)

// Who uses the image versions that migrate folds.

// use is the key of an image version of a profile, KIND [NAMESPACE/]NAME, in what uses returns.
func use(profile, image, version string) string { return profile + " " + image + "@" + version }

// uses says who uses which image version of which profile, by what use returns.
type uses map[string][]string

func (u uses) add(key, by string) {
	if !slices.Contains(u[key], by) {
		u[key] = append(u[key], by)
	}
}

// in returns what says who uses an image version of a profile.
func (u uses) in(profile string) func(image, version string) []string {
	return func(image, version string) []string { return u[use(profile, image, version)] }
}

// uses returns who uses image versions: Shoots, and NamespacedCloudProfiles which list a version of their parent, in the order of the
// inputs.
func (m *migration) uses() uses {
	found := uses{}
	switch {
	case m.lifecycle:
		m.addOverrides(found)
		return found
	case m.options.Fold == nil:
		return found
	}
	for _, s := range m.Namespaced.All {
		for _, image := range s.Object.Spec.MachineImages {
			for i := range image.Versions {
				found.add(use("CloudProfile "+s.Object.Spec.Parent.Name, image.Name, image.Versions[i].Version), "NamespacedCloudProfile "+s.Name)
			}
		}
	}
	for _, s := range m.Shoots.All {
		for _, pool := range provider.PoolsOf(m.completed(s.Object)) {
			for _, profile := range m.profilesOf(s.Object) {
				found.add(use(profile, pool.Image, pool.Version), "Shoot "+s.Name)
			}
		}
	}
	return found
}

// addOverrides adds the versions of CloudProfiles, of images and, with an empty name of the image, of Kubernetes, that
// NamespacedCloudProfiles list as well.
func (m *migration) addOverrides(found uses) {
	for _, s := range m.Namespaced.All {
		parent, by := "CloudProfile "+s.Object.Spec.Parent.Name, "NamespacedCloudProfile "+s.Name
		for _, image := range s.Object.Spec.MachineImages {
			for i := range image.Versions {
				found.add(use(parent, image.Name, image.Versions[i].Version), by)
			}
		}
		if s.Object.Spec.Kubernetes != nil {
			for _, v := range s.Object.Spec.Kubernetes.Versions {
				found.add(use(parent, "", v.Version), by)
			}
		}
	}
}

// completed returns a Shoot with the images that it leaves to Gardener.
func (m *migration) completed(shoot *v1beta1.Shoot) *v1beta1.Shoot {
	if p, _ := m.ProfileOf(shoot); p != nil {
		shoot, _ = m.FilledIn(p, shoot)
	}
	return shoot
}

// profilesOf returns the profile of a Shoot, and the parent of that.
func (m *migration) profilesOf(shoot *v1beta1.Shoot) []string {
	switch ref := shoot.Spec.CloudProfile; {
	case ref != nil && ref.Kind == "NamespacedCloudProfile":
		name := shoot.Namespace + "/" + ref.Name
		profiles := []string{ref.Kind + " " + name}
		if s := m.Namespaced.ByName[name]; s != nil && s.Object != nil {
			profiles = append(profiles, "CloudProfile "+s.Object.Spec.Parent.Name)
		}
		return profiles
	case ref != nil:
		return []string{"CloudProfile " + ref.Name}
	case shoot.Spec.CloudProfileName != nil:
		return []string{"CloudProfile " + *shoot.Spec.CloudProfileName}
	}
	return nil
}
