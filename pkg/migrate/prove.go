// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"path"
	"reflect"
	"slices"
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/provider"
)

// Difference is a worker pool that boots something else after a migration than it should.
type Difference struct {
	Pool provider.Pool
	// Before is what it should boot, and After what it does; nil stands for nothing.
	Before, After any
}

// Proof compares what worker pools boot before and after a migration.
type Proof struct {
	before, after *consistency.Profile[any]
	spec          *v1beta1.CloudProfileSpec
	options       Options
	// listed are the image versions after the migration.
	listed map[string]bool
}

// NewProof compares the specs of two profiles, as the API server has them, or as they are rendered. Neither may be changed any
// more.
func NewProof(cloud provider.Provider[any], before, after *v1beta1.CloudProfileSpec, options Options) *Proof {
	p := &Proof{spec: before, options: options, listed: map[string]bool{}}
	p.before, _ = consistency.Compile(cloud, before, field.NewPath("spec"))
	p.after, _ = consistency.Compile(cloud, after, field.NewPath("spec"))
	for _, image := range after.MachineImages {
		for i := range image.Versions {
			p.listed[image.Name+"@"+image.Versions[i].Version] = true
		}
	}
	return p
}

// Pool returns the difference for a worker pool that there is: it has to boot what it boots, whatever the options say. Nil: it
// does.
func (p *Proof) Pool(pool provider.Pool) *Difference {
	was, booted := p.before.Image(pool)
	return p.differs(pool, was, booted)
}

func (p *Proof) differs(pool provider.Pool, was any, booted bool) *Difference {
	is, boots := p.after.Image(pool)
	if booted == boots && reflect.DeepEqual(was, is) {
		return nil
	}
	d := &Difference{Pool: pool}
	if booted {
		d.Before = was
	}
	if boots {
		d.After = is
	}
	return d
}

// workers are the requests for reserved capabilities: none, and each alone.
func workers() []capability.Worker {
	all := []capability.Worker{{}, {SecureBoot: true}, {UpdateStrategy: v1beta1.AutoInPlaceUpdate}}
	for _, gpu := range []string{"nvidia", "amd", "intel", "none"} {
		all = append(all, capability.Worker{GPU: ptr.To(gpu)})
	}
	return all
}

// Combinations returns the differences for all worker pools that there could be: every image version on every machine type in every
// region, for every request, and for every architecture if the
// machine type names none, in the order of the profile. An image version that is folded away does not count, and
// one that another one has been folded into has to boot, on the machine types that support the Value of the fold alone, what
// that one booted.
func (p *Proof) Combinations() []Difference {
	var found []Difference
	for _, image := range p.spec.MachineImages {
		for i := range image.Versions {
			version := image.Versions[i].Version
			if f := p.options.Fold; f != nil && strings.HasSuffix(version, f.Suffix) && !p.listed[image.Name+"@"+version] {
				continue
			}
			for k := range p.spec.MachineTypes {
				name := p.spec.MachineTypes[k].Name
				instead := p.instead(image, version, name)
				for _, region := range p.spec.Regions {
					pool := provider.Pool{Image: image.Name, Version: version, MachineType: name, Region: region.Name}
					found = append(found, p.requests(pool, instead)...)
				}
			}
		}
	}
	return found
}

// requests returns the differences for one combination. instead is the version that booted before what it is to boot.
func (p *Proof) requests(pool provider.Pool, instead string) []Difference {
	var found []Difference
	architectures := []string{""}
	if t := v1beta1helper.FindMachineTypeByName(p.spec.MachineTypes, pool.MachineType); ptr.Deref(t.Architecture, "") == "" {
		architectures = append(architectures, constants.ArchitectureAMD64, constants.ArchitectureARM64) // it is the pool that may say it
	}
	for _, architecture := range architectures {
		for _, worker := range workers() {
			pool.Architecture, pool.Worker = architecture, worker
			before := pool
			before.Version = instead
			was, booted := p.before.Image(before)
			if d := p.differs(pool, was, booted); d != nil {
				found = append(found, *d)
			}
		}
	}
	return found
}

// instead returns the version of an image that booted on a machine type before what a version is to boot there: itself, but
// where the fold says otherwise.
func (p *Proof) instead(image v1beta1.MachineImage, version, machineType string) string {
	f := p.options.Fold
	if f == nil || !slices.ContainsFunc(p.options.MachineTypes, func(pattern string) bool { fits, _ := path.Match(pattern, machineType); return fits }) {
		return version
	}
	if slices.ContainsFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool { return v.Version == version+f.Suffix }) {
		return version + f.Suffix
	}
	return version
}
