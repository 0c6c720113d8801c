// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// level is a set of entries of a profile, by what they are for.
type level struct {
	class, title, says       string
	region, domain, addition bool
}

// has reports whether an entry is of the level.
func (l level) has(pool v1alpha1.FloatingPool) bool {
	addition := ptr.Deref(pool.NonConstraining, false)
	return addition == l.addition && (addition || (pool.Region != nil) == l.region && (pool.Domain != nil) == l.domain)
}

// levels are what the entries are sorted by: a Shoot gets those of the first that has any for it, and the additions.
var levels = []level{
	{class: "card", title: "1. for region and domain", says: "rules out 2 and 3", region: true, domain: true},
	{class: "card", title: "2. for the region", says: "rules out 3", region: true},
	{class: "card", title: "2. for the domain", says: "rules out 3; if both count, match both", domain: true},
	{class: "card", title: "3. for all", says: "counts if nothing above does"},
	{class: "accentbox", title: "nonConstraining", says: "allowed in addition", addition: true},
}

// floatingPools draws which floating pools Shoots may choose: the levels of the entries, and the answers by region and domain.
func floatingPools() (*canvas, error) {
	const (
		file                             = "docs/examples/floating-pools.yaml"
		left, top                        = 20.0, 84.0
		levelWidth, levelHeight, between = 530.0, 66.0, 8.0
	)
	documents, err := load[struct {
		Spec struct {
			ProviderConfig v1alpha1.CloudProfileConfig
		}
	}](file)
	if err != nil {
		return nil, err
	}
	pools := documents[0].Spec.ProviderConfig.Constraints.FloatingPools
	c := &canvas{w: 982, title: "Which floating pools a Shoot may choose, by region and domain"}
	c.text("title", left, 32, "Which floating pools may a Shoot choose?")
	c.text("muted", left, 52, "the entries of "+file)
	y := top
	for _, l := range levels {
		var entries []string
		for _, pool := range pools {
			if l.has(pool) {
				entries = append(entries, scoped(pool))
			}
		}
		c.rect(l.class, left, y, levelWidth, levelHeight)
		c.text("strong", left+14, y+28, l.title)
		c.text("muted", left+14, y+50, l.says)
		c.lines("mono", left+320, y+28, entries...)
		y += levelHeight + between
	}
	c.answers(pools, left+levelWidth+26, top)
	c.h = y - between + 20
	return c, nil
}

// scoped is the name of an entry, with what it is for.
func scoped(pool v1alpha1.FloatingPool) string {
	scopes := []string{}
	for _, scope := range []*string{pool.Region, pool.Domain} {
		if scope != nil {
			scopes = append(scopes, *scope)
		}
	}
	return fmt.Sprintf("%-10s %s", pool.Name, strings.Join(scopes, ", "))
}

// answers draws what Shoots of each region and domain may choose.
func (c *canvas) answers(pools []v1alpha1.FloatingPool, x, y float64) {
	const width, height, between = 140.0, 62.0, 8.0
	regions, domains := []string{"europe", "asia"}, []string{"demo", "dev", "partner", "any other"}
	for i, region := range regions {
		c.centered("strong", x+86+float64(i)*(width+between)+width/2, y+16, "region "+region)
	}
	c.text("muted", x, y+16, "domain")
	y += 28
	for _, domain := range domains {
		c.text("strong", x, y+36, domain)
		for i, region := range regions {
			at := x + 86 + float64(i)*(width+between)
			allowed := lookup.FloatingPools(pools, region, domain)
			c.rect("goodbox", at, y, width, height)
			slices.Sort(allowed)
			for j, name := range allowed {
				c.text("mono", at+12, y+26+float64(j)*lineHeight, name)
			}
		}
		y += height + between
	}
}
