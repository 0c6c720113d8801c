// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/wire"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gcp"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// images decodes a config. It returns one line for each flavor, with its reference.
func images(config []byte) (flavors []string, report finding.Report) {
	images, report := gcp.Provider{}.Decode(&runtime.RawExtension{Raw: config}, field.NewPath("config"))
	vocabulary, _ := capability.Compile([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "arm64"}}}, nil)
	for _, image := range images.Images {
		for _, version := range image.Versions {
			for _, flavor := range version.Flavors {
				flavors = append(flavors, fmt.Sprintf("%s@%s legacy=%t %s at %s: %q at %s", image.Name, version.Version, version.Legacy,
					vocabulary.Format(flavor.Capabilities), flavor.Path, flavor.Global.Ref.Image, flavor.Global.Path))
			}
		}
	}
	return flavors, report
}

func TestImages(t *testing.T) {
	cases.Run(t, "testdata/images.txtar", func(c *cases.Case) string {
		flavors, report := images(c.JSON("config.yaml"))
		return strings.Join(append(flavors, cases.Report(c.T(), report)), "\n")
	})
}

func TestValidateReference(t *testing.T) {
	const malformed = "error FieldValueInvalid image gcp-image-path"
	for image, want := range map[string]string{
		"": "error FieldValueRequired image reference-missing",
		"projects/gardenlinux/global/images/gl-1":                                             "",
		"projects/example.com:gardenlinux/global/images/gl-1":                                 "",
		"projects/debian-cloud/global/images/family/debian-12":                                "",
		"global/images/gl-1":                                                                  "",
		"https://www.googleapis.com/compute/v1/projects/gardenlinux/global/images/gl-1":       "",
		"https://compute.googleapis.com/compute/beta/projects/gardenlinux/global/images/gl-1": "",
		"gl-1": malformed,
		" projects/gardenlinux/global/images/gl-1":                                    malformed,
		"/projects/gardenlinux/global/images/gl-1":                                    malformed,
		"projects/gardenlinux/images/gl-1":                                            malformed,
		"projects/gardenlinux/global/images/":                                         malformed,
		"projects/gardenlinux/global/images/gl_1":                                     malformed,
		"projects/gardenlinux/global/images/gl-1/":                                    malformed,
		"projects/gardenlinux/global/machineImages/gl-1":                              malformed,
		"http://www.googleapis.com/compute/v1/projects/gardenlinux/global/images/gl1": malformed,
		"ami-0123456789abcdef0":                                                       malformed,
	} {
		errs := finding.Of(gcp.Provider{}.ValidateReference(gcp.Image{Image: image}, field.NewPath("image")))
		if got := cases.Report(t, finding.Report{Errors: errs}); got != want {
			t.Errorf("%q: %q, not %q", image, got, want)
		}
		if len(errs) > 0 && !strings.Contains(errs[0].Detail, "projects/<project>/global/images/<image>") {
			t.Errorf("%q: the right form is missing: %s", image, errs[0].Detail)
		}
	}
}

func TestRules(t *testing.T) {
	rules := gcp.Provider{}.Rules()
	if len(rules) != 1 || rules[0].Name != gcp.RuleImagePath || rules[0].Means == "" || rules[0].Repair == "" {
		t.Error(rules)
	}
}

func TestWorkers(t *testing.T) { wire.Workers(t, gcp.Provider{}.Workers()) }

const gpu = `{"apiVersion": "gcp.provider.extensions.gardener.cloud/v1alpha1", "kind": "WorkerConfig",
	"gpu": {"acceleratorType": "nvidia-tesla-t4", "count": 1}}`

