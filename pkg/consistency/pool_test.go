// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack"
)

// pools is a profile with something of everything: versions that are old, expired, or in one region only; two images;
// machine types of both kinds, one that nobody may use, and one that nothing fits.
const pools = hypervisors + `
type: openstack
regions: [{name: europe}, {name: asia}]
machineTypes:
- {name: virt, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}
- {name: retired, usable: false, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}
- {name: bare, capabilities: {architecture: [amd64], hypervisor: [baremetal]}}
- {name: arm, capabilities: {architecture: [arm64], hypervisor: [virtualized]}}
- {name: either, capabilities: {architecture: [amd64]}}
machineImages:
- name: gl
  versions:
  - {version: 10.0.0, capabilityFlavors: [{architecture: [amd64], hypervisor: [virtualized]}]}
  - {version: 9.0.0, capabilityFlavors: [{architecture: [amd64]}]}
  - {version: 8.0.0, capabilityFlavors: [{architecture: [amd64]}]}
  - {version: 11.0.0, expirationDate: "2020-01-01T00:00:00Z", capabilityFlavors: [{architecture: [amd64]}]}
  - {version: 7.0.0, capabilityFlavors: [{architecture: [amd64], hypervisor: [virtualized]}, {architecture: [amd64], hypervisor: [baremetal]}]}
- name: ubuntu
  versions:
  - {version: 22.4.0, capabilityFlavors: [{architecture: [amd64]}]}
  - {version: 24.4.0, capabilityFlavors: [{architecture: [amd64]}]}
- name: suse
  versions:
  - {version: 15.4.0, capabilityFlavors: [{architecture: [amd64]}]}
- name: unmapped
  versions:
  - {version: 1.0.0, capabilityFlavors: [{architecture: [amd64]}]}
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - {version: 10.0.0, capabilityFlavors: [{capabilities: {architecture: [amd64], hypervisor: [virtualized]}, image: gl-10}]}
    - {version: 9.0.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: gl-9}]}
    - {version: 8.0.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: gl-8}]}
    - {version: 11.0.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: gl-11}]}
    - version: 7.0.0
      capabilityFlavors:
      - {capabilities: {architecture: [amd64], hypervisor: [virtualized]}, regions: [{name: europe, id: gl-7-virt}]}
      - {capabilities: {architecture: [amd64], hypervisor: [baremetal]}, regions: [{name: asia, id: gl-7-bare}]}
  - name: ubuntu
    versions:
    - {version: 22.4.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: ubuntu-22}]}
    - {version: 24.4.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: ubuntu-24}]}
  - name: suse
    versions:
    - {version: 15.4.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: suse-15}]}
`

func profileOfPools(t *testing.T) *consistency.Profile[openstack.Image] {
	t.Helper()
	p, _ := consistency.Compile(imagesOnly{}, parse(t, pools), field.NewPath("spec"))
	return p
}

