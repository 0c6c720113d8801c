// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// released returns a namespace of provider-openstack and its Deployment with this image.
func released(namespace, name, container, image string) []client.Object {
	labels := map[string]string{"controllerregistration.core.gardener.cloud/name": "provider-openstack"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "other", Image: "other:v0.1.0"}, {Name: container, Image: image}}
	return []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: labels}}, d}
}

func seedWith(t *testing.T, fail error, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), appsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if fail != nil {
				return fail
			}
			return c.Get(ctx, key, obj, opts...)
		},
	}).Build()
}

var images = map[string]string{ // by release
	"v1.52.0":        "v1.52.0",
	"":               "latest",
	"v1.57.0":        "v1.57.0@sha256:0123456789abcdef",
	"v1.57.0-acme.1": "v1.57.0-acme.1",
	"v2.0.0":         "v2.0.0",
	"1.56.9":         "1.56.9",
}

func TestRelease(t *testing.T) {
	for release, tag := range images {
		for _, registry := range []string{"gardener/", "registry.example.com:5000/x/"} {
			image := registry + "provider-openstack:" + tag
			if got := releaseIn(image); got != release {
				t.Errorf("%s is %q, not %q", image, got, release)
			}
		}
	}
	if got := releaseIn("registry.example.com:5000/x/provider-openstack@sha256:0123"); got != "" {
		t.Errorf("got %q", got)
	}
}

// A seed with an old release is refused, and the error names the required one. Unknown releases are accepted.
func TestCheckRelease(t *testing.T) {
	const name = "gardener-extension-provider-openstack"
	for release, tag := range images {
		s := seedWith(t, nil, released("extension-provider-openstack-x", name, name, "example.com/provider-openstack:"+tag)...)
		err := CheckRelease(t.Context(), s)
		tooOld := release == "v1.52.0" || release == "1.56.9"
		if (err != nil) != tooOld {
			t.Errorf("%s: %v", tag, err)
		}
		if tooOld && (!strings.Contains(err.Error(), release) || !strings.Contains(err.Error(), "update it to v1.57.0 or newer")) {
			t.Error(err)
		}
	}
	if err := CheckRelease(t.Context(), seedWith(t, nil)); err != nil {
		t.Error(err)
	}
	away := errors.New("away")
	s := seedWith(t, away, released("extension-provider-openstack-x", name, name, "example.com/provider-openstack:v2.0.0")...)
	if err := CheckRelease(t.Context(), s); !errors.Is(err, away) {
		t.Error(err)
	}
}

// A driver that cannot read the machine classes does not get any.
func TestOldDriver(t *testing.T) {
	for tag, refused := range map[string]bool{"v0.24.1": true, "v0.27.0": true, "v0.27.1": false, "v0.28.0-dev": false, "latest": false} {
		s := situationOf(t, seven)
		d := &delegate{worker: s.worker, reader: seedWith(t, nil, released(s.worker.Namespace, "machine-controller-manager",
			"machine-controller-manager-provider-openstack", "example.com/driver:"+tag)...)}
		err := d.checkDriver(t.Context())
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), tag) {
			t.Errorf("%s: %v", tag, err)
		}
	}
	d := &delegate{worker: situationOf(t, seven).worker, reader: seedWith(t, nil)}
	if err := d.checkDriver(t.Context()); err != nil {
		t.Error(err)
	}
}
