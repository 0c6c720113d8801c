// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// The positions and widths of the rectangles of the two halves.
const coreX, coreWidth, configX, configWidth = 36.0, 268.0, 406.0, 478.0

// halves draws the two halves of a CloudProfile with linked flavors: for a profile whose halves agree, and for one that lacks a flavor.
func halves() *canvas {
	c := &canvas{w: 920}
	c.title = "The two halves of a CloudProfile: each flavor in spec.machineImages has its counterpart in spec.providerConfig"
	c.cell("", coreX-padding, 24, 0, 0, "mono strong|spec.machineImages", "muted|read by Gardener")
	c.cell("", configX-padding, 24, 0, 0, "mono strong|spec.providerConfig.machineImages", "muted|read by the provider's extension")
	y := 82.0
	for _, file := range []string{"example/cloudprofile.yaml", "example/broken/provider-flavor-missing.yaml"} {
		p := compiled(file)
		image := p.Spec().MachineImages[0]
		for _, version := range image.Versions {
			c.cell("", configX-padding, y, 0, 0, "muted|"+file)
			y = c.cell("", coreX-padding, y, 0, 24, "strong|"+image.Name+" "+version.Version)
			for _, flavor := range version.CapabilityFlavors {
				y = c.flavor(p, provider.ImageVersion{Image: image.Name, Version: version.Version}, flavor.Capabilities, y)
			}
			y += gap
		}
	}
	c.h = y + 20
	c.cell("card", coreX-16, 20, coreWidth+32, c.h-40)
	c.cell("card", configX-16, 20, configWidth+32, c.h-40)
	return c
}

// flavor draws a flavor of core linked to its counterpart, or to a note that there is none. It returns the y of the next one.
func (c *canvas) flavor(p *profile.Profile[openstack.Image], id provider.ImageVersion, core v1beta1.Capabilities, y float64) float64 {
	lines := written(p.Vocabulary(), core, coreWidth)
	class, h := "good", height(max(2, len(lines)))
	flavors := p.Catalog().Flavors(id.Image, id.Version)
	counterpart := p.Alike(id, &imageselector.Flavor[openstack.Image]{Capabilities: core})
	if i := slices.IndexFunc(flavors, func(f imageselector.Flavor[openstack.Image]) bool { return counterpart(&f) }); i >= 0 {
		c.cell("goodbox", configX, y, configWidth, h, written(p.Vocabulary(), flavors[i].Capabilities, configWidth)...)
		for k, regional := range flavors[i].Regional {
			c.cell("", configX+232, y+float64(k)*lineHeight, 0, 0, "mono accent|"+regional.Region+" "+regional.Ref.ID)
		}
	} else {
		class = "bad"
		c.cell("missing", configX, y, configWidth, h,
			"bad strong|nothing: worker pools get no image", "mono bad|provider-flavor-missing")
	}
	c.path(class+"line", "M%.6g %.6gH%.6g", coreX+coreWidth, y+h/2, configX)
	return c.cell(class+"box", coreX, y, coreWidth, h, lines...)
}

// matrix draws the image that each machine type boots, for each version and region.
func matrix() *canvas {
	const file, left, width = "hack/garden/demo/cloudprofile-gap.yaml", 180.0, 220.0
	p := compiled(file)
	spec, image := p.Spec(), p.Spec().MachineImages[0]
	c := &canvas{w: left + float64(len(spec.MachineTypes))*(width+gap) + padding, title: "Which image each machine type boots, by version and region"}
	c.heading("Which image does each machine type boot?", "capkit select, asked about every combination of "+file)
	y := 78.0
	for _, region := range spec.Regions {
		c.cell("", 8, y, 0, 0, "strong|region "+region.Name)
		for i, machineType := range spec.MachineTypes {
			c.cell("", left+float64(i)*(width+gap), y, 0, 0, "mono strong|"+machineType.Name)
		}
		y += 34
		for _, version := range image.Versions {
			for i, machineType := range spec.MachineTypes {
				class, lines := booted(p, provider.Pool{
					Image: image.Name, Version: version.Version, MachineType: machineType.Name, Region: region.Name,
				})
				c.cell(class, left+float64(i)*(width+gap), y, width, height(2), lines...)
			}
			y = c.cell("", 8, y, 0, height(2), "|"+image.Name, "|"+version.Version)
		}
		y += 20
	}
	c.h = y - 8
	return c
}

// booted describes the image that a worker pool boots, or why it boots none.
func booted(p *profile.Profile[openstack.Image], pool provider.Pool) (class string, lines []string) {
	r := resolve.Explain(p, pool)
	if r.Err == nil {
		return "goodbox", []string{"good strong|boots", "mono|id " + r.Reference.ID}
	}
	why := ""
	for _, verdict := range r.Decision.Verdicts {
		if verdict.Reason == imageselector.ReasonRegion { // the closest to a fit
			return "badbox", []string{"bad strong|no image", "|nothing in this region"}
		}
		why = fmt.Sprintf("|%s: %s only", verdict.Conflicts[0].Capability, strings.Join(verdict.Conflicts[0].Offer, ", "))
	}
	return "badbox", []string{"bad strong|no image", why}
}

// workerPool draws the three parties of a choice: the machine type, the flavors of an image version, and the worker pool. The two pools
// request different capabilities, and boot different flavors.
func workerPool() *canvas {
	const file, shoot = "example/cloudprofile-trusted-launch.yaml", "example/shoot-trusted-launch.yaml"
	c := &canvas{w: 980, title: "A flavor must match the machine type and what the worker pool asks for"}
	c.heading("A flavor must match the machine type and the request", "capkit explain "+shoot+" "+file)
	p, object := compiled(file), load[v1beta1.Shoot](shoot)
	y := 68.0
	for _, pool := range provider.PoolsOf(&object) {
		y = c.pool(p.Vocabulary(), resolve.Explain(p, pool), y) + 12
	}
	c.h = y
	return c
}