func TestResolvePool(t *testing.T) {
	p := profileOfPools(t)
	at := field.NewPath("spec", "provider", "workers").Index(2)
	const worker = "spec.provider.workers[2].machine."
	for name, tc := range map[string]struct {
		pool consistency.Pool
		want openstack.Image
		err  string
	}{
		"fits":           {consistency.Pool{MachineType: "virt", Image: "gl", Version: "10.0.0", Region: "europe"}, openstack.Image{Name: "gl-10"}, ""},
		"expired, still": {consistency.Pool{MachineType: "virt", Image: "gl", Version: "11.0.0", Region: "asia"}, openstack.Image{Name: "gl-11"}, ""},
		"by region":      {consistency.Pool{MachineType: "either", Image: "gl", Version: "7.0.0", Region: "asia"}, openstack.Image{ID: "gl-7-bare"}, ""},
		"unusable type":  {consistency.Pool{MachineType: "retired", Image: "gl", Version: "10.0.0", Region: "asia"}, openstack.Image{Name: "gl-10"}, ""},
		"capability": {
			consistency.Pool{Name: "w", Path: at, MachineType: "bare", Image: "gl", Version: "10.0.0", Region: "europe"}, openstack.Image{},
			worker + `type: Invalid value: "bare": worker pool w: no image fits machine type bare with gl@10.0.0 in region europe: ` +
				"{architecture: [amd64], hypervisor: [virtualized]} has hypervisor [virtualized], the machine type [baremetal]; " +
				"would work: version 9.0.0, image ubuntu@24.4.0, machine type virt",
		},
		"capability and region": {
			consistency.Pool{Name: "w", Path: at, MachineType: "virt", Image: "gl", Version: "7.0.0", Region: "asia"}, openstack.Image{},
			worker + `type: Invalid value: "virt": worker pool w: no image fits machine type virt with gl@7.0.0 in region asia: ` +
				"{architecture: [amd64], hypervisor: [virtualized]} has no image in region asia, only in europe; " +
				"{architecture: [amd64], hypervisor: [baremetal]} has hypervisor [baremetal], the machine type [virtualized]; " +
				"would work: version 10.0.0, image ubuntu@24.4.0, machine type bare",
		},
		"nothing would work": {
			consistency.Pool{Name: "w", Path: at, MachineType: "arm", Image: "gl", Version: "9.0.0", Region: "europe"}, openstack.Image{},
			worker + `type: Invalid value: "arm": worker pool w: no image fits machine type arm with gl@9.0.0 in region europe: ` +
				"{architecture: [amd64]} has architecture [amd64], the machine type [arm64]; would work: machine type virt, machine type bare, machine type either",
		},
		"unknown version": {
			consistency.Pool{Name: "w", Path: at, MachineType: "virt", Image: "gl", Version: "10.1", Region: "europe"}, openstack.Image{},
			worker + `image.version: Unsupported value: "10.1": worker pool w: image gl has no version 10.1 in the profile; would work: version 10.0.0, image ubuntu@24.4.0, version 9.0.0`,
		},
		"a part of a version": {
			consistency.Pool{Name: "w", Path: at, MachineType: "virt", Image: "gl", Version: "10.0", Region: "europe"}, openstack.Image{},
			worker + `image.version: Unsupported value: "10.0": worker pool w: only a part of a version of image gl is named, so Gardener completes it when the Shoot is admitted; would work: version 10.0.0, image ubuntu@24.4.0, version 9.0.0`,
		},
		"another architecture": {
			consistency.Pool{Name: "w", Path: at, MachineType: "arm", Architecture: "amd64", Image: "gl", Version: "10.0.0", Region: "europe"}, openstack.Image{},
			worker + `architecture: Invalid value: "amd64": worker pool w: the pool asks for amd64, and machine type arm has architecture [arm64]; would work: machine type virt, machine type either`,
		},
		"its own architecture": {consistency.Pool{MachineType: "virt", Architecture: "amd64", Image: "gl", Version: "10.0.0", Region: "europe"}, openstack.Image{Name: "gl-10"}, ""},
		"unknown image": {
			consistency.Pool{Name: "w", Path: at, MachineType: "virt", Image: "Ubuntu", Version: "24.4.0", Region: "europe"}, openstack.Image{},
			worker + `image.name: Unsupported value: "Ubuntu": worker pool w: image Ubuntu is not in the profile; would work: image gl@10.0.0, image ubuntu@24.4.0, image suse@15.4.0`,
		},
		"image that only core lists": {
			consistency.Pool{Name: "w", Path: at, MachineType: "virt", Image: "unmapped", Version: "1.0.0", Region: "europe"}, openstack.Image{},
			worker + `image.name: Unsupported value: "unmapped": worker pool w: image unmapped is not in the profile's provider config, though core lists it; would work: image gl@10.0.0, image ubuntu@24.4.0, image suse@15.4.0`,
		},
		"unknown machine type": {
			consistency.Pool{Name: "w", Path: at, MachineType: "huge", Image: "gl", Version: "7.0.0", Region: "asia"}, openstack.Image{},
			worker + `type: Unsupported value: "huge": worker pool w: machine type huge is not in the profile; would work: machine type bare, machine type either`,
		},
		"no image": {
			consistency.Pool{Name: "w", Path: at, MachineType: "virt", Region: "europe"}, openstack.Image{},
			worker + `image: Unsupported value: "": worker pool w: no image is named, so Gardener chooses one when the Shoot is admitted; would work: image gl@10.0.0, image ubuntu@24.4.0, image suse@15.4.0`,
		},
		"no version": {
			consistency.Pool{Name: "w", Path: at, MachineType: "virt", Image: "suse", Region: "europe"}, openstack.Image{},
			worker + `image.version: Unsupported value: "": worker pool w: no version of image suse is named, so Gardener chooses one when the Shoot is admitted; would work: version 15.4.0, image gl@10.0.0, image ubuntu@24.4.0`,
		},
		"a region that the profile does not have": {
			consistency.Pool{Name: "w", Path: at, MachineType: "virt", Image: "gl", Version: "7.0.0", Region: "mars"}, openstack.Image{},
			worker + `type: Invalid value: "virt": worker pool w: no image fits machine type virt with gl@7.0.0 in region mars, which is not in the profile (europe, asia): ` +
				"{architecture: [amd64], hypervisor: [virtualized]} has no image in region mars, only in europe; " +
				"{architecture: [amd64], hypervisor: [baremetal]} has hypervisor [baremetal], the machine type [virtualized]; " +
				"would work: version 10.0.0, image ubuntu@24.4.0, version 9.0.0",
		},
		"nothing asked": {
			consistency.Pool{}, openstack.Image{}, `machine.type: Unsupported value: "": machine type "" is not in the profile`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := p.ResolvePool(tc.pool)
			if r.Decision.Reference != tc.want {
				t.Errorf("got %+v, want %+v", r.Decision.Reference, tc.want)
			}
			got := ""
			if r.Err != nil {
				got = r.Err.Error()
			}
			if diff := cmp.Diff(tc.err, got); diff != "" {
				t.Error(diff)
			}
			if (r.Err == nil) != (r.Decision.Chosen >= 0) || (r.Err == nil) != (len(r.Suggestions) == 0) && name != "nothing asked" {
				t.Errorf("chosen %d, suggestions %v, error %v", r.Decision.Chosen, r.Suggestions, r.Err)
			}
		})
	}
}

