// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/openstack"
)

// A mutating webhook sees objects before validation. If one names no profile, or an invalid name, Gardener's validation refuses it and
// says why. A client does not even send a request for an invalid name.
func TestObjectsWithoutAProfile(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(coreKind(kindCloudProfile), meta.RESTScopeRoot)
	live, err := client.New(&rest.Config{Host: "127.0.0.1:1"}, client.Options{Scheme: kubernetes.GardenScheme, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	c := componentFor(openstack.Provider{}, garden(t))
	c.live = live
	shoot, child := example[v1beta1.Shoot](t, "shoot.yaml"), example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	handlers := map[string]admission.Handler{}
	for _, row := range c.webhooks() {
		handlers[row.name] = row.handler
	}
	for _, name := range []string{"", "a/b", ".."} {
		shoot.Spec.CloudProfile, shoot.Spec.CloudProfileName, child.Spec.Parent.Name = nil, &name, name
		for webhook, object := range map[string]any{mutateShoot: shoot, "mutate-namespacedcloudprofile": child} {
			request := admission.Request{AdmissionRequest: *requestOf(reviewed(t, object, nil))}
			if response := handlers[webhook].Handle(t.Context(), request); !response.Allowed || len(response.Patches) > 0 {
				t.Errorf("%s, with %q: %+v", webhook, name, response.Result)
			}
		}
	}
}
