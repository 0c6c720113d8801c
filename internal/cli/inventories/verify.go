// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventories

import (
	"errors"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/verify"
	"github.com/capkit/capkit/pkg/words"
)

// Verified is the result of verifying the profiles of a command.
type Verified struct {
	flags  *Flags
	given  *input.Given
	alone  bool
	files  *files
	clouds map[string]*verify.Cloud
	usages map[string]*verify.Usage
	// gaps are the lists and images that inventories lack, by region. regions are these regions in the order in which gaps were found.
	gaps    map[string][]string
	regions []string
	// absent are the regions without an inventory, except those whose name looks misspelt.
	absent []string
	// several reports whether the profiles are of several clouds, whose regions may have the same names.
	several bool
	// incomplete reports whether some inputs could not be verified.
	incomplete bool
	// Notes are about unknown contents, and about the inventories.
	Notes []string
}

// Verify verifies the profiles among the inputs, and adds the findings. If alone, it also reports why a profile cannot be verified.
// Otherwise lint does that, and has notes of its own. The error is about unusable inventories.
func (flags *Flags) Verify(c *command.Call, g *input.Given, alone bool, work *command.Work) (*Verified, error) {
	read, err := flags.read(c)
	if err != nil {
		return nil, err
	}
	v := &Verified{
		flags: flags, given: g, alone: alone, files: read, clouds: map[string]*verify.Cloud{}, usages: map[string]*verify.Usage{}, Notes: flags.age(read),
		gaps: map[string][]string{}, incomplete: len(g.Findings) > 0,
	}
	types := v.types()
	v.several = len(types) > 1
	if len(types) > 0 {
		if err := errors.Join(append(read.unneeded(types, g.Providers), read.withoutTable(g.Providers)...)...); err != nil {
			return nil, err
		}
	}
	if !alone {
		notes := g.Notes
		defer func() { g.Notes = notes }()
	}
	for _, s := range g.Profiles.All {
		work.Steps(1)
		v.profile(s)
	}
	for _, s := range g.Namespaced.All {
		work.Steps(1)
		v.namespaced(s)
	}
	v.noteGaps()
	return v, nil
}

// types returns the provider types of the verified profiles.
func (v *Verified) types() map[string]bool {
	types := map[string]bool{}
	for _, s := range v.given.Profiles.All {
		if asked(s, s.Object) {
			types[s.Object.Spec.Type] = true
		}
	}
	for _, s := range v.given.Namespaced.All {
		if !asked(s, s.Object) {
			continue
		}
		if parent := v.given.ParentOf(s); parent != nil && parent.Object != nil {
			types[parent.Object.Spec.Type] = true
		}
	}
	delete(types, "")
	return types
}

// asked reports whether to verify an object: it could be read, is not only there for references, and is not being deleted.
func asked[T any, P interface {
	*T
	metav1.Object
}](s *input.Source[T], object P) bool {
	return s.Object != nil && !s.Aside && object.GetDeletionTimestamp() == nil
}

func (v *Verified) cloud(of string) *verify.Cloud {
	if v.clouds[of] == nil {
		v.clouds[of] = verify.NewCloud(v.given.Providers[of], v.files.properties[of], v.files.inventories[of]...)
		v.usages[of] = verify.NewUsage(v.clouds[of])
		if _, describes := provider.As[inventory.Describer](v.given.Providers[of]); !describes && v.files.haveImages(of) {
			v.Notes = append(v.Notes, "images of provider "+words.Quoted(of)+" are not looked at: it is not known how profiles refer to those of an inventory")
		}
	}
	return v.clouds[of]
}

func (v *Verified) options() verify.Options {
	return verify.Options{At: v.flags.now, Strict: v.flags.strict}
}