// Everything that a refusal suggests does work.
func TestSuggestionsWork(t *testing.T) {
	p := profileOfPools(t)
	for _, machine := range []string{"virt", "bare", "arm", "either", "huge"} {
		for _, image := range []string{"gl@10.0.0", "gl@7.0.0", "gl@1.0.0", "ubuntu@24.4.0", "unmapped@1.0.0", "none@1.0.0"} {
			for _, region := range []string{"europe", "asia", "nowhere"} {
				pool := consistency.Pool{MachineType: machine, Region: region}
				pool.Image, pool.Version = cutImage(image)
				for _, s := range p.ResolvePool(pool).Suggestions {
					changed := pool
					switch s.Kind {
					case consistency.SuggestVersion:
						changed.Version = s.Value
					case consistency.SuggestImage:
						changed.Image, changed.Version = cutImage(s.Value)
					case consistency.SuggestMachineType:
						changed.MachineType = s.Value
					}
					if r := p.ResolvePool(changed); r.Err != nil {
						t.Errorf("%+v, for %+v: %v", s, pool, r.Err)
					}
				}
			}
		}
	}
}

func cutImage(image string) (name, version string) {
	for i := range image {
		if image[i] == '@' {
			return image[:i], image[i+1:]
		}
	}
	return image, ""
}

