// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// answer is what pictures show of what capkit select says.
type answer struct {
	Reference *struct{ ID string }
	Rejected  []struct {
		Capability string
		Flavor     []string
		Machine    []string
		Message    string
		Reason     string
	}
}

// matrix draws which image each machine type boots, of each version, in each region.
func matrix() (*canvas, error) {
	const (
		file                     = "hack/garden/demo/cloudprofile-gap.yaml"
		left, top                = 180.0, 84.0
		cellWidth, cellHeight    = 220.0, 62.0
		between, regionsDistance = 8.0, 40.0
	)
	p, err := profileOf(file)
	if err != nil {
		return nil, err
	}
	c := &canvas{w: left + float64(len(p.Spec.MachineTypes))*(cellWidth+between) + 12, title: "Which image each machine type boots, by version and region"}
	image := p.Spec.MachineImages[0]
	c.text("title", 20, 32, "Which image does each machine type boot?")
	c.text("muted", 20, 52, "capkit select, asked about every combination of "+file)
	y := top
	for _, region := range p.Spec.Regions {
		c.text("strong", 20, y+16, "region "+region.Name)
		for i, machineType := range p.Spec.MachineTypes {
			c.centered("mono strong", left+float64(i)*(cellWidth+between)+cellWidth/2, y+16, machineType.Name)
		}
		y += 28
		for _, version := range image.Versions {
			c.text("", 20, y+26, image.Name)
			c.text("", 20, y+45, version.Version)
			for i, machineType := range p.Spec.MachineTypes {
				var found answer
				if err := ask(&found, "select", "--image="+image.Name, "--version="+version.Version,
					"--machine-type="+machineType.Name, "--region="+region.Name, file); err != nil {
					return nil, err
				}
				c.cell(found, left+float64(i)*(cellWidth+between), y, cellWidth, cellHeight)
			}
			y += cellHeight + between
		}
		y += regionsDistance - between
	}
	c.h = y - 14
	return c, nil
}

// cell draws what a machine type boots, or why it boots nothing.
func (c *canvas) cell(found answer, x, y, w, h float64) {
	if found.Reference != nil {
		c.rect("goodbox", x, y, w, h)
		c.text("good strong", x+12, y+26, "boots")
		c.text("mono", x+12, y+45, "id "+found.Reference.ID)
		return
	}
	c.rect("badbox", x, y, w, h)
	c.text("bad strong", x+12, y+26, "no image")
	why := found.Rejected[len(found.Rejected)-1]
	for _, rejected := range found.Rejected { // the one that comes closest: its region is missing
		if rejected.Reason == "region" {
			why = rejected
		}
	}
	text := "nothing in this region"
	if why.Reason == "capability" {
		text = fmt.Sprintf("%s: %s only", why.Capability, strings.Join(why.Flavor, ", "))
	}
	c.text("", x+12, y+45, text)
}
