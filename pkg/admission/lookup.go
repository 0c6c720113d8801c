// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
)

// The kinds of profiles that Shoots refer to.
const (
	kindCloudProfile           = "CloudProfile"
	kindNamespacedCloudProfile = "NamespacedCloudProfile"
)

// The indices by which the informers find objects.
const (
	indexParent  = "spec.parent.name"
	indexProfile = "spec.cloudProfile"
)

// connect has a component read through a manager, unless it does already. It is not safe for concurrent use: webhooks
// are built one after the other.
func (c *component[R]) connect(mgr manager.Manager) error {
	if c.cached != nil {
		return nil
	}
	if err := provider.Check(c.provider); err != nil {
		return err
	}
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	if err := indexer.IndexField(ctx, &v1beta1.NamespacedCloudProfile{}, indexParent, parentIndex); err != nil {
		return fmt.Errorf("indexing NamespacedCloudProfiles: %w", err)
	}
	if err := indexer.IndexField(ctx, &v1beta1.Shoot{}, indexProfile, profileIndex); err != nil {
		return fmt.Errorf("indexing Shoots: %w", err)
	}
	if _, err := mgr.GetCache().GetInformer(ctx, &v1beta1.CloudProfile{}, cache.BlockUntilSynced(false)); err != nil {
		return fmt.Errorf("watching CloudProfiles: %w", err)
	}
	c.cached, c.live = mgr.GetClient(), mgr.GetAPIReader()
	c.events = mgr.GetEventRecorder("gardener-extension-" + c.name)
	return nil
}

func parentIndex(object client.Object) []string {
	return []string{object.(*v1beta1.NamespacedCloudProfile).Spec.Parent.Name}
}

func profileIndex(object client.Object) []string {
	kind, key := profileOf(object.(*v1beta1.Shoot))
	return []string{kind + "/" + key.Name}
}

// profileOf returns the profile that a Shoot names, in either of the two fields.
func profileOf(shoot *v1beta1.Shoot) (kind string, key client.ObjectKey) {
	reference := ptr.Deref(gardenerutils.BuildV1beta1CloudProfileReference(shoot), v1beta1.CloudProfileReference{})
	if reference.Kind == kindNamespacedCloudProfile {
		return reference.Kind, client.ObjectKey{Namespace: shoot.Namespace, Name: reference.Name}
	}
	return kindCloudProfile, client.ObjectKey{Name: reference.Name}
}

// read reads an object that a check needs from the first of some readers that knows it, and reports whether there is
// one. The error is no fault of the user. It is counted.
func read(ctx context.Context, kind string, key client.ObjectKey, into client.Object, readers ...client.Reader) (found bool, err error) {
	for _, reader := range readers {
		if err = reader.Get(ctx, key, into); !apierrors.IsNotFound(err) {
			break
		}
	}
	if client.IgnoreNotFound(err) != nil {
		lookupFailuresTotal.WithLabelValues(kind).Inc()
		name := klog.KRef(key.Namespace, key.Name)
		return false, fmt.Errorf("%s %s could not be read, so nothing was checked: %w", kind, name, err)
	}
	return err == nil, nil
}

// profile returns the CloudProfile of this key, or the one that the NamespacedCloudProfile of this key and its parent
// result in, as it is and compiled; nil if it is of another provider, or if one of them is missing, which the report
// says, at the path at. The error is about reading them, and no fault of the user. The status of a
// NamespacedCloudProfile is not looked at: Gardener may not have written it yet since the two were (semantics S11).
func (c *component[R]) profile(
	ctx context.Context, kind string, key client.ObjectKey, at *field.Path,
) (*profile.Profile[R], finding.Report, error) {
	child, profile := &v1beta1.NamespacedCloudProfile{}, &v1beta1.CloudProfile{}
	missing := func() finding.Finding { return check.ProfileMissing(at, kind, key.Name) }
	above := key
	if kind == kindNamespacedCloudProfile {
		if found, err := read(ctx, kind, key, child, c.cached, c.live); !found {
			return nil, finding.Failed(missing()), err
		}
		above = client.ObjectKey{Name: child.Spec.Parent.Name}
		missing = func() finding.Finding { return check.ParentMissing(at, key.Name, above.Name) }
	}
	if found, err := read(ctx, kindCloudProfile, above, profile, c.cached, c.live); !found {
		return nil, finding.Failed(missing()), err
	}
	if kind == kindNamespacedCloudProfile {
		return c.profiles.getNamespaced(child, profile), finding.Report{}, nil
	}
	return c.profiles.get(profile), finding.Report{}, nil
}

