// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/versions"
)

// The comparison of landscapes. All its data comes from their pages, or from the profiles behind these.

// gaps are the regions in which no fitting image is available, for worker pools without special requests, as on a page.
type gaps map[gap]bool

// gap consists of the indices of a profile, of one of its image versions, and of one of its regions.
type gap struct{ profile, version, region int }

// seekGaps returns the gaps of a page. They are complete once the page's answers have been iterated.
func seekGaps(r *html.Report) gaps {
	found := gaps{}
	for i := range r.Profiles {
		p := &r.Profiles[i]
		ordinary := p.Requests[0].Answers
		p.Requests[0].Answers = func(yield func(html.Answers) bool) {
			ordinary(func(a html.Answers) bool {
				for version := range p.Versions {
					for _, region := range gapsOf(p, &a, version) {
						found[gap{i, version, region}] = true
					}
				}
				return yield(a)
			})
		}
	}
	return found
}

// gapsOf returns the indices of the regions that lack an image of an image version, if a flavor of it fits the answers' machine types.
func gapsOf(p *html.Profile, a *html.Answers, version int) (regions []int) {
	v := &p.Versions[version]
	fits := func(f html.Flavor) bool { return a.Kinds[v.Kind].Outcomes[f.Declared].Clause == "" }
	if len(v.Flavors) > 0 && (a.Whole[version] != "" || !slices.ContainsFunc(v.Flavors, fits)) {
		return nil
	}
	for region := range p.Regions {
		if a.Cells[version][region].Flavor < 0 {
			regions = append(regions, region)
		}
	}
	return regions
}

// in returns the names of the regions of a profile in which an image version has a gap.
func (g gaps) in(profile int, p *html.Profile, version int) (regions []string) {
	for region, name := range p.Regions {
		if g[gap{profile, version, region}] {
			regions = append(regions, name)
		}
	}
	return regions
}

// overviewOf counts the figures at the top of a page.
func overviewOf(l *looked, found gaps) html.Overview {
	r := &l.page
	o := html.Overview{
		Profiles: len(r.Profiles), Shoots: r.Shoots, UnknownShoots: r.Unknown,
		Errors: l.found.Summary.Errors, Warnings: l.found.Summary.Warnings,
	}
	counts := map[maintenance.Action]*int{
		maintenance.Fails: &o.Fails, maintenance.Stuck: &o.Stuck, maintenance.Forced: &o.Forced, maintenance.Updated: &o.Updated,
	}
	for _, e := range slices.Concat(r.Maintenance, r.More) {
		o.Pools += e.Count
		if count := counts[e.Action]; count != nil {
			*count += e.Count
		}
		if e.Asks != nil && e.Boots == "" {
			o.WithoutMachines += e.Count
		}
		if e.Breaks {
			o.BootNothing += e.Count
		}
	}
	uses, expiring, lacking := usesOf(r), map[string]bool{}, map[string]bool{}
	for i := range r.Profiles {
		p := &r.Profiles[i]
		for k := range p.Versions {
			v := &p.Versions[k]
			for _, region := range found.in(i, p, k) {
				lacking[v.Image+"@"+v.Name+" in "+region] = true
			}
			if v.Expires != "" && v.State != string(v1beta1.ClassificationExpired) && v.Expires <= html.SoonAfter(r.Made) {
				expiring[v.Image+"@"+v.Name+" "+v.Expires] = true
				o.ExpiringPools += uses[use{p.Name, html.ImageVersion, v.Image + "@" + v.Name}]
			}
		}
	}
	o.Expiring, o.Gaps = len(expiring), len(lacking)
	return o
}

// use is an entry of a profile that worker pools may use.
type use struct{ profile, kind, name string }

// usesOf counts the worker pools that use each entry.
func usesOf(r *html.Report) map[use]int {
	uses := map[use]int{}
	for _, e := range slices.Concat(r.Maintenance, r.More) {
		uses[use{e.Profile, html.ImageVersion, e.Image + "@" + e.From}] += e.Count
		uses[use{e.Profile, html.MachineType, e.MachineType}] += e.Count
		uses[use{e.Profile, html.Region, e.Region}] += e.Count
	}
	return uses
}

// comparison combines the profiles of the same name in several landscapes.
type comparison struct{ profiles []*compared }

// compared is a profile in several landscapes.
type compared struct {
	html.Compared
	rows []*row
	// byKey maps kind and name to rows. images maps image names to their order of appearance.
	byKey  map[[2]string]*row
	images map[string]int
}

// row is a row with its sort keys: the kind, the image, and the version, newest first.
type row struct {
	html.Row
	kind, image int
	version     string
}

// kinds are the kinds of rows, in order.
var kinds = []string{html.ImageVersion, html.Kubernetes, html.MachineType, html.Region, html.Capability}

