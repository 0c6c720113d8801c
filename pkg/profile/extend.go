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

// Extend compiles the spec that a NamespacedCloudProfile and its parent result in, which it keeps, as [Compile] does, from the compiled
// parent: only what the NamespacedCloudProfile adds is read and compared. Where there is more to do it returns nil: if one of the two has
// errors or images in the other format, or the NamespacedCloudProfile changes what its parent has.
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
	r.validator = parent.validator // whose rules are not about images
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

// extendsLists reports whether a NamespacedCloudProfile has more than images in its provider config that is merged, or what nobody can read.
func extendsLists[R any](cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile) bool {
	extender, extends := provider.As[provider.ListExtender](cloud)
	if !extends || !providerconfig.HasContent(object.Spec.ProviderConfig) {
		return false
	}
	var members map[string]json.RawMessage
	err := json.Unmarshal(object.Spec.ProviderConfig.Raw, &members)
	return err != nil || slices.ContainsFunc(extender.NamespacedLists(), func(list provider.List) bool { return members[list.Field] != nil })
}

// readOwn decodes the provider config of a NamespacedCloudProfile, if it has one, for what results of it.
func (r *Reading[R]) readOwn(config *runtime.RawExtension, at *field.Path) {
	if providerconfig.HasContent(config) {
		read, report := r.provider.Decode(config, at)
		r.Images, r.Unread, r.Report = read.Images, providerconfig.UnreadIn(report.Errors, at), report
	}
}

// keeps reports whether a reading of the resulting spec has all image versions of the profile, with the same flavors.
func (p *Profile[R]) keeps(r *Reading[R]) bool {
	for id, version := range p.core {
		if is := r.core[id]; is == nil || !sameFlavors(version, is, p.vocabulary.Legacy()) {
			return false
		}
	}
	return true
}

// sameFlavors reports whether an image version of the resulting spec supports what that of the parent does: the two share their flavors,
// unless those were written anew. Gardener fills in architectures, which count in a profile without capabilities only.
func sameFlavors(a, b *v1beta1.MachineImageVersion, legacy bool) bool {
	return (!legacy || slices.Equal(a.Architectures, b.Architectures)) && len(a.CapabilityFlavors) == len(b.CapabilityFlavors) &&
		(len(a.CapabilityFlavors) == 0 || &a.CapabilityFlavors[0] == &b.CapabilityFlavors[0]) && reflect.DeepEqual(Undeclared(a), Undeclared(b))
}

// lacks reports whether images are in the format of the profile, and none of their versions is mapped in it.
func (p *Profile[R]) lacks(images []imageselector.Image[R]) bool {
	for id, version := range entries.Mappings(images) {
		if version.Legacy != p.vocabulary.Legacy() || p.core[id] != nil || p.unlisted.Has(id) {
			return false
		}
	}
	return true
}
