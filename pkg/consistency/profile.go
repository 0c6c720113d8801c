// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"cmp"
	"maps"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// Profile is a CloudProfile, compiled: vocabulary, machine types and images. It is immutable and safe for concurrent
// use. [Compile] makes one.
type Profile[R any] struct {
	provider   provider.Provider[R]
	spec       *v1beta1.CloudProfileSpec
	at         *field.Path
	vocabulary *capability.Vocabulary
	// catalog has the image versions that the profile lists itself, and all those of its parent as well.
	catalog, all *imageselector.Catalog[R]
	// machines are the machine types, and usable the names of those that can be used, in the order of the profile, those
	// of the parent first.
	machines map[string]machine
	usable   []string
	// regions of the profile, and those that the provider config has images for.
	regions      []string
	imageRegions sets.Set[string]
	// ordinary is the request of a worker pool that asks for nothing special. simple says that this is all there is to say
	// of a pool without settings: the provider looks at its providerConfig only, and nothing of the request is unmet.
	ordinary capability.Set
	simple   bool
	// core holds the image versions of core, those of the parent included; of two of one name the first.
	core map[imageVersion]*v1beta1.MachineImageVersion
	// offered are the reserved capabilities that flavors of the provider config declare, those of the parent included.
	offered sets.Set[string]
	// validator holds the provider's own rules; nil if there are none.
	validator provider.Validator
	// doubtful holds the paths of the flavors in the catalog that the check refuses.
	doubtful map[*field.Path]bool
	// faults are the errors of a CloudProfile, those silenced included.
	faults finding.Report
	// causes returns the errors for which worker pools may get no image; nil if there are none.
	causes func() causes
	// lost has, for image versions that the provider config seems to lack, where something could not be read.
	lost map[imageVersion]string
	// mapped are the images of the provider config as written; nil in a profile without errors.
	mapped []imageselector.Image[R]
}

type machine struct {
	written *v1beta1.MachineType
	set     capability.Set
	// named is true if the machine type names its architecture. Otherwise a worker pool may.
	named bool
}

// Vocabulary returns the profile's vocabulary.
func (p *Profile[R]) Vocabulary() *capability.Vocabulary { return p.vocabulary }

// Catalog returns the image versions that core lists, with the flavors of the provider config. A legacy flavor has the
// capabilities of the core flavor that it corresponds to (semantics S8).
func (p *Profile[R]) Catalog() *imageselector.Catalog[R] { return p.catalog }

// LeftToDefault returns the registered capabilities of which a machine type supports several values because it leaves them out
// (semantics S2), in the order of the vocabulary.
func (p *Profile[R]) LeftToDefault(machineType string) []string {
	m, found := p.machines[machineType]
	if !found {
		return nil
	}
	var names []string
	for _, def := range p.vocabulary.Definitions() {
		_, declared := m.written.Capabilities[def.Name]
		if !declared && len(m.set.Values(def.Name)) > 1 {
			names = append(names, def.Name)
		}
	}
	return names
}

// machineSet compiles what a machine type supports; its architecture is found in the order of semantics S2. pool is the
// architecture that a worker pool asks for, or empty.
func (p *Profile[R]) machineSet(t *v1beta1.MachineType, pool string) capability.Set {
	declared := v1beta1.Capabilities{}
	if !p.vocabulary.Legacy() {
		maps.Copy(declared, t.Capabilities)
	}
	if _, found := declared[capability.Architecture]; !found {
		only := ""
		if registered := p.vocabulary.Registered(capability.Architecture); len(registered) == 1 {
			only = registered[0]
		}
		declared[capability.Architecture] = v1beta1.CapabilityValues{
			cmp.Or(ptr.Deref(t.Architecture, ""), pool, only, constants.ArchitectureAMD64),
		}
	}
	set, _ := p.vocabulary.Set(declared, nil)
	return set
}
