// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
)

// Back returns a manifest in the legacy format, in which capabilities can only declare an architecture. The
// deprecated architecture fields stay, and are written where they are needed. A manifest in the legacy format is not
// changed. The Parent of a NamespacedCloudProfile is the one before the migration. Errors are as for [Forward].
func Back(cloud provider.Provider[any], input Input) (result Result, errs field.ErrorList, err error) {
	p, err := read(cloud, input)
	if err != nil {
		return Result{}, nil, err
	}
	if len(p.errs) > 0 {
		return p.result(nil)
	}
	for i, c := range p.spec.MachineCapabilities {
		p.refuseOthers(fmt.Sprintf("spec.machineCapabilities[%d]", i), c.Name)
	}
	p.spec.MachineCapabilities = nil
	for i := range p.spec.MachineTypes {
		p.backMachineType(i)
	}
	if len(p.capabilities) == 0 {
		return p.result(nil)
	}
	filled := p.fill(p.capabilities)
	for v := range entries.Versions(&p.spec) {
		p.backVersion(v, versionIn(filled, v).CapabilityFlavors)
	}
	if p.input.Parent != nil { // Gardener requires it of a child until its parent is migrated back
		for _, v := range p.unfilled(p.capabilities) {
			v.Architectures = architecturesOf(v)
		}
	}
	if len(p.errs) == 0 {
		p.rewrite(provider.FormatLegacy, func(provider.ImageVersion) bool { return true })
	}
	return p.result(nil)
}

// refuseOthers reports a capability other than the architecture.
func (p *document) refuseOthers(at, name string) {
	if name != capability.Architecture {
		p.fail(at, "capability %s says more than an architecture, which the legacy format has no place for; remove it everywhere first", name)
	}
}

// refuseIn reports the capabilities at a path other than the architecture.
func (p *document) refuseIn(at string, capabilities v1beta1.Capabilities) {
	for _, name := range slices.Sorted(maps.Keys(capabilities)) {
		p.refuseOthers(at+"."+name, name)
	}
}

// architecturesNamed returns the architectures in capabilities. The default is the only registered one, or amd64 if there are several.
func (p *document) architecturesNamed(capabilities v1beta1.Capabilities) []string {
	if named := capabilities[capability.Architecture]; len(named) > 0 {
		return named
	}
	if registered := architecturesIn(p.capabilities); len(registered) == 1 {
		return registered
	}
	return []string{constants.ArchitectureAMD64}
}

// backMachineType removes a machine type's capabilities, and sets its architecture unless it is set.
func (p *document) backMachineType(i int) {
	t := &p.spec.MachineTypes[i]
	p.refuseIn(fmt.Sprintf("spec.machineTypes[%d].capabilities", i), t.Capabilities)
	architecture := p.architecturesNamed(t.Capabilities)[0]
	t.Capabilities = nil
	if ptr.Deref(t.Architecture, "") == "" && architecture != constants.ArchitectureAMD64 {
		t.Architecture = &architecture
	}
}

// backVersion removes an image version's flavors, and lists their architectures unless they are listed. filled are
// the flavors after admission.
func (p *document) backVersion(version entries.Version, filled []v1beta1.MachineImageFlavor) {
	for n, flavor := range version.CapabilityFlavors {
		p.refuseIn(fmt.Sprintf("%s.capabilityFlavors[%d]", pathOf(version), n), flavor.Capabilities)
	}
	version.CapabilityFlavors = nil
	var architectures []string
	for _, flavor := range filled { // each of another architecture: others are refused
		architectures = append(architectures, p.architecturesNamed(flavor.Capabilities)...)
	}
	if len(architectures) == 0 && p.input.Parent == nil {
		architectures = p.architecturesNamed(nil)
	}
	if len(version.Architectures) == 0 && len(architectures) > 0 && !slices.Equal(architectures, []string{constants.ArchitectureAMD64}) {
		version.Architectures = architectures
	}
}
