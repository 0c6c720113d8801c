// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/capkit/capkit/pkg/profile"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
	"github.com/capkit/capkit/test/cases"
)

// parentOf decodes the spec of the CloudProfile that stands above: the file "parent" tells which.
func parentOf(c *cases.Case) *v1beta1.CloudProfileSpec {
	return specOf(c, strings.TrimSpace(c.Text("parent")))
}

func namespacedOf(c *cases.Case) *v1beta1.NamespacedCloudProfile {
	profile := &v1beta1.NamespacedCloudProfile{}
	c.Decode("profile.yaml", &profile.Spec)
	return profile
}

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
	checkFindings(t, report.Errors)
	checkFindings(t, report.Warnings)
	return report
}

// checkNamespacedProfiles checks the NamespacedCloudProfile of each case twice.
func checkNamespacedProfiles[R any](t *testing.T, cloud provider.Provider[R], archive string) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		report := verdict(c.T(), cloud, parentOf(c), namespacedOf(c))
		if again := verdict(c.T(), cloud, parentOf(c), namespacedOf(c)); text(again) != text(report) {
			c.T().Error(cmp.Diff(text(report), text(again)))
		}
		return cases.Fold(plainly(report.Errors)...)
	})
}

func TestNamespacedCloudProfile(t *testing.T) {
	checkNamespacedProfiles(t, imagesOnly{}, "testdata/namespaced.txtar")
}

// plainly renders findings as type, field and rule, in full.
func plainly(list finding.List) []string {
	var lines []string
	for _, err := range list {
		lines = append(lines, strings.TrimPrefix(string(err.Type), "FieldValue")+" "+err.Field+" "+err.Origin)
	}
	return lines
}

// A container image serves every architecture, in either format; and one that cannot is said to.
func TestNamespacedCloudProfileOfTheLocalProvider(t *testing.T) {
	checkNamespacedProfiles(t, local.Provider{}, "testdata/namespaced-local.txtar")
}

// Warnings are about what the profile itself defines; regions are the parent's.
func TestWarningsOfANamespacedCloudProfile(t *testing.T) {
	cases.Run(t, "testdata/namespaced-warnings.txtar", func(c *cases.Case) string {
		above, ofParent := profile.Compile(imagesOnly{}, specOf(c, "parent.yaml"), field.NewPath("spec"))
		_, report := check.NamespacedCloudProfile(above, namespacedOf(c))
		checkFindings(c.T(), report.Warnings)
		if len(report.Errors) > 0 {
			c.T().Error(report.Errors)
		}
		lines := plainly(ofParent.Errors)
		for i := range lines {
			lines[i] = "parent: " + lines[i]
		}
		return cases.Fold(lines...) + explained(report.Warnings)
	})
}

// The lifecycle that the profile gives to a version of its parent is the one that counts for it.
func TestOverriddenLifecycleCounts(t *testing.T) {
	cases.Run(t, "testdata/namespaced-lifecycle.txtar", func(c *cases.Case) string {
		return cases.Fold(plainly(verdict(c.T(), imagesOnly{}, specOf(c, "parent.yaml"), namespacedOf(c)).Warnings)...)
	})
}

// A config without content is none, however it comes.
func TestProviderConfigWithoutContent(t *testing.T) {
	above, _ := profile.Compile(imagesOnly{}, profileNamed(t, "parent"), field.NewPath("spec"))
	for _, config := range []*runtime.RawExtension{nil, {}, {Raw: []byte("null")}, {Raw: []byte(" null\n")}} {
		object := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{ProviderConfig: config}}
		if _, report := check.NamespacedCloudProfile(above, object); !reflect.DeepEqual(report, finding.Report{}) {
			t.Error(report)
		}
		if changes, err := render.Config(imagesOnly{}, nil, object, nil); len(changes) > 0 || err != nil {
			t.Error(changes, err)
		}
		if filled := profile.FillNamespacedCloudProfile(imagesOnly{}, object, profileNamed(t, "parent")); len(filled) > 0 {
			t.Error(filled)
		}
	}
}
