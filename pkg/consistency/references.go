// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/imageselector"
)

// checkReferences checks the references of all provider flavors, also of those that core does not list (semantics S6).
func (p *Profile[R]) checkReferences() field.ErrorList {
	var errs field.ErrorList
	for i := range p.images {
		for k := range p.images[i].Versions {
			version := &p.images[i].Versions[k]
			name := p.images[i].Name + "@" + version.Version
			if p.unread.touches(version.Path) {
				continue
			}
			if len(version.Flavors) == 0 {
				errs = append(errs, finding(RuleReferenceMissing, field.ErrorTypeRequired, version.Path, nil,
					name+": the version has no image: add capabilityFlavors, or a reference in the legacy format"))
			}
			for f := range version.Flavors {
				errs = append(errs, checkFlavorReferences(p.provider, name, &version.Flavors[f])...)
			}
		}
	}
	return errs
}

func checkFlavorReferences[R any](provider Provider[R], name string, flavor *imageselector.Flavor[R]) field.ErrorList {
	validate := func(ref R, at *field.Path) field.ErrorList { return about(name, provider.ValidateRef(ref, at)) }
	if len(flavor.Regional) == 0 && flavor.Global == nil {
		return field.ErrorList{finding(RuleReferenceMissing, field.ErrorTypeRequired, flavor.Path, nil,
			name+": the flavor has no reference to an image; add one, or remove the flavor")}
	}
	var errs field.ErrorList
	if flavor.Global != nil {
		errs = append(errs, validate(flavor.Global.Ref, flavor.Global.Path)...)
	}
	seen := make(map[string]*field.Path, len(flavor.Regional))
	for i := range flavor.Regional {
		r := &flavor.Regional[i]
		first, found := seen[r.Region]
		switch {
		case r.Region == "":
			errs = append(errs, about(name, field.ErrorList{nameMissing(r.Path, "name", "region")})...)
		case found:
			errs = append(errs, finding(RuleRegionDuplicate, field.ErrorTypeDuplicate, r.Path.Child("name"), r.Region, fmt.Sprintf(
				"%s: region %s has a reference in %s already; remove one of the two", name, r.Region, first)))
		default:
			seen[r.Region] = r.Path
		}
		errs = append(errs, validate(r.Ref, r.Path)...)
	}
	return errs
}
