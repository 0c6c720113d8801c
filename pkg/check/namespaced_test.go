// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
	"github.com/capkit/capkit/test/cases"
	"github.com/capkit/capkit/test/given"
)

// verdict compiles a parent, which has to be sound, and checks a profile below it.
func verdict[R any](
	t *testing.T, cloud provider.Provider[R], parent *v1beta1.CloudProfileSpec, object *v1beta1.NamespacedCloudProfile,
) finding.Report {
	t.Helper()
	above, report := profile.Compile(cloud, parent, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	before := object.DeepCopy()
	_, report = check.NamespacedCloudProfile(above, object)
	if diff := cmp.Diff(before, object); diff != "" {
		t.Errorf("the object was changed: %s", diff)
	}
	catalogue.Check(t, report.Errors)
	catalogue.Check(t, report.Warnings)
	return report
}

// checkNamespacedProfiles checks the NamespacedCloudProfile of each case twice.
func checkNamespacedProfiles[R any](t *testing.T, cloud provider.Provider[R], archive string) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		report := verdict(c.T(), cloud, given.ParentOf(c), given.NamespacedOf(c))
		if again := verdict(c.T(), cloud, given.ParentOf(c), given.NamespacedOf(c)); text(again) != text(report) {
			c.T().Error(cmp.Diff(text(report), text(again)))
		}
		return cases.Fold(given.Plainly(report.Errors)...)
	})
}

func TestNamespacedCloudProfile(t *testing.T) {
	checkNamespacedProfiles(t, given.ImagesOnly{}, "testdata/namespaced.txtar")
}

// A container image serves every architecture, in either format; and one that cannot is said to.
func TestNamespacedCloudProfileOfTheLocalProvider(t *testing.T) {
	checkNamespacedProfiles(t, local.Provider{}, "testdata/namespaced-local.txtar")
}

// Warnings are about what the profile itself defines; regions are the parent's.
func TestWarningsOfANamespacedCloudProfile(t *testing.T) {
	cases.Run(t, "testdata/namespaced-warnings.txtar", func(c *cases.Case) string {
		above, ofParent := profile.Compile(given.ImagesOnly{}, given.SpecOf(c, "parent.yaml"), field.NewPath("spec"))
		_, report := check.NamespacedCloudProfile(above, given.NamespacedOf(c))
		catalogue.Check(c.T(), report.Warnings)
		if len(report.Errors) > 0 {
			c.T().Error(report.Errors)
		}
		lines := given.Plainly(ofParent.Errors)
		for i := range lines {
			lines[i] = "parent: " + lines[i]
		}
		return cases.Fold(lines...) + given.Explained(report.Warnings)
	})
}

// The lifecycle that the profile gives to a version of its parent is the one that counts for it.
func TestOverriddenLifecycleCounts(t *testing.T) {
	cases.Run(t, "testdata/namespaced-lifecycle.txtar", func(c *cases.Case) string {
		return cases.Fold(given.Plainly(verdict(c.T(), given.ImagesOnly{}, given.SpecOf(c, "parent.yaml"), given.NamespacedOf(c)).Warnings)...)
	})
}

// A config without content is none, however it comes.
func TestProviderConfigWithoutContent(t *testing.T) {
	above, _ := profile.Compile(given.ImagesOnly{}, profileNamed(t, "parent"), field.NewPath("spec"))
	for _, config := range []*runtime.RawExtension{nil, {}, {Raw: []byte("null")}, {Raw: []byte(" null\n")}} {
		object := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{ProviderConfig: config}}
		if _, report := check.NamespacedCloudProfile(above, object); !reflect.DeepEqual(report, finding.Report{}) {
			t.Error(report)
		}
		if changes, err := render.Config(given.ImagesOnly{}, nil, object, nil); len(changes) > 0 || err != nil {
			t.Error(changes, err)
		}
		if filled := profile.FillNamespacedCloudProfile(given.ImagesOnly{}, object, profileNamed(t, "parent")); len(filled) > 0 {
			t.Error(filled)
		}
	}
}

// profileNamed returns the spec of one of the profiles of this name.
func profileNamed(t *testing.T, name string) *v1beta1.CloudProfileSpec {
	t.Helper()
	return given.Decoded[v1beta1.CloudProfileSpec](t, manifest(t, name))
}

func manifest(t *testing.T, name string) string {
	t.Helper()
	content, err := txtar.ParseFile("testdata/profiles.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range content.Files {
		if file.Name == name+".yaml" {
			return string(file.Data)
		}
	}
	t.Fatalf("there is no profile %s", name)
	return ""
}