// add adds the profiles of a landscape.
func (c *comparison) add(landscape string, l *looked, found gaps) {
	uses := usesOf(&l.page)
	for i := range l.page.Profiles {
		p := &l.page.Profiles[i]
		k := slices.IndexFunc(c.profiles, func(of *compared) bool { return of.Profile == p.Name })
		if k < 0 {
			k, c.profiles = len(c.profiles), append(c.profiles, &compared{
				Compared: html.Compared{Profile: p.Name}, byKey: map[[2]string]*row{}, images: map[string]int{},
			})
		}
		of := c.profiles[k]
		of.Landscapes = append(of.Landscapes, landscape)
		for k := range p.Versions {
			v := &p.Versions[k]
			of.addVersion(landscape, v.Image, v.Name, html.Entry{
				Classification: cmp.Or(v.State, string(v1beta1.ClassificationSupported)), Expires: v.Expires, Gaps: found.in(i, p, k),
				Pools: uses[use{p.Name, html.ImageVersion, v.Image + "@" + v.Name}],
			})
		}
		spec := l.profiles[i].compiled.Spec()
		of.addKubernetes(landscape, spec, maintenance.At(spec, l.page.Made))
		of.addTypes(landscape, p, spec, uses)
		for _, region := range p.Regions {
			of.add(landscape, html.Region, region, html.Entry{Pools: uses[use{p.Name, html.Region, region}]})
		}
		for _, capability := range spec.MachineCapabilities {
			of.add(landscape, html.Capability, capability.Name, html.Entry{Detail: strings.Join(capability.Values, ", ")})
		}
	}
}

// add adds an entry of a landscape and returns its row. A second entry with the same name is ignored.
func (c *compared) add(landscape, kind, name string, e html.Entry) *row {
	key := [2]string{kind, name}
	r := c.byKey[key]
	if r == nil {
		r = &row{Row: html.Row{Kind: kind, Name: name, In: map[string]html.Entry{}}, kind: slices.Index(kinds, kind)}
		c.byKey[key], c.rows = r, append(c.rows, r)
	}
	if _, twice := r.In[landscape]; !twice {
		r.In[landscape] = e
	}
	return r
}

// addVersion adds an image version of a landscape, or a Kubernetes version if image is empty.
func (c *compared) addVersion(landscape, image, version string, e html.Entry) {
	kind, name := html.ImageVersion, image+"@"+version
	if image == "" {
		kind, name = html.Kubernetes, version
	}
	if _, known := c.images[image]; !known {
		c.images[image] = len(c.images)
	}
	r := c.add(landscape, kind, name, e)
	r.image, r.version = c.images[image], version
}

// addKubernetes adds the Kubernetes versions. then is the profile as of the page's time, which determines their states.
func (c *compared) addKubernetes(landscape string, spec, then *v1beta1.CloudProfileSpec) {
	for i, v := range spec.Kubernetes.Versions {
		e := html.Entry{Classification: string(v1beta1helper.CurrentLifecycleClassification(then.Kubernetes.Versions[i]))}
		if expiry := versions.ExpiryOf(v); expiry != nil {
			e.Expires = expiry.Format(time.DateOnly)
		}
		c.addVersion(landscape, "", v.Version, e)
	}
}

// addTypes adds the machine types in the order of the profile.
func (c *compared) addTypes(landscape string, p *html.Profile, spec *v1beta1.CloudProfileSpec, uses map[use]int) {
	groups := map[string]*html.Group{}
	for i := range p.Groups {
		for _, name := range p.Groups[i].Types {
			groups[name] = &p.Groups[i]
		}
	}
	for i := range spec.MachineTypes {
		t := &spec.MachineTypes[i]
		group := groups[t.Name]
		if group == nil {
			continue
		}
		size := fmt.Sprintf("cpu %s, memory %s", t.CPU.String(), t.Memory.String())
		if !t.GPU.IsZero() {
			size += ", gpu " + t.GPU.String()
		}
		c.add(landscape, html.MachineType, t.Name, html.Entry{
			Detail: size + ", " + group.Capabilities, Unusable: slices.Contains(group.Unusable, t.Name),
			Pools: uses[use{p.Name, html.MachineType, t.Name}],
		})
	}
}

// compared returns the profiles in the order of their first appearance. Their rows are sorted by kind, versions by image and newest
// first, and others in the order of their first appearance.
func (c *comparison) compared() []html.Compared {
	all := []html.Compared{}
	for _, p := range c.profiles {
		slices.SortStableFunc(p.rows, func(a, b *row) int {
			return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.image, b.image), versions.NewestFirst(a.version, b.version))
		})
		p.Rows = []html.Row{}
		for _, r := range p.rows {
			r.Differs = differs(r.In, p.Landscapes)
			p.Rows = append(p.Rows, r.Row)
		}
		all = append(all, p.Compared)
	}
	return all
}

// differs reports whether a row differs between landscapes, apart from the number of its users and the regions of its gaps.
func differs(in map[string]html.Entry, landscapes []string) bool {
	of := func(name string) (html.Entry, bool) {
		e, found := in[name]
		e.Pools = 0
		if len(e.Gaps) > 0 {
			e.Gaps = []string{}
		}
		return e, found
	}
	first, found := of(landscapes[0])
	return slices.ContainsFunc(landscapes, func(name string) bool {
		e, isThere := of(name)
		return isThere != found || !reflect.DeepEqual(e, first)
	})
}
