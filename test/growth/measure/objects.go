// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	securityv1alpha1 "github.com/gardener/gardener/pkg/apis/security/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/alicloud"
	"github.com/capkit/capkit/pkg/aws"
	"github.com/capkit/capkit/pkg/azure"
	"github.com/capkit/capkit/pkg/gcp"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/webhooks"
)

const root = "../../.."

// cloud is a provider with the folder of its examples.
type cloud struct {
	name, examples string
	handlers       func(testing.TB, *webhooks.Garden) map[string]admission.Handler
}

func of[R any](of provider.Provider[R]) cloud {
	c := cloud{name: of.Type(), examples: filepath.Join(root, "example", of.Type())}
	if c.name == "openstack" {
		c.examples = filepath.Join(root, "example")
	}
	c.handlers = func(tb testing.TB, g *webhooks.Garden) map[string]admission.Handler {
		return webhooks.Handlers(tb, of, g)
	}
	return c
}

// clouds are measured. Of all but the first one only what is theirs.
var clouds = []cloud{
	of(openstack.Provider{}), of(aws.Provider{}), of(azure.Provider{}), of(gcp.Provider{}), of(alicloud.Provider{}),
}

// object is one that somebody may write, as JSON, with something in every list that its types have.
type object struct {
	name string
	kind metav1.GroupVersionKind
	// subresource is written instead of the object itself.
	subresource string
	document    map[string]any
	// cloudsOwn says that what all clouds treat alike is left out: it is measured for one of them.
	cloudsOwn bool
	// change makes an update of it: a field of the spec, and a value that it does not have.
	change place
}

// webhooks returns the names of the webhooks that are asked about the object.
func (o *object) webhooks() []string {
	kind := strings.ToLower(o.kind.Kind)
	if o.subresource != "" {
		return []string{"mutate-" + kind + "-" + o.subresource}
	}
	return []string{"mutate-" + kind, "validate-" + kind}
}

// objects returns those for a cloud.
func (c *cloud) objects(t testing.TB) []object {
	t.Helper()
	var all []object
	add := func(name string, into any, change ...any) {
		document := asMap(t, into)
		kind, _ := document["kind"].(string)
		group, version, _ := strings.Cut(document["apiVersion"].(string), "/")
		all = append(all, object{
			name: name, kind: metav1.GroupVersionKind{Group: group, Version: version, Kind: kind}, document: document,
			change: change, cloudsOwn: c != &clouds[0],
		})
	}
	files := []string{"cloudprofile.yaml", "cloudprofile-legacy.yaml", "cloudprofile-mixed.yaml"}
	if c != &clouds[0] {
		files = files[:1]
	}
	for _, file := range files {
		profile := load[v1beta1.CloudProfile](t, filepath.Join(c.examples, file))
		profile.Spec.ProviderConfig = c.completed(t, profile.Spec.ProviderConfig, "cloudprofileconfig")
		fill(reflect.ValueOf(profile).Elem(), 0)
		add(file, profile, "spec", "caBundle")
	}
	child := c.child(t)
	child.Spec.ProviderConfig = c.completed(t, child.Spec.ProviderConfig, "cloudprofileconfig")
	fill(reflect.ValueOf(child).Elem(), 0)
	add("namespacedcloudprofile.yaml", child, "spec", "caBundle")
	add("namespacedcloudprofile.yaml", child, "spec", "caBundle")
	all[len(all)-1].subresource = "status"

	shoot := load[v1beta1.Shoot](t, filepath.Join(c.examples, "shoot.yaml"))
	worker := &shoot.Spec.Provider.Workers[0]
	worker.ProviderConfig = c.completed(t, worker.ProviderConfig, "workerconfig")
	shoot.Spec.Provider.InfrastructureConfig = c.completed(t, shoot.Spec.Provider.InfrastructureConfig, "infrastructureconfig")
	shoot.Spec.Provider.ControlPlaneConfig = c.completed(t, shoot.Spec.Provider.ControlPlaneConfig, "controlplaneconfig")
	fill(reflect.ValueOf(shoot).Elem(), 0)
	add("shoot.yaml", shoot, "spec", "purpose")

	meta := metav1.ObjectMeta{Name: "credentials", Namespace: "garden-demo"}
	add("Secret", &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta,
		Data: map[string][]byte{"username": []byte("u"), "caCert": []byte("x")}}, "type")
	binding := &v1beta1.SecretBinding{ObjectMeta: meta}
	binding.SetGroupVersionKind(v1beta1.SchemeGroupVersion.WithKind("SecretBinding"))
	fill(reflect.ValueOf(binding).Elem(), 0)
	add("SecretBinding", binding, "secretRef", "name")
	credentials := &securityv1alpha1.CredentialsBinding{ObjectMeta: meta}
	credentials.SetGroupVersionKind(securityv1alpha1.SchemeGroupVersion.WithKind("CredentialsBinding"))
	fill(reflect.ValueOf(credentials).Elem(), 0)
	add("CredentialsBinding", credentials, "credentialsRef", "name")
	return all
}

