// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// imagesOnly is the provider for OpenStack without its own rules, for tests that are about images: their profiles and
// Shoots have nothing else.
type imagesOnly struct{ openstack.Provider }

func (p imagesOnly) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[openstack.Image], finding.Report) {
	config, report := p.Provider.Decode(raw, at)
	config.Validator = nil
	return config, report
}

// fake is a provider whose images are already there.
type fake struct {
	images  []imageselector.Image[string]
	workers provider.Workers
}

func (fake) Type() string { return "given" }

func (f fake) Decode(*runtime.RawExtension, *field.Path) (provider.Config[string], finding.Report) {
	return provider.Config[string]{Images: f.images}, finding.Report{}
}

func (fake) Encode(imageselector.Version[string], provider.Format) ([]any, error) { return nil, nil }

func (fake) ValidateReference(string, *field.Path) field.ErrorList { return nil }

func (f fake) Workers() provider.Workers { return f.workers }

// given has linux@1, in the flavors given. The references are their numbers.
func given(flavors ...v1beta1.Capabilities) fake {
	image := field.NewPath("spec", "providerConfig", "machineImages").Index(0)
	version := imageselector.Version[string]{Version: "1", Path: image.Child("versions").Index(0)}
	for i, c := range flavors {
		path := version.Path.Child("capabilityFlavors").Index(i)
		version.Flavors = append(version.Flavors, imageselector.Flavor[string]{
			Capabilities: c, Path: path, Global: &imageselector.Global[string]{Ref: fmt.Sprint(i), Path: path.Child("image")},
		})
	}
	versions := []imageselector.Version[string]{version}
	return fake{images: []imageselector.Image[string]{{Name: "linux", Path: image, Versions: versions}}}
}

// workingWith is given with workers.
func workingWith(flavors ...v1beta1.Capabilities) fake {
	return fake{given(flavors...).images, workersWith(rules)}
}

// workersWith are workers with requests.
func workersWith(requests []provider.Request[workerConfig]) provider.Workers {
	return provider.WorkersOf(provider.WorkerConfig[workerConfig]{Kind: workerKind, Capabilities: definitions, Requests: requests})
}

// workerConfig is the WorkerConfig of a provider with two settings.
type workerConfig struct {
	metav1.TypeMeta `json:",inline"`

	Trusted bool   `json:"trusted,omitempty"`
	Disk    string `json:"disk,omitempty"`
	Nested  *bool  `json:"nested,omitempty"`
}

var (
	workerKind  = schema.GroupVersionKind{Group: "given", Version: "v1", Kind: "WorkerConfig"}
	definitions = []capability.Definition{
		{Name: "given-trusted", Values: []string{"on", "off"}, Undeclared: "off"},
		{Name: "given-disk", Values: []string{"fast", "slow"}},
	}
	rules = []provider.Request[workerConfig]{
		{
			Setting: "trusted: true", Field: "trusted", Capability: "given-trusted", Values: []string{"on"},
			Asks: func(_ *provider.Pool, c *workerConfig) bool { return c.Trusted },
		},
		{
			Setting: "disk: fast", Field: "disk", Capability: "given-disk", Values: []string{"fast"},
			Asks: func(_ *provider.Pool, c *workerConfig) bool { return c.Disk == "fast" },
		},
		{
			Setting: "disk: any", Field: "disk", Capability: "given-disk", Values: []string{"slow", "fast"},
			Asks: func(_ *provider.Pool, c *workerConfig) bool { return c.Disk == "any" },
		},
	}
)
