// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package verify compares profiles with their cloud, as recorded in inventories (semantics S20): whether it has the images that worker
// pools boot, the machine types, the zones, and everything else that a profile offers. It is pure, and needs no cloud. It draws no
// conclusions from unknown parts of an inventory.
//
// Start reading at [CloudProfile]. Cloud-specific behavior comes from the provider, as an [inventory.Describer].
package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// Unread is an unknown part of a region of a profile.
type Unread struct {
	Region string
	// Lists could not be read when the inventory was taken. It is nil if the region has no inventory, and for a gap.
	Lists []string
	// Gap describes a list, as in "zones", or images that the profile refers to, but that the inventory neither has nor lists as unread. It
	// is no error, because the inventories of some clouds have no such list. It is usually empty.
	Gap string
	// Meant is a similarly named region with an inventory; usually empty.
	Meant string
}

// String returns a sentence without its final period.
func (u Unread) String() string {
	switch {
	case u.Gap != "":
		return fmt.Sprintf("the inventory of %s does not have %s", u.Region, u.Gap)
	case len(u.Lists) == 0:
		return fmt.Sprintf("there is no inventory of region %s%s", u.Region, words.DidYouMean(u.Meant))
	}
	return fmt.Sprintf("%s of region %s could not be read when the inventory was taken", words.And(u.Lists), u.Region)
}

// Options are the inputs of a check besides profile and cloud.
type Options struct {
	// At is the time that decides which versions have expired.
	At time.Time
	// Strict turns each [Unread] of a CloudProfile into an error, except those with a Gap.
	Strict bool
}

// verifier checks one profile.
type verifier[R any] struct {
	*Cloud
	Options
	// profile is the resulting profile, with the machine types and regions that pools can use.
	profile *profile.Profile[R]
	// spec is the spec at the path spec. For a NamespacedCloudProfile, it has its own definitions, and nested is set.
	spec   *v1beta1.CloudProfileSpec
	nested bool
	// flavors returns the flavors of an image version of spec. If at is true, another object has them, so that findings use the version's
	// path.
	flavors func(id provider.ImageVersion) (flavors []imageselector.Flavor[R], at bool)
	// known are the profile's regions with an inventory, in order. regional are their entries in the profile.
	known    []*region
	regional []*v1beta1.Region
	claims   claims
	gaps     map[*region]*gaps
}

// gaps are the lists of a region, and the references to images, that could not be checked.
type gaps struct{ lists, references []string }

// CloudProfile compares a CloudProfile, compiled from a spec at the path spec, with its cloud. Findings are sorted by path. unread has the
// unknown parts of the profile's regions, in the profile's order, followed by the gaps.
func CloudProfile[R any](p *profile.Profile[R], cloud *Cloud, options Options) (report finding.Report, unread []Unread) {
	v := newVerifier(p, cloud, options)
	v.spec = p.Spec()
	v.flavors = func(id provider.ImageVersion) ([]imageselector.Flavor[R], bool) {
		return p.Catalog().Flavors(id.Image, id.Version), false
	}
	unread = v.unread()
	if options.Strict {
		v.refuse(unread)
	}
	v.zones()
	v.volumeTypes()
	if v.described && v.Uses != nil {
		v.uses(v.Uses(v.spec, field.NewPath("spec")))
	}
	report = v.judge()
	return report, slices.Concat(unread, v.allGaps())
}

// NamespacedCloudProfile is like [CloudProfile] for a NamespacedCloudProfile's own definitions. result is compiled from both profiles.
func NamespacedCloudProfile[R any](
	parent, result *profile.Profile[R], object *v1beta1.NamespacedCloudProfile, cloud *Cloud, options Options,
) (report finding.Report, unread []Unread) {
	v := newVerifier(result, cloud, options)
	own := profile.ReadNamespaced(parent, object)
	spec := *own.Spec
	spec.VolumeTypes, v.spec, v.nested = object.Spec.VolumeTypes, &spec, true
	v.flavors = func(id provider.ImageVersion) ([]imageselector.Flavor[R], bool) {
		core := parent.Version(id)
		if core == nil || !own.Inherits(id) {
			return own.Catalog.Flavors(id.Image, id.Version), false
		}
		if versions.ExpiredAt(core.ExpirableVersion, options.At) { // so the parent's check skips it
			return parent.Catalog().Flavors(id.Image, id.Version), true
		}
		return nil, false
	}
	v.volumeTypes()
	report = v.judge()
	return report, slices.Concat(v.unread(), v.allGaps())
}

