// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/openstack"
)

// afterwards moves a situation on after a plan: the seed has its machine classes.
func (s *situation) afterwards(p *plan) {
	s.written, s.classes = map[string]*machinev1alpha1.MachineClass{}, nil
	for i := range p.pools {
		for _, class := range p.pools[i].classes {
			s.written[class.Name] = class.DeepCopy()
			s.classes = append(s.classes, classOf(class))
		}
	}
}

// Running pools keep their machine classes, including the reference, after any change of the profile or of a pool's config.
func TestPoolsThatRunGoOn(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, s *situation){
		"no image in the region": func(_ *testing.T, s *situation) {
			raw := s.cluster.CloudProfile.Spec.ProviderConfig.Raw
			s.cluster.CloudProfile.Spec.ProviderConfig.Raw = []byte(strings.ReplaceAll(string(raw), `"europe"`, `"asia"`))
		},
		"core and provider config disagree": func(_ *testing.T, s *situation) {
			for i := range s.cluster.CloudProfile.Spec.MachineImages[0].Versions {
				v := &s.cluster.CloudProfile.Spec.MachineImages[0].Versions[i]
				v.CapabilityFlavors = []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"hypervisor": {"baremetal"}}}}
			}
		},
		"the provider config is empty": func(_ *testing.T, s *situation) {
			s.cluster.CloudProfile.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{}`)}
		},
		"there is no provider config": func(_ *testing.T, s *situation) { s.cluster.CloudProfile.Spec.ProviderConfig = nil },
		"the machine types are gone":  func(_ *testing.T, s *situation) { s.cluster.CloudProfile.Spec.MachineTypes = nil },
		"a config without kind": func(_ *testing.T, s *situation) {
			for i := range s.worker.Spec.Pools {
				if p := &s.worker.Spec.Pools[i]; p.ProviderConfig == nil {
					p.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{}`)}
				}
			}
		},
		// Labels do not affect the class's name. The readable part of the config would lose some of them.
		"a config that cannot be read": func(t *testing.T, s *situation) {
			p := &s.worker.Spec.Pools[2]
			var config map[string]any
			if err := json.Unmarshal(p.ProviderConfig.Raw, &config); err != nil {
				t.Fatal(err)
			}
			config["machineLabels"].([]any)[2].(map[string]any)["value"] = 3
			raw, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			p.ProviderConfig.Raw = raw
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := situationOf(t, seven)
			before := planned(t, s)
			s.afterwards(before)
			change(t, s)
			for _, secretRef := range []string{s.worker.Spec.SecretRef.Name, "other"} { // a change of this name is still applied
				s.worker.Spec.SecretRef.Name = secretRef
				for i := range before.pools {
					for _, class := range before.pools[i].classes {
						class.CredentialsSecretRef.Name = secretRef
					}
				}
				after := planned(t, s)
				if diff := cmp.Diff(objects(before), objects(after)); diff != "" {
					t.Errorf("-before +after: %s", diff)
				}
				undecided := 0
				for i := range after.pools {
					if after.pools[i].image.Undecided != "" {
						undecided++
					}
				}
				if undecided == 0 {
					t.Error("no pool says that anything is wrong")
				}
			}
			// A new pool is refused. So is a pool whose machines would be replaced, if it has no record.
			for _, change := range []func(*extensionsv1alpha1.WorkerPool){
				func(p *extensionsv1alpha1.WorkerPool) { p.Name = "new" },
				func(p *extensionsv1alpha1.WorkerPool) { *p.NodeAgentSecretName += "-again" },
			} {
				pool := s.worker.Spec.Pools[2]
				changed := pool.DeepCopy()
				change(changed)
				s.worker.Spec.Pools[2] = *changed
				if _, err := s.plan(); err == nil && !strings.HasPrefix(name, "a config without") {
					t.Error("nothing is refused")
				}
				s.worker.Spec.Pools[2] = pool
			}
		})
	}
}

// An image name on a legacy version is for amd64 only (semantics S6). An arm64 pool that boots it anyway, as releases of
// provider-openstack allow, carries on; a new one is refused.
func TestPoolsThatBootAnImageByNameOnArm(t *testing.T) {
	profile := func(s *situation, architecture string) {
		spec := &s.cluster.CloudProfile.Spec
		spec.MachineCapabilities = nil
		spec.MachineTypes = []v1beta1.MachineType{{Name: "small", Architecture: &architecture}}
		spec.MachineImages = []v1beta1.MachineImage{{Name: "gardenlinux", Versions: []v1beta1.MachineImageVersion{{
			ExpirableVersion: v1beta1.ExpirableVersion{Version: "1877.5.0"}, Architectures: []string{"amd64", "arm64"},
			InPlaceUpdates: &v1beta1.InPlaceUpdates{Supported: true},
		}}}}
		spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{
			"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
			"machineImages": [{"name": "gardenlinux", "versions": [{"version": "1877.5.0", "image": "gl",
				"regions": [{"name": "asia", "id": "1", "architecture": "arm64"}]}]}]
		}`)}
		for i := range s.worker.Spec.Pools {
			p := &s.worker.Spec.Pools[i]
			p.MachineType, p.Architecture = "small", &architecture
			p.MachineImage = extensionsv1alpha1.MachineImage{Name: "gardenlinux", Version: "1877.5.0"}
		}
	}
	s := situationOf(t, seven)
	profile(s, "amd64")
	before := planned(t, s)
	s.afterwards(before)
	profile(s, "arm64") // the same classes, as if for this architecture
	after := planned(t, s)
	for i := range after.pools {
		image := after.pools[i].image
		if image.Reference != (openstack.Image{Name: "gl"}) || image.Undecided == "" {
			t.Errorf("%s: %v, undecided: %q", after.pools[i].deployments[0].PoolName, image.Reference, image.Undecided)
		}
	}
	s.written, s.classes = nil, nil
	if _, err := s.plan(); err == nil || !strings.Contains(err.Error(), "arm64") {
		t.Errorf("new pools are not refused: %v", err)
	}
}

// No change of a profile stops a running pool. If the image is undecided, its classes stay the same.
func TestPoolsThatRunGoOnInRandomProfiles(t *testing.T) {
	undecided, decided := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := randomSituation(rt, t)
		before, _ := s.plan()
		s.afterwards(before)
		s.worker.Spec.Pools = slices.DeleteFunc(s.worker.Spec.Pools, func(p extensionsv1alpha1.WorkerPool) bool {
			return !slices.ContainsFunc(before.pools, func(b poolPlan) bool { return b.deployments[0].PoolName == p.Name })
		})
		s.cluster.CloudProfile = randomProfile(rt)
		after, err := s.plan()
		if err != nil {
			rt.Fatal(err)
		}
		hold(rt, after)
		for i := range after.pools {
			if after.pools[i].image.Undecided == "" {
				decided++
				continue
			}
			undecided++
			was, is := objects(&plan{pools: before.pools[i : i+1]}), objects(&plan{pools: after.pools[i : i+1]})
			if !reflect.DeepEqual(was, is) {
				rt.Fatalf("-before +after: %s", cmp.Diff(was, is))
			}
		}
	})
	t.Logf("%d pools are decided, %d are not", decided, undecided)
	if min(decided, undecided) == 0 {
		t.Error("that is too few")
	}
}
