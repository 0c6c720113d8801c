// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
)

// relabelled returns a profile with two flavors of these capabilities.
func relabelled(t *testing.T, a, b string) *profile.Profile[openstack.Image] {
	t.Helper()
	return given.Sound(t, given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
machineCapabilities:
- {name: architecture, values: [amd64, arm64]}
- {name: net, values: [fast, slow]}
regions: [{name: europe}]
machineTypes:
- {name: any, capabilities: {architecture: [amd64]}}
machineImages:
- name: gl
  versions:
  - version: "1"
    capabilityFlavors:
    - {architecture: [amd64], net: [`+a+`]}
    - {architecture: [amd64], net: [`+b+`]}
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - version: "1"
      capabilityFlavors:
      - capabilities: {architecture: [amd64], net: [`+a+`]}
        regions: [{name: europe, id: 11111111-1111-1111-1111-111111111111}]
      - capabilities: {architecture: [amd64], net: [`+b+`]}
        regions: [{name: europe, id: 22222222-2222-2222-2222-222222222222}]
`))
}

// used returns a view of an update of a profile, used by one Shoot with these pools.
func used(before, after *profile.Profile[openstack.Image], pools ...provider.Pool) update.View[openstack.Image] {
	shoot := &v1beta1.Shoot{}
	shoot.Namespace, shoot.Name, shoot.Spec.Provider.Workers = "garden-a", "shoot", make([]v1beta1.Worker, len(pools))
	return update.View[openstack.Image]{Before: before, After: after, Users: []update.User{{Shoot: shoot, Pools: pools}}}
}

// pool has no requests.
var pool = provider.Pool{Name: "w", MachineType: "any", Image: "gl", Version: "1", Region: "europe"}

// factsOf summarizes the facts about an update, with the affected pools.
func factsOf(changes update.Changes[openstack.Image]) string {
	var facts []string
	add := func(fact string, pools []update.Pool) {
		for _, pool := range pools {
			fact += " " + pool.Name
		}
		facts = append(facts, fact)
	}
	for _, choice := range changes.Choices {
		add("choice of "+choice.Version, choice.Pools)
	}
	for _, t := range changes.Types {
		add(fmt.Sprintf("type gone (locks: %t)", t.Locks), t.Pools)
	}
	for _, lock := range changes.Locks {
		add("lock by "+lock.Version, lock.Pools)
	}
	for _, blocked := range changes.Blocked {
		add("blocked by "+blocked.Version, blocked.Pools)
	}
	return strings.Join(append(facts, fmt.Sprint(len(changes.Locked()), " locked")), "; ")
}

// The capabilities of two images are corrected, and now the other one is preferred. The image IDs stay, so existing worker pools keep
// theirs (semantics S14), and no image is reported as removed. Two views report it as one fact.
func TestARelabelledFlavorIsNotRemoved(t *testing.T) {
	before, after := relabelled(t, "fast", "slow"), relabelled(t, "slow", "fast, slow")
	view := used(before, after, pool)
	child := view
	child.Name = "garden-a/child"
	changes := update.Of(given.Library{}, view, child)
	if len(changes.Choices) != 1 || changes.Choices[0].Gone != update.NotGone || len(changes.Choices[0].Pools) != 2 ||
		*changes.Choices[0].Kept != *changes.Choices[0].Before || *changes.Choices[0].After == *changes.Choices[0].Before {
		t.Errorf("%+v", changes.Choices)
	}
	changes.Blocked = nil // maintenance needs whole Shoots
	if warnings := check.Effects(before, after, &changes, maintenance.Validates); len(warnings) != 1 || warnings[0].Origin != "image-choice-changed" {
		t.Error(warnings)
	}
}

// Only the vocabulary changes: the default of an omitted capability has fewer values, so no core flavor fits the machine type (semantics
// S16). Without a vocabulary nothing locks: removing a machine type matters to pools that got machines or leave their image to Gardener.
func TestAVocabularyLocks(t *testing.T) {
	compile := func(capabilities, types string) *profile.Profile[openstack.Image] {
		compiled, _ := profile.Compile(given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
machineCapabilities: [`+capabilities+`]
regions: [{name: europe}]
machineTypes: [`+types+`]
machineImages:
- name: gl
  versions:
  - version: "1"
    capabilityFlavors:
    - {architecture: [amd64], net: [fast]}
`), nil)
		return compiled
	}
	const both = "{name: architecture, values: [amd64]}, {name: net, values: [fast, slow]}"
	const only = "{name: any, capabilities: {architecture: [amd64]}}"
	open := provider.Pool{Name: "open", MachineType: "any", Region: "europe"}
	for _, test := range []struct{ before, after, types, want string }{
		{both, "{name: architecture, values: [amd64]}, {name: net, values: [slow]}", only, "lock by 1 w; 1 locked"},
		{both, "{name: architecture, values: [amd64]}, {name: net, values: [slow, fast]}", only, "0 locked"},
		{both, both, "", "type gone (locks: true) w open; 2 locked"},
		{"", "", "", "type gone (locks: false) open; 0 locked"},
	} {
		if got := factsOf(update.Of(given.Library{}, used(compile(test.before, only), compile(test.after, test.types), pool, open))); got != test.want {
			t.Errorf("from %q to %q, with types %q: %s", test.before, test.after, test.types, got)
		}
	}
}