func newVerifier[R any](p *profile.Profile[R], cloud *Cloud, options Options) *verifier[R] {
	v := &verifier[R]{Cloud: cloud, Options: options, profile: p, gaps: map[*region]*gaps{}}
	spec := p.Spec()
	for i := range spec.Regions {
		if r := cloud.regions[spec.Regions[i].Name]; r != nil && !slices.Contains(v.known, r) {
			v.known, v.regional = append(v.known, r), append(v.regional, &spec.Regions[i])
		}
	}
	return v
}

// judge runs the checks that all kinds of profiles share, and returns the report.
func (v *verifier[R]) judge() finding.Report {
	v.machineTypes()
	if v.described {
		seen := map[provider.ImageVersion]bool{}
		for version := range entries.Versions(v.spec) {
			if !seen[version.ID] {
				seen[version.ID] = true
				v.version(version)
			}
		}
	}
	report := v.claims.report()
	report.End(field.NewPath("spec"))
	return report.Sorted()
}

// unread returns the unknown parts of the profile's regions.
func (v *verifier[R]) unread() (unread []Unread) {
	for _, region := range v.profile.Regions() {
		switch r := v.regions[region]; {
		case r == nil:
			unread = append(unread, Unread{Region: region, Meant: words.Slip(region, v.names)})
		case len(r.Unread) > 0:
			unread = append(unread, Unread{Region: region, Lists: slices.Clone(r.Unread)})
		}
	}
	return unread
}

// has reports whether a region's inventory has a list. If the list is neither there nor unread, has records a gap.
func (v *verifier[R]) has(r *region, list string) bool {
	if known := r.Known(list); known || slices.Contains(r.Unread, list) {
		return known
	}
	if of := v.gapsOf(r); !slices.Contains(of.lists, list) {
		of.lists = append(of.lists, list)
	}
	return false
}

func (v *verifier[R]) gapsOf(r *region) *gaps {
	if v.gaps[r] == nil {
		v.gaps[r] = &gaps{}
	}
	return v.gaps[r]
}

// allGaps returns the gaps, in the order of the regions.
func (v *verifier[R]) allGaps() (unread []Unread) {
	for _, r := range v.known {
		of := v.gapsOf(r)
		for _, list := range inventory.Lists() {
			if slices.Contains(of.lists, list) {
				unread = append(unread, Unread{Region: r.Name, Gap: list})
			}
		}
		if slices.Sort(of.references); len(of.references) > 0 {
			unread = append(unread, Unread{Region: r.Name, Gap: "images like " + words.Few(slices.Compact(of.references))})
		}
	}
	return unread
}

// refuse turns unknown parts into errors.
func (v *verifier[R]) refuse(unread []Unread) {
	for _, u := range unread {
		i := slices.IndexFunc(v.spec.Regions, func(r v1beta1.Region) bool { return r.Name == u.Region })
		c := claim{
			rule: ruleUnread, kind: field.ErrorTypeInvalid, at: field.NewPath("spec", "regions").Index(i).Child("name"), value: u.Region, what: u.String(),
			hint: "; take one with credentials that may read all of it",
		}
		if len(u.Lists) == 0 { // of many regions, with one message
			c.what = fmt.Sprintf("region %s: there is no inventory", words.Quoted(u.Region))
			c.hint = cmp.Or(words.DidYouMean(u.Meant), "; take one")
		}
		v.claims.add(c, "")
	}
}

