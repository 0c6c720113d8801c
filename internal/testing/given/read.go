// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// Fatal is the common interface of tests in packages testing and rapid.
type Fatal interface{ Fatalf(string, ...any) }

// Decoded decodes YAML, and fails the test if it has unknown fields.
func Decoded[T any](t testing.TB, text string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return into
}

// File decodes a file like Decoded, such as the spec of a CloudProfile.
func File[T any](t testing.TB, path string) *T {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Decoded[T](t, string(content))
}

// Profile compiles the spec in a file for [ImagesOnly]. The spec may have errors, see [profile.Profile.Faults].
func Profile(t testing.TB, path string) *profile.Profile[openstack.Image] {
	t.Helper()
	p, _ := profile.Compile(ImagesOnly{}, File[v1beta1.CloudProfileSpec](t, path), field.NewPath("spec"))
	return p
}

// Sound compiles a spec, and fails the test if it has errors.
func Sound[R any](t Fatal, cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec) *profile.Profile[R] {
	p, report := profile.Compile(cloud, spec, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatalf("%v", report.Errors)
	}
	return p
}

// SpecOf decodes the spec of a CloudProfile in a case.
func SpecOf(c *cases.Case, name string) *v1beta1.CloudProfileSpec {
	spec := &v1beta1.CloudProfileSpec{}
	c.Decode(name, spec)
	return spec
}

// ParentOf decodes the spec of the CloudProfile that is the parent of a case's profile. The file "parent" has its name.
func ParentOf(c *cases.Case) *v1beta1.CloudProfileSpec {
	return SpecOf(c, strings.TrimSpace(c.Text("parent")))
}

// NamespacedOf returns a NamespacedCloudProfile with the spec in the profile.yaml of a case.
func NamespacedOf(c *cases.Case) *v1beta1.NamespacedCloudProfile {
	object := &v1beta1.NamespacedCloudProfile{}
	c.Decode("profile.yaml", &object.Spec)
	return object
}

// Seeds returns the YAML files of an archive as JSON.
func Seeds(t testing.TB, archive string) (all [][]byte) {
	t.Helper()
	content, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range content.Files {
		seed, err := yaml.YAMLToJSON(file.Data)
		if err != nil {
			t.Fatal(file.Name, err)
		}
		all = append(all, seed)
	}
	return all
}

type (
	// Object is a JSON object.
	Object = map[string]any
	// List is a JSON list.
	List = []any
)

// Raw encodes a value as JSON.
func Raw(t Fatal, value any) *runtime.RawExtension {
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return &runtime.RawExtension{Raw: raw}
}