// What a pool leaves to Gardener is no reason to deny it; everything else is.
func TestOpenPools(t *testing.T) {
	p := profileOfPools(t)
	for pool, open := range map[consistency.Pool]bool{
		{MachineType: "virt", Region: "europe"}:                                 true,
		{MachineType: "virt", Region: "europe", Image: "gl"}:                    true,
		{MachineType: "virt", Region: "europe", Image: "gl", Version: "10"}:     true,
		{MachineType: "virt", Region: "europe", Image: "gl", Version: "10.0"}:   true,
		{MachineType: "virt", Region: "europe", Image: "gl", Version: "1"}:      false,
		{MachineType: "virt", Region: "europe", Image: "gl", Version: "latest"}: false,
		{MachineType: "virt", Region: "europe", Image: "gl", Version: "10.0.1"}: false,
		{MachineType: "virt", Region: "europe", Image: "none"}:                  false,
		{MachineType: "huge", Region: "europe"}:                                 false,
		{MachineType: "arm", Architecture: "amd64", Region: "europe"}:           false,
		{MachineType: "bare", Region: "europe", Image: "gl", Version: "10.0.0"}: false,
	} {
		if r := p.ResolvePool(pool); r.Err == nil || r.Open != open {
			t.Errorf("%+v: open %t, %v", pool, r.Open, r.Err)
		}
	}
}

// A version that the profile has is not left to Gardener, whatever longer ones there are.
func TestAVersionThatIsThereIsNotOpen(t *testing.T) {
	s := spec(t, hypervisors, core("1.0", amdBare)+core("1.0.1", amdVirt), provider("1.0", amdBare)+provider("1.0.1", amdVirt))
	s.MachineTypes = []v1beta1.MachineType{{Name: "m", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}}}}
	p, _ := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	r := p.ResolvePool(consistency.Pool{MachineType: "m", Image: "gl", Version: "1.0", Region: "europe"})
	if r.Open || r.Err == nil || r.Err.Origin != consistency.RuleNoImage {
		t.Errorf("open %t, %v", r.Open, r.Err)
	}
}

func TestCheckRegion(t *testing.T) {
	p, at := profileOfPools(t), field.NewPath("spec", "region")
	if err := p.CheckRegion("asia", at); err != nil {
		t.Error(err)
	}
	want := `spec.region: Unsupported value: "mars": region mars is not in the profile, which has europe, asia`
	if err := p.CheckRegion("mars", at); err == nil || err.Error() != want {
		t.Error(err)
	}
}

func TestPoolOf(t *testing.T) {
	version, architecture := "1.0.0", "arm64"
	at := field.NewPath("workers").Index(0)
	worker := &v1beta1.Worker{Name: "w", Machine: v1beta1.Machine{Type: "m", Architecture: &architecture, Image: &v1beta1.ShootMachineImage{Name: "gl", Version: &version}}}
	want := consistency.Pool{Name: "w", MachineType: "m", Image: "gl", Version: "1.0.0", Architecture: "arm64", Region: "r", Path: at}
	if got := consistency.PoolOf(worker, "r", at); got != want {
		t.Errorf("%+v", got)
	}
	if got := consistency.PoolOf(&v1beta1.Worker{Name: "w"}, "r", nil); got != (consistency.Pool{Name: "w", Region: "r"}) {
		t.Errorf("%+v", got)
	}
}

func TestOrderOfAPool(t *testing.T) {
	s := parse(t, `
machineCapabilities: [{name: architecture, values: [amd64]}, {name: storage, values: [NVMe, SCSI]}, {name: net, values: [accelerated, basic]}]
type: openstack
regions: [{name: europe}]
machineTypes: [{name: m}]
machineImages: [{name: gl, versions: [{version: "1", capabilityFlavors: [{net: [basic]}, {storage: [NVMe], net: [accelerated]}]}]}]
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages: [{name: gl, versions: [{version: "1", capabilityFlavors: [{capabilities: {net: [basic]}, image: a}, {capabilities: {storage: [NVMe], net: [accelerated]}, image: b}]}]}]
`)
	p, _ := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	for order, want := range map[capability.Order]string{capability.GEP33: "b", capability.Gardener: "a"} {
		r := p.ResolvePool(consistency.Pool{MachineType: "m", Image: "gl", Version: "1", Region: "europe", Order: order})
		if r.Decision.Reference.Name != want {
			t.Errorf("%s: got %s, want %s", order, r.Decision.Reference.Name, want)
		}
	}
}