// zones checks the zones of the regions.
func (v *verifier[R]) zones() {
	for i := range v.spec.Regions {
		r := v.regions[v.spec.Regions[i].Name]
		if r == nil || len(v.spec.Regions[i].Zones) == 0 || !v.has(r, inventory.ListZones) {
			continue
		}
		for k, zone := range v.spec.Regions[i].Zones {
			at := field.NewPath("spec", "regions").Index(i).Child("zones").Index(k).Child("name")
			has, names := r.zones[zone.Name], available(r)
			switch {
			case has == nil:
				v.claims.add(claim{
					rule: ruleZoneMissing, kind: field.ErrorTypeNotFound, at: at, value: zone.Name, what: fmt.Sprintf("the cloud has no zone %s", words.Quoted(zone.Name)),
					hint: meantOr(zone.Name, names, "zones"), meant: words.Slip(zone.Name, names),
				}, r.Name)
			case !ptr.Deref(has.Available, true):
				v.claims.add(claim{
					rule: ruleZoneMissing, kind: field.ErrorTypeInvalid, at: at, value: zone.Name, what: "zone " + words.Quoted(zone.Name),
					hint: " takes no servers" + others(names),
				}, r.Name)
			}
		}
	}
}

// available returns the names of the zones that take servers.
func available(r *region) []string {
	return slices.DeleteFunc(namesOf(r.Zones, func(z *inventory.Zone) string { return z.Name }), func(name string) bool { return !r.takesServers(name) })
}

// others names the zones that take servers, for a message about one that does not.
func others(names []string) string {
	if len(names) == 0 {
		return "; no zone there does"
	}
	return "; zones that do: " + words.Few(names)
}

// takesServers reports whether a zone exists and takes servers. It is true if that is unknown.
func (r *region) takesServers(zone string) bool {
	has := r.zones[zone]
	return r.Zones == nil || has != nil && ptr.Deref(has.Available, true)
}

// volumeTypes checks the volume types that core lists.
func (v *verifier[R]) volumeTypes() {
	for i, t := range v.spec.VolumeTypes {
		if !ptr.Deref(t.Usable, true) {
			continue
		}
		use := inventory.Use{List: inventory.ListVolumeTypes, Name: t.Name, At: field.NewPath("spec", "volumeTypes").Index(i).Child("name")}
		for _, region := range v.profile.Spec().Regions {
			if !unavailable(&region, t.Name, func(z *v1beta1.AvailabilityZone) []string { return z.UnavailableVolumeTypes }) {
				use.Regions = append(use.Regions, region.Name)
			}
		}
		v.uses([]inventory.Use{use})
	}
}

// unavailable reports whether all zones of a region list a name as unavailable.
func unavailable(region *v1beta1.Region, name string, list func(*v1beta1.AvailabilityZone) []string) bool {
	for i := range region.Zones {
		if !slices.Contains(list(&region.Zones[i]), name) {
			return false
		}
	}
	return len(region.Zones) > 0
}

// used defines, for each list of an inventory, how missing names are reported.
var used = map[string]struct {
	rule       finding.Rule
	what, many string
	names      func(*region) []string
}{
	inventory.ListVolumeTypes: {ruleVolumeType, "volume type", "volume types", func(r *region) []string {
		return namesOf(r.VolumeTypes, func(t *inventory.VolumeType) string { return t.Name })
	}},
	inventory.ListNetworks: {ruleNetwork, "external network", "external networks", func(r *region) []string {
		external := slices.DeleteFunc(slices.Clone(r.Networks), func(n inventory.Network) bool { return !ptr.Deref(n.External, true) })
		return namesOf(external, func(n *inventory.Network) string { return n.Name })
	}},
	inventory.ListLoadBalancerProviders: {ruleLoadBalancer, "load balancer provider", "load balancer providers", func(r *region) []string {
		return namesOf(r.LoadBalancerProviders, func(p *inventory.LoadBalancerProvider) string { return p.Name })
	}},
	inventory.ListServerGroupPolicies: {rulePolicy, "server group policy", "server group policies", func(r *region) []string {
		return slices.Clone(r.ServerGroupPolicies)
	}},
}

