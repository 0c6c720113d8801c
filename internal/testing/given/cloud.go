// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package given has test data for the packages that make decisions: pkg/provider, profile, resolve, update, render and check.
//
//   - cloud.go: providers without a cloud, and a WorkerConfig with two settings
//   - read.go: specs and profiles from files and from cases of package cases
//   - pool.go: worker pools with requests, and [Answer], which resolves one in both ways
//   - findings.go: findings as lines of text, and checks that apply to all findings
//   - draw.go: random profiles and worker pools; [DrawSpec] also draws invalid profiles
//
// It does not import pkg/check, so that the tests of lower packages run even if pkg/check does not compile. Package worlds draws valid
// OpenStack profiles with Shoots instead.
package given

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
)

// ImagesOnly is the provider for OpenStack without its own rules, for tests about images, whose profiles and Shoots contain nothing else.
type ImagesOnly struct{ openstack.Provider }

// Decode decodes a config without OpenStack's own rules.
func (p ImagesOnly) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[openstack.Image], finding.Report) {
	config, report := p.Provider.Decode(raw, at)
	config.Validator = nil
	return config, report
}

// Deciding is [ImagesOnly] with policies.
type Deciding struct {
	ImagesOnly
	Chosen policy.Policies
}

// Policies returns d.Chosen.
func (d Deciding) Policies() policy.Policies { return d.Chosen }

// Cloud is a provider of type "given" with fixed images: it decodes no config, and returns its own memory. The zero Cloud has no images
// and no worker settings.
type Cloud struct {
	Images   []imageselector.Image[string]
	Settings provider.Workers
}

// Type returns "given".
func (Cloud) Type() string { return "given" }

// Decode returns the images of the Cloud.
func (c Cloud) Decode(*runtime.RawExtension, *field.Path) (provider.Config[string], finding.Report) {
	return provider.Config[string]{Images: c.Images}, finding.Report{}
}

// Encode returns nothing.
func (Cloud) Encode(imageselector.Version[string], provider.Format) ([]any, error) { return nil, nil }

// ValidateReference accepts everything.
func (Cloud) ValidateReference(string, *field.Path) field.ErrorList { return nil }

// Workers returns the worker settings of the Cloud.
func (c Cloud) Workers() provider.Workers { return c.Settings }

// Linux returns a Cloud with linux@1 in these flavors. The references are the flavors' numbers. [CoreSpec] returns its CloudProfile.
func Linux(flavors ...v1beta1.Capabilities) Cloud {
	image := field.NewPath("spec", "providerConfig", "machineImages").Index(0)
	version := imageselector.Version[string]{Version: "1", Path: image.Child("versions").Index(0)}
	for i, c := range flavors {
		path := version.Path.Child("capabilityFlavors").Index(i)
		version.Flavors = append(version.Flavors, imageselector.Flavor[string]{
			Capabilities: c, Path: path, Global: &imageselector.Global[string]{Ref: fmt.Sprint(i), Path: path.Child("image")},
		})
	}
	versions := []imageselector.Version[string]{version}
	return Cloud{Images: []imageselector.Image[string]{{Name: "linux", Path: image, Versions: versions}}}
}

// CoreSpec returns a CloudProfile with linux@1 in these flavors, and without machine types.
func CoreSpec(defs []v1beta1.CapabilityDefinition, flavors []v1beta1.Capabilities) *v1beta1.CloudProfileSpec {
	version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1"}}
	for _, c := range flavors {
		version.CapabilityFlavors = append(version.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: c})
	}
	return &v1beta1.CloudProfileSpec{
		MachineCapabilities: defs,
		MachineImages:       []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{version}}},
	}
}

// WorkerConfig is the WorkerConfig of a provider with two settings.
type WorkerConfig struct {
	metav1.TypeMeta `json:",inline"`

	Trusted bool   `json:"trusted,omitempty"`
	Disk    string `json:"disk,omitempty"`
	Nested  *bool  `json:"nested,omitempty"`
}

// WorkersWith returns worker settings with definitions and requests.
func WorkersWith(definitions []capability.Definition, requests []provider.Request[WorkerConfig]) provider.Workers {
	return provider.WorkersOf(provider.WorkerConfig[WorkerConfig]{Kind: WorkerKind, Capabilities: definitions, Requests: requests})
}

// With returns the Cloud with the worker settings of [WorkersWith].
func (c Cloud) With(definitions []capability.Definition, requests []provider.Request[WorkerConfig]) Cloud {
	c.Settings = WorkersWith(definitions, requests)
	return c
}

// Arguments for [WorkersWith].
var (
	// WorkerKind is the kind of a WorkerConfig.
	WorkerKind = schema.GroupVersionKind{Group: "given", Version: "v1", Kind: "WorkerConfig"}
	// Definitions are the worker capabilities of both settings.
	Definitions = []capability.Definition{
		{Name: "given-trusted", Values: []string{"on", "off"}, Undeclared: "off"},
		{Name: "given-disk", Values: []string{"fast", "slow"}},
	}
	// Requests request a value of given-trusted, and one or any value of given-disk.
	Requests = []provider.Request[WorkerConfig]{
		{
			Setting: "trusted: true", Field: "trusted", Capability: "given-trusted", Values: []string{"on"},
			Asks: func(_ *provider.Pool, c *WorkerConfig) bool { return c.Trusted },
		},
		{
			Setting: "disk: fast", Field: "disk", Capability: "given-disk", Values: []string{"fast"},
			Asks: func(_ *provider.Pool, c *WorkerConfig) bool { return c.Disk == "fast" },
		},
		{
			Setting: "disk: any", Field: "disk", Capability: "given-disk", Values: []string{"slow", "fast"},
			Asks: func(_ *provider.Pool, c *WorkerConfig) bool { return c.Disk == "any" },
		},
	}
)
