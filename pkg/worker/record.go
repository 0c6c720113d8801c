// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// Record is an image that worker pools boot, as all providers store it in the list machineImages of their WorkerStatus.
type Record[R any] struct {
	// Image and Version as in the profile.
	Image, Version string
	// Architecture of an image from a profile without capabilities; empty for amd64, or if there are Capabilities.
	Architecture string
	// Capabilities that the flavor declared, in a profile with capabilities; nil for none.
	Capabilities v1beta1.Capabilities
	// Implied are capabilities that further fields of the legacy format imply, such as Azure's acceleratedNetworking; nil for none. See
	// [imageselector.Flavor].
	Implied v1beta1.Capabilities
	// Reference that was booted.
	Reference R
}

// flavor returns the record's image as a flavor. A record without declarations is for amd64, as in the legacy format. If the vocabulary
// does not register amd64, its flavor leaves out everything.
func (r *Record[R]) flavor(v *capability.Vocabulary) imageselector.Flavor[R] {
	declared := r.Capabilities
	if len(declared) == 0 && (r.Architecture != "" || slices.Contains(v.Registered(capability.Architecture), v1beta1constants.ArchitectureAMD64)) {
		declared = v1beta1.Capabilities{
			capability.Architecture: {cmp.Or(r.Architecture, v1beta1constants.ArchitectureAMD64)},
		}
	}
	return imageselector.Flavor[R]{
		Capabilities: declared, Implied: r.Implied, Global: &imageselector.Global[R]{Ref: r.Reference},
	}
}

func (r *Record[R]) isOf(image, version string) bool { return r.Image == image && r.Version == version }

// Records returns the records of a Worker's status for the images of its pools: each once, in their order. The caller owns the list, but
// not its content.
func Records[R any](images []Image[R]) []Record[R] {
	var records []Record[R]
	for i := range images {
		same := func(r Record[R]) bool { return reflect.DeepEqual(r, images[i].Record) }
		if !slices.ContainsFunc(records, same) {
			records = append(records, images[i].Record)
		}
	}
	return records
}

// recordOf returns the record of a booted flavor, in the profile's format.
func (s *Images[R]) recordOf(image, version string, flavor *imageselector.Flavor[R], ref R) Record[R] {
	r := Record[R]{Image: image, Version: version, Reference: ref}
	if !s.profile.Vocabulary().Legacy() {
		r.Capabilities = flavor.Capabilities
		return r
	}
	r.Implied = flavor.Implied
	if values := flavor.Capabilities[capability.Architecture]; len(values) > 0 {
		r.Architecture = values[0]
	}
	return r
}
