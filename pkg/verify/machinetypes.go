// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/words"
)

// offered is a machine type that worker pools can use.
type offered struct {
	*v1beta1.MachineType
	at *field.Path
}

// machineTypes checks the usable machine types. If a name is used twice, which core refuses, the first entry wins.
func (v *verifier[R]) machineTypes() {
	seen := map[string]bool{}
	for i := range v.spec.MachineTypes {
		t := offered{&v.spec.MachineTypes[i], field.NewPath("spec", "machineTypes").Index(i)}
		if !ptr.Deref(t.Usable, true) || seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		var without []*region
		somewhere := false
		for k, r := range v.known {
			if !v.has(r, inventory.ListMachineTypes) {
				continue
			}
			has := r.types[t.Name]
			somewhere = somewhere || has != nil
			switch {
			case v.withoutType(k, t.Name):
			case has == nil:
				without = append(without, r)
			default:
				v.machineType(t, has, r)
				v.zonesOf(t, has, k)
			}
		}
		v.typeMissing(t, without, somewhere)
	}
}

// typeMissing reports the regions that lack a machine type. If none has it, that is a single error.
func (v *verifier[R]) typeMissing(t offered, without []*region, somewhere bool) {
	rule := ruleTypeMissing
	if !somewhere {
		rule.Severity = finding.SeverityError
	}
	for _, r := range without {
		meant := r.spellTypes().Slip(t.Name)
		found := claim{
			rule: rule, kind: field.ErrorTypeNotFound, at: t.at.Child("name"), value: t.Name,
			what: "the cloud has no machine type " + words.Quoted(t.Name), hint: words.DidYouMean(meant), meant: meant,
		}
		switch {
		case somewhere: // one for each region
			found.hint, found.meant = ", but other regions have it: list it in unavailableMachineTypes of each zone of "+r.Name, ""
			found.about = r.Name
		case meant == "":
			found.hint = v.alike(t, r)
		}
		v.claims.add(found, r.Name)
	}
}

