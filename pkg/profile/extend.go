// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Extend compiles spec, the result of merging a NamespacedCloudProfile into its parent, like [Compile], but starts from the compiled
// parent. It reads and compares only the additions of the NamespacedCloudProfile. It returns nil, so that the caller must use Compile, if
// either has errors, if images have the other format, or if the NamespacedCloudProfile changes what its parent defines. The profile keeps
// spec.
func Extend[R any](parent *Profile[R], object *v1beta1.NamespacedCloudProfile, spec *v1beta1.CloudProfileSpec) *Profile[R] {
	r := newReading(parent.provider, spec, nil)
	if len(parent.faults.Errors)+len(parent.faults.Silenced) > 0 || r.deriver != nil || extendsLists(parent.provider, object) || !parent.keeps(r) {
		return nil
	}
	r.extended, r.vocabulary, r.inherited = parent, parent.vocabulary, parent.core
	r.reserved = sync.OnceValue(func() bool {
		own := &v1beta1.CloudProfileSpec{MachineTypes: object.Spec.MachineTypes, MachineImages: object.Spec.MachineImages}
		return parent.reserved || entries.DeclareReserved(own, r.Images)
	})
	r.readOwn(object.Spec.ProviderConfig, r.At.Child("providerConfig"))
	if r.Unread.Any() || !parent.lacks(r.Images) {
		return nil
	}
	r.validator = parent.validator // its rules are not about images
	r.checkMachineTypes()
	r.checkReservedNames(parent.names)
	r.validateConfig()
	r.compare()
	if len(r.Report.Errors)+len(r.Report.Silenced) > 0 {
		return nil
	}
	r.Catalog = parent.catalog.With(r.Catalog)
	return newProfile(r)
}

// extendsLists reports whether a NamespacedCloudProfile's provider config merges other lists than images, or cannot be decoded.
func extendsLists[R any](cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile) bool {
	extender, extends := provider.As[provider.ListExtender](cloud)
	if !extends || !providerconfig.HasContent(object.Spec.ProviderConfig) {
		return false
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(object.Spec.ProviderConfig.Raw, &members)
	return err != nil || slices.ContainsFunc(extender.NamespacedLists(), func(list provider.List) bool { return members[list.Field] != nil })
}

// readOwn decodes the provider config of a NamespacedCloudProfile, if it has one, at its path in the merged spec.
func (r *Reading[R]) readOwn(config *runtime.RawExtension, at *field.Path) {
	if providerconfig.HasContent(config) {
		read, report := r.provider.Decode(config, at)
		r.Images, r.Unread, r.Report = read.Images, providerconfig.UnreadIn(report.Errors, at), report
	}
}

// keeps reports whether a reading of the merged spec has all image versions of the profile, with the same flavors.
func (p *Profile[R]) keeps(r *Reading[R]) bool {
	for id, version := range p.core {
		if is := r.core[id]; is == nil || !sameFlavors(version, is, p.vocabulary.Legacy()) {
			return false
		}
	}
	return true
}

// sameFlavors reports whether an image version of the merged spec supports the same as the parent's. Flavors are the same only if both
// share one slice. Architectures matter only in a profile without capabilities, because Gardener fills them in.
func sameFlavors(a, b *v1beta1.MachineImageVersion, legacy bool) bool {
	return (!legacy || slices.Equal(a.Architectures, b.Architectures)) && len(a.CapabilityFlavors) == len(b.CapabilityFlavors) &&
		(len(a.CapabilityFlavors) == 0 || &a.CapabilityFlavors[0] == &b.CapabilityFlavors[0]) && reflect.DeepEqual(Undeclared(a), Undeclared(b))
}

// lacks reports whether images have the format of the profile, and the profile maps none of their versions.
func (p *Profile[R]) lacks(images []imageselector.Image[R]) bool {
	for id, version := range entries.Mappings(images) {
		if version.Legacy != p.vocabulary.Legacy() || p.core[id] != nil || p.unlisted.Has(id) {
			return false
		}
	}
	return true
}
