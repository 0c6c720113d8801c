// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
)

// inTurn returns the work of asking one question of a profile after the other.
func (p *generated) inTurn(ask func(i int) error) func() {
	next := 0
	return func() {
		if err := ask(next % len(p.requests)); err != nil {
			panic(err)
		}
		next++
	}
}

// library returns the work of asking the gardener library the same questions.
func (p *generated) library() func() {
	return p.inTurn(func(i int) error {
		q := &p.questions[i]
		_, err := worker.FindBestImageFlavor(q.flavors, q.machine, p.spec.MachineCapabilities)
		return err
	})
}

// BenchmarkSelect compares the selection of a flavor with the gardener library's.
func BenchmarkSelect(b *testing.B) {
	for _, p := range profiles {
		for _, order := range []capability.Order{capability.Gardener, capability.GEP33} {
			b.Run(p.name+"/"+order.String(), func(b *testing.B) {
				compare(b, "library", p.inTurn(func(i int) error {
					request := p.requests[i]
					request.Order = order
					_, err := p.catalog.Select(request)
					return err
				}), p.library())
			})
		}
	}
}

// BenchmarkResolvePool compares the call of worker controllers with the gardener library's selection.
func BenchmarkResolvePool(b *testing.B) {
	for _, p := range profiles {
		b.Run(p.name, func(b *testing.B) {
			compare(b, "library", p.inTurn(func(i int) error {
				if answer := resolve.Pool(p.compiled, p.pools[i]); answer.Err != nil {
					return answer.Err.Error
				}
				return nil
			}), p.library())
		})
	}
}

// BenchmarkCheck compares checks of a CloudProfile with merely decoding its provider config: of images decoded in advance,
// with decoding, and with all admission warnings.
func BenchmarkCheck(b *testing.B) {
	for _, p := range profiles {
		for name, check := range map[string]func(){
			"one-to-one":            func() { profile.Compile(p.decoded, p.spec, spec) },
			"decode-and-one-to-one": func() { profile.Compile(openstack.Provider{}, p.spec, spec) },
			"with-warnings": func() {
				check.CloudProfile(openstack.Provider{}, &v1beta1.CloudProfile{Spec: *p.spec})
			},
		} {
			b.Run(p.name+"/"+name, func(b *testing.B) {
				compare(b, "unmarshal", check, func() {
					if err := json.Unmarshal(p.spec.ProviderConfig.Raw, &v1alpha1.CloudProfileConfig{}); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}

// BenchmarkCompare compares evaluating an update of a CloudProfile for 20,000 Shoots, with three worker pools each, with
// calling the gardener library once for each of these pools.
func BenchmarkCompare(b *testing.B) {
	const shoots, poolsOfEach = 20_000, 3
	for _, p := range profiles {
		updated, _ := profile.Compile(openstack.Provider{}, p.spec, spec)
		users := make([]update.User, shoots)
		for i := range users {
			shoot := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-bench", Name: fmt.Sprint("shoot-", i)}}
			shoot.Spec.Provider.Workers = make([]v1beta1.Worker, poolsOfEach)
			users[i].Shoot = shoot
			for k := range poolsOfEach {
				users[i].Pools = append(users[i].Pools, p.pools[(poolsOfEach*i+k)%len(p.pools)])
			}
		}
		b.Run(p.name, func(b *testing.B) {
			library := p.library()
			compare(b, "library", func() {
				changes := update.Of(gardenerlib.Library{}, update.View[openstack.Image]{Before: p.compiled, After: updated, Users: users})
				check.Effects(p.compiled, updated, &changes, maintenance.Corrects)
			}, func() {
				for range shoots * poolsOfEach {
					library()
				}
			})
		})
	}
}

// BenchmarkForecast compares predicting maintenance's choices for 20,000 Shoots, with three worker pools each, with calling
// the gardener library once for each of these pools.
func BenchmarkForecast(b *testing.B) {
	const count, poolsOfEach = 20_000, 3
	for _, p := range profiles {
		shoots, pools := make([]*v1beta1.Shoot, count), make([][]provider.Pool, count)
		for i := range shoots {
			shoots[i] = &v1beta1.Shoot{}
			shoots[i].Spec.Kubernetes.Version = "1.33.1"
			for k := range poolsOfEach {
				pool := p.pools[(poolsOfEach*i+k)%len(p.pools)]
				machine := v1beta1.Machine{
					Type: pool.MachineType, Image: &v1beta1.ShootMachineImage{Name: pool.Image, Version: &pool.Version},
				}
				shoots[i].Spec.Provider.Workers = append(shoots[i].Spec.Provider.Workers, v1beta1.Worker{Machine: machine})
				pools[i] = append(pools[i], pool)
			}
		}
		b.Run(p.name, func(b *testing.B) {
			library := p.library()
			compare(b, "library", func() {
				maintainer := maintenance.NewMaintainer(gardenerlib.Library{}, p.spec, openstack.Provider{}.Workers())
				boots := func(pool provider.Pool) func(image, version string) bool { return resolve.Boots(p.compiled, pool) }
				for i := range shoots {
					maintainer.Blocked(shoots[i], pools[i], boots)
				}
			}, func() {
				for range count * poolsOfEach {
					library()
				}
			})
		})
	}
}
