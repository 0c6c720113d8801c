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
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
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

// The informers' indices.
const (
	indexParent  = "spec.parent.name"
	indexProfile = "spec.cloudProfile"
)

// connect makes a component read through a manager, unless it already does. It is not safe for concurrent use: webhooks are built one
// after the other.
func (c *component) connect(mgr manager.Manager) error {
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

// profileOf returns the kind and key of a Shoot's profile, from either of the two fields.
func profileOf(shoot *v1beta1.Shoot) (kind string, key client.ObjectKey) {
	reference := ptr.Deref(gardenerutils.BuildV1beta1CloudProfileReference(shoot), v1beta1.CloudProfileReference{})
	if reference.Kind == kindNamespacedCloudProfile {
		return reference.Kind, client.ObjectKey{Namespace: shoot.Namespace, Name: reference.Name}
	}
	return kindCloudProfile, client.ObjectKey{Name: reference.Name}
}

// read reads an object from the first reader that knows it, and reports whether it exists. An error is not the user's fault, and is
// counted. An object whose name is empty, or not valid in a URL path, does not exist: clients refuse to read it. A mutating webhook can
// receive such names, because Gardener validates later.
func read(ctx context.Context, kind string, key client.ObjectKey, into client.Object, readers ...client.Reader) (found bool, err error) {
	if key.Name == "" || len(rest.IsValidPathSegmentName(key.Name)) > 0 {
		return false, nil
	}
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

// profile returns the compiled CloudProfile with this key, or the compiled NamespacedCloudProfile with this key on its parent. It returns
// nil if the profile is of another provider. It also returns nil if an object is missing; then the report has an error at the path at.
// The returned error is about reading the objects, and not the user's fault. The status of a NamespacedCloudProfile is not used, because
// Gardener may not have written it yet (semantics S11).
func (c *component) profile(
	ctx context.Context, kind string, key client.ObjectKey, at *field.Path,
) (*profile.Profile[any], finding.Report, error) {
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

// parentOf returns the compiled parent of a NamespacedCloudProfile; its results are those of profile.
func (c *component) parentOf(ctx context.Context, child *v1beta1.NamespacedCloudProfile) (*profile.Profile[any], finding.Report, error) {
	key := client.ObjectKey{Name: child.Spec.Parent.Name}
	return c.profile(ctx, kindCloudProfile, key, field.NewPath("spec", "parent", "name"))
}

// before returns the compilation of the CloudProfile that a request presents as the stored one. It returns nil if old is nil or of
// another provider. Anyone who can reach the server can send requests, so an object that is only in a request is not memoized for others.
// See also [profiles.expect].
func (c *component) before(ctx context.Context, old *v1beta1.CloudProfile) *profile.Profile[any] {
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
func (c *component) users(ctx context.Context, name string) ([]update.User, error) {
	users, err := c.shoots(ctx, kindCloudProfile, client.ObjectKey{Name: name}, nil)
	if err != nil {
		return nil, err
	}
	children, index := &v1beta1.NamespacedCloudProfileList{}, client.MatchingFields{indexParent: name}
	err = visitEach(ctx, c.cached, kindNamespacedCloudProfile, "CloudProfile "+name, children, func(object client.Object) error {
		child := object.(*v1beta1.NamespacedCloudProfile)
		more, err := c.shoots(ctx, kindNamespacedCloudProfile, client.ObjectKeyFromObject(child), child)
		users = append(users, more...)
		return err
	}, index)
	return users, err
}

// shoots returns the Shoots that use a profile, with child as their [update.User].Child.
func (c *component) shoots(
	ctx context.Context, kind string, key client.ObjectKey, child *v1beta1.NamespacedCloudProfile,
) (users []update.User, err error) {
	profile := kind + "/" + key.Name
	err = visitEach(ctx, c.cached, "Shoot", profile, &v1beta1.ShootList{}, func(object client.Object) error {
		shoot := object.(*v1beta1.Shoot)
		users = append(users, update.User{Shoot: shoot, Pools: provider.PoolsOf(shoot), Child: child})
		return nil
	}, client.InNamespace(key.Namespace), client.MatchingFields{indexProfile: profile})
	return users, err
}

// visitEach lists objects of a kind and visits them until visit returns an error. of names the object that they belong to, for errors.
// With a limit among the options it lists page by page; a cache ignores limits and returns everything. Failures to list are counted.
// empty is an empty list of the kind.
func visitEach(
	ctx context.Context, reader client.Reader, kind, of string, empty client.ObjectList, visit func(client.Object) error,
	options ...client.ListOption,
) error {
	inParts := (&client.ListOptions{}).ApplyOptions(options).Limit > 0
	for next := ""; ; {
		list := empty.DeepCopyObject().(client.ObjectList)
		if err := reader.List(ctx, list, append(options, client.Continue(next))...); err != nil {
			lookupFailuresTotal.WithLabelValues(kind).Inc()
			return fmt.Errorf("listing the %ss of %s: %w", kind, of, err)
		}
		err := meta.EachListItem(list, func(object runtime.Object) error { return visit(object.(client.Object)) })
		if next = list.GetContinue(); err != nil || next == "" || !inParts {
			return err
		}
	}
}