// A pool with a GPU requires an image with its driver if the operator offers one. Otherwise it boots the same image as today.
func TestGPU(t *testing.T) {
	const (
		plain  = "projects/p/global/images/plain"
		driver = "projects/p/global/images/driver"
	)
	capabilities := func(more ...string) v1beta1.Capabilities {
		c := v1beta1.Capabilities{"architecture": {"amd64"}}
		if len(more) > 0 {
			c[capability.GPUSupport] = more
		}
		return c
	}
	for name, test := range map[string]struct {
		offered, registered bool
		version             string
		boots, refused      string
		warned              bool
	}{
		"nobody offers it":                 {version: "1.0.0", boots: plain, warned: true},
		"a flavor declares it":             {offered: true, version: "1.0.0", boots: driver},
		"a flavor of another version does": {offered: true, version: "2.0.0", refused: "worker-request-unmet spec.provider.workers[0].providerConfig.gpu"},
		"registered and declared":          {offered: true, registered: true, version: "1.0.0", boots: driver},
		"registered, and declared nowhere": {registered: true, version: "1.0.0", refused: "worker-request-unmet spec.provider.workers[0].providerConfig.gpu"},
	} {
		t.Run(name, func(t *testing.T) {
			flavors := `{"capabilities": {"architecture": ["amd64"]}, "image": "` + plain + `"}`
			core := []v1beta1.MachineImageFlavor{{Capabilities: capabilities()}}
			if test.offered {
				flavors += `, {"capabilities": {"architecture": ["amd64"], "gardener-gpuSupport": ["nvidia"]}, "image": "` + driver + `"}`
			}
			spec := &v1beta1.CloudProfileSpec{
				MachineCapabilities: []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}},
				MachineTypes:        []v1beta1.MachineType{{Name: "n1"}}, Regions: []v1beta1.Region{{Name: "europe-west1"}},
				ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"apiVersion": "gcp.provider.extensions.gardener.cloud/v1alpha1",
					"kind": "CloudProfileConfig", "machineImages": [{"name": "gl", "versions": [{"version": "1.0.0", "capabilityFlavors": [` + flavors + `]},
					{"version": "2.0.0", "image": "` + plain + `"}]}]}`)},
			}
			if test.registered {
				spec.MachineCapabilities = append(spec.MachineCapabilities, v1beta1.CapabilityDefinition{
					Name: capability.GPUSupport, Values: []string{"nvidia", "none"},
				})
				if test.offered {
					core = append(core, v1beta1.MachineImageFlavor{Capabilities: capabilities("nvidia")})
				}
			}
			spec.MachineImages = []v1beta1.MachineImage{{Name: "gl", Versions: []v1beta1.MachineImageVersion{
				{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"}, CapabilityFlavors: core},
				{ExpirableVersion: v1beta1.ExpirableVersion{Version: "2.0.0"}, CapabilityFlavors: core[:1]},
			}}}
			profile, report := profile.Compile(gcp.Provider{}, spec, field.NewPath("spec"))
			if len(report.Errors) > 0 {
				t.Fatal(report.Errors)
			}
			image := &v1beta1.ShootMachineImage{Name: "gl", Version: &test.version}
			shoot := &v1beta1.Shoot{Spec: v1beta1.ShootSpec{Region: "europe-west1", Provider: v1beta1.Provider{Workers: []v1beta1.Worker{
				{Name: "gpu", Machine: v1beta1.Machine{Type: "n1", Image: image}, ProviderConfig: &runtime.RawExtension{Raw: []byte(gpu)}},
				{Name: "plain", Machine: v1beta1.Machine{Type: "n1", Image: image}},
			}}}}
			var boots []string
			for _, pool := range provider.PoolsOf(shoot) {
				boots = append(boots, resolve.Pool(profile, pool).Decision.Reference.Image)
			}
			if diff := cmp.Diff([]string{test.boots, plain}, boots); diff != "" {
				t.Error(diff)
			}
			found := check.Shoot(profile, shoot, nil)
			var refused []string
			for _, f := range found.Errors {
				refused = append(refused, f.Origin+" "+f.Field)
			}
			if strings.Join(refused, "\n") != test.refused {
				t.Error(found.Errors)
			}
			warned := slices.ContainsFunc(found.Warnings, func(f finding.Finding) bool { return f.Origin == check.RuleRequestIgnored.Name })
			if warned != test.warned {
				t.Error(found.Warnings)
			}
		})
	}
}

// A NamespacedCloudProfile offers its parent's capabilities and its own.
func TestGPUInANamespacedCloudProfile(t *testing.T) {
	const driver = `, "gardener-gpuSupport": ["nvidia"]`
	for name, test := range map[string]struct{ parent, own, boots string }{
		"nobody":     {"", "", "projects/p/global/images/own"},
		"the parent": {driver, "", ""},
		"itself":     {"", driver, "projects/p/global/images/own"},
	} {
		t.Run(name, func(t *testing.T) {
			config := func(version, declared, image string) *runtime.RawExtension {
				return &runtime.RawExtension{Raw: []byte(`{"apiVersion": "gcp.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
					"machineImages": [{"name": "gl", "versions": [{"version": "` + version + `", "capabilityFlavors": [
					{"capabilities": {"architecture": ["amd64"]` + declared + `}, "image": "projects/p/global/images/` + image + `"}]}]}]}`)}
			}
			images := func(version string) []v1beta1.MachineImage {
				return []v1beta1.MachineImage{{Name: "gl", Versions: []v1beta1.MachineImageVersion{{
					ExpirableVersion:  v1beta1.ExpirableVersion{Version: version},
					CapabilityFlavors: []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}},
				}}}}
			}
			parent := &v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{
				Type:                "gcp",
				MachineCapabilities: []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}},
				MachineTypes:        []v1beta1.MachineType{{Name: "n1"}}, Regions: []v1beta1.Region{{Name: "europe-west1"}},
				MachineImages: images("1.0.0"), ProviderConfig: config("1.0.0", test.parent, "parent"),
			}}
			spec, err := namespaced.Render(gcp.Provider{}, &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{
				MachineImages: images("2.0.0"), ProviderConfig: config("2.0.0", test.own, "own"),
			}}, parent)
			if err != nil {
				t.Fatal(err)
			}
			profile, report := profile.Compile(gcp.Provider{}, spec, field.NewPath("spec"))
			if len(report.Errors) > 0 {
				t.Fatal(report.Errors)
			}
			pool := provider.Pool{
				MachineType: "n1", Image: "gl", Version: "2.0.0", Region: "europe-west1", Config: &runtime.RawExtension{Raw: []byte(gpu)},
			}
			if boots := resolve.Pool(profile, pool).Decision.Reference.Image; boots != test.boots {
				t.Errorf("%q, want %q", boots, test.boots)
			}
		})
	}
}
