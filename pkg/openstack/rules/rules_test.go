// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/cases"
)

// read returns a manifest of testdata as JSON.
func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	document, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// profileOf returns the profile of a case: that of testdata with the changes that the case makes to it.
func profileOf(c *cases.Case) *consistency.Profile[openstack.Image] {
	c.T().Helper()
	spec := &v1beta1.CloudProfileSpec{}
	decode(c.T(), c.Patch(read(c.T(), "profile.yaml"), "profile.patch.yaml"), spec)
	profile, _ := consistency.Compile(openstack.Provider{}, spec, field.NewPath("spec"))
	return profile
}

// shootsOf returns the Shoot of a case, that of testdata with the changes that the case makes to it, and what an update makes
// of it.
func shootsOf(c *cases.Case) (shoot, updated *v1beta1.Shoot) {
	c.T().Helper()
	shoot, updated = &v1beta1.Shoot{}, &v1beta1.Shoot{}
	document := c.Patch(read(c.T(), "shoot.yaml"), "shoot.patch.yaml")
	decode(c.T(), document, &shoot.Spec)
	decode(c.T(), c.Patch(document, "update.patch.yaml"), &updated.Spec)
	return shoot, updated
}

func decode(t testing.TB, document []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(document, into); err != nil {
		t.Fatal(err)
	}
}

// run checks each case of an archive in testdata.
func run(t *testing.T, archive string, check func(c *cases.Case) finding.Report) {
	t.Helper()
	cases.Run(t, filepath.Join("testdata", archive+".txtar"), func(c *cases.Case) string {
		return strings.Join(lines(c.T(), check(c)), "\n")
	})
}

// lines renders a report as lines of severity, type, path and rule, where paths begin below spec.provider.
func lines(t *testing.T, report finding.Report) (got []string) {
	t.Helper()
	add := func(severity string, list finding.List) {
		for _, err := range list {
			path := strings.TrimPrefix(err.Field, "spec.provider.")
			got = append(got, severity+" "+strings.TrimPrefix(string(err.Type), "FieldValue")+" "+path+" "+err.Origin)
			if err.Detail == "" || strings.Contains(err.Detail, "%!") {
				t.Errorf("not for a reader: %v", err)
			}
			t.Log(err)
		}
	}
	add("error", report.Errors)
	add("warning", report.Warnings)
	return got
}
