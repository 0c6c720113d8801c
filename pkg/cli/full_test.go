// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// deprecated fields do not belong in an example.
var deprecated = []string{"v1alpha1.Networks.Worker", "v1alpha1.ControlPlaneConfig.Zone"}

// The full examples use every field that an OpenStack operator or user can write.
func TestFullExamplesUseEveryField(t *testing.T) {
	used := map[string]bool{}
	var profile v1beta1.CloudProfile
	unmarshal(t, read(t, examples+"/cloudprofile-full.yaml"), &profile)
	use[v1alpha1.CloudProfileConfig](t, profile.Spec.ProviderConfig, used)
	for document := range strings.SplitSeq(read(t, examples+"/shoot-full.yaml"), "\n---\n") {
		var shoot v1beta1.Shoot
		unmarshal(t, document, &shoot)
		use[v1alpha1.InfrastructureConfig](t, shoot.Spec.Provider.InfrastructureConfig, used)
		use[v1alpha1.ControlPlaneConfig](t, shoot.Spec.Provider.ControlPlaneConfig, used)
		for _, worker := range shoot.Spec.Provider.Workers {
			use[v1alpha1.WorkerConfig](t, worker.ProviderConfig, used)
		}
	}
	for field, ok := range used {
		if !ok && !slices.Contains(deprecated, field) {
			t.Errorf("%s is not used", field)
		}
	}
	if len(used) < 80 {
		t.Errorf("only %d fields were looked at", len(used))
	}
}

func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// use records the fields that a config uses. raw may be nil.
func use[C any](t *testing.T, raw *runtime.RawExtension, used map[string]bool) {
	t.Helper()
	if raw == nil {
		return
	}
	var config C
	unmarshal(t, string(raw.Raw), &config)
	record(reflect.ValueOf(config), used)
}

// record records whether each field of every struct in v has a value in at least one occurrence.
func record(v reflect.Value, used map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			record(v.Elem(), used)
		}
	case reflect.Slice:
		for i := range v.Len() {
			record(v.Index(i), used)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Duration]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().String() + "." + v.Type().Field(i).Name
			used[name] = used[name] || !v.Field(i).IsZero()
			record(v.Field(i), used)
		}
	default: // scalars, and maps, whose values have no fields
	}
}

// The guide's example is accepted with all of its commented parts. docs/clouds/openstack.md explains each of the warnings.
func TestGuideWithEverything(t *testing.T) {
	report := lint(t, "", examples+"/cloudprofile-guide.yaml")
	var got []string
	for _, f := range report.Findings {
		got = append(got, string(f.Severity)+" "+f.Rule+" "+f.Field)
	}
	const constraints = "spec.providerConfig.constraints.floatingPools"
	want := []string{
		"warning version-expired spec.kubernetes.versions[1].expirationDate",
		"warning machine-type-without-image spec.machineTypes[1]",
		"warning region-uncovered spec.providerConfig.machineImages[0].versions[0].regions[1]",
		"warning region-unserved " + constraints,
	}
	for _, pool := range []string{"[0]", "[1]", "[2]", "[3]"} {
		for _, id := range []string{"floatingSubnetID", "floatingNetworkID", "subnetID"} {
			want = append(want, "warning openstack-id-format "+constraints+pool+".loadBalancerClasses[0]."+id)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The example equals the guide in the tests of the API types.
func TestGuideWithEverythingIsTheGuide(t *testing.T) {
	var profile v1beta1.CloudProfile
	unmarshal(t, read(t, examples+"/cloudprofile-guide.yaml"), &profile)
	var got, want any
	unmarshal(t, string(profile.Spec.ProviderConfig.Raw), &got)
	unmarshal(t, read(t, "../apis/openstack/v1alpha1/testdata/guide-old-format-options.yaml"), &want)
	region := want.(map[string]any)["machineImages"].([]any)[0].(map[string]any)["versions"].([]any)[0].(map[string]any)["regions"].([]any)[0]
	region.(map[string]any)["architecture"] = "amd64" // omitted there, to test that absence survives
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
