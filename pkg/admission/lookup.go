// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// lookup finds the objects that a check needs besides the one that is written. It is safe for concurrent use. What it
// returns belongs to the informers and must not be changed.
type lookup[R any] struct {
	// cached reads what the informers know. live asks the API server, for objects that are so new that the informers do
	// not know them yet.
	cached, live client.Reader
	profiles     *profiles[R]
}

// The indices by which the informers find objects.
const (
	indexParent  = "spec.parent.name"
	indexProfile = "spec.cloudProfile"
)

func lookupFor[R any](cloud provider.Provider[R], mgr manager.Manager) (*lookup[R], error) {
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	if err := indexer.IndexField(ctx, &v1beta1.NamespacedCloudProfile{}, indexParent, parentOf); err != nil {
		return nil, fmt.Errorf("indexing NamespacedCloudProfiles: %w", err)
	}
	if err := indexer.IndexField(ctx, &v1beta1.Shoot{}, indexProfile, profileOf); err != nil {
		return nil, fmt.Errorf("indexing Shoots: %w", err)
	}
	if _, err := mgr.GetCache().GetInformer(ctx, &v1beta1.CloudProfile{}, cache.BlockUntilSynced(false)); err != nil {
		return nil, fmt.Errorf("watching CloudProfiles: %w", err)
	}
	return &lookup[R]{cached: mgr.GetClient(), live: mgr.GetAPIReader(), profiles: newProfiles(cloud)}, nil
}

func parentOf(object client.Object) []string {
	return []string{object.(*v1beta1.NamespacedCloudProfile).Spec.Parent.Name}
}

func profileOf(object client.Object) []string {
	kind, name := reference(object.(*v1beta1.Shoot))
	return []string{kind + "/" + name}
}

// reference returns the profile that a Shoot names, in either of the two fields. The API server has filled in the kind.
func reference(shoot *v1beta1.Shoot) (kind, name string) {
	switch {
	case shoot.Spec.CloudProfile != nil && shoot.Spec.CloudProfile.Kind == "NamespacedCloudProfile":
		return "NamespacedCloudProfile", shoot.Spec.CloudProfile.Name
	case shoot.Spec.CloudProfile != nil:
		return "CloudProfile", shoot.Spec.CloudProfile.Name
	case shoot.Spec.CloudProfileName != nil:
		return "CloudProfile", *shoot.Spec.CloudProfileName
	}
	return "CloudProfile", ""
}

// get reads an object from the informers, or from the API server if they do not have it.
func (l *lookup[R]) get(ctx context.Context, key client.ObjectKey, into client.Object) error {
	err := l.cached.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		return l.live.Get(ctx, key, into)
	}
	return err
}

// cloudProfile returns a CloudProfile, as it is and compiled; nil if it is of another provider. If there is none of
// that name the result is nil as well, and the report says so, at the path at. The error is about reading it, and no
// fault of the user.
func (l *lookup[R]) cloudProfile(ctx context.Context, name string, at *field.Path) (*compiled[R], finding.Report, error) {
	object := &v1beta1.CloudProfile{}
	if err := l.get(ctx, client.ObjectKey{Name: name}, object); apierrors.IsNotFound(err) {
		return nil, missing(at, "CloudProfile", name), nil
	} else if err != nil {
		return nil, finding.Report{}, unreadable("CloudProfile", name, err)
	}
	return l.profiles.get("CloudProfile", object, &object.Spec), finding.Report{}, nil
}

// before returns the CloudProfile that a request says is stored, compiled; nil if it is of another provider. Whoever
// can reach the server can send requests: what only a request says decides nothing for others. See [profiles.expect],
// too.
func (l *lookup[R]) before(ctx context.Context, old *v1beta1.CloudProfile) *compiled[R] {
	known := &v1beta1.CloudProfile{}
	err := l.cached.Get(ctx, client.ObjectKeyFromObject(old), known)
	if err == nil && known.UID == old.UID && known.ResourceVersion == old.ResourceVersion {
		return l.profiles.get("CloudProfile", known, &known.Spec)
	}
	if old.Spec.Type != l.profiles.provider.Type() {
		return nil
	}
	return l.profiles.compile(&old.Spec)
}

