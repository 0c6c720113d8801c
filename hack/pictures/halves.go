// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// Where the two halves stand.
const (
	leftHalf, leftWidth   = 20.0, 300.0
	rightHalf, rightWidth = 390.0, 510.0
)

// halves draws the two halves of a CloudProfile with linked flavors: of one whose halves agree, and of one that lacks a flavor.
func halves() (*canvas, error) {
	c := &canvas{w: rightHalf + rightWidth + leftHalf, title: "The two halves of a CloudProfile: each flavor in spec.machineImages has its counterpart in spec.providerConfig"}
	const top = 20.0
	y := top + 72
	for _, file := range []string{"example/cloudprofile.yaml", "example/broken/provider-flavor-missing.yaml"} {
		p, err := profileOf(file)
		if err != nil {
			return nil, err
		}
		for i := range p.Spec.MachineImages[0].Versions {
			y = c.version(p, i, file, y) + 14
		}
	}
	c.h = y + 12
	// The cards lie below what is drawn by now.
	flavors := c.body.String()
	c.body.Reset()
	c.rect("card", leftHalf, top, leftWidth, c.h-2*top)
	c.rect("card", rightHalf, top, rightWidth, c.h-2*top)
	c.text("mono strong", leftHalf+16, top+26, "spec.machineImages")
	c.text("muted", leftHalf+16, top+46, "read by Gardener")
	c.text("mono strong", rightHalf+16, top+26, "spec.providerConfig.machineImages")
	c.text("muted", rightHalf+16, top+46, "read by the provider's extension")
	c.body.WriteString(flavors)
	return c, nil
}

// version draws the flavors of one version from y on, and returns where it ends.
func (c *canvas) version(p *profile, version int, file string, y float64) float64 {
	image := p.Spec.MachineImages[0]
	core, provided := image.Versions[version], p.Spec.ProviderConfig.MachineImages[0].Versions[version]
	c.text("strong", leftHalf+16, y+12, image.Name+" "+core.Version)
	c.text("muted", rightHalf+16, y+12, file)
	y += 24
	for _, flavor := range core.CapabilityFlavors {
		lines := p.lines(flavor)
		counterpart := -1
		for i, candidate := range provided.CapabilityFlavors {
			if p.complete(candidate.Capabilities) == p.complete(flavor) {
				counterpart = i
			}
		}
		height := float64(max(len(lines), 2))*lineHeight + 16
		middle := y + height/2
		if counterpart < 0 {
			c.rect("badbox", leftHalf+16, y, leftWidth-32, height)
			c.rect("missing", rightHalf+16, y, rightWidth-32, height)
			c.text("bad strong", rightHalf+30, middle-4, "nothing: worker pools get no image")
			c.text("mono bad", rightHalf+30, middle+lineHeight-6, "provider-flavor-missing")
			c.path("badline", "M%.6g %.6gH%.6g", leftHalf+leftWidth-16, middle, rightHalf+16)
		} else {
			c.rect("goodbox", leftHalf+16, y, leftWidth-32, height)
			c.rect("goodbox", rightHalf+16, y, rightWidth-32, height)
			c.lines("mono", rightHalf+28, y+21, p.lines(provided.CapabilityFlavors[counterpart].Capabilities)...)
			var references []string
			for _, region := range provided.CapabilityFlavors[counterpart].Regions {
				references = append(references, fmt.Sprintf("%s %s", region.Name, region.ID))
			}
			c.lines("mono accent", rightHalf+260, y+21, references...)
			c.path("goodline", "M%.6g %.6gH%.6g", leftHalf+leftWidth-16, middle, rightHalf+16)
		}
		c.lines("mono", leftHalf+28, y+21, lines...)
		y += height + 8
	}
	return y
}
