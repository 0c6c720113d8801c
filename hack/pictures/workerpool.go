// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// explained is what pictures show of what capkit explain says about a worker pool.
type explained struct {
	Shoot, Pool, Image, Version, MachineType string

	Reference struct{ ID string }
	Machine   capabilities
	Requested []struct {
		Capability, Setting string
		Values              []string
		Implied             bool
	}
	Flavors []struct {
		Capabilities capabilities
		Message      string
		ExcludedBy   string
		Chosen       bool
	}
}

// workerPool draws the three parties of a choice: the machine type, the flavors of an image version, the worker pool. The
// two pools ask for different things, and boot different flavors.
func workerPool() (*canvas, error) {
	const file = "example/cloudprofile-trusted-launch.yaml"
	p, err := profileOf(file)
	if err != nil {
		return nil, err
	}
	var answers struct{ Pools []explained }
	if err := ask(&answers, "explain", "example/shoot-trusted-launch.yaml", file); err != nil {
		return nil, err
	}
	c := &canvas{w: 980, title: "A flavor must match the machine type and what the worker pool asks for"}
	c.text("title", 20, 32, "A flavor must match the machine type and the request")
	c.text("muted", 20, 52, "capkit explain example/shoot-trusted-launch.yaml "+file)
	y := 72.0
	for _, pool := range answers.Pools {
		y = c.pool(p, pool, y) + 16
	}
	c.h = y + 4
	return c, nil
}

// pool draws one worker pool from y on, and returns where it ends.
func (c *canvas) pool(p *profile, pool explained, y float64) float64 {
	const (
		machineX, flavorX, poolX = 20.0, 320.0, 710.0
		machineWidth             = 240.0
		flavorWidth              = 330.0
		poolWidth                = 250.0
		flavorHeight             = 92.0
		sideHeight               = 108.0 // of machine type and worker pool
	)
	height := float64(len(pool.Flavors))*(flavorHeight+12) + 24
	middle := y + 24 + (height-36)/2
	c.text("strong", machineX, y+14, "machine type")
	c.text("strong", flavorX, y+14, fmt.Sprintf("flavors of %s %s", pool.Image, pool.Version))
	c.text("strong", poolX, y+14, "worker pool "+pool.Pool)

	c.rect("box", machineX, middle-sideHeight/2, machineWidth, sideHeight)
	c.text("mono strong", machineX+12, middle-sideHeight/2+24, pool.MachineType)
	c.lines("mono", machineX+12, middle-sideHeight/2+48, p.narrow(pool.Machine)...)

	c.rect("accentbox", poolX, middle-sideHeight/2, poolWidth, sideHeight)
	setting, request := "", capabilities{}
	for _, requested := range pool.Requested {
		if !requested.Implied {
			setting, request[requested.Capability] = requested.Setting, requested.Values
		}
	}
	if setting == "" {
		c.text("", poolX+12, middle+5, "asks for nothing")
	} else {
		c.text("mono", poolX+12, middle-sideHeight/2+24, setting)
		c.text("", poolX+12, middle-sideHeight/2+46, "asks for")
		c.lines("mono", poolX+12, middle-sideHeight/2+68, p.narrow(request)...)
	}

	top := y + 24
	for i, flavor := range pool.Flavors {
		y := top + float64(i)*(flavorHeight+12)
		class, verdict, line, toPool := "box", "fits, but the plain one is preferred", "goodline", "goodline"
		switch {
		case flavor.Chosen:
			class, verdict = "goodbox", "boots: id "+pool.Reference.ID
		case flavor.ExcludedBy == "worker":
			class, verdict, toPool = "badbox", "does not declare what the pool asks for", "badline"
		}
		c.rect(class, flavorX, y, flavorWidth, flavorHeight)
		after := c.lines("mono", flavorX+12, y+24, p.lines(flavor.Capabilities)...)
		words := map[string]string{"badbox": "bad", "goodbox": "good strong", "box": "muted"}[class]
		c.text(words, flavorX+12, max(after+4, y+flavorHeight-14), verdict)
		at := y + flavorHeight/2
		c.path(line, "M%.6g %.6gC%.6g %.6g %.6g %.6g %.6g %.6g", machineX+machineWidth, middle, machineX+machineWidth+30, middle, flavorX-30, at, flavorX, at)
		c.path(toPool, "M%.6g %.6gC%.6g %.6g %.6g %.6g %.6g %.6g", flavorX+flavorWidth, at, flavorX+flavorWidth+30, at, poolX-30, middle, poolX, middle)
	}
	return y + height
}

// narrow returns the capabilities as they are written, with values in the next line where one is too short for both.
func (p *profile) narrow(set capabilities) []string {
	const letters = 26
	var lines []string
	for _, line := range p.lines(set) {
		if name, values, _ := strings.Cut(line, " "); len(line) > letters {
			lines = append(lines, name, "  "+values)
		} else {
			lines = append(lines, line)
		}
	}
	return lines
}
