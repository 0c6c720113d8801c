// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// The heartbeat is as old as that of the extension, which writes the conditions.
func TestHeart(t *testing.T) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "extension-provider-acme-x", Labels: map[string]string{"controllerregistration.core.gardener.cloud/name": "provider-acme"},
	}}
	beat := func(namespace string, at *metav1.MicroTime) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gardener-extension-heartbeat"}, Spec: coordinationv1.LeaseSpec{RenewTime: at},
		}
	}
	long := metav1.NewMicroTime(time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC))
	never := metav1.NewMicroTime(time.Date(2999, 1, 2, 3, 4, 5, 0, time.UTC))
	for name, tc := range map[string]struct {
		objects []client.Object
		fail    error
		late    bool
	}{
		"the other one is away":        {[]client.Object{namespace, beat(namespace.Name, &long)}, nil, true},
		"the other one is there":       {[]client.Object{namespace, beat(namespace.Name, &never)}, nil, false},
		"the other one has never beat": {[]client.Object{namespace, beat(namespace.Name, nil)}, nil, false},
		"it has no heartbeat":          {[]client.Object{namespace}, nil, false},
		"it is not installed":          {[]client.Object{beat("other", &long)}, nil, false},
		"it cannot be read":            {[]client.Object{namespace, beat(namespace.Name, &long)}, errors.New("away"), false},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := errors.Join(corev1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme)); err != nil {
				t.Fatal(err)
			}
			reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.objects...).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					if tc.fail != nil {
						return tc.fail
					}
					return c.Get(ctx, key, obj, opts...)
				},
			}).Build()
			before := time.Now()
			h := &heart{reader: reader, log: logr.Discard(), extension: "provider-acme"}
			if got := h.Now(); tc.late != got.Equal(long.Time) || !tc.late && got.Before(before) || got.After(time.Now()) {
				t.Errorf("it is %v", got)
			}
		})
	}
}