// parentOf returns the parent of a NamespacedCloudProfile, as profile does.
func (c *component[R]) parentOf(ctx context.Context, child *v1beta1.NamespacedCloudProfile) (*profile.Profile[R], finding.Report, error) {
	key := client.ObjectKey{Name: child.Spec.Parent.Name}
	return c.profile(ctx, kindCloudProfile, key, field.NewPath("spec", "parent", "name"))
}

// before returns the CloudProfile that a request says is stored, compiled; nil if it is of another provider, or if old
// is nil. Whoever can reach the server can send requests: what only a request says decides nothing for others. See also
// [profiles.expect].
func (c *component[R]) before(ctx context.Context, old *v1beta1.CloudProfile) *profile.Profile[R] {
	if old == nil {
		return nil
	}
	known := &v1beta1.CloudProfile{}
	err := c.cached.Get(ctx, client.ObjectKeyFromObject(old), known)
	if err == nil && known.UID == old.UID && known.ResourceVersion == old.ResourceVersion {
		return c.profiles.get(known)
	}
	if old.Spec.Type != c.provider.Type() {
		return nil
	}
	return c.profiles.compile(&old.Spec)
}

// users returns the Shoots that use a CloudProfile, directly or through a NamespacedCloudProfile.
func (c *component[R]) users(ctx context.Context, name string) ([]update.User, error) {
	users, err := c.shoots(ctx, kindCloudProfile, client.ObjectKey{Name: name})
	if err != nil {
		return nil, err
	}
	children, index := &v1beta1.NamespacedCloudProfileList{}, client.MatchingFields{indexParent: name}
	if err := c.list(ctx, children, kindNamespacedCloudProfile, "CloudProfile "+name, index); err != nil {
		return nil, err
	}
	for i := range children.Items {
		child := &children.Items[i]
		more, err := c.shoots(ctx, kindNamespacedCloudProfile, client.ObjectKeyFromObject(child))
		if err != nil {
			return nil, err
		}
		for k := range more {
			more[k].Child = child
		}
		users = append(users, more...)
	}
	return users, nil
}

// shoots returns the Shoots that use a profile.
func (c *component[R]) shoots(ctx context.Context, kind string, key client.ObjectKey) ([]update.User, error) {
	shoots, profile := &v1beta1.ShootList{}, kind+"/"+key.Name
	namespace, index := client.InNamespace(key.Namespace), client.MatchingFields{indexProfile: profile}
	if err := c.list(ctx, shoots, "Shoot", profile, namespace, index); err != nil {
		return nil, err
	}
	users := make([]update.User, 0, len(shoots.Items))
	for i := range shoots.Items {
		shoot := &shoots.Items[i]
		users = append(users, update.User{Shoot: shoot, Pools: provider.PoolsOf(shoot)})
	}
	return users, nil
}

// list lists the objects of a kind that belong to another one. It counts that they cannot be listed.
func (c *component[R]) list(ctx context.Context, into client.ObjectList, kind, of string, options ...client.ListOption) error {
	if err := c.cached.List(ctx, into, options...); err != nil {
		lookupFailuresTotal.WithLabelValues(kind).Inc()
		return fmt.Errorf("listing the %ss of %s: %w", kind, of, err)
	}
	return nil
}
