// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package clouds

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certutil "k8s.io/client-go/util/cert"

	"github.com/capkit/capkit/test/garden/extension"
)

// imageConfig is the common part of all clouds' provider configs.
type imageConfig struct {
	MachineImages []imageEntry `json:"machineImages"`
}

type imageEntry struct {
	Name     string           `json:"name"`
	Versions []map[string]any `json:"versions"`
}

// standIn is a mutating webhook that changes profiles like the component of an extension. It overwrites core flavors with
// those in the provider config, and copies the versions of a NamespacedCloudProfile into its status without converting
// their format. The real order of its output is random; here it is reversed.
type standIn struct {
	extension.Component

	lock sync.Mutex
	seen []string
}

// newStandIn registers a standIn under a name until the spec ends, for objects whose names end in a suffix.
func newStandIn(ctx context.Context, c extension.Component, name, suffix string) *standIn {
	GinkgoHelper()
	s := &standIn{Component: c}
	certificate, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	Expect(err).NotTo(HaveOccurred())
	pair, err := tls.X509KeyPair(certificate, key)
	Expect(err).NotTo(HaveOccurred())
	server := httptest.NewUnstartedServer(s)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
	server.StartTLS()
	DeferCleanup(server.Close)

	registration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name + suffix},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:         "mutator." + c.Type + ".extensions.gardener.cloud",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new(server.URL), CABundle: certificate},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{v1beta1.GroupName}, APIVersions: []string{"v1beta1"},
					Resources: []string{"cloudprofiles", "namespacedcloudprofiles", "namespacedcloudprofiles/status"},
				},
			}},
			ObjectSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{v1beta1constants.LabelExtensionProviderTypePrefix + c.Type: "true"},
			},
			MatchConditions: []admissionregistrationv1.MatchCondition{
				{Name: "suffix", Expression: "object.metadata.name.endsWith('" + suffix + "')"},
			},
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			FailurePolicy: new(admissionregistrationv1.Fail),
		}},
	}
	Expect(g.Client().Create(ctx, registration)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { Expect(g.Client().Delete(ctx, registration)).To(Succeed()) })
	return s
}

// count returns the number of requests.
func (s *standIn) count() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return len(s.seen)
}

// changed returns the kinds of the changed objects, without duplicates.
func (s *standIn) changed() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(s.seen)))
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer GinkgoRecover()
	review := &admissionv1.AdmissionReview{}
	Expect(json.NewDecoder(r.Body).Decode(review)).To(Succeed())
	kind := review.Request.Kind.Kind
	if review.Request.SubResource != "" {
		kind += "/" + review.Request.SubResource
	}
	response := &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if operations := s.mutate(kind, review.Request.Object.Raw); len(operations) > 0 {
		var err error
		response.Patch, err = json.Marshal(operations)
		Expect(err).NotTo(HaveOccurred())
		response.PatchType = new(admissionv1.PatchTypeJSONPatch)
		s.lock.Lock()
		s.seen = append(s.seen, kind)
		s.lock.Unlock()
	}
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	Expect(json.NewEncoder(w).Encode(review)).To(Succeed())
}

// operation is a JSON patch operation.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func (s *standIn) mutate(kind string, raw []byte) []operation {
	switch kind {
	case "CloudProfile":
		profile := &v1beta1.CloudProfile{}
		Expect(json.Unmarshal(raw, profile)).To(Succeed())
		if profile.Spec.ProviderConfig == nil || len(profile.Spec.MachineCapabilities) == 0 {
			return nil
		}
		return s.overwrite(profile.Spec.MachineImages, profile.Spec.ProviderConfig.Raw)
	case "NamespacedCloudProfile":
		profile := &v1beta1.NamespacedCloudProfile{}
		Expect(json.Unmarshal(raw, profile)).To(Succeed())
		if profile.Spec.ProviderConfig == nil {
			return nil
		}
		return s.overwrite(profile.Spec.MachineImages, profile.Spec.ProviderConfig.Raw)
	}
	profile := &v1beta1.NamespacedCloudProfile{}
	Expect(json.Unmarshal(raw, profile)).To(Succeed())
	status := profile.Status.CloudProfileSpec.ProviderConfig
	if profile.Generation != profile.Status.ObservedGeneration || profile.Spec.ProviderConfig == nil || status == nil {
		return nil
	}
	return s.merge(profile.Spec.ProviderConfig.Raw, status.Raw)
}

