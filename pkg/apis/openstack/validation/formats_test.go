// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/test/cases"
)

// decode reads YAML.
func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// lines renders findings, errors first, as lines of severity, type, path and rule. It demands that each finding says
// something.
func lines(t *testing.T, found validation.Findings) (got []string) {
	t.Helper()
	for _, list := range []struct {
		severity string
		findings finding.List
	}{{"error", found.Errors}, {"warning", found.Warnings}} {
		for _, err := range list.findings {
			got = append(got, fmt.Sprintf("%s %s %s %s", list.severity, string(err.Type), err.Field, err.Origin))
			if err.Detail == "" || strings.Contains(err.Detail, "%!") {
				t.Errorf("%q", err.Detail)
			}
			t.Log(err)
		}
	}
	return got
}

// expect compares the lines of findings.
func expect(t *testing.T, found validation.Findings, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, lines(t, found)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// run checks each case of an archive in testdata.
func run(t *testing.T, archive string, check func(c *cases.Case) validation.Findings) {
	t.Helper()
	cases.Run(t, filepath.Join("testdata", archive+".txtar"), func(c *cases.Case) string {
		return strings.Join(lines(c.T(), check(c)), "\n")
	})
}

func TestImageID(t *testing.T) {
	at := field.NewPath("region")
	for id, valid := range map[string]bool{
		"1234": true, "1234-amd64": true, "2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70": true, "ami_1.2:x": true, strings.Repeat("a", 255): true,
		"": true, " ": false, "a b": false, " 1234": false, "1234\n": false, "{id}": false, "a/b": false, "a\\b": false, "a?b": false, "\"1234\"": false,
		"a,b": false, "\x00": false, "a\u200bb": false, strings.Repeat("a", 256): false, "\xff": false,
	} {
		errs := validation.ImageID(id, at)
		if valid != (len(errs) == 0) {
			t.Errorf("%q: %v", id, errs)
		}
		for _, err := range errs {
			if err.Type != field.ErrorTypeInvalid || err.Field != "region.id" || err.Origin != validation.OriginOpenStackID {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}

func TestImageIDFormats(t *testing.T) {
	for id, fine := range map[string]bool{
		"": true, "1234": true, "1234-amd64": true, "2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70": true, "2f8b94e77a3c4f5e9d0a1b6c8d3e5f70": true,
		"gl-todo": true, "a-b-c": true,
		"TODO": false, "xxx": false, "change-me": false, "2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f7": false, "2f8b94e7-7a3c-4f5e-9d0aa-1b6c8d3e5f70": false,
	} {
		warnings := validation.ImageIDFormats([]v1alpha1.RegionIDMapping{{ID: "1234"}, {ID: id}}, field.NewPath("regions"))
		if fine != (len(warnings) == 0) || !fine && (warnings[0].Origin != validation.OriginOpenStackIDFormat || warnings[0].Field != "regions[1].id") {
			t.Errorf("%q: %v", id, warnings)
		}
	}
}
