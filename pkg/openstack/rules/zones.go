// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// checkZones checks that the profile has the zones of worker pools.
func checkZones(s *subject) validation.Findings {
	var found validation.Findings
	region := slices.IndexFunc(s.Profile.Regions, func(r v1beta1.Region) bool { return r.Name == s.Shoot.Spec.Region })
	if region < 0 {
		return found // a profile without regions
	}
	var has []string
	for _, zone := range s.Profile.Regions[region].Zones {
		has = append(has, zone.Name)
	}
	place := "in region " + s.Shoot.Spec.Region
	for _, w := range s.workers {
		if found.Full() {
			break
		}
		at := w.at.Child("zones")
		if len(w.Zones) == 0 {
			found.Add(failed(notAmong(RuleZone, at, "", has, "zone", place)))
		}
		for i, zone := range w.Zones {
			if found.Full() {
				break
			}
			if !slices.Contains(has, zone) {
				found.Add(failed(notAmong(RuleZone, at.Index(i), zone, has, "zone", place)))
			} else if first := slices.Index(w.Zones, zone); first < i {
				found.Add(failed(finding.New(validation.OriginEntryDuplicate, field.ErrorTypeDuplicate, at.Index(i), zone,
					fmt.Sprintf("%s is zone %s already; remove one of the two", at.Index(first), zone))))
			}
		}
	}
	return found
}
