// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import "github.com/capkit/capkit/internal/cli/proof"

// uses returns the users of image versions and, with --lifecycle, of Kubernetes versions, which have an empty image name. Users are
// NamespacedCloudProfiles that list a version of their parent and, except with --lifecycle, Shoots. They are in the order of the inputs.
func (m *migration) uses() proof.Uses {
	found := proof.Uses{}
	if m.options.Fold == nil && !m.lifecycle {
		return found
	}
	for _, s := range m.Namespaced.All {
		parent, by := "CloudProfile "+s.Object.Spec.Parent.Name, "NamespacedCloudProfile "+s.Name
		for _, image := range s.Object.Spec.MachineImages {
			for i := range image.Versions {
				found.Add(proof.Use(parent, image.Name, image.Versions[i].Version), by)
			}
		}
		if m.lifecycle && s.Object.Spec.Kubernetes != nil {
			for _, v := range s.Object.Spec.Kubernetes.Versions {
				found.Add(proof.Use(parent, "", v.Version), by)
			}
		}
	}
	if !m.lifecycle {
		found.AddShoots(m.Given)
	}
	return found
}