// In europe no image is left, and in asia there was none before.
func TestANewChoiceIsNoRedirect(t *testing.T) {
	if redirects := update.Redirected(given.Regional(t, given.Fast), given.Regional(t, given.Slow)); len(redirects) > 0 {
		t.Errorf("%+v", redirects)
	}
}

// References of a described cloud are not comparable in Go, which the type of an untyped provider's references hides.
func TestReferencesOfAnyTypeAreCompared(t *testing.T) {
	for _, cloud := range described.BuiltIn() {
		if cloud.Type() != "ironcore-metal" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", "..", "example", cloud.Type(), "cloudprofile.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		example := given.Decoded[v1beta1.CloudProfile](t, string(text))
		compile := func() *profile.Profile[any] {
			compiled, _ := profile.Compile(provider.Untyped(cloud), &example.Spec, nil)
			return compiled
		}
		if redirects := update.Redirected(compile(), compile()); len(redirects) > 0 {
			t.Errorf("%+v", redirects)
		}
		return
	}
	t.Error("the cloud is not there")
}

// Two machine types support the same, but pools on one of them request a special image, and boot the same as before.
func TestARedirectIsOfWhatPoolsOfTheTypeAskFor(t *testing.T) {
	flavors := []v1beta1.Capabilities{{"net": {"slow"}, "given-trusted": {"on"}}, {"net": {"fast"}, "given-trusted": {"off"}}}
	cloud := given.Linux(flavors...).With(given.Definitions, []provider.Request[given.WorkerConfig]{{
		Setting: "machine type x", PoolField: "machine.type", Capability: "given-trusted", Values: []string{"on"},
		Asks: func(p *provider.Pool, _ *given.WorkerConfig) bool { return p.MachineType == "x" },
	}})
	for _, types := range [][]v1beta1.MachineType{{{Name: "x"}, {Name: "y"}}, {{Name: "y"}, {Name: "x"}}} {
		preferring := func(net ...string) *profile.Profile[string] {
			spec := given.CoreSpec([]v1beta1.CapabilityDefinition{
				{Name: "architecture", Values: []string{"amd64"}}, {Name: "net", Values: net}, {Name: "given-trusted", Values: []string{"on", "off"}},
			}, flavors)
			spec.Type, spec.Regions, spec.MachineTypes = "given", []v1beta1.Region{{Name: "europe"}}, types
			return given.Sound(t, cloud, spec)
		}
		redirects := update.Redirected(preferring("fast", "slow"), preferring("slow", "fast"))
		if len(redirects) != 1 || !slices.Equal(redirects[0].MachineTypes, []string{"y"}) {
			t.Errorf("%+v", redirects)
		}
	}
}

// gl@2.0.0 was gl@1.0.0, so no image is left in europe. A pool that already had gl@2.0.0, and no image, does not use the lost one.
func TestAPoolOfTheNewNameUsesNothingOfTheFormer(t *testing.T) {
	unbootable := pool
	unbootable.Version = "2.0.0"
	view := used(given.Regional(t, given.Slow), given.Regional(t, given.Slow), unbootable)
	view.All, view.Formerly = true, func(resolve.Combination) (string, bool) { return "1.0.0", true }
	lost := update.Of(given.Library{}, view).Choices[0]
	if lost.Region != "europe" || lost.After != nil || lost.InUse {
		t.Errorf("%+v", lost)
	}
}

// A pool's providerConfig has an unknown field: this is an error, but the pool's requests are known.
func TestAnErrorThatDoesNotDecideHidesNoChoice(t *testing.T) {
	before, after := relabelled(t, "fast", "slow"), relabelled(t, "slow", "fast, slow")
	choices := func(providerConfig string) (known, faulty int) {
		pool := pool
		pool.Config = &runtime.RawExtension{Raw: []byte(providerConfig)}
		changes := update.Of(given.Library{}, used(before, after, pool))
		return len(changes.Choices), len(changes.Faulty)
	}
	const config = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"`
	if known, faulty := choices(config + `,"unknown":1}`); known != 1 || faulty != 1 {
		t.Errorf("an unknown field: %d choices, %d pools with errors", known, faulty)
	}
	if known, faulty := choices(config + `,"serverGroup":[]}`); known != 0 || faulty != 1 {
		t.Errorf("a value of another type: %d choices, %d pools with errors", known, faulty)
	}
}
