// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/test/cases"
)

// The vocabularies that the table of machine types uses.
const (
	hypervisors = "machineCapabilities:\n- {name: architecture, values: [amd64, arm64]}\n- {name: hypervisor, values: [virtualized, baremetal]}\n"
	legacy      = ""
)

// profileNamed returns the spec of one of the profiles of this name.
func profileNamed(t *testing.T, name string) *v1beta1.CloudProfileSpec {
	t.Helper()
	return parse(t, manifest(t, name))
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

func parse(t testing.TB, text string) *v1beta1.CloudProfileSpec {
	t.Helper()
	return decoded[v1beta1.CloudProfileSpec](t, text)
}

// decoded reads YAML.
func decoded[T any](t testing.TB, text string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return into
}

// brief renders findings as type, field and rule. It shortens the paths of the one image.
func brief(list finding.List) []string {
	shorten := strings.NewReplacer("spec.providerConfig.machineImages[0].versions", "provider", "spec.machineImages[0].versions", "core", "FieldValue", "")
	var lines []string
	for _, err := range list {
		lines = append(lines, shorten.Replace(fmt.Sprintf("%s %s %s", string(err.Type), err.Field, err.Origin)))
	}
	return lines
}

func TestOneToOne(t *testing.T) { checkProfiles(t, "testdata/one-to-one.txtar") }

// checkProfiles compiles the CloudProfile of each case.
func checkProfiles(t *testing.T, archive string) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		_, report := profile.Compile(imagesOnly{}, specOf(c, "profile.yaml"), field.NewPath("spec"))
		checkFindings(c.T(), report.Errors)
		return cases.Fold(brief(report.Errors)...)
	})
}

// specOf decodes the spec of a CloudProfile.
func specOf(c *cases.Case, name string) *v1beta1.CloudProfileSpec {
	spec := &v1beta1.CloudProfileSpec{}
	c.Decode(name, spec)
	return spec
}

// explained renders findings as type, field, rule and message.
func explained(list finding.List) string {
	lines := plainly(list)
	for i := range lines {
		lines[i] += ": " + list[i].Detail
	}
	return cases.Fold(lines...)
}

// Each fault has one repair, and its message says which.
func TestMessages(t *testing.T) {
	cases.Run(t, "testdata/messages.txtar", func(c *cases.Case) string {
		_, report := profile.Compile(imagesOnly{}, specOf(c, "profile.yaml"), field.NewPath("spec"))
		return explained(report.Errors)
	})
}

func TestReferences(t *testing.T) { checkProfiles(t, "testdata/references.txtar") }

// What could not be read is reported where it stands, and nothing that would follow from it.
func TestUnreadableParts(t *testing.T) { checkProfiles(t, "testdata/unreadable.txtar") }

func TestMachineTypeArchitecture(t *testing.T) {
	arm := "arm64"
	for name, tc := range map[string]struct {
		vocabulary string
		machine    v1beta1.MachineType
		pool       string
		want       string
		errs       int
	}{
		"its capability":                    {hypervisors, v1beta1.MachineType{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}, "amd64", "[arm64]", 0},
		"its deprecated field":              {hypervisors, v1beta1.MachineType{Architecture: &arm}, "amd64", "[arm64]", 0},
		"the worker pool's":                 {hypervisors, v1beta1.MachineType{}, "arm64", "[arm64]", 1},
		"amd64":                             {hypervisors, v1beta1.MachineType{}, "", "[amd64]", 1},
		"the only registered one":           {"machineCapabilities: [{name: architecture, values: [arm64]}]\n", v1beta1.MachineType{}, "", "[arm64]", 0},
		"legacy, its field":                 {legacy, v1beta1.MachineType{Architecture: &arm}, "amd64", "[arm64]", 0},
		"legacy, the worker pool's":         {legacy, v1beta1.MachineType{}, "arm64", "[arm64]", 0},
		"legacy, amd64":                     {legacy, v1beta1.MachineType{}, "", "[amd64]", 0},
		"legacy, capabilities mean nothing": {legacy, v1beta1.MachineType{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}, "", "[amd64]", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, tc.vocabulary+"type: openstack\n")
			tc.machine.Name = "m"
			s.MachineTypes = []v1beta1.MachineType{tc.machine}
			p, report := profile.Compile(imagesOnly{}, s, field.NewPath("spec"))
			var found []string
			for _, line := range brief(report.Errors) {
				if strings.Contains(line, "machine-type") {
					found = append(found, line)
				}
			}
			if len(found) != tc.errs || tc.errs == 1 && found[0] != "Required spec.machineTypes[0].capabilities.architecture machine-type-architecture-missing" {
				t.Error(found)
			}
			r := resolve.Pool(p, provider.Pool{MachineType: "m", Architecture: tc.pool})
			if got := fmt.Sprint(r.Machine.Values("architecture")); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
