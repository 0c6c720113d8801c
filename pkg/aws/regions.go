// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// ruleAMIRegion is a warning, not an error. An AMI for two regions means that one entry is wrong, but not which one, and worker pools in
// the other region boot.
var ruleAMIRegion = finding.Warns("aws-ami-region",
	"One AMI stands for two regions. AWS gives each AMI an ID in one region, and a copy in another region gets an ID of its own. So one of the entries was probably copied: machines of that region get no image, and do not start.",
	"Write the ID that `aws ec2 describe-images --region REGION` shows.")

// regions collects the regions that use each AMI.
type regions struct {
	// first entry of each AMI.
	first map[string]use
	// others are the entries in further regions, in order. Each key becomes one warning.
	others map[others][]*imageselector.Regional[Image]
	order  []others
}

// use is a region of an image version.
type use struct {
	id     provider.ImageVersion
	region string
}

// others identifies entries for a region whose AMIs are first used for another one.
type others struct{ here, first use }

// amisInTwoRegions warns about AMIs that are used for more than one region: once for each image version and pair of regions.
func amisInTwoRegions(images []imageselector.Image[Image], report *finding.Report) {
	all := regions{map[string]use{}, map[others][]*imageselector.Regional[Image]{}, nil}
	for i := range images {
		for k := range images[i].Versions {
			version := &images[i].Versions[k]
			id := provider.ImageVersion{Image: images[i].Name, Version: version.Version}
			for f := range version.Flavors {
				all.add(id, version.Flavors[f].Regional)
			}
		}
	}
	for _, key := range all.order {
		all.warn(key, report)
	}
}

// add adds the entries of a flavor. It ignores entries that are errors already.
func (r *regions) add(id provider.ImageVersion, entries []imageselector.Regional[Image]) {
	for i := range entries {
		entry := &entries[i]
		if entry.Region == "" || !isAMI(entry.Ref.AMI) {
			continue
		}
		here := use{id, entry.Region}
		first, known := r.first[entry.Ref.AMI]
		if !known {
			r.first[entry.Ref.AMI] = here
			continue
		}
		if first.region == here.region {
			continue
		}
		key := others{here, first}
		if r.others[key] == nil {
			r.order = append(r.order, key)
		}
		r.others[key] = append(r.others[key], entry)
	}
}

func (r *regions) warn(key others, report *finding.Report) {
	found, distinct := r.others[key], map[string]bool{}
	for _, entry := range found {
		distinct[entry.Ref.AMI] = true
	}
	amis, there := found[0].Ref.AMI, key.first.region
	if len(distinct) > 1 {
		amis = fmt.Sprintf("%s and %d more", amis, len(distinct)-1)
	}
	if key.first.id != key.here.id {
		there += ", for " + key.first.id.String()
	}
	report.Found(ruleAMIRegion, field.ErrorTypeDuplicate, found[0].Path.Child("ami"), found[0].Ref.AMI,
		"%s cannot be in %s and in %s: an AMI belongs to one region; write what is in %s here, or correct the other entry",
		amis, key.here.region, there, key.here.region)
}
