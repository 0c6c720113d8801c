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

// How many objects are asked for at once. A profile may have more than a megabyte, and a NamespacedCloudProfile has a
// second one in its status.
const (
	profilesPerPage = 20
	shootsPerPage   = 500
)

// errEndless says that a page leads to one that has been read already.
var errEndless = errors.New("the list does not end")

// attempts is how often a list is begun whose next page the API server does not have any more.
const attempts = 4

// Wanted says what is read, besides all CloudProfiles.
type Wanted struct {
	// NamespacedCloudProfiles and Shoots are read of these namespaces, each of which is there once; [metav1.NamespaceAll]
	// stands for all, and is alone then. Nothing is read for none.
	NamespacedCloudProfiles, Shoots []string
}

// Objects are what a cluster has, in the order of its API server: by namespace and name, within each namespace that was
// wanted. They have no managed fields and not the annotation that kubectl apply leaves; Shoots and CloudProfiles have no
// status, and neither have NamespacedCloudProfiles whose parent is among the CloudProfiles. The caller owns them.
type Objects struct {
	CloudProfiles           []*v1beta1.CloudProfile
	NamespacedCloudProfiles []*v1beta1.NamespacedCloudProfile
	Shoots                  []*v1beta1.Shoot
}

// Read reads what is wanted. The error joins all reasons why it cannot: kinds that the cluster does not serve, and rights
// that are missing; or it is the one reason why nothing can be read, like credentials that have expired. There are no
// objects then.
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

// page asks for a page of a list in a namespace, and returns the token of the next one; it is empty for the last.
type page[T any] func(ctx context.Context, namespace string, o metav1.ListOptions) (items []T, next string, err error)

// each reads the lists of a resource in some namespaces, each item made slim. errs are what is wrong already: with any,
// it only finds out whether it may read, and with a reason that holds for everything it does nothing. The result is
// errs and what else is wrong.
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

// reads tells whoever wants to know that so many more objects have been read.
func (r *Reader) reads(objects int) {
	if r.progress != nil {
		r.progress(objects)
	}
}

// list reads all pages of a list; or, to find out whether it may, the first one. If the API server does not have the next
// page any more, because the list took too long, it begins again.
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

// slim drops what is about writing the object.
func slim(meta *metav1.ObjectMeta) {
	meta.ManagedFields = nil
	maps.DeleteFunc(meta.Annotations, func(name, _ string) bool { return name == corev1.LastAppliedConfigAnnotation })
}
