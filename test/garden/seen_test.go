// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMissing(t *testing.T) {
	s := &seen{}
	s.note("secretbindings", "there", true)
	s.note("cloudprofile", "there", true)
	s.note("cloudprofile", "gone", true)
	s.note("cloudprofiles", "gone", false)
	s.note("namespacedcloudprofile", "there", true)
	s.note(registration, "openstack", true)
	for refusal, want := range map[string]bool{
		`shoots.core.gardener.cloud "x" is forbidden: secretbinding.core.gardener.cloud "there" not found`: true,
		`shoots.core.gardener.cloud "x" is forbidden: secretbinding.core.gardener.cloud "other" not found`: false,
		`could not find referenced cloud profile: cloudprofile.core.gardener.cloud "there" not found`:      true,
		`could not find referenced cloud profile: cloudprofile.core.gardener.cloud "gone" not found`:       false,
		`secrets "there" not found`:                                                                                    false,
		`namespacedcloudprofiles.core.gardener.cloud "there" not found`:                                                true,
		`given Shoot uses non-registered provider type: spec.provider.type ("openstack")`:                              true,
		`given Shoot uses non-registered networking type: spec.networking.type ("cilium")`:                             false,
		`could not find referenced project: projects.core.gardener.cloud "<unknown>" not found`:                        true,
		`parent CloudProfile could not be found`:                                                                       true,
		`spec.provider.workers[0]: the cloud profile does not contain any machine image - cannot create shoot cluster`: true,
		`NamespacedCloudProfile garden-demo/there has not been rendered yet; try again`:                                true,
		`CloudProfile "there" is invalid: spec.regions: Required value`:                                                false,
	} {
		manifest := "spec: {parent: {name: there}, cloudProfile: {name: there}}"
		if got := s.missing(refusal, []byte(manifest)); got != want {
			t.Errorf("%s: %t", refusal, got)
		}
		if nameless := !strings.Contains(refusal, `"`) || strings.Contains(refusal, "any machine image"); nameless && want {
			if s.missing(refusal, []byte(strings.ReplaceAll(manifest, "there", "other"))) {
				t.Errorf("%s: is said of a profile that there is not", refusal)
			}
		}
	}
}

// A server sees the profile on the third try.
func TestWritesWaitUntilSeen(t *testing.T) {
	var tries, others atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		object := `{"apiVersion":"core.gardener.cloud/v1beta1","kind":"%s","metadata":{"name":"%s"}}`
		refusal := `{"apiVersion":"v1","kind":"Status","status":"Failure","code":403,"reason":"Forbidden",` +
			`"message":"cloudprofile.core.gardener.cloud \"%s\" not found"}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/cloudprofiles"):
			_, _ = fmt.Fprintf(w, object, "CloudProfile", "there")
		case tries.Add(1) < 3:
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, refusal, "there")
		case others.Load() > 0:
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, refusal, "other")
		default:
			_, _ = fmt.Fprintf(w, object, "Shoot", "x")
		}
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	config.Wrap((&seen{}).wrap)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1beta1.SchemeGroupVersion.WithKind("CloudProfile"), meta.RESTScopeRoot)
	mapper.Add(v1beta1.SchemeGroupVersion.WithKind("Shoot"), meta.RESTScopeNamespace)
	c, err := client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "there"}}); err != nil {
		t.Fatal(err)
	}
	shoot := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "garden-x"}}
	if err := c.Create(t.Context(), shoot.DeepCopy()); err != nil || tries.Load() != 3 {
		t.Errorf("%v, after %d tries", err, tries.Load())
	}
	others.Add(1)
	if err := c.Create(t.Context(), shoot); err == nil || tries.Load() != 4 {
		t.Errorf("a profile that there is not: %v, after %d tries", err, tries.Load())
	}
}

func TestWhatKubectlHasWritten(t *testing.T) {
	s := &seen{}
	s.noteOutput("Warning: x\ncloudprofile.core.gardener.cloud/a created\nsecret/b configured\nshoot.core.gardener.cloud/c unchanged\n" +
		"cloudprofile.core.gardener.cloud/d created (server dry run)\nproject.core.gardener.cloud/e deleted\n")
	var got []string
	for _, key := range []string{"cloudprofile/a", "secret/b", "shoot/c", "cloudprofile/d", "project/e"} {
		kind, name, _ := strings.Cut(key, "/")
		got = append(got, fmt.Sprint(s.exists(kind, name)))
	}
	if want := "true true true false false"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
