// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fate is the effect of writing a spec through a subresource.
type fate string

const (
	// kept means that the spec never changes.
	kept fate = "kept"
	// checked means that the spec changes unless the component refuses it.
	checked fate = "checked"
)

// subresources lists the subresources that Gardener v1.150 serves, with their writing verbs. docs/operators/security.md has all of them.
var subresources = map[string]struct {
	verbs []string
	fate
}{
	"cloudprofiles/status":           {[]string{"patch", "update"}, kept},
	"namespacedcloudprofiles/status": {[]string{"patch", "update"}, kept},
	"shoots/adminkubeconfig":         {[]string{"create"}, kept},
	"shoots/binding":                 {[]string{"patch", "update"}, checked},
	"shoots/status":                  {[]string{"patch", "update"}, kept},
	"shoots/viewerkubeconfig":        {[]string{"create"}, kept},
}

// served returns the subresources of profiles and Shoots that the garden serves, in all versions.
func served() map[string]metav1.APIResource {
	GinkgoHelper()
	clients, err := kubernetes.NewForConfig(g.RESTConfig())
	Expect(err).NotTo(HaveOccurred())
	_, lists, err := clients.Discovery().ServerGroupsAndResources()
	Expect(err).NotTo(HaveOccurred())
	found := map[string]metav1.APIResource{}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			switch of, subresource, _ := strings.Cut(resource.Name, "/"); of {
			case "cloudprofiles", "namespacedcloudprofiles", "shoots":
				if subresource != "" {
					found[resource.Name] = resource
				}
			}
		}
	}
	return found
}

// spoil makes a spec invalid in a way that the component refuses.
func spoil(object client.Object) {
	GinkgoHelper()
	switch object := object.(type) {
	case *v1beta1.CloudProfile:
		edit(object.Spec.ProviderConfig, replace(flavorAt(0, 1)+"/regions/0/id", ""))
	case *v1beta1.NamespacedCloudProfile:
		edit(object.Spec.ProviderConfig, replace(flavorAt(0, 0)+"/regions/0/id", ""))
	case *v1beta1.Shoot:
		chooseFloatingPool("none-such")(object)
	}
}

// spec returns an object's spec as JSON.
func spec(object client.Object) string {
	GinkgoHelper()
	encoded, err := json.Marshal(object)
	Expect(err).NotTo(HaveOccurred())
	var parts struct{ Spec json.RawMessage }
	Expect(json.Unmarshal(encoded, &parts)).To(Succeed())
	return string(parts.Spec)
}

// through writes a changed object through a subresource, as an object of the kind that the subresource takes. It retries on conflicts.
func through(
	ctx context.Context, object client.Object, subresource metav1.APIResource, verb string, change func(client.Object),
) error {
	GinkgoHelper()
	_, name, _ := strings.Cut(subresource.Name, "/")
	way := u.SubResource(name)
	for {
		Expect(u.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		written := object.DeepCopyObject().(client.Object)
		change(written)
		if name == "binding" { // it serves no other purpose
			written.(*v1beta1.Shoot).Spec.SeedName = ptr.To("nowhere")
		}
		var err error
		switch verb {
		case "create":
			body := &unstructured.Unstructured{Object: map[string]any{}}
			Expect(json.Unmarshal([]byte(`{"spec":`+spec(written)+`}`), &body.Object)).To(Succeed())
			body.SetAPIVersion(subresource.Group + "/" + subresource.Version)
			body.SetKind(subresource.Kind)
			err = way.Create(ctx, object, body)
		case "update":
			err = way.Update(ctx, written)
		case "patch":
			patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec(written)+`}`))
			err = way.Patch(ctx, written, patch)
		default:
			Fail("a verb that is not known: " + verb)
		}
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}

var _ = Describe("A subresource of profiles and Shoots", Ordered, func() {
	objects := map[string]client.Object{}
	var found map[string]metav1.APIResource

	BeforeAll(func(ctx SpecContext) {
		u = newUser()
		profile := openstack("subresources")
		create(ctx, profile)
		child := preview("subresources", "subresources")
		create(ctx, child)
		s := shoot("subresources", "subresources")
		pods, services := "100.96.0.0/11", "100.64.0.0/13" // required for scheduling
		s.Spec.Networking.Pods, s.Spec.Networking.Services = &pods, &services
		create(ctx, s)
		registration := &v1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "nowhere"}}
		registration.Spec.Resources = []v1beta1.ControllerResource{{Kind: "DNSRecord", Type: "nowhere"}}
		create(ctx, registration)
		create(ctx, read[v1beta1.Seed]("testdata/seed.yaml"))
		objects["cloudprofiles"], objects["namespacedcloudprofiles"], objects["shoots"] = profile, child, s
		found = served()
	})
	AfterAll(func(ctx SpecContext) {
		u = newUser()
		destroy(ctx, objects["shoots"])
		destroy(ctx, objects["namespacedcloudprofiles"])
		destroy(ctx, read[v1beta1.Seed]("testdata/seed.yaml"))
	})

	It("is one of those that are tested here", func() {
		var names []any
		for name := range subresources {
			names = append(names, name)
		}
		keys := make([]string, 0, len(found))
		for name := range found {
			keys = append(keys, name)
		}
		Expect(keys).To(ConsistOf(names...))
	})

	for name, known := range subresources {
		It("lets no spec through that is not checked: "+name, func(ctx SpecContext) {
			var writing []any
			for _, verb := range known.verbs {
				writing = append(writing, verb)
			}
			var verbs []string
			for _, verb := range found[name].Verbs {
				if verb != "get" {
					verbs = append(verbs, verb)
				}
			}
			Expect(verbs).To(ConsistOf(writing...))

			of, _, _ := strings.Cut(name, "/")
			object := objects[of]
			Expect(u.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			before := spec(object)
			for _, verb := range known.verbs {
				write := func() error { return through(ctx, object, found[name], verb, spoil) }
				switch {
				case known.fate == checked: // once Gardener knows the seed; the pool is not there, and cannot be changed
					at := inInfrastructure + "floatingPoolName"
					Eventually(ctx, write).Should(beRefusedAt(at, at), verb)
				case verb == "create": // the created object is not part of this one, and the request may be impossible
					_ = write()
				default:
					Expect(write()).To(Succeed(), verb)
				}
				Expect(u.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
				Expect(spec(object)).To(Equal(before), verb)
			}
		})
	}

	It("lets a Shoot be scheduled, which can change the rest of its spec", func(ctx SpecContext) {
		s := objects["shoots"].(*v1beta1.Shoot)
		var maximum int32
		Expect(through(ctx, s, found["shoots/binding"], "update", func(object client.Object) {
			s := object.(*v1beta1.Shoot)
			scale(s)
			maximum = s.Spec.Provider.Workers[0].Maximum
		})).To(Succeed())
		Expect(u.Get(ctx, client.ObjectKeyFromObject(s), s)).To(Succeed())
		Expect(s.Spec.SeedName).To(HaveValue(Equal("nowhere")))
		Expect(s.Spec.Provider.Workers[0].Maximum).To(Equal(maximum))
	})
})
