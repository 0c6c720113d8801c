// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// ofCloud is a generated OpenStack profile converted to another cloud. It has the same versions and flavors, with
// references from the cloud's example.
type ofCloud struct {
	cloud  provider.Provider[any]
	spec   *v1beta1.CloudProfileSpec
	images []imageselector.Image[any]
	// catalog answers requests, which are those of the generated profile.
	catalog  *imageselector.Catalog[any]
	requests []imageselector.Request
}

// decodedBefore is a provider with the images decoded in advance.
type decodedBefore struct {
	provider.Provider[any]
	images []imageselector.Image[any]
}

func (d decodedBefore) Decode(*runtime.RawExtension, *field.Path) (provider.Config[any], finding.Report) {
	return provider.Config[any]{Images: d.images}, finding.Report{}
}

// exampleOf reads the CloudProfile of a cloud's examples.
func exampleOf(tb testing.TB, cloud cli.Provider) *v1beta1.CloudProfile {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "example", cloud.Type(), "cloudprofile.yaml"))
	profile := &v1beta1.CloudProfile{}
	if err == nil {
		err = yaml.Unmarshal(text, profile)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return profile
}

// newOfCloud converts a profile to a cloud. For OpenStack it keeps the generated one.
func newOfCloud(tb testing.TB, cloud cli.Provider, p *generated) *ofCloud {
	tb.Helper()
	o := &ofCloud{cloud: cloud, spec: p.spec}
	if cloud.Type() != p.spec.Type {
		o.spec = p.spec.DeepCopy()
		o.spec.Type = cloud.Type()
		o.spec.ProviderConfig = &runtime.RawExtension{Raw: written(tb, o.cloud, exampleOf(tb, cloud).Spec.ProviderConfig, p)}
	}
	config, _ := o.cloud.Decode(o.spec.ProviderConfig, spec.Child("providerConfig"))
	o.images = config.Images
	compiled, report := profile.Compile(o.cloud, o.spec, spec)
	if len(report.Errors) > 0 {
		tb.Fatalf("%s: %d errors: %v", cloud.Type(), len(report.Errors), report.Errors[0])
	}
	o.catalog = compiled.Catalog()
	worker, _ := compiled.Vocabulary().Request(capability.Worker{}.Requirements(nil))
	machines := map[string]capability.Set{}
	for _, machineType := range o.spec.MachineTypes {
		machines[machineType.Name], _ = compiled.Vocabulary().Set(machineType.Capabilities, nil)
	}
	for _, pool := range p.pools {
		o.requests = append(o.requests, imageselector.Request{
			Image: pool.Image, Version: pool.Version, Machine: machines[pool.MachineType], Worker: worker, Region: pool.Region,
		})
	}
	return o
}

// written returns a config like an example's, with the images of a profile.
func written(tb testing.TB, cloud provider.Provider[any], example *runtime.RawExtension, p *generated) []byte {
	tb.Helper()
	read, report := cloud.Decode(example, nil)
	if len(report.Errors) > 0 {
		tb.Fatal(report.Errors)
	}
	model := read.Images[0].Versions[0].Flavors[0]
	var config map[string]any
	if err := json.Unmarshal(example.Raw, &config); err != nil {
		tb.Fatal(err)
	}
	var images []any
	for _, image := range p.decoded.images {
		var versions []any
		for _, version := range image.Versions {
			other := imageselector.Version[any]{Version: version.Version}
			for i := range version.Flavors {
				flavor := imageselector.Flavor[any]{Capabilities: version.Flavors[i].Capabilities, Global: model.Global}
				for _, r := range version.Flavors[i].Regional {
					if len(model.Regional) > 0 {
						flavor.Regional = append(flavor.Regional, imageselector.Regional[any]{Region: r.Region, Ref: model.Regional[0].Ref})
					}
				}
				other.Flavors = append(other.Flavors, flavor)
			}
			entries, err := cloud.Encode(other, provider.FormatFlavors)
			if err != nil {
				tb.Fatal(err)
			}
			versions = append(versions, entries...)
		}
		images = append(images, map[string]any{"name": image.Name, "versions": versions})
	}
	config["machineImages"] = images
	raw, err := json.Marshal(config)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// inTurn returns the work of selecting for one request after the other.
func (o *ofCloud) inTurn() func() {
	next := 0
	return func() {
		o.catalog.Choose(o.requests[next%len(o.requests)])
		next++
	}
}

// ofClouds calls do for each cloud with its profile, except three: local has no such vocabulary, and two have no flavors in their configs.
func ofClouds(tb testing.TB, p *generated, do func(name string, o *ofCloud)) {
	tb.Helper()
	for _, cloud := range clouds.All() {
		if !slices.Contains([]string{"local", "hcloud", "ironcore"}, cloud.Type()) {
			do(cloud.Type(), newOfCloud(tb, cloud, p))
		}
	}
}

// Every measured request has an answer, because finding none would be faster.
func TestWhatIsMeasuredOfClouds(t *testing.T) {
	ofClouds(t, profiles[0], func(name string, o *ofCloud) {
		for i, request := range o.requests {
			if o.catalog.Choose(request) < 0 {
				t.Errorf("%s: request %d has no answer", name, i)
			}
		}
	})
}

// BenchmarkClouds compares each cloud with OpenStack: the time to check the flavors of a CloudProfile, with and without
// decoding, and to select one.
func BenchmarkClouds(b *testing.B) {
	var reference *ofCloud
	for _, cloud := range clouds.All() {
		if cloud.Type() == profiles[1].spec.Type {
			reference = newOfCloud(b, cloud, profiles[1])
		}
	}
	for name, work := range map[string]func(o *ofCloud) func(){
		"one-to-one": func(o *ofCloud) func() {
			return func() { profile.Compile(decodedBefore{o.cloud, o.images}, o.spec, spec) }
		},
		"decode-and-one-to-one": func(o *ofCloud) func() {
			return func() { profile.Compile(o.cloud, o.spec, spec) }
		},
		"select": (*ofCloud).inTurn,
	} {
		ofClouds(b, profiles[1], func(cloud string, o *ofCloud) {
			b.Run(cloud+"/"+name, func(b *testing.B) { compare(b, reference.spec.Type, work(o), work(reference)) })
		})
	}
}