func (v *Verified) profile(s *input.Source[v1beta1.CloudProfile]) {
	if !asked(s, s.Object) {
		return
	}
	p, fault := v.given.Compile(s, "spec.type")
	if fault != nil {
		v.cannot(s.Manifest, fault)
		return
	}
	cloud := v.cloud(s.Object.Spec.Type)
	report, unread := verify.CloudProfile(p, cloud, v.options())
	v.given.AddReport(s.Manifest, report)
	v.note(unread, s.Object.Spec.Type)
	verify.AddUsage(v.usages[s.Object.Spec.Type], p.Provider(), p.Spec())
}

func (v *Verified) namespaced(s *input.Source[v1beta1.NamespacedCloudProfile]) {
	if !asked(s, s.Object) {
		return
	}
	parent := v.given.ParentOf(s)
	switch {
	case parent == nil:
		if name := s.Object.Spec.Parent.Name; input.NamesParent(s.Object) {
			v.cannot(s.Manifest, v.given.Missing("CloudProfile", name, "spec.parent.name"))
		}
		return
	case parent.Object == nil:
		return
	}
	p, fault := v.given.Compile(parent, "spec.parent.name")
	if fault != nil {
		v.cannot(s.Manifest, fault)
		return
	}
	result, fault := v.given.CompileNamespaced(s, "spec.providerConfig")
	if fault != nil {
		v.cannot(s.Manifest, fault)
		return
	}
	object := v.given.StoredNamespaced(s)
	report, unread := verify.NamespacedCloudProfile(p, result, object, v.cloud(p.Spec().Type), v.options())
	v.given.AddReport(s.Manifest, report)
	v.note(unread, p.Spec().Type)
	verify.AddUsage(v.usages[p.Spec().Type], p.Provider(), &v1beta1.CloudProfileSpec{
		MachineTypes: object.Spec.MachineTypes, ProviderConfig: object.Spec.ProviderConfig,
	})
}

// cannot reports the reason why an object cannot be verified, unless lint does.
func (v *Verified) cannot(object *manifest.Object, fault *field.Error) {
	if v.incomplete = true; v.alone {
		v.given.AddErrors(object, fault)
	}
}

// nothing is the end of notes about unknown contents.
const nothing = ": nothing is concluded about that"

// note collects notes about unknown contents of a cloud, once for all profiles. With --strict they are findings, except gaps, which may be
// impossible to fill.
func (v *Verified) note(unread []verify.Unread, of string) {
	for _, u := range unread {
		if v.several {
			u.Region += " of " + words.Quoted(of)
		}
		note := u.String() + nothing
		switch gaps := v.gaps[u.Region]; {
		case u.Gap != "" && !slices.Contains(gaps, u.Gap):
			if v.gaps[u.Region] = append(gaps, u.Gap); len(gaps) == 0 {
				v.regions = append(v.regions, u.Region)
			}
		case u.Gap != "" || v.flags.strict:
		case len(u.Lists) == 0 && u.Meant == "":
			if !slices.Contains(v.absent, u.Region) {
				v.absent = append(v.absent, u.Region)
			}
		case !slices.Contains(v.Notes, note):
			v.Notes = append(v.Notes, note)
		}
	}
}

// noteGaps adds notes about regions without an inventory, and one note about the gaps of all regions that have the same ones.
func (v *Verified) noteGaps() {
	switch len(v.absent) {
	case 0:
	case 1:
		v.Notes = append(v.Notes, verify.Unread{Region: v.absent[0]}.String()+nothing)
	default:
		v.Notes = append(v.Notes, "there is no inventory of regions "+words.Few(v.absent)+nothing)
	}
	var said []string
	for _, region := range v.regions {
		gap := words.And(v.gaps[region])
		if slices.Contains(said, gap) {
			continue
		}
		said = append(said, gap)
		same := slices.DeleteFunc(slices.Clone(v.regions), func(other string) bool { return words.And(v.gaps[other]) != gap })
		v.Notes = append(v.Notes, verify.Unread{Gap: gap, Region: words.Few(same)}.String()+nothing)
	}
}