// child returns the example of a NamespacedCloudProfile.
func (c *cloud) child(t testing.TB) *v1beta1.NamespacedCloudProfile {
	t.Helper()
	child := load[v1beta1.NamespacedCloudProfile](t, filepath.Join(c.examples, "namespacedcloudprofile.yaml"))
	child.Status.CloudProfileSpec = *load[v1beta1.CloudProfile](t, filepath.Join(c.examples, "cloudprofile.yaml")).Spec.DeepCopy()
	return child
}

// garden returns a garden with the examples of the cloud. Nothing in it changes.
func (c *cloud) garden(t testing.TB) *webhooks.Garden {
	t.Helper()
	g := webhooks.New(load[v1beta1.CloudProfile](t, filepath.Join(c.examples, "cloudprofile.yaml")))
	g.Child = c.child(t)
	g.Shoots = []v1beta1.Shoot{*load[v1beta1.Shoot](t, filepath.Join(c.examples, "shoot.yaml"))}
	return g
}

// completed returns a config with the fields that it lacks, from the manifest in which every field is set; the config as it is if
// the cloud has no such manifest.
func (c *cloud) completed(t testing.TB, config *runtime.RawExtension, kind string) *runtime.RawExtension {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "pkg", "apis", c.name, "v1alpha1", "testdata", "complete-"+kind+".yaml"))
	if os.IsNotExist(err) {
		return config
	}
	complete := map[string]any{}
	if err == nil {
		err = yaml.Unmarshal(content, &complete)
	}
	if err == nil && config != nil {
		err = json.Unmarshal(config.Raw, &complete) // its fields replace the others
	}
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(complete)
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: raw}
}

func load[T any](t testing.TB, file string) *T {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	into := new(T)
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatal(file, err)
	}
	return into
}

func asMap(t testing.TB, object any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(object)
	document := map[string]any{}
	if err == nil {
		err = json.Unmarshal(raw, &document)
	}
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// left are the fields that fill leaves as the examples have them, because an element there makes another profile of it.
var left = []string{"DeletionTimestamp", "MachineCapabilities", "CapabilityFlavors", "Architectures", "Capabilities"}

// maxDepth is how deep fill goes into types, some of which contain themselves.
const maxDepth = 12

// fill puts an element into every list and map that has none, and something behind every pointer, except where values read their
// JSON themselves.
func fill(value reflect.Value, depth int) {
	if depth > maxDepth || !value.CanSet() || reflect.PointerTo(value.Type()).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() && !value.Type().Implements(reflect.TypeFor[json.Unmarshaler]()) {
			value.Set(reflect.New(value.Type().Elem()))
		}
		if !value.IsNil() {
			fill(value.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if !slices.Contains(left, value.Type().Field(i).Name) {
				fill(value.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if value.Len() == 0 && value.Type().Elem().Kind() != reflect.Uint8 {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		}
		for i := range value.Len() {
			fill(value.Index(i), depth+1)
		}
	case reflect.Map:
		fillMap(value)
	}
}

func fillMap(value reflect.Value) {
	if value.Len() == 0 && value.Type().Key().Kind() == reflect.String {
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(reflect.ValueOf("key").Convert(value.Type().Key()), reflect.Zero(value.Type().Elem()))
	}
}

// places returns the lists and objects of the object that can grow, in the order of the text: without a status that the webhook is
// not about, and with the metadata of Shoots alone, which a webhook reads.
func (o *object) places() []place {
	return slices.DeleteFunc(placesIn(o.document, nil), func(at place) bool {
		return at[0] == "status" && o.subresource == "" || at[0] == "metadata" && o.kind.Kind != "Shoot" || o.cloudsOwn && !at.ofCloud()
	})
}
