// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// feature is a row of the table of semantics S3, or OpenStack's own capability, transcribed from the page. special is the value that a
// pool with the feature requests; usual is the value of an image without the declaration.
type feature struct {
	name, special, usual string
	// always means that a pool without the feature requests usual.
	always bool
	// wish is the feature's name in given.Ask.
	wish string
	// second means that, if registered, an image without the declaration has all values, as in the second text of GEP-0054.
	second bool
}

var features = []feature{
	{"gardener-boot-type", "secure", "standard", true, "secure", true},
	{"gardener-update-type", "in-place", "rolling", true, "inPlace", true},
	{"gardener-bootType", "secure", "standard", true, "secure", false},
	{"gardener-updateType", "inPlace", "rolling", true, "inPlace", false},
	{"gardener-gpuSupport", "nvidia", "none", false, "gpu", false},
	{"openstack-trustedLaunch", "enabled", "disabled", false, "trusted", false},
}

func (f *feature) reserved() bool { return strings.HasPrefix(f.name, "gardener-") }

// values returns a feature's values, best first.
func (f *feature) values() []string {
	for _, d := range slices.Concat(capability.Reserved(), capability.FirstText()) {
		if d.Name == f.name {
			return d.Values
		}
	}
	return []string{f.special, f.usual}
}

// place is where a capability is declared.
type place string

const (
	registered     place = "registered"
	inCore         place = "declared in core"
	onProviderOnly place = "on provider flavors only"
)

// row is one line of the table.
type row struct {
	at place
	f  *feature
	// flavor and machine are the declared values of the capability; nil leaves it out.
	flavor, machine []string
	requested       bool
	// inPlace means that core declares support for in-place updates.
	inPlace bool
}

// profile returns a profile with one flavor and one machine type that declare the row's values.
func (r *row) profile(t *testing.T) *profile.Profile[string] {
	t.Helper()
	declaring := func(values []string) v1beta1.Capabilities {
		c := v1beta1.Capabilities{"architecture": {"amd64"}}
		if values != nil {
			c[r.f.name] = values
		}
		return c
	}
	ofCore := declaring(r.flavor)
	if r.at == onProviderOnly {
		ofCore = declaring(nil)
	}
	s := given.CoreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}, []v1beta1.Capabilities{ofCore})
	if r.at == registered {
		s.MachineCapabilities = append(s.MachineCapabilities, v1beta1.CapabilityDefinition{Name: r.f.name, Values: r.f.values()})
	}
	s.MachineTypes = []v1beta1.MachineType{{Name: "m", Capabilities: declaring(r.machine)}}
	s.MachineImages[0].Versions[0].InPlaceUpdates = &v1beta1.InPlaceUpdates{Supported: r.inPlace}
	cloud := given.Linux(declaring(r.flavor))
	cloud.Settings = openstack.Provider{}.Workers()
	return given.Sound(t, cloud, s)
}

// table returns all rows. Machine types cannot declare capabilities that core does not carry. Core carries provider capabilities only if
// they are registered.
func table() []row {
	var rows []row
	for i := range features {
		f := &features[i]
		for _, at := range []place{registered, inCore, onProviderOnly} {
			for _, flavor := range [][]string{nil, {f.special}, {f.usual}, {f.special, f.usual}} {
				for _, machine := range [][]string{nil, {f.special}, {f.usual}} {
					if at == onProviderOnly && machine != nil || !f.reserved() && at != registered && (flavor != nil || machine != nil) {
						continue
					}
					for _, requested := range []bool{false, true} {
						rows = append(rows, row{at: at, f: f, flavor: flavor, machine: machine, requested: requested})
						if f.wish == "inPlace" {
							rows = append(rows, row{at: at, f: f, flavor: flavor, machine: machine, requested: requested, inPlace: true})
						}
					}
				}
			}
		}
	}
	return rows
}

// want returns the rule of the error that S3 and S4 require; empty if the pool gets its image.
func (r *row) want() string {
	asked := r.f.values()
	asks := r.requested || r.f.always
	if r.requested {
		asked = []string{r.f.special}
	} else if r.f.always {
		asked = []string{r.f.usual}
	}
	if asks && !r.f.reserved() && r.at != registered {
		return "worker-capability-not-registered"
	}
	machine := r.machine
	if machine == nil {
		machine = r.f.values()
	}
	filledIn, supported := r.flavor, r.flavor
	if r.flavor == nil {
		filledIn, supported = r.f.values(), []string{r.f.usual}
		if r.inPlace || r.f.second && r.at == registered {
			supported = []string{r.f.special, r.f.usual}
		}
	}
	share := func(flavor []string) bool {
		return slices.ContainsFunc(flavor, func(value string) bool { return slices.Contains(machine, value) && slices.Contains(asked, value) })
	}
	matches := r.at != registered || slices.ContainsFunc(filledIn, func(value string) bool { return slices.Contains(machine, value) })
	switch {
	case !matches: // concerns only flavor and machine type
		return "no-image-fits"
	case asks && !share(supported):
		return "worker-request-unmet"
	}
	return ""
}

func TestWorkerCapabilitiesInFull(t *testing.T) {
	outcomes := map[string]int{}
	for _, r := range table() {
		name := fmt.Sprintf("%s %s, flavor %v, machine type %v, requested %t, in place %t", r.f.name, r.at, r.flavor, r.machine, r.requested, r.inPlace)
		t.Run(name, func(t *testing.T) {
			p := r.profile(t)
			pool := provider.Pool{Name: "w", MachineType: "m", Image: "linux", Version: "1", Path: field.NewPath("w")}
			if r.requested {
				given.Ask(&pool, r.f.wish)
			}
			want := r.want()
			outcomes[want]++
			for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
				answer := resolve.Pool(p.ByOrder(order), pool)
				got := ""
				if answer.Err != nil {
					got = answer.Err.Origin
					given.Rules.Check(t, finding.List{*answer.Err})
				}
				if got != want || (answer.Decision.Chosen == 0) != (want == "") || len(answer.Further) > 0 {
					t.Errorf("%s: want %q, got %v (flavor %d)", order, want, answer.Err, answer.Decision.Chosen)
				}
			}
		})
	}
	for _, outcome := range []string{"", "no-image-fits", "worker-request-unmet", "worker-capability-not-registered"} {
		if outcomes[outcome] == 0 {
			t.Errorf("%q never happens", outcome)
		}
	}
}
