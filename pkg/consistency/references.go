// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// checkReferences checks the references of all provider flavors, also of those that core does not list (semantics S6).
func (p *compiler[R]) checkReferences() finding.List {
	var errs finding.List
	for id, version := range mappingsOf(p.images) {
		name := id.String()
		var found finding.List
		if len(version.Flavors) == 0 {
			found = append(found, finding.New(provider.RuleReferenceMissing, field.ErrorTypeRequired, version.Path, nil,
				name+": the version has no image: add capabilityFlavors, or a reference in the legacy format").
				In(p.placesOf(id)...))
		}
		for i := range version.Flavors {
			found = append(found, checkFlavorReferences(p.provider, name, &version.Flavors[i])...)
		}
		errs = append(errs, p.unlessUnread(p.unread.Touches(version.Path), found...)...)
	}
	return errs
}

func checkFlavorReferences[R any](cloud provider.Provider[R], name string, flavor *imageselector.Flavor[R]) finding.List {
	validate := func(ref R, at *field.Path) finding.List {
		return about(name, finding.Of(cloud.ValidateReference(ref, at)))
	}
	if len(flavor.Regional) == 0 && flavor.Global == nil {
		return finding.List{finding.New(provider.RuleReferenceMissing, field.ErrorTypeRequired, flavor.Path, nil,
			name+": the flavor has no reference to an image; add one, or remove the flavor")}
	}
	var errs finding.List
	if flavor.Global != nil {
		errs = append(errs, validate(flavor.Global.Ref, flavor.Global.Path)...)
	}
	seen := make(map[string]*field.Path, len(flavor.Regional))
	for i := range flavor.Regional {
		r := &flavor.Regional[i]
		first, found := seen[r.Region]
		switch {
		case r.Region == "":
			errs = append(errs, about(name, finding.List{nameMissing(r.Path, "name", "region")})...)
		case found:
			errs = append(errs, finding.New(ruleRegionDuplicate, field.ErrorTypeDuplicate, r.Path.Child("name"), r.Region, fmt.Sprintf(
				"%s: region %s has a reference in %s already; remove one of the two", name, r.Region, first)))
		default:
			seen[r.Region] = r.Path
		}
		errs = append(errs, validate(r.Ref, r.Path)...)
	}
	return errs
}
