// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

const poolsOfRandom = 20

var definitions = []v1beta1.CapabilityDefinition{
	{Name: "architecture", Values: []string{"amd64", "arm64"}},
	{Name: "hypervisor", Values: []string{"virtualized", "baremetal"}},
	{Name: "net", Values: []string{"fast", "slow"}},
}

// someCapabilities draws an architecture and some other capabilities.
func someCapabilities(t *rapid.T, label string) v1beta1.Capabilities {
	c := v1beta1.Capabilities{}
	for i, d := range definitions {
		if i > 0 && rapid.Bool().Draw(t, label+" without "+d.Name) {
			continue
		}
		values := d.Values
		if i == 0 || rapid.Bool().Draw(t, label+" one "+d.Name) {
			values = []string{rapid.SampledFrom(values).Draw(t, label+" "+d.Name)}
		}
		c[d.Name] = values
	}
	return c
}

// randomProfile draws a profile with or without capabilities, with image IDs by region or with names.
func randomProfile(t *rapid.T) *v1beta1.CloudProfile {
	profile := &v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{Type: "openstack"}}
	spec, legacy := &profile.Spec, rapid.IntRange(0, 3).Draw(t, "legacy") == 0
	if !legacy {
		spec.MachineCapabilities = definitions
	}
	for i := range 3 {
		machineType := v1beta1.MachineType{Name: fmt.Sprint("type-", i)}
		if legacy {
			machineType.Architecture = ptr.To(rapid.SampledFrom([]string{"amd64", "arm64"}).Draw(t, "architecture"))
		} else {
			machineType.Capabilities = someCapabilities(t, "type")
		}
		spec.MachineTypes = append(spec.MachineTypes, machineType)
	}
	core := v1beta1.MachineImage{Name: "gardenlinux"}
	own := v1alpha1.MachineImages{Name: "gardenlinux"}
	for v := range 3 {
		version := v1alpha1.MachineImageVersion{Version: fmt.Sprint(v, ".0.0")}
		coreVersion := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: version.Version}}
		for f := range rapid.IntRange(1, 3).Draw(t, "flavors") {
			id := fmt.Sprintf("image-%d-%d", v, f)
			if legacy {
				architecture := []string{"amd64", "arm64"}[f%2]
				version.Regions = append(version.Regions, v1alpha1.RegionIDMapping{Name: "europe", ID: id, Architecture: &architecture})
				coreVersion.Architectures = append(coreVersion.Architectures, architecture)
				continue
			}
			flavor := v1alpha1.MachineImageFlavor{Capabilities: someCapabilities(t, "flavor")}
			switch rapid.IntRange(0, 3).Draw(t, "by") {
			case 0:
				flavor.Image = &id
			case 1: // not in the region
				flavor.Regions = []v1alpha1.RegionIDMapping{{Name: "asia", ID: id}}
			default:
				flavor.Regions = []v1alpha1.RegionIDMapping{{Name: "europe", ID: id}}
			}
			version.CapabilityFlavors = append(version.CapabilityFlavors, flavor)
			coreVersion.CapabilityFlavors = append(coreVersion.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: flavor.Capabilities})
		}
		own.Versions, core.Versions = append(own.Versions, version), append(core.Versions, coreVersion)
	}
	spec.MachineImages = []v1beta1.MachineImage{core}
	config := &v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{own}}
	config.APIVersion, config.Kind = v1alpha1.GroupVersion.String(), "CloudProfileConfig"
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	return profile
}

// randomSituation draws a Worker with new pools.
func randomSituation(t *rapid.T, tb testing.TB) *situation {
	s := situationOf(tb, seven)
	s.status.MachineImages = nil
	s.cluster.CloudProfile = randomProfile(t)
	plain := s.worker.Spec.Pools[0]
	s.worker.Spec.Pools = nil
	for i := range poolsOfRandom {
		pool := *plain.DeepCopy()
		pool.Name = fmt.Sprint("pool-", i)
		machineType := rapid.SampledFrom(s.cluster.CloudProfile.Spec.MachineTypes).Draw(t, "type")
		pool.MachineType = machineType.Name
		pool.MachineImage.Version = fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "version"), ".0.0")
		architecture := machineType.Capabilities["architecture"]
		if machineType.Architecture != nil {
			architecture = []string{*machineType.Architecture}
		}
		pool.Architecture = &architecture[0]
		pool.Zones = []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "zones")]
		s.worker.Spec.Pools = append(s.worker.Spec.Pools, pool)
	}
	return s
}

// answers returns the answers of admission and the command about the pools: the image, or the reason for none.
func answers(s *situation) (images []openstack.Image, errs []string) {
	profile, _ := profile.Compile(openstack.Provider{}, &s.cluster.CloudProfile.Spec, field.NewPath("spec"))
	shoot := &v1beta1.Shoot{Spec: v1beta1.ShootSpec{Region: s.worker.Spec.Region}}
	for i := range s.worker.Spec.Pools {
		pool := &s.worker.Spec.Pools[i]
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, v1beta1.Worker{
			Name: pool.Name, ProviderConfig: pool.ProviderConfig,
			Machine: v1beta1.Machine{
				Type: pool.MachineType, Architecture: pool.Architecture,
				Image: &v1beta1.ShootMachineImage{Name: pool.MachineImage.Name, Version: &pool.MachineImage.Version},
			},
		})
	}
	for _, pool := range provider.PoolsOf(shoot) {
		if r := resolve.Pool(profile, pool); r.Err != nil {
			errs = append(errs, r.Err.Detail)
		} else {
			images = append(images, r.Decision.Reference)
		}
	}
	return images, errs
}

// Machine classes have the images that admission and the command name, and pools without an image are refused with the same text. Inputs
// are not modified, and the result is deterministic.
func TestRandomProfiles(t *testing.T) {
	pools, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range 5 {
			s := randomSituation(rt, t)
			before := s.worker.DeepCopy()
			images, errs := answers(s)
			pools, refused = pools+poolsOfRandom, refused+len(errs)
			p, err := s.plan()
			hold(rt, p)
			for _, text := range errs {
				if err == nil || !strings.Contains(err.Error(), text) {
					rt.Fatalf("%v does not say %q", err, text)
				}
			}
			var got []openstack.Image
			for _, pool := range p.pools {
				for _, c := range pool.classes {
					if booted := classOf(c).Reference; booted != pool.image.Reference {
						rt.Fatalf("%s boots %v instead of %v", c.Name, booted, pool.image.Reference)
					}
				}
				got = append(got, pool.image.Reference)
			}
			if !slices.Equal(images, got) {
				rt.Fatalf("-select +machine classes: %s", cmp.Diff(images, got))
			}
			again, _ := s.plan()
			if !reflect.DeepEqual(objects(p), objects(again)) {
				rt.Fatalf("not the same again: %s", cmp.Diff(objects(p), objects(again)))
			}
			if !reflect.DeepEqual(before, s.worker) {
				rt.Fatalf("the Worker has changed: %s", cmp.Diff(before, s.worker))
			}
		}
	})
	t.Logf("%d pools, of which %d have no image", pools, refused)
	if refused == 0 || refused*3 > pools*2 {
		t.Errorf("of %d pools %d have no image", pools, refused)
	}
}

// objects returns the objects of a plan.
func objects(p *plan) []any {
	var all []any
	for _, pool := range p.pools {
		all = append(all, pool.classes, pool.secrets, pool.deployments)
	}
	return all
}