// pool draws one worker pool, beginning at y, and returns the y of its end.
func (c *canvas) pool(v *capability.Vocabulary, r resolve.Resolution[openstack.Image], y float64) float64 {
	const (
		machineX, machineWidth = 20.0, 240.0
		flavorX, flavorWidth   = 320.0, 330.0
		poolX, poolWidth       = 710.0, 250.0
		letters                = 26 // of the narrow font
	)
	c.cell("", machineX-padding, y, 0, 0, "strong|machine type")
	c.cell("", poolX-padding, y, 0, 0, "strong|worker pool "+r.Pool.Name)
	y = c.cell("", flavorX-padding, y, 0, 24, fmt.Sprintf("strong|flavors of %s %s", r.Pool.Image, r.Pool.Version))
	side, flavorHeight := height(4), height(3)
	middle := y + (float64(len(r.Decision.Verdicts))*(flavorHeight+gap)-gap)/2
	c.cell("box", machineX, middle-side/2, machineWidth, side,
		append([]string{"mono strong|" + r.Pool.MachineType}, written(v, r.Machine.Capabilities(), letters)...)...)
	asked := []string{"|asks for nothing"}
	for _, q := range r.Requirements {
		if !q.Implied {
			asked = append([]string{"mono|" + q.Setting, "|asks for"}, written(v, v1beta1.Capabilities{q.Capability: q.Values}, letters)...)
		}
	}
	c.cell("accentbox", poolX, middle-side/2, poolWidth, side, asked...)
	for i, verdict := range r.Decision.Verdicts {
		class, toPool, says := "box", "goodline", "muted|fits, but the plain one is preferred"
		switch {
		case i == r.Decision.Chosen:
			class, says = "goodbox", "good strong|boots: id "+r.Reference.ID
		case verdict.Reason != "":
			class, toPool, says = "badbox", "badline", "bad|does not declare what the pool asks for"
		}
		at := y + flavorHeight/2
		const curve = "M%.6g %.6gc30 0 30 %.6g 60 %.6g"
		c.path("goodline", curve, machineX+machineWidth, middle, at-middle, at-middle)
		c.path(toPool, curve, flavorX+flavorWidth, at, middle-at, middle-at)
		c.cell("", flavorX, y+2*lineHeight, 0, 0, says)
		y = c.cell(class, flavorX, y, flavorWidth, flavorHeight, written(v, verdict.Flavor.Capabilities, flavorWidth)...)
	}
	return y
}

// level is a set of entries of a profile, by their scope.
type level struct {
	class, title, says       string
	region, domain, addition bool
}

// levels are the levels of entries. A Shoot gets the entries of the first level that has any for it, and the additional ones.
var levels = []level{
	{class: "card", title: "1. for region and domain", says: "rules out 2 and 3", region: true, domain: true},
	{class: "card", title: "2. for the region", says: "rules out 3", region: true},
	{class: "card", title: "2. for the domain", says: "rules out 3; if both count, match both", domain: true},
	{class: "card", title: "3. for all", says: "counts if nothing above does"},
	{class: "accentbox", title: "nonConstraining", says: "allowed in addition", addition: true},
}

// floatingPools draws the floating pools that Shoots may choose: the levels of the entries, and the results by region and domain.
func floatingPools() *canvas {
	const file, left, answers, width = "docs/examples/floating-pools.yaml", 20.0, 576.0, 140.0
	c := &canvas{w: 982, title: "Which floating pools a Shoot may choose, by region and domain"}
	c.heading("Which floating pools may a Shoot choose?", "the entries of "+file)
	pools := load[struct {
		Spec struct{ ProviderConfig v1alpha1.CloudProfileConfig }
	}](file).Spec.ProviderConfig.Constraints.FloatingPools
	y := 76.0
	for i, domain := range []string{"", "demo", "dev", "partner", "any other"} {
		label := "strong|" + domain
		for k, region := range []string{"europe", "asia"} {
			x := answers + 86 + float64(k)*(width+gap)
			if domain == "" {
				label = "muted|domain"
				c.cell("", x, y+lineHeight/2, 0, 0, "strong|region "+region)
				continue
			}
			names := lookup.FloatingPools(pools, region, domain)
			slices.Sort(names)
			c.cell("goodbox", x, y, width, height(2), styled("mono", names...)...)
		}
		c.cell("", answers-padding, y+lineHeight/2, 0, 0, label)
		l := levels[i]
		c.cell("", left+306, y, 0, 0, styled("mono", l.entries(pools)...)...)
		y = c.cell(l.class, left, y, 530, height(2), "strong|"+l.title, "muted|"+l.says)
	}
	c.h = y + padding
	return c
}

// entries returns the entries of the level, each with its scope.
func (l level) entries(pools []v1alpha1.FloatingPool) (lines []string) {
	for _, pool := range pools {
		addition := ptr.Deref(pool.NonConstraining, false)
		if addition != l.addition || !addition && ((pool.Region != nil) != l.region || (pool.Domain != nil) != l.domain) {
			continue
		}
		scopes := strings.Trim(ptr.Deref(pool.Region, "")+", "+ptr.Deref(pool.Domain, ""), ", ")
		lines = append(lines, fmt.Sprintf("%-10s %s", pool.Name, scopes))
	}
	return lines
}
