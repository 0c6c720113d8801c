// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package samples makes of the examples of a cloud what an admission component is shown with: objects that it admits, completes
// and refuses. Every cloud has the same ones.
package samples

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/hack/charts/chart"
	"github.com/capkit/capkit/hack/components"
	"github.com/capkit/capkit/test/garden"
)

// Samples are those of one cloud. The objects are the caller's.
type Samples struct {
	Component components.Component
	// Folder of the examples, below the root of the repository. The three below are files in it.
	Folder string
	// Profile is cloudprofile.yaml, whose core and provider config list the same flavors.
	Profile *unstructured.Unstructured
	// Namespaced is namespacedcloudprofile.yaml, a child of Profile with image versions of its own.
	Namespaced *unstructured.Unstructured
	// Shoot is shoot.yaml, which uses Profile and is as it should be. Gardener maintains it only when asked.
	Shoot *unstructured.Unstructured
}

// Of reads the examples of a cloud in the repository in the folder root.
func Of(root string, c components.Component) (*Samples, error) {
	s := &Samples{Component: c, Folder: "example/" + chart.ManifestFolder(c)}
	for name, into := range map[string]**unstructured.Unstructured{
		"cloudprofile.yaml": &s.Profile, "namespacedcloudprofile.yaml": &s.Namespaced, "shoot.yaml": &s.Shoot,
	} {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s.Folder), name))
		if err != nil {
			return nil, err
		}
		*into = &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(content, &(*into).Object); err != nil {
			return nil, fmt.Errorf("%s%s: %w", s.Folder, name, err)
		}
	}
	window, err := runtime.DefaultUnstructuredConverter.ToUnstructured(garden.LaterToday())
	if err != nil {
		return nil, err
	}
	within(s.Shoot.Object, "spec")["maintenance"] = map[string]any{"timeWindow": window}
	return s, nil
}

// Bare returns the profile without core flavors, under another name. Admission fills in those of Profile.
func (s *Samples) Bare() *unstructured.Unstructured {
	bare := renamed(s.Profile, "bare")
	Strip(bare)
	return bare
}

// Strip removes the core flavors of a CloudProfile or NamespacedCloudProfile.
func Strip(profile *unstructured.Unstructured) {
	for _, version := range versions(profile.Object, "spec") {
		delete(version, "capabilityFlavors")
	}
}

// Newer is an image version that no example has.
const Newer = "9999.0.0"

// Ahead returns the profile, under another name, with a version [Newer] of the image of the first worker pool of the Shoot, which
// core has and the provider config lacks. Admission refuses it, and lets an update pass if it is stored already.
func (s *Samples) Ahead(suffix string) *unstructured.Unstructured {
	ahead := renamed(s.Profile, suffix)
	name, version := s.image()
	for _, image := range list(ahead.Object, "spec", "machineImages") {
		for _, v := range list(image, "versions") {
			if image["name"] == name && v["version"] == version {
				newer := runtime.DeepCopyJSON(v)
				newer["version"] = Newer
				image["versions"] = append(image["versions"].([]any), newer)
			}
		}
	}
	return ahead
}

// Moved returns the Shoot with the profile of this name. In its own name, what it is for is in place of shop, so that it is as short as
// Gardener wants it.
func (s *Samples) Moved(purpose, profile string) *unstructured.Unstructured {
	moved := s.Shoot.DeepCopy()
	moved.SetName(strings.Replace(s.Shoot.GetName(), "shop", purpose, 1))
	within(moved.Object, "spec", "cloudProfile")["name"] = profile
	return moved
}

// Stranded returns the Shoot, under another name, with a profile as Ahead has made it, and with the version [Newer], of which its
// first worker pool boots nothing. Admission refuses it.
func (s *Samples) Stranded(profile string) *unstructured.Unstructured {
	stranded := s.Moved("lost", profile)
	for _, pool := range list(stranded.Object, "spec", "provider", "workers")[:1] {
		within(pool, "machine", "image")["version"] = Newer
	}
	return stranded
}

