// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"maps"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The page sizes. A profile may have more than a megabyte, and a NamespacedCloudProfile has another one in its status.
const (
	profilesPerPage = 20
	shootsPerPage   = 500
)

// errEndless is the error of a page that leads to one that has been read already.
var errEndless = errors.New("the list does not end")

// attempts is the maximum number of attempts to read a list whose next page has expired.
const attempts = 4

// Wanted selects the objects to read, besides all CloudProfiles.
type Wanted struct {
	// NamespacedCloudProfiles and Shoots are the namespaces to read them from, without duplicates. [metav1.NamespaceAll] stands for all, and
	// must be alone. Empty means none.
	NamespacedCloudProfiles, Shoots []string
}

// Objects are the objects of a cluster in the order of its API server: by namespace and name, within each wanted namespace. They have no
// managed fields, and no annotation of kubectl apply. Shoots and CloudProfiles have no status. NamespacedCloudProfiles have one only if
// their parent is not among the CloudProfiles. The caller owns them.
type Objects struct {
	CloudProfiles           []*v1beta1.CloudProfile
	NamespacedCloudProfiles []*v1beta1.NamespacedCloudProfile
	Shoots                  []*v1beta1.Shoot
}

// Read reads the wanted objects. The error joins all reasons why lists cannot be read: kinds that the cluster does not serve, and missing
// rights. It ends with the first reason that prevents all reading, like expired credentials. With an error, the objects are nil.
func (r *Reader) Read(ctx context.Context, wanted Wanted) (*Objects, error) {
	read := &Objects{}
	parents := map[string]bool{}
	errs := each(ctx, r, nil, "cloudprofiles", []string{metav1.NamespaceAll}, profilesPerPage, &read.CloudProfiles,
		func(ctx context.Context, _ string, o metav1.ListOptions) ([]v1beta1.CloudProfile, string, error) {
			list, err := r.client.CloudProfiles().List(ctx, o)
			return list.Items, list.Continue, err
		},
		func(o *v1beta1.CloudProfile) {
			slim(&o.ObjectMeta)
			o.Status = v1beta1.CloudProfileStatus{}
			parents[o.Name] = true
		})
	errs = each(ctx, r, errs, "namespacedcloudprofiles", wanted.NamespacedCloudProfiles, profilesPerPage,
		&read.NamespacedCloudProfiles,
		func(ctx context.Context, in string, o metav1.ListOptions) ([]v1beta1.NamespacedCloudProfile, string, error) {
			list, err := r.client.NamespacedCloudProfiles(in).List(ctx, o)
			return list.Items, list.Continue, err
		},
		func(o *v1beta1.NamespacedCloudProfile) {
			slim(&o.ObjectMeta)
			if o.Spec.Parent.Kind == "CloudProfile" && parents[o.Spec.Parent.Name] {
				o.Status = v1beta1.NamespacedCloudProfileStatus{}
			}
		})
	errs = each(ctx, r, errs, "shoots", wanted.Shoots, shootsPerPage, &read.Shoots,
		func(ctx context.Context, in string, o metav1.ListOptions) ([]v1beta1.Shoot, string, error) {
			list, err := r.client.Shoots(in).List(ctx, o)
			return list.Items, list.Continue, err
		},
		func(o *v1beta1.Shoot) {
			slim(&o.ObjectMeta)
			o.Status = v1beta1.ShootStatus{}
		})
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return read, nil
}

// page requests a page of a list in a namespace, and returns the token of the next one; empty for the last.
type page[T any] func(ctx context.Context, namespace string, o metav1.ListOptions) (items []T, next string, err error)

// each reads a resource's lists in some namespaces, and slims each item. errs are earlier errors. If there are any, it only checks whether
// it may list, and if the last one is not a refusal, it does nothing. It returns errs and its own errors.
func each[T any](
	ctx context.Context, r *Reader, errs []error, resource string, namespaces []string, limit int64, into *[]*T,
	ask page[T], slim func(*T),
) []error {
	for _, namespace := range namespaces {
		if len(errs) > 0 {
			var last *refusal
			if !errors.As(errs[len(errs)-1], &last) {
				return errs
			}
			limit = 1
		}
		items, err := list(ctx, namespace, limit, len(errs) > 0, ask, slim, r.reads)
		if err != nil {
			errs = append(errs, r.explain(err, resource, namespace))
		}
		*into = append(*into, items...)
	}
	return errs
}

// reads reports the progress by a number of objects.
func (r *Reader) reads(objects int) {
	if r.progress != nil {
		r.progress(objects)
	}
}

// list reads all pages of a list, or only the first one, to check whether it may. If the next page has expired because the list took too
// long, it starts again.
func list[T any](
	ctx context.Context, namespace string, limit int64, firstOnly bool, ask page[T], slim func(*T), progress func(objects int),
) (items []*T, err error) {
	for range attempts {
		o, seen := metav1.ListOptions{Limit: limit}, map[string]bool{}
		for items = nil; ; {
			var found []T
			found, o.Continue, err = ask(ctx, namespace, o)
			if err != nil {
				break
			}
			if seen[o.Continue] {
				return nil, errEndless
			}
			seen[o.Continue] = true
			for i := range found {
				slim(&found[i])
				items = append(items, &found[i])
			}
			progress(len(found))
			if o.Continue == "" || firstOnly {
				return items, nil
			}
		}
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			return nil, err
		}
	}
	return nil, err
}

// slim removes the metadata about how the object was written.
func slim(meta *metav1.ObjectMeta) {
	meta.ManagedFields = nil
	maps.DeleteFunc(meta.Annotations, func(name, _ string) bool { return name == corev1.LastAppliedConfigAnnotation })
}
