// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
)

// The fields by which Gardener's API server selects Shoots, spelt as there. Its internal API has the constants.
const (
	shootCloudProfileName    = "spec.cloudProfileName"
	shootCloudProfileRefName = "spec.cloudProfile.Name"
	shootCloudProfileRefKind = "spec.cloudProfile.Kind"
)

// Page sizes of requests to the API server. A NamespacedCloudProfile includes the status that Gardener has rendered, which may be as
// large as an object can be. Of a Shoot, only the metadata is read.
const (
	shootsAtOnce   = 500
	childrenAtOnce = 10
)

// checkType returns an error if an update changes the type of a CloudProfile while others use it (semantics S10). API servers call the
// components of both types, because the webhook's selector matches the old or the new object.
func (c *component) checkType(ctx context.Context, object, old *v1beta1.CloudProfile) (finding.Report, error) {
	if old == nil || object.Spec.Type == old.Spec.Type {
		return finding.Report{}, nil
	}
	users, err := c.usersOfOtherTypes(ctx, object)
	if err != nil || len(users) == 0 {
		return finding.Report{}, err
	}
	return finding.Failed(check.TypeInUse(object, old, users)), nil
}

// usersOfOtherTypes returns the users of a CloudProfile that are not of its type: Shoots that use it directly or through a
// NamespacedCloudProfile, and NamespacedCloudProfiles that no Shoot uses. The label of a Shoot is its own type. The label of a
// NamespacedCloudProfile is its parent's type, and changes whenever Gardener writes it, so it is not used.
//
// It reads from the API server. The informers see only objects with the provider's label, which may be either of the two types, and they
// may lag behind.
func (c *component) usersOfOtherTypes(ctx context.Context, profile *v1beta1.CloudProfile) ([]string, error) {
	var users []string
	of := "CloudProfile " + profile.Name + ", so nothing was checked"
	children, shootMetadata := &v1beta1.NamespacedCloudProfileList{}, &metav1.PartialObjectMetadataList{}
	shootMetadata.SetGroupVersionKind(coreKind("ShootList"))
	shoots := func(namespace string, selector fields.Selector) (used bool, err error) {
		err = visitEach(ctx, c.live, "Shoot", of, shootMetadata, func(shoot client.Object) error {
			used = true
			if shoot.GetLabels()[providerLabel(profile.Spec.Type)] != "true" {
				users = append(users, "Shoot "+klog.KObj(shoot).String())
			}
			return nil
		}, client.InNamespace(namespace), client.MatchingFieldsSelector{Selector: selector}, client.Limit(shootsAtOnce))
		return used, err
	}
	// Shoots name the profile in either of two fields. These selectors do not overlap.
	byReference := fields.AndSelectors(
		fields.OneTermEqualSelector(shootCloudProfileRefName, profile.Name),
		fields.OneTermNotEqualSelector(shootCloudProfileRefKind, kindNamespacedCloudProfile))
	byName := fields.AndSelectors(
		fields.OneTermEqualSelector(shootCloudProfileName, profile.Name),
		fields.OneTermEqualSelector(shootCloudProfileRefName, ""))
	for _, direct := range []fields.Selector{byReference, byName} {
		if _, err := shoots("", direct); err != nil {
			return nil, err
		}
	}
	err := visitEach(ctx, c.live, kindNamespacedCloudProfile, of, children, func(child client.Object) error {
		if parentIndex(child)[0] != profile.Name {
			return nil
		}
		used, err := shoots(child.GetNamespace(), fields.Set{
			shootCloudProfileRefKind: kindNamespacedCloudProfile, shootCloudProfileRefName: child.GetName(),
		}.AsSelector())
		if err == nil && !used {
			users = append(users, kindNamespacedCloudProfile+" "+klog.KObj(child).String())
		}
		return err
	}, client.Limit(childrenAtOnce))
	return users, err
}
