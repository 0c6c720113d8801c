// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// checkVolumes checks that the profile has the volume types of worker pools, if it has any.
func checkVolumes(s *subject) validation.Findings {
	var found validation.Findings
	var has []string
	for _, volumeType := range s.Profile.VolumeTypes {
		has = append(has, volumeType.Name)
	}
	check := func(name *string, at *field.Path) {
		if name != nil && len(has) > 0 && !slices.Contains(has, *name) && !found.Full() {
			found.Add(failed(validation.NotAmong(RuleVolumeType, at.Child("type"), *name, has,
				fmt.Sprintf("the profile has no volume type %s", finding.Quoted(*name)))))
		}
	}
	for _, w := range s.workers {
		if w.Volume != nil {
			check(w.Volume.Type, w.at.Child("volume"))
		}
		for i := range w.DataVolumes {
			check(w.DataVolumes[i].Type, w.at.Child("dataVolumes").Index(i))
		}
	}
	return found
}
