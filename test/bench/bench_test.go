// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package bench runs comparisons on the same profiles: of selection with the gardener library, of the one-to-one check with merely
// decoding the same config, and of the admission handlers with decoding and with Gardener's extension library:
//
//	go test -run '^$' -bench . -benchmem ./test/bench
//	go test -run '^$' -bench Admission ./test/bench
//
// No benchmark fails for being slow.
package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// generated is a profile in all forms that the benchmarks start from.
type generated struct {
	name    string
	spec    *v1beta1.CloudProfileSpec
	catalog *imageselector.Catalog[openstack.Image]
	// compiled is the profile that catalog belongs to.
	compiled *profile.Profile[openstack.Image]
	decoded  decoded
	// requests, pools and questions are the same questions to the catalog, the compiled profile and the library.
	requests  []imageselector.Request
	pools     []provider.Pool
	questions []question
}

type question struct {
	flavors []v1alpha1.MachineImageFlavor
	machine v1beta1.Capabilities
}

// decoded is a provider with the images decoded in advance.
type decoded struct {
	openstack.Provider
	images []imageselector.Image[openstack.Image]
}

func (d decoded) Decode(*runtime.RawExtension, *field.Path) (provider.Config[openstack.Image], finding.Report) {
	return provider.Config[openstack.Image]{Images: d.images}, finding.Report{}
}

var profiles []*generated

var spec = field.NewPath("spec")

func newProfile(name string, size int) *generated {
	p := &generated{name: name, spec: generate.OpenStack(size)}
	withRuntimes(p.spec)
	config := withWorkerCapabilities(p.spec)
	compiled, _ := profile.Compile(openstack.Provider{}, p.spec, spec)
	p.compiled, p.catalog = compiled, compiled.Catalog()
	read, _ := openstack.Provider{}.Decode(p.spec.ProviderConfig, spec.Child("providerConfig"))
	p.decoded.images = read.Images

	worker, _ := compiled.Vocabulary().Request(capability.Worker{}.Requirements(nil))
	r := rand.New(rand.NewPCG(1, 2))
	for len(p.requests) < 1024 {
		image := config.MachineImages[r.IntN(len(config.MachineImages))]
		version := image.Versions[r.IntN(len(image.Versions))]
		machineType := &p.spec.MachineTypes[r.IntN(len(p.spec.MachineTypes))]
		machine := machineType.Capabilities
		set, _ := compiled.Vocabulary().Set(machine, nil)
		request := imageselector.Request{Image: image.Name, Version: version.Version, Machine: set, Worker: worker,
			Region: p.spec.Regions[r.IntN(len(p.spec.Regions))].Name}
		if p.catalog.Choose(request) >= 0 { // only requests with an answer, like those of a worker controller
			p.requests = append(p.requests, request)
			p.questions = append(p.questions, question{version.CapabilityFlavors, machine})
			p.pools = append(p.pools, provider.Pool{
				MachineType: machineType.Name, Image: image.Name, Version: version.Version, Region: request.Region,
			})
		}
	}
	return p
}

// withRuntimes adds containerd to all image versions. Without it Gardener's maintenance chooses none of them.
func withRuntimes(spec *v1beta1.CloudProfileSpec) {
	for i := range spec.MachineImages {
		for k := range spec.MachineImages[i].Versions {
			spec.MachineImages[i].Versions[k].CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
		}
	}
}

// withWorkerCapabilities adds secure boot and in-place updates to every fourth flavor of a provider config, and returns the config. It does
// not affect the library, because neither is registered, and pools that request neither boot the same images as before.
func withWorkerCapabilities(spec *v1beta1.CloudProfileSpec) *v1alpha1.CloudProfileConfig {
	config, flavors := &v1alpha1.CloudProfileConfig{}, 0
	if err := json.Unmarshal(spec.ProviderConfig.Raw, config); err != nil {
		panic(err)
	}
	for i := range config.MachineImages {
		for k := range config.MachineImages[i].Versions {
			for f := range config.MachineImages[i].Versions[k].CapabilityFlavors {
				if flavors++; flavors%4 == 0 {
					declared := config.MachineImages[i].Versions[k].CapabilityFlavors[f].Capabilities
					declared[capability.BootType] = v1beta1.CapabilityValues{"secure", "standard"}
					declared[capability.UpdateType] = v1beta1.CapabilityValues{capability.UpdateTypeInPlace, capability.UpdateTypeRolling}
				}
			}
		}
	}
	raw, err := json.Marshal(config)
	if err != nil {
		panic(err)
	}
	spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	return config
}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // admission would log its refusals
	profiles = []*generated{newProfile("25KiB", 25<<10), newProfile("250KiB", 250<<10), newProfile("1MiB", 1<<20)}
	m.Run()
}

// The profiles have no errors, the requests contain capabilities, and some flavors declare them.
func TestWhatIsMeasured(t *testing.T) {
	for _, p := range profiles {
		if _, report := profile.Compile(openstack.Provider{}, p.spec, spec); len(report.Errors) > 0 {
			t.Errorf("%s: %v", p.name, report.Errors[0])
		}
		with := 0
		for _, request := range p.requests {
			if asked := request.Worker.Values(capability.BootType); len(asked) != 1 || asked[0] != "standard" {
				t.Fatalf("%s: asks for %v", p.name, asked)
			}
			if d := p.catalog.Decide(request); len(d.Verdicts[d.Chosen].Flavor.Capabilities[capability.BootType]) > 0 {
				with++
			}
			if n := testing.AllocsPerRun(1, func() { _, _ = p.catalog.Select(request) }); n != 0 {
				t.Fatalf("%s: %v allocations", p.name, n)
			}
		}
		if with == 0 || with == len(p.requests) {
			t.Errorf("%s: %d of %d requests boot a flavor with worker capabilities", p.name, with, len(p.requests))
		}
	}
}

// Comparisons are only meaningful if both sides get the same questions.
func TestBothSidesAnswerTheSame(t *testing.T) {
	for _, p := range profiles {
		for i, request := range p.requests {
			request.Region = "" // the library knows no regions
			q := p.questions[i]
			best, err := worker.FindBestImageFlavor(q.flavors, q.machine, p.spec.MachineCapabilities)
			if err != nil {
				t.Fatal(err)
			}
			want := -1
			for k, f := range q.flavors {
				if fmt.Sprint(f.Capabilities) == fmt.Sprint(best.Capabilities) {
					want = k
				}
			}
			everywhere := imageselector.NewCatalog(p.catalog.Vocabulary(), []imageselector.Image[int]{{Name: request.Image,
				Versions: []imageselector.Version[int]{{Version: request.Version, Flavors: global(q.flavors)}}}})
			request.Order = capability.Gardener
			if got := everywhere.Choose(request); got != want {
				t.Fatalf("%s: request %d: flavor %d, want %d", p.name, i, got, want)
			}
		}
	}
}

func global(flavors []v1alpha1.MachineImageFlavor) []imageselector.Flavor[int] {
	var all []imageselector.Flavor[int]
	for i := range flavors {
		all = append(all, imageselector.Flavor[int]{Capabilities: flavors[i].Capabilities, Global: &imageselector.Global[int]{Ref: i}})
	}
	return all
}