// Versions returns the image versions that the provider configs of Profile and Namespaced have, in their order.
func (s *Samples) Versions() []string {
	var found []string
	for _, object := range []*unstructured.Unstructured{s.Profile, s.Namespaced} {
		for _, v := range versions(object.Object, "spec", "providerConfig") {
			found = append(found, fmt.Sprint(v["version"]))
		}
	}
	return found
}

// Credentials returns what the Shoot has its credentials in: a Secret and a CredentialsBinding. They lead nowhere.
func (s *Samples) Credentials() []*unstructured.Unstructured {
	name, _ := within(s.Shoot.Object, "spec")["credentialsBindingName"].(string)
	meta := map[string]any{"name": name, "namespace": s.Shoot.GetNamespace()}
	return []*unstructured.Unstructured{
		{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque",
			// These keys are OpenStack's, whose component looks at them.
			"stringData": map[string]any{
				"domainName": "example", "tenantName": "demo", "username": "demo", "password": "not-a-password",
			},
		}},
		{Object: map[string]any{
			"apiVersion": "security.gardener.cloud/v1alpha1", "kind": "CredentialsBinding", "metadata": meta,
			"provider": map[string]any{"type": s.Component.Type},
			"credentialsRef": map[string]any{
				"apiVersion": "v1", "kind": "Secret", "name": name, "namespace": s.Shoot.GetNamespace(),
			},
		}},
	}
}

// image returns name and version of the image of the first worker pool of the Shoot.
func (s *Samples) image() (name, version any) {
	for _, pool := range list(s.Shoot.Object, "spec", "provider", "workers") {
		image := within(pool, "machine", "image")
		return image["name"], image["version"]
	}
	return nil, nil
}

// Register has a garden accept the Shoots of these samples. Once is enough for a garden.
func Register(ctx context.Context, g *garden.Garden, all ...*Samples) error {
	registration := &v1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "samples"}}
	known := sets.New[[2]string]()
	add := func(kind string, name any) {
		if typeName := fmt.Sprint(name); !known.Has([2]string{kind, typeName}) {
			known.Insert([2]string{kind, typeName})
			registration.Spec.Resources = append(registration.Spec.Resources, v1beta1.ControllerResource{Kind: kind, Type: typeName})
		}
	}
	for _, s := range all {
		for _, kind := range []string{"Infrastructure", "ControlPlane", "Worker"} {
			add(kind, s.Component.Type)
		}
		add("Network", within(s.Shoot.Object, "spec", "networking")["type"])
		for _, pool := range list(s.Shoot.Object, "spec", "provider", "workers") {
			add("OperatingSystemConfig", within(pool, "machine", "image")["name"])
		}
	}
	return g.Client().Create(ctx, registration)
}

// Apply applies objects as Helm does, and kubectl on the server side. The error names the object, and wraps that of the API server.
func Apply(ctx context.Context, c client.Client, objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		configuration := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		if err := c.Apply(ctx, configuration, client.FieldOwner("samples"), client.ForceOwnership); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// renamed returns a copy with a name that ends in a dash and the suffix.
func renamed(object *unstructured.Unstructured, suffix string) *unstructured.Unstructured {
	other := object.DeepCopy()
	other.SetName(object.GetName() + "-" + suffix)
	return other
}

// versions returns those of all machine images below a field.
func versions(object map[string]any, fields ...string) []map[string]any {
	var all []map[string]any
	for _, image := range list(object, append(fields, "machineImages")...) {
		all = append(all, list(image, "versions")...)
	}
	return all
}

// within returns the mapping at a path; an empty one if there is none.
func within(object map[string]any, fields ...string) map[string]any {
	for _, field := range fields {
		object, _ = object[field].(map[string]any)
	}
	if object == nil {
		object = map[string]any{}
	}
	return object
}

// list returns the mappings in the list at a path.
func list(object map[string]any, fields ...string) []map[string]any {
	last := len(fields) - 1
	items, _ := within(object, fields[:last]...)[fields[last]].([]any)
	var mappings []map[string]any
	for _, item := range items {
		if mapping, ok := item.(map[string]any); ok {
			mappings = append(mappings, mapping)
		}
	}
	return mappings
}