// rendered returns the CloudProfile that Gardener has rendered into the status of a NamespacedCloudProfile, as
// cloudProfile does.
func (l *lookup[R]) rendered(
	ctx context.Context, key client.ObjectKey, at *field.Path,
) (*compiled[R], finding.Report, error) {
	object := &v1beta1.NamespacedCloudProfile{}
	if err := l.get(ctx, key, object); apierrors.IsNotFound(err) {
		return nil, missing(at, "NamespacedCloudProfile", key.Name), nil
	} else if err != nil {
		return nil, finding.Report{}, unreadable("NamespacedCloudProfile", key.String(), err)
	}
	if object.Status.CloudProfileSpec.Type == "" {
		return nil, finding.Report{}, notRendered(key.String())
	}
	return l.profiles.get("NamespacedCloudProfile", object, &object.Status.CloudProfileSpec), finding.Report{}, nil
}

func missing(at *field.Path, kind, name string) finding.Report {
	return finding.Failed(consistency.ProfileMissing(at, kind, name))
}

// profileOf returns the profile of a Shoot.
func (l *lookup[R]) profileOf(ctx context.Context, shoot *v1beta1.Shoot) (*compiled[R], finding.Report, error) {
	kind, name := reference(shoot)
	at := field.NewPath("spec", "cloudProfile", "name")
	if kind == "NamespacedCloudProfile" {
		return l.rendered(ctx, types.NamespacedName{Namespace: shoot.Namespace, Name: name}, at)
	}
	return l.cloudProfile(ctx, name, at)
}

// users returns the Shoots that use a CloudProfile, directly or through a NamespacedCloudProfile; their pools without
// the machine types and images that such a one defines itself.
func (l *lookup[R]) users(ctx context.Context, name string) ([]consistency.Use, error) {
	uses, err := l.shoots(ctx, "", "CloudProfile/"+name, nil)
	if err != nil {
		return nil, err
	}
	children := &v1beta1.NamespacedCloudProfileList{}
	if err := l.cached.List(ctx, children, client.MatchingFields{indexParent: name}); err != nil {
		return nil, unlisted("NamespacedCloudProfile", "CloudProfile "+name, err)
	}
	for i := range children.Items {
		child := &children.Items[i]
		more, err := l.shoots(ctx, child.Namespace, "NamespacedCloudProfile/"+child.Name, child)
		if err != nil {
			return nil, err
		}
		uses = append(uses, more...)
	}
	return uses, nil
}

// shoots returns the Shoots that use a profile; all namespaces if namespace is empty.
func (l *lookup[R]) shoots(
	ctx context.Context, namespace, profile string, child *v1beta1.NamespacedCloudProfile,
) ([]consistency.Use, error) {
	shoots := &v1beta1.ShootList{}
	err := l.cached.List(ctx, shoots, client.InNamespace(namespace), client.MatchingFields{indexProfile: profile})
	if err != nil {
		return nil, unlisted("Shoot", profile, err)
	}
	uses := make([]consistency.Use, 0, len(shoots.Items))
	for i := range shoots.Items {
		use := consistency.Use{Namespace: shoots.Items[i].Namespace, Name: shoots.Items[i].Name}
		for _, pool := range provider.PoolsOf(&shoots.Items[i]) {
			if child != nil {
				pool = inherited(child, pool)
			}
			use.Pools = append(use.Pools, pool)
		}
		uses = append(uses, use)
	}
	return uses, nil
}

// inherited returns a pool without the machine type and the image that a NamespacedCloudProfile defines itself. Those
// are not its parent's to take away; the rest of the pool is.
func inherited(child *v1beta1.NamespacedCloudProfile, pool provider.Pool) provider.Pool {
	for _, image := range child.Spec.MachineImages {
		for _, version := range image.Versions {
			defined := len(version.CapabilityFlavors)+len(version.Architectures) > 0
			if defined && image.Name == pool.Image && version.Version == pool.Version {
				pool.Image, pool.Version = "", ""
			}
		}
	}
	for _, t := range child.Spec.MachineTypes {
		if t.Name == pool.MachineType {
			pool.MachineType = ""
		}
	}
	return pool
}
