// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

// Back returns what a manifest becomes in the legacy format, for which no capability may say more than an architecture. The
// deprecated fields for architectures stay, and are written where they would be missed. A manifest that is there already stays as
// it is. Of a NamespacedCloudProfile the Parent is the one that it has before. Errors are as those of [Forward].
func Back(cloud provider.Provider[any], input Input) (result Result, errs field.ErrorList, err error) {
	p, err := read(cloud, input)
	if err != nil {
		return Result{}, nil, err
	}
	if len(p.errs) > 0 {
		return p.result(nil)
	}
	for i, c := range p.written.MachineCapabilities {
		if c.Name != capability.Architecture {
			p.fail(fmt.Sprintf("spec.machineCapabilities[%d]", i),
				"capability %s says more than an architecture, which the legacy format has no place for; remove it everywhere first", c.Name)
		}
	}
	delete(p.spec, "machineCapabilities")
	p.backMachineTypes()
	p.backVersions()
	if len(p.capabilities) > 0 && len(p.errs) == 0 {
		p.rewrite(provider.FormatLegacy, func(string, string) bool { return true })
	}
	return p.result(nil)
}

// only returns the only registered architecture, or amd64 if there are several.
func (p *document) only() string {
	if registered := architecturesIn(p.capabilities); len(registered) == 1 {
		return registered[0]
	}
	return constants.ArchitectureAMD64
}

// sayMore reports the capabilities at a path that say more than an architecture.
func (p *document) sayMore(at string, capabilities v1beta1.Capabilities) {
	for _, name := range slices.Sorted(maps.Keys(capabilities)) {
		if name != capability.Architecture {
			p.fail(at+"."+name, "capability %s says more than an architecture, which the legacy format has no place for; remove it everywhere first", name)
		}
	}
}

func (p *document) backMachineTypes() {
	for i := range p.written.MachineTypes {
		t := &p.written.MachineTypes[i]
		p.sayMore(fmt.Sprintf("spec.machineTypes[%d].capabilities", i), t.Capabilities)
		tree := entry(p.spec["machineTypes"], i)
		delete(tree, "capabilities")
		architecture := p.only()
		if named := t.Capabilities[capability.Architecture]; len(named) > 0 {
			architecture = named[0]
		}
		if tree != nil && ptr.Deref(t.Architecture, "") == "" && architecture != constants.ArchitectureAMD64 {
			tree["architecture"] = architecture
		}
	}
}

func (p *document) backVersions() {
	if len(p.capabilities) == 0 {
		return
	}
	for i, image := range p.filled(p.capabilities) {
		for k := range image.Versions {
			for n, flavor := range p.written.MachineImages[i].Versions[k].CapabilityFlavors {
				p.sayMore(fmt.Sprintf("spec.machineImages[%d].versions[%d].capabilityFlavors[%d]", i, k, n), flavor.Capabilities)
			}
			p.backVersion(place{i, k}, &image.Versions[k])
		}
	}
}

// backVersion takes away the flavors of an image version, and lists their architectures unless they are listed. filled has the
// flavors that admission fills in.
func (p *document) backVersion(at place, filled *v1beta1.MachineImageVersion) {
	tree := p.coreVersion(at)
	delete(tree, "capabilityFlavors")
	var architectures []string
	for _, flavor := range filled.CapabilityFlavors {
		named := []string(flavor.Capabilities[capability.Architecture])
		if len(named) == 0 {
			named = []string{p.only()}
		}
		for _, architecture := range named {
			if !slices.Contains(architectures, architecture) {
				architectures = append(architectures, architecture)
			}
		}
	}
	if len(architectures) == 0 && p.input.Parent == nil {
		architectures = []string{p.only()}
	}
	amd64 := slices.Equal(architectures, []string{constants.ArchitectureAMD64})
	if tree != nil && len(filled.Architectures) == 0 && len(architectures) > 0 && !amd64 {
		tree["architectures"] = texts(architectures)
	}
}