// uses checks that the cloud has everything the profile refers to.
func (v *verifier[R]) uses(uses []inventory.Use) {
	for _, use := range uses {
		of, looksUp := used[use.List]
		if !looksUp {
			lists := words.Or(slices.Sorted(maps.Keys(used)))
			v.claims.add(claim{kind: field.ErrorTypeInternal, at: use.At, value: use.List, what: fmt.Sprintf(
				"provider %s: Uses of its inventory.Description returns the list %q; it must be %s", v.profile.Provider().Type(), use.List, lists)}, "")
			continue
		}
		for _, r := range v.known {
			if !slices.Contains(use.Regions, r.Name) || !v.has(r, use.List) {
				continue
			}
			names := of.names(r)
			if use.Matches != nil && slices.ContainsFunc(names, use.Matches) || use.Matches == nil && slices.Contains(names, use.Name) {
				continue
			}
			c := claim{
				rule: of.rule, kind: field.ErrorTypeNotFound, at: use.At, value: use.Name, what: fmt.Sprintf("the cloud has no %s %s", of.what, words.Quoted(use.Name)),
				many: of.many, names: names,
			}
			switch {
			case use.Matches != nil:
				c.what, c.pattern = fmt.Sprintf("the cloud has no %s that matches %s", of.what, words.Quoted(use.Name)), true
			case use.List == inventory.ListNetworks && slices.ContainsFunc(r.Networks, func(n inventory.Network) bool { return n.Name == use.Name }):
				c.what, c.hint, c.kind = "network "+words.Quoted(use.Name), " is not external", field.ErrorTypeInvalid
			}
			v.claims.add(c, r.Name)
		}
	}
}

// namesOf returns the distinct non-empty names of a list, sorted.
func namesOf[T any](list []T, name func(*T) string) []string {
	names := make([]string, 0, len(list))
	for i := range list {
		if n := name(&list[i]); n != "" {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// meantOr suggests the name that was probably meant. If there is none, it lists the existing names.
func meantOr(name string, names []string, what string) string {
	if meant := words.Slip(name, names); meant != "" {
		return words.DidYouMean(meant)
	}
	if len(names) == 0 {
		return "; there are no " + what
	}
	return "; " + what + " there: " + words.Few(names)
}

// claim is a finding about one place, in one or more regions.
type claim struct {
	rule  finding.Rule
	kind  field.ErrorType
	at    *field.Path
	value any
	// what is the sentence up to the regions, and hint the rest. The first non-empty hint is used.
	what, hint string
	// about distinguishes findings about the same thing at one place; usually empty.
	about string
	// many is the noun for names, which every region has. some reports that any region has names. pattern reports that the value is a
	// pattern of names.
	many          string
	names         []string
	some, pattern bool
	// meant, if not empty, is the suggested replacement for the value.
	meant   string
	subject finding.Subject
}

// claims collects findings in the order of their discovery. Equal findings in several regions are merged.
type claims struct {
	list    []claim
	regions [][]string
	index   map[string]int
}

// add adds a finding about a region, which may be empty.
func (c *claims) add(found claim, region string) {
	if c.index == nil {
		c.index = map[string]int{}
	}
	key := strings.Join([]string{found.rule.Name, string(found.rule.Severity), found.at.String(), found.what, found.about}, "\x00")
	i, known := c.index[key]
	if !known {
		i = len(c.list)
		c.index[key] = i
		c.list, c.regions = append(c.list, found), append(c.regions, nil)
	}
	first := &c.list[i]
	first.some = first.some || len(found.names) > 0
	if known {
		there := sets.New(found.names...)
		first.names = slices.DeleteFunc(first.names, func(name string) bool { return !there.Has(name) })
	}
	if first.hint == "" {
		first.hint, first.meant = found.hint, found.meant
	}
	if region != "" {
		c.regions[i] = append(c.regions[i], region)
	}
}

// report returns the claims as a report.
func (c *claims) report() (report finding.Report) {
	for i := range c.list {
		f := &c.list[i]
		if f.many != "" && (len(f.names) > 0 || !f.some) {
			name, _ := f.value.(string)
			if f.pattern {
				name = ""
			}
			f.hint, f.meant = f.hint+meantOr(name, f.names, f.many), words.Slip(name, f.names)
		}
		where := ""
		if regions := c.regions[i]; len(regions) > 0 {
			where = " in " + words.Plural(regions, "region") + " " + words.Few(regions)
		}
		found := report.Found(f.rule, f.kind, f.at, f.value, "%s%s%s", f.what, where, f.hint)
		found.Subject = f.subject
		if f.kind == field.ErrorTypeNotFound { // if only the name differs, it is one line of the text
			found.Subject.Reason = where + f.hint
		}
		if name, isText := f.value.(string); isText && f.meant != "" {
			found.Suggestion = finding.Suggest(finding.ReplaceValue, name, f.meant, "")
		}
	}
	return report
}
