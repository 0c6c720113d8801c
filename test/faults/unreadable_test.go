// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// user is who the component is in the tests that take something from it.
const user = "component"

func TestAProfileThatCannotBeRead(t *testing.T) {
	if err := g.Apply(t.Context(), "testdata/rights.yaml", "testdata/rights-profiles.yaml"); err != nil {
		t.Fatal(err)
	}
	access := newAPIAccess(t, user)
	r := newReplica(t, "--kubeconfig="+access.kubeconfig)
	serve(t, r)
	write(t, namespaced("readable", "orchard"), "")
	about := func(request *http.Request) bool { return strings.Contains(request.URL.Path, "/cloudprofiles") }

	// Its rights are taken away, and its watch ends, as a watch does every few minutes.
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "component-profiles"}}
	if err := g.Client().Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it may not read CloudProfiles", func() bool { return apierrors.IsForbidden(readAs(t, access, "orchard")) })
	access.refuse(about)
	access.refuse(nil)
	// What it knew still counts.
	write(t, namespaced("remembered", "orchard"), "")
	write(t, profiles.fresh("unreadable"), "")
	const reason = `CloudProfile unreadable could not be read, so nothing was checked: cloudprofiles.core.gardener.cloud "unreadable" is forbidden`
	write(t, namespaced("forbidden", "unreadable"), reason)
	write(t, shootOf("forbidden", "unreadable"), reason)

	// The API server does not answer.
	access.refuse(about)
	write(t, namespaced("unanswered", "unreadable"), "CloudProfile unreadable could not be read, so nothing was checked: an error on the server")
	access.refuse(nil)

	if err := g.Apply(t.Context(), "testdata/rights-profiles.yaml"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "it may read CloudProfiles again", func() bool { return readAs(t, access, "unreadable") == nil })
	write(t, namespaced("again", "unreadable"), "")
	write(t, shootOf("again", "unreadable"), "")
}

// write creates an object. If that is to fail, it must be with an internal error for this reason, and nothing is stored.
func write(t *testing.T, object client.Object, reason string) {
	t.Helper()
	err := writing.Create(t.Context(), object)
	if reason == "" {
		if err != nil {
			t.Errorf("%s: %v", object.GetName(), err)
		}
		return
	}
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), reason) || strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("%s: the error is %q (%s)", object.GetName(), err, apierrors.ReasonForError(err))
	}
	if err := g.Client().Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
		t.Errorf("%s is stored: %v", object.GetName(), err)
	}
}

// readAs reads a CloudProfile as the component does.
func readAs(t *testing.T, access *apiAccess, name string) error {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", access.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: g.Client().Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c.Get(t.Context(), client.ObjectKey{Name: name}, &v1beta1.CloudProfile{})
}

// namespaced returns a NamespacedCloudProfile that is right.
func namespaced(name, parent string) *v1beta1.NamespacedCloudProfile {
	object := read[v1beta1.NamespacedCloudProfile]("namespaced.yaml")
	object.Name, object.Spec.Parent.Name = name, parent
	return object
}

// shootOf returns a Shoot that is right.
func shootOf(name, profile string) *v1beta1.Shoot {
	shoot := read[v1beta1.Shoot]("shoot.yaml")
	shoot.Name, shoot.Spec.CloudProfile.Name = name, profile
	return shoot
}
