// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/api"
	"github.com/gardener/gardener/pkg/api/core/validation"
	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/namespaced"
)

// ValidateUpdate runs Gardener's own validation on an update of a CloudProfile, as its API server would. What its admission
// says about those who use what the update takes away is not in it; package plan has that. The metadata of old does not
// count. The errors are as those of [Validate].
func ValidateUpdate(updated, old *v1beta1.CloudProfile) field.ErrorList {
	registerFeatureGates()
	var is, was core.CloudProfile
	if err := convertUpdate(updated.DeepCopy(), old.DeepCopy(), &is, &was); err != nil {
		return err
	}
	stay(&is.ObjectMeta, &was.ObjectMeta)
	return byCore(slices.DeleteFunc(validation.ValidateCloudProfileUpdate(&is, &was), filledIn))
}

// ValidateNamespacedUpdate does the same for an update of a NamespacedCloudProfile, with the admission that looks at its
// parent and at what the two result in; see [ValidateNamespaced].
func ValidateNamespacedUpdate(
	updated, old *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, ignore func(*field.Error) bool,
) field.ErrorList {
	registerFeatureGates()
	var is, was core.NamespacedCloudProfile
	if err := convertUpdate(updated.DeepCopy(), old.DeepCopy(), &is, &was); err != nil {
		return err
	}
	stay(&is.ObjectMeta, &was.ObjectMeta)
	errs := byCore(slices.DeleteFunc(validation.ValidateNamespacedCloudProfileUpdate(&is, &was), filledIn))
	if len(errs) > 0 {
		return errs
	}
	if errs = admitted(&is, &was, parent); len(errs) == 0 && len(Validate(parent)) == 0 {
		errs = validateResult(updated, namespaced.Merge(updated, SyncArchitectures(parent)))
	}
	if ignore != nil {
		errs = slices.DeleteFunc(errs, ignore)
	}
	return byCore(errs)
}

// convertUpdate converts both objects of an update, which it gives Gardener's defaults, to is and was.
func convertUpdate(updated, old, is, was runtime.Object) field.ErrorList {
	for _, o := range [][2]runtime.Object{{updated, is}, {old, was}} {
		SetDefaults(o[0])
		if err := api.Scheme.Convert(o[0], o[1], nil); err != nil {
			return field.ErrorList{{
				Type: field.ErrorTypeInternal, Detail: fmt.Sprintf("converting the object: %v", err), Origin: RuleCore,
			}}
		}
	}
	return nil
}

// stay makes the metadata of an update such that it is the object's own: manifests may have been read at different times.
func stay(updated, old *metav1.ObjectMeta) {
	updated.ResourceVersion = "1"
	updated.DeepCopyInto(old)
}