// alike suggests machine types of a region with the size of a missing one that the profile does not have yet.
func (v *verifier[R]) alike(t offered, r *region) string {
	var names []string
	for i := range r.MachineTypes {
		of := &r.MachineTypes[i]
		_, taken := v.profile.Machine(of.Name)
		if !taken && of.CPU != nil && of.MemoryMiB != nil && t.CPU.CmpInt64(*of.CPU) == 0 && mebibytes(t.Memory) == *of.MemoryMiB {
			names = append(names, of.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	if len(names) == 1 {
		return "; " + words.Quoted(names[0]) + " is as large"
	}
	return "; " + words.Few(names) + " are as large"
}

// mebibytes returns a quantity in mebibytes, rounded down.
func mebibytes(q resource.Quantity) int64 { return q.Value() >> 20 }

// machineType compares the size, architecture and disk of a machine type with the cloud's.
func (v *verifier[R]) machineType(t offered, has *inventory.MachineType, r *region) {
	size := func(name, size string, of func(*inventory.MachineType) *int64, want *int64, written resource.Quantity, right string) {
		is := of(has)
		if is == nil || *is == *want {
			return
		}
		found := claim{
			rule: ruleTypeSize, kind: field.ErrorTypeInvalid, at: t.at.Child(name), value: written.String(), meant: right,
			what: "machine type " + words.Quoted(t.Name), about: right,
			hint: fmt.Sprintf(" has %s, and not %s; write %s", size, written.String(), right),
		}
		if other := v.otherwise(t, func(there *inventory.MachineType) bool { return ptr.Deref(of(there), *is) != *is }); other != "" {
			found.meant = ""
			found.hint = fmt.Sprintf(" has %s, and not %s; in region %s it has another size%s", size, written.String(), other, makeTheSame)
		}
		v.claims.add(found, r.Name)
	}
	whole := func(q resource.Quantity) *int64 { // a fraction equals no whole number
		n := q.MilliValue()
		if n%1000 != 0 {
			return ptr.To(int64(-1))
		}
		return ptr.To(n / 1000)
	}
	text := func(n *int64) string { return strconv.FormatInt(ptr.Deref(n, 0), 10) }
	count := func(n *int64, noun string) string { return words.Count(int(ptr.Deref(n, 0)), noun) }
	cpu := func(of *inventory.MachineType) *int64 { return of.CPU }
	gpu := func(of *inventory.MachineType) *int64 { return of.GPU }
	memory := func(of *inventory.MachineType) *int64 { return of.MemoryMiB }
	size("cpu", count(has.CPU, "CPU"), cpu, whole(t.CPU), t.CPU, text(has.CPU))
	size("gpu", count(has.GPU, "GPU"), gpu, whole(t.GPU), t.GPU, text(has.GPU))
	size("memory", text(has.MemoryMiB)+" MiB of memory", memory, ptr.To(mebibytes(t.Memory)), t.Memory,
		resource.NewQuantity(ptr.Deref(has.MemoryMiB, 0)<<20, resource.BinarySI).String())
	v.architecture(t, has, r)
	if has.DiskGiB != nil && *has.DiskGiB == 0 && v.OwnDisk != nil && v.OwnDisk(t.MachineType) {
		v.claims.add(claim{
			rule: ruleTypeDisk, kind: field.ErrorTypeRequired, at: t.at.Child("storage"),
			what: "machine type " + words.Quoted(t.Name),
			hint: " has no disk of its own; without a volume, the root disk of a worker pool is as small as its image: " +
				"give the machine type a storage, with class, type and size",
		}, r.Name)
	}
}

// makeTheSame is the advice about a machine type that differs between regions, so that no value in the profile is right for all.
const makeTheSame = ": make it the same in all regions, or list it in unavailableMachineTypes of the zones where it differs"

// otherwise returns the first region that offers a machine type and where it differs, or "".
func (v *verifier[R]) otherwise(t offered, differs func(*inventory.MachineType) bool) string {
	for k, r := range v.known {
		has := r.types[t.Name]
		if has != nil && differs(has) && v.has(r, inventory.ListMachineTypes) && !v.withoutType(k, t.Name) {
			return r.Name
		}
	}
	return ""
}

// withoutType reports whether all zones of a region, given by its index in known, list a machine type as unavailable.
func (v *verifier[R]) withoutType(known int, name string) bool {
	return unavailable(v.regional[known], name, func(z *v1beta1.AvailabilityZone) []string { return z.UnavailableMachineTypes })
}

// architecture compares the architecture of a machine type with the cloud's.
func (v *verifier[R]) architecture(t offered, has *inventory.MachineType, r *region) {
	machine, _ := v.profile.Machine(t.Name)
	values := machine.Set.Values(capability.Architecture)
	if has.Architecture == "" || slices.Contains(values, has.Architecture) {
		return
	}
	at := t.at.Child("architecture")
	if _, declared := t.Capabilities[capability.Architecture]; declared {
		at = t.at.Child("capabilities", capability.Architecture)
	}
	is := fmt.Sprintf(" has the architecture %s, and not %s", words.Quoted(has.Architecture), words.Or(values))
	found := claim{
		rule: ruleTypeArchitecture, kind: field.ErrorTypeInvalid, at: at, value: words.Or(values),
		what: "machine type " + words.Quoted(t.Name), about: has.Architecture, meant: has.Architecture,
		hint: is + "; write " + words.Quoted(has.Architecture),
	}
	if other := v.otherwise(t, func(there *inventory.MachineType) bool {
		return there.Architecture != "" && there.Architecture != has.Architecture
	}); other != "" {
		found.meant = ""
		found.hint = is + fmt.Sprintf("; in region %s it has another one", other) + makeTheSame
	}
	v.claims.add(found, r.Name)
}

// zonesOf reports the zones in which the cloud does not offer a machine type. The region is given by its index in known. For a
// NamespacedCloudProfile, the findings are at the machine type, because the zones are in its parent.
func (v *verifier[R]) zonesOf(t offered, has *inventory.MachineType, known int) {
	r, written := v.known[known], v.regional[known]
	if has.Zones == nil {
		return
	}
	index := slices.IndexFunc(v.profile.Spec().Regions, func(region v1beta1.Region) bool { return region.Name == r.Name })
	for k := range written.Zones {
		zone := &written.Zones[k]
		if slices.Contains(has.Zones, zone.Name) || slices.Contains(zone.UnavailableMachineTypes, t.Name) || !r.takesServers(zone.Name) {
			continue
		}
		at := field.NewPath("spec", "regions").Index(index).Child("zones").Index(k).Child("unavailableMachineTypes")
		if v.nested {
			at = t.at.Child("name")
		}
		hint := "; to be added to unavailableMachineTypes of the zone"
		if len(has.Zones) > 0 {
			hint = ", but in " + words.Few(has.Zones) + hint
		}
		v.claims.add(claim{
			rule: ruleZoneType, kind: field.ErrorTypeRequired, at: at,
			what: fmt.Sprintf("machine type %s: not offered in zone %s of region %s", words.Quoted(t.Name), words.Quoted(zone.Name), r.Name), hint: hint,
		}, "")
	}
}
