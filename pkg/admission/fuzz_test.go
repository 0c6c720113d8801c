// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// FuzzAdmissionReview sends any body to every webhook. Each must answer without a panic, deterministically, with the request's UID, and
// log nothing of the request. A patch must apply and result in an object.
func FuzzAdmissionReview(f *testing.F) {
	for _, body := range seeds(f) {
		f.Add(body)
	}
	e := newEndpoints(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		request := requestOf(body)
		for _, endpoint := range e.names {
			response, logged := e.send(t, endpoint, "application/json", body)
			if strings.Contains(logged, secret) && !named(request, secret) {
				t.Errorf("%s: the log is %s", endpoint, logged)
			}
			if shown := string(encode(t, response)); endpoint == "validate-secret" && strings.Contains(shown, secret) && !namedInSecret(request, secret) {
				t.Errorf("%s: the answer shows the value: %s", endpoint, shown)
			}
			if response.Result != nil && strings.Contains(response.Result.Message, "[recovered]") {
				t.Errorf("%s: %s", endpoint, response.Result.Message)
			}
			if again, _ := e.send(t, endpoint, "application/json", body); !bytes.Equal(encode(t, response), encode(t, again)) {
				t.Errorf("%s: the answer is %s, and then %s", endpoint, encode(t, response), encode(t, again))
			}
			if request == nil {
				if response.Allowed || response.UID != "" {
					t.Errorf("%s: the answer to what cannot be read is %v", endpoint, response)
				}
				continue
			}
			if response.UID != request.UID {
				t.Errorf("%s: the UID is %q, not %q", endpoint, response.UID, request.UID)
			}
			if len(response.Patch) > 0 {
				checkPatch(t, endpoint, request, response)
			}
		}
	})
}

// seeds returns requests about the examples, valid and broken: creations, and updates from the valid examples.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "example", "*", "*.yaml"))
	more, _ := filepath.Glob(filepath.Join("..", "..", "example", "*.yaml"))
	if err != nil || len(files) == 0 || len(more) == 0 {
		t.Fatalf("%d examples, %d broken, %v", len(more), len(files), err)
	}
	right := map[any]any{
		"CloudProfile":           example[v1beta1.CloudProfile](t, "cloudprofile.yaml"),
		"NamespacedCloudProfile": example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml"),
		"Shoot":                  example[v1beta1.Shoot](t, "shoot.yaml"),
	}
	var all [][]byte
	for _, file := range append(more, files...) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split(string(content), "\n---\n") {
			object := map[string]any{}
			if len(document) > 100<<10 || yaml.Unmarshal([]byte(document), &object) != nil {
				continue
			}
			if metadata, ok := object["metadata"].(map[string]any); ok {
				metadata["annotations"] = map[string]string{"password": secret}
			}
			all = append(all, reviewed(t, object, nil), reviewed(t, object, right[object["kind"]]))
		}
	}
	return slices.Concat(all, patchable(t), asked(t), credentialRequests(t))
}

// chained returns requests to create each object, and to update it to the next.
func chained[T any](t testing.TB, objects ...T) (all [][]byte) {
	t.Helper()
	for i, object := range objects {
		all = append(all, reviewed(t, object, nil))
		if i > 0 {
			all = append(all, reviewed(t, object, objects[i-1]))
		}
	}
	return all
}

// credentialRequests returns requests about Secrets and bindings, valid and invalid.
func credentialRequests(t testing.TB) [][]byte {
	t.Helper()
	identity := newBinding("openstack")
	identity.CredentialsRef.APIVersion, identity.CredentialsRef.Kind = "security.gardener.cloud/v1alpha1", "WorkloadIdentity"
	return slices.Concat(
		chained(t, newBinding("openstack"), identity, newBinding("broken"), newBinding("missing")),
		chained(t, newSecretBinding("broken"), newSecretBinding("broken")),
		chained(t,
			newSecret("openstack"), newSecret("openstack", "password", secret+"\n"),
			newSecret("openstack", "username", "", "userName", secret),
			newSecret("openstack", "applicationCredentialSecret", secret),
			newSecret("openstack", "authURL", "https://"+secret+":"+secret+"@[::"),
			newSecret("openstack", "caCert", "-----BEGIN CERTIFICATE-----\n"+secret),
			newSecret("openstack", "insecure", secret), &corev1.Secret{TypeMeta: newSecret("").TypeMeta}))
}

