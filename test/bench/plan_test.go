// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/update"
)

// updated returns a copy of a profile with changes to about one flavor in this many: some get another image in one region, and others
// lose the region.
func updated(spec *v1beta1.CloudProfileSpec, one int) *v1beta1.CloudProfileSpec {
	spec = spec.DeepCopy()
	config, r := &v1alpha1.CloudProfileConfig{}, rand.New(rand.NewPCG(3, 4))
	if err := json.Unmarshal(spec.ProviderConfig.Raw, config); err != nil {
		panic(err)
	}
	for i := range config.MachineImages {
		for k := range config.MachineImages[i].Versions {
			for f := range config.MachineImages[i].Versions[k].CapabilityFlavors {
				flavor := &config.MachineImages[i].Versions[k].CapabilityFlavors[f]
				switch r.IntN(2 * one) {
				case 0:
					flavor.Regions[0].ID = fmt.Sprintf("changed-%d", r.Int())
				case 1:
					flavor.Regions = slices.Delete(flavor.Regions, 0, 1)
				}
			}
		}
	}
	raw, err := json.Marshal(config)
	if err != nil {
		panic(err)
	}
	spec.ProviderConfig.Raw = raw
	return spec
}

// planOf returns the work of planning an update for this many Shoots with three pools each. The work returns the changes.
func planOf(p *generated, after *v1beta1.CloudProfileSpec, shoots int) func() []changes.Change {
	users := usersOf(p, shoots)
	return func() []changes.Change {
		old, _ := profile.Compile(openstack.Provider{}, p.spec, spec)
		is, _ := profile.Compile(openstack.Provider{}, after, spec)
		return changes.Of(update.View[openstack.Image]{Before: old, After: is, Users: changes.UsersOf(users), All: true})
	}
}

// usersOf returns this many Shoots with three pools each, for which maintenance can choose an update.
func usersOf(p *generated, shoots int) []*v1beta1.Shoot {
	r, users := rand.New(rand.NewPCG(5, 6)), make([]*v1beta1.Shoot, 0, shoots)
	for i := range shoots {
		shoot := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-bench", Name: fmt.Sprint("shoot-", i)}}
		shoot.Spec.Kubernetes.Version = "1.33.2"
		shoot.Spec.Region = p.spec.Regions[r.IntN(len(p.spec.Regions))].Name
		for k := range 3 {
			pool := p.pools[r.IntN(len(p.pools))]
			worker := v1beta1.Worker{Name: fmt.Sprint("pool-", k), CRI: &v1beta1.CRI{Name: v1beta1.CRINameContainerD}}
			worker.Machine.Type, worker.Machine.Architecture = pool.MachineType, new("amd64")
			worker.Machine.Image = &v1beta1.ShootMachineImage{Name: pool.Image, Version: &pool.Version}
			shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, worker)
		}
		users = append(users, shoot)
	}
	return users
}

// BenchmarkPlan prints the cost of plans, including the compilation of both profiles, for 2,000 and for 20,000 Shoots with
// three worker pools each. One update changes one flavor in twenty, the other every second one.
func BenchmarkPlan(b *testing.B) {
	for _, p := range profiles {
		for _, one := range []int{20, 2} {
			b.Run(fmt.Sprintf("%s/one-flavor-in-%d", p.name, one), func(b *testing.B) {
				after := updated(p.spec, one)
				few, many := planOf(p, after, 2000), planOf(p, after, 20000)
				compare(b, "2000-shoots", func() { many() }, func() { few() })
			})
		}
	}
}

// The plans include each kind of change that such updates cause.
func TestWhatPlansMeasure(t *testing.T) {
	p := profiles[0]
	summary := changes.Summarize(planOf(p, updated(p.spec, 2), 200)())
	for _, kind := range []changes.Kind{changes.Kept, changes.OtherImage, changes.Gone} {
		if summary[kind] == 0 {
			t.Errorf("nothing %s: %+v", kind, summary)
		}
	}
	maintainer := maintenance.NewMaintainer(gardenerlib.Library{}, p.spec, openstack.Provider{}.Workers())
	chosen := slices.ContainsFunc(usersOf(p, 200), func(shoot *v1beta1.Shoot) bool {
		return slices.ContainsFunc(maintainer.Maintain(shoot).Images, func(o maintenance.Outcome) bool { return o.Version != "" })
	})
	if !chosen {
		t.Error("maintenance has nothing to choose")
	}
	if bytes.Equal(p.spec.ProviderConfig.Raw, updated(p.spec, 20).ProviderConfig.Raw) {
		t.Error("nothing changes")
	}
}
