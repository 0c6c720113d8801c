// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/test/authors/acme"
)

// object reads a sample manifest.
func object[T any](t *testing.T, file string) *T {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read := new(T)
	if err := yaml.UnmarshalStrict(text, read); err != nil {
		t.Fatal(err)
	}
	return read
}

func cloudProfile(t *testing.T, file string) *v1beta1.CloudProfile {
	return object[v1beta1.CloudProfile](t, file)
}

// shootOf returns a Shoot in region north.
func shootOf(workers ...v1beta1.Worker) *v1beta1.Shoot {
	return &v1beta1.Shoot{Spec: v1beta1.ShootSpec{Region: "north", Provider: v1beta1.Provider{Workers: workers}}}
}

func compiled(t *testing.T) *profile.Profile[acme.Template] {
	t.Helper()
	profile, report := profile.Compile(acme.Provider{}, &cloudProfile(t, "cloudprofile.yaml").Spec, field.NewPath("spec"))
	if len(report.Errors)+len(report.Warnings) > 0 {
		t.Fatal(report)
	}
	return profile
}

func TestLint(t *testing.T) {
	for file, want := range map[string][]string{
		"cloudprofile.yaml": nil,
		"broken.yaml":       {"provider-flavor-missing", "acme-too-many-machines", "acme-template-malformed", "region-unknown"},
	} {
		var stdout, stderr bytes.Buffer
		args := []string{"capkit-acme", "lint", "-o", "json", file}
		status := cli.Run(args, strings.NewReader(""), &stdout, &stderr, cli.For(acme.Provider{}))
		var report report.Report
		if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
			t.Fatalf("%s: %v %s", file, err, stderr.String())
		}
		var got []string
		for _, f := range report.Findings {
			got = append(got, f.Rule)
		}
		if diff := cmp.Diff(want, got); diff != "" || status != min(len(want), 1) {
			t.Errorf("%s: status %d, %s", file, status, diff)
		}
	}
}

func TestDecode(t *testing.T) {
	at := field.NewPath("spec", "providerConfig")
	raw := `{"apiVersion": "acme.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": [
		{"name": "linux", "versions": [{"version": "1.0.0", "regions": [
			{"name": "north", "template": "a"}, {"name": "south", "template": "b", "architecture": "arm64"}, {"name": "south", "template": "c"}]},
		{"version": "2.0.0", "regions": [{"name": "north", "template": "d"}], "capabilityFlavors": [
			{"capabilities": {"architecture": ["arm64"]}, "regions": [{"name": "north", "template": "e", "architecture": "arm64"}]}]}]}]}`
	config, report := acme.Provider{}.Decode(&runtime.RawExtension{Raw: []byte(raw)}, at)
	var got []string
	for _, version := range config.Images[0].Versions {
		for _, flavor := range version.Flavors {
			for _, r := range flavor.Regional {
				got = append(got, fmt.Sprint(version.Version, flavor.Capabilities, r.Region, r.Ref.ID, " ", r.Path))
			}
		}
	}
	const versions = "spec.providerConfig.machineImages[0].versions"
	if diff := cmp.Diff([]string{
		"1.0.0map[architecture:[amd64]]northa " + versions + "[0].regions[0]",
		"1.0.0map[architecture:[amd64]]southc " + versions + "[0].regions[2]",
		"1.0.0map[architecture:[arm64]]southb " + versions + "[0].regions[1]",
		"2.0.0map[architecture:[arm64]]northe " + versions + "[1].capabilityFlavors[0].regions[0]",
	}, got); diff != "" {
		t.Error(diff)
	}
	var rules []string
	for _, err := range report.Errors {
		rules = append(rules, err.Origin+" "+err.Field)
	}
	if diff := cmp.Diff([]string{
		"version-format-mixed " + versions + "[1].regions",
		"flavor-region-architecture " + versions + "[1].capabilityFlavors[0].regions[0].architecture",
	}, rules); diff != "" {
		t.Error(diff)
	}
}

func TestValidateReference(t *testing.T) {
	for id, want := range map[string]string{"tpl-0123abcd": "", "": "reference-missing", "tpl-0123ABCD": acme.RuleTemplate} {
		got := ""
		for _, err := range (acme.Provider{}).ValidateReference(acme.Template{ID: id}, field.NewPath("regions").Index(0)) {
			got = err.Origin
			if err.Field != "regions[0].template" {
				t.Errorf("%q: at %s", id, err.Field)
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

func TestValidateCloudProfile(t *testing.T) {
	good, broken := cloudProfile(t, "cloudprofile.yaml"), cloudProfile(t, "broken.yaml")
	if warnings, err := acme.ValidateCloudProfile(good); len(warnings) > 0 || err != nil {
		t.Error(warnings, err)
	}
	warnings, err := acme.ValidateCloudProfile(broken)
	if len(warnings) != 1 || !apierrors.IsInvalid(err) {
		t.Error(warnings, err)
	}
	if warnings, err := acme.ValidateCloudProfileUpdate(broken, broken); len(warnings) <= 2 || err != nil {
		t.Error(warnings, err)
	}
}

func TestValidateShoot(t *testing.T) {
	profile := compiled(t)
	shoot := shootOf(
		v1beta1.Worker{Name: "web", Machine: machine("m.large", "1877.5.0")},
		v1beta1.Worker{Name: "db", Machine: machine("m.large", "1.0.0")},
	)
	_, err := acme.ValidateShoot(shoot, profile)
	if err == nil || !strings.Contains(err.Error(), "spec.provider.workers[1].machine.image.version") || strings.Contains(err.Error(), "web") {
		t.Error(err)
	}
	shoot.Spec.Provider.Workers[1].Machine = machine("m.small", "1592.9.0")
	if _, err := acme.ValidateShoot(shoot, profile); err != nil {
		t.Error(err)
	}
}

func machine(name, version string) v1beta1.Machine {
	return v1beta1.Machine{Type: name, Image: &v1beta1.ShootMachineImage{Name: "gardenlinux", Version: &version}}
}