// overwrite replaces the core flavors of images with those of a provider config.
func (s *standIn) overwrite(images []v1beta1.MachineImage, raw []byte) []operation {
	var config imageConfig
	Expect(json.Unmarshal(raw, &config)).To(Succeed())
	for _, image := range images {
		i := slices.IndexFunc(config.MachineImages, func(e imageEntry) bool { return e.Name == image.Name })
		if i < 0 {
			continue
		}
		for k := range image.Versions {
			var flavors []v1beta1.MachineImageFlavor
			for _, entry := range config.MachineImages[i].Versions {
				if entry["version"] == image.Versions[k].Version {
					flavors = append(flavors, s.flavors(entry)...)
				}
			}
			if len(flavors) > 0 {
				slices.Reverse(flavors)
				image.Versions[k].CapabilityFlavors = flavors
			}
		}
	}
	return []operation{{"replace", "/spec/machineImages", images}}
}

// flavors returns the core flavors for an entry: its own, or one for each architecture.
func (s *standIn) flavors(entry map[string]any) []v1beta1.MachineImageFlavor {
	var flavors []v1beta1.MachineImageFlavor
	add := func(capabilities v1beta1.Capabilities) {
		flavors = append(flavors, v1beta1.MachineImageFlavor{Capabilities: capabilities})
	}
	architecture := func(of map[string]any) string {
		if name, ok := of["architecture"].(string); ok {
			return name
		}
		return v1beta1constants.ArchitectureAMD64
	}
	written, _ := entry["capabilityFlavors"].([]any)
	regions, _ := entry["regions"].([]any)
	switch {
	case len(written) > 0:
		for _, flavor := range written {
			content, err := json.Marshal(flavor.(map[string]any)["capabilities"])
			Expect(err).NotTo(HaveOccurred())
			capabilities := v1beta1.Capabilities{}
			Expect(json.Unmarshal(content, &capabilities)).To(Succeed())
			add(capabilities)
		}
	case len(regions) > 0:
		var known []string
		for _, region := range regions {
			if name := architecture(region.(map[string]any)); !slices.Contains(known, name) {
				known = append(known, name)
				add(v1beta1.Capabilities{v1beta1constants.ArchitectureName: {name}})
			}
		}
	default:
		capabilities := v1beta1.Capabilities{v1beta1constants.ArchitectureName: {architecture(entry)}}
		if s.Type == "azure" && entry["acceleratedNetworking"] != true {
			capabilities["azure-networking"] = []string{"basic"}
		}
		add(capabilities)
	}
	return flavors
}

// merge copies the versions of a provider config into that of a status. On clouds where a version may have several entries
// it appends them, even if they are duplicates.
func (s *standIn) merge(spec, status []byte) []operation {
	var own, merged imageConfig
	Expect(json.Unmarshal(spec, &own)).To(Succeed())
	Expect(json.Unmarshal(status, &merged)).To(Succeed())
	appends := s.Type == "azure" || s.Type == "gcp"
	for _, image := range own.MachineImages {
		i := slices.IndexFunc(merged.MachineImages, func(e imageEntry) bool { return e.Name == image.Name })
		if i < 0 {
			merged.MachineImages = append(merged.MachineImages, image)
			continue
		}
		there := &merged.MachineImages[i].Versions
		for _, version := range image.Versions {
			if !appends {
				*there = slices.DeleteFunc(*there, func(other map[string]any) bool { return other["version"] == version["version"] })
			}
			*there = append(*there, version)
		}
		slices.Reverse(*there)
	}
	return []operation{{"replace", "/status/cloudProfileSpec/providerConfig/machineImages", merged.MachineImages}}
}