// patchable returns requests that the mutating webhooks answer with a patch.
func patchable(t testing.TB) [][]byte {
	t.Helper()
	profile := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	before := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	child := before.DeepCopy()
	child.Status.CloudProfileSpec = *profile.Spec.DeepCopy()
	child.Spec.MachineImages[0].Versions = append(child.Spec.MachineImages[0].Versions,
		v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1999.1.0"}})
	child.Spec.ProviderConfig = config(`{
		"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "gardenlinux", "versions": [{"version": "1999.1.0", "capabilityFlavors": [
			{"capabilities": {"architecture": ["amd64"]}, "regions": [{"name": "europe", "id": "` + secret + `"}]}]}]}]}`)
	for i := range profile.Spec.MachineImages[0].Versions {
		profile.Spec.MachineImages[0].Versions[i].CapabilityFlavors = nil
	}
	return append(chained(t, before, child), reviewed(t, profile, nil))
}

// asked returns requests about Shoots with worker capabilities, in readable and unreadable configs.
func asked(t testing.TB) [][]byte {
	t.Helper()
	var shoots []*v1beta1.Shoot
	for _, text := range []string{
		asking, `{` + head + `,"trustedLaunch":{"enabled":true},"password":"` + secret + `"}`,
		`{` + head + `,"trustedLaunch":"` + secret + `"}`,
		`{` + head + `,"trustedLaunch":{"enabled":true,"enabled":false},"machineLabels":[{"name":"` + secret + `","value":1}]}`,
		`{"kind":"` + secret + `","trustedLaunch":{"enabled":true}}`, `["` + secret + `"]`, `null`, asking,
	} {
		_, shoot := trusted(t)
		inPlace := shoot.Spec.Provider.Workers[0].DeepCopy()
		inPlace.Name, inPlace.UpdateStrategy, inPlace.ProviderConfig = "in-place", ptr.To(v1beta1.AutoInPlaceUpdate), config(text)
		shoot.Spec.Provider.Workers[0].ProviderConfig = config(text)
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, *inPlace)
		shoots = append(shoots, shoot)
	}
	return chained(t, shoots...)
}

var reviews = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	utilruntime.Must(admissionv1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme)
}()

// unversioned is a review of any version, as the server decodes it.
type unversioned struct{ admissionv1.AdmissionReview }

// requestOf returns the request that the server reads from a body; nil if it cannot be read or is too large.
func requestOf(body []byte) *admissionv1.AdmissionRequest {
	const most = 7 << 20
	review := unversioned{}
	review.Request = &admissionv1.AdmissionRequest{}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	request := review.Request
	if _, _, err := reviews.UniversalDeserializer().Decode(body, nil, &review); err != nil || len(body) >= most {
		return nil
	}
	return request
}

// named reports whether a text occurs in a part of the request that the log may show.
func named(request *admissionv1.AdmissionRequest, text string) bool {
	return request != nil && strings.Contains(strings.Join([]string{
		request.Name, request.Namespace, request.Resource.Resource, request.SubResource, string(request.Operation), request.UserInfo.Username, string(request.UID),
	}, "\n"), text)
}

// namedInSecret reports whether a text occurs in a part of a Secret that an answer may show: its name or a key of its data.
func namedInSecret(request *admissionv1.AdmissionRequest, text string) bool {
	if request == nil {
		return true // it could not be decoded
	}
	object := &corev1.Secret{}
	if json.Unmarshal(request.Object.Raw, object) != nil {
		return strings.Contains(request.UserInfo.Username+string(request.UID), text)
	}
	return strings.Contains(strings.Join(append(slices.Collect(maps.Keys(object.Data)), object.Name, string(request.UID)), "\n"), text)
}

func checkPatch(t *testing.T, endpoint string, request *admissionv1.AdmissionRequest, response *admissionv1.AdmissionResponse) {
	t.Helper()
	if !strings.HasPrefix(endpoint, "mutate-") || !response.Allowed {
		t.Fatalf("%s: a patch is in %v", endpoint, response)
	}
	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		t.Fatalf("%s: the patch %s: %v", endpoint, response.Patch, err)
	}
	patched, err := patch.Apply(request.Object.Raw)
	if err != nil {
		t.Fatalf("%s: the patch %s: %v", endpoint, response.Patch, err)
	}
	var object client.Object = &v1beta1.NamespacedCloudProfile{}
	if endpoint == "mutate-cloudprofile" {
		object = &v1beta1.CloudProfile{}
	}
	if err := json.Unmarshal(patched, object); err != nil {
		t.Fatalf("%s: what the patch makes is not an object: %v", endpoint, err)
	}
}

func TestSeedsMeanSomething(t *testing.T) {
	e := newEndpoints(t)
	allowed, denied, patched := 0, 0, map[string]int{}
	for _, body := range seeds(t) {
		for _, endpoint := range e.names {
			response, _ := e.send(t, endpoint, "application/json", body)
			switch {
			case len(response.Patch) > 0:
				patched[endpoint]++
			case response.Allowed:
				allowed++
			case response.Result.Code == 422:
				denied++
			}
		}
	}
	if allowed < 50 || denied < 50 || len(patched) != 3 {
		t.Errorf("of the answers to the seeds %d admit, %d deny, and there are patches from %v", allowed, denied, patched)
	}
}
