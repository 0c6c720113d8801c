// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/test/cases"
)

// ofVirt is a profile with one core flavor, or those given, and a mapping of provider flavors, found by their numbers.
func ofVirt(vocabulary, version, core string, flavors ...string) string {
	var mapped []string
	for _, flavor := range flavors {
		mapped = append(mapped, "{capabilities: "+flavor+", image: "+strconv.Quote(flavor)+"}")
	}
	return vocabulary + "type: openstack\nregions: [{name: europe}]\nmachineTypes: [{name: m, capabilities: {architecture: [amd64]}}]\n" +
		"machineImages: [{name: gl, versions: [{version: \"1\", " + version + "capabilityFlavors: [" + core + "]}]}]\n" +
		"providerConfig: " + openstackConfig + "machineImages: [{name: gl, versions: [{version: \"1\", capabilityFlavors: [" + strings.Join(mapped, ", ") + "]}]}]}\n"
}

// uses has one Shoot for each wish, which is its name, and one that asks for nothing.
func uses(wishes ...string) []consistency.Use {
	shoots := []consistency.Use{{Namespace: "garden-a", Name: "plain", Pools: []consistency.Pool{asking("m", "gl@1", "")}}}
	for _, wish := range wishes {
		shoots = append(shoots, consistency.Use{Namespace: "garden-a", Name: wish, Pools: []consistency.Pool{asking("m", "gl@1", wish)}})
	}
	return shoots
}

// Who boots another flavor than before, or none, is told so, and nobody else.
func TestUpdatesOfWorkerCapabilities(t *testing.T) {
	updateProfiles(t, "testdata/worker-updates.txtar", func(c *cases.Case) []consistency.Use {
		if !c.Has("wishes") {
			return uses()
		}
		return uses(strings.Fields(c.Text("wishes"))...)
	})
}

// A changed preference among flavors with a feature is told as any other is, for pools that ask for nothing special.
func TestChangedChoicesAmongWorkerCapabilities(t *testing.T) {
	const enabled, disabled = "{name: openstack-trustedLaunch, values: [enabled, disabled]}", "{name: openstack-trustedLaunch, values: [disabled, enabled]}"
	two := ofVirt(withTrusted, "", with(amdVirt, trusted)+", "+with(amdVirt, "openstack-trustedLaunch: [disabled]"), with(amdVirt, trusted), with(amdVirt, "openstack-trustedLaunch: [disabled]"))
	want := folded("Invalid spec.machineImages[0].versions[0] image-choice-changed: gl@1: new machines of machine type m " +
		"boot another flavor than the existing ones, which would still do")
	if diff := cmp.Diff(want, updated(t, parse(t, two), parse(t, strings.Replace(two, enabled, disabled, 1)))); diff != "" {
		t.Error(diff)
	}
	secure := ofVirt(withBootType, "", with(amdVirt, bootBoth)+", "+with(amdVirt, bootSecure), with(amdVirt, bootBoth), with(amdVirt, bootSecure))
	if got := updated(t, parse(t, secure), parse(t, strings.Replace(secure, "[secure, standard]}\n", "[standard, secure]}\n", 1))); got != "" {
		t.Error("only one of the two fits:", got)
	}
}

// A pool that is refused for what it asks is not refused for an update that leaves it as it is.
func TestRatchetOfPoolsThatAsk(t *testing.T) { ratchetShoots(t, "testdata/ratchet-pools.txtar") }

// An error about a reserved capability keeps its version from being checked, so nothing may hide behind it.
func TestRatchetOfReservedCapabilities(t *testing.T) {
	for _, wrong := range []string{"gardener-bootType: [safe]", "gardener-boot: [secure]"} {
		old := spec(t, hypervisors, core("1", amdVirt, armVirt), provider("1", with(amdVirt, wrong), armVirt))
		if got := ratcheted(imagesOnly{}, old.DeepCopy(), old); len(got.Errors) > 0 {
			t.Errorf("nothing changed: %v", got.Errors)
		}
		update := spec(t, hypervisors, core("1", amdVirt, armVirt), provider("1", with(amdVirt, wrong)))
		if got := ratcheted(imagesOnly{}, update, old); len(got.Errors) == 0 {
			t.Errorf("%s: a mapping was removed, and the update is admitted", wrong)
		}
	}
	if _, report := consistency.Compile(imagesOnly{}, parse(t, ofVirt(hypervisors, "", amdVirt, amdVirt)), field.NewPath("spec")); len(report.Errors) > 0 {
		t.Error(report.Errors)
	}
}

// Which of two keys counts is not known, so the pool has to be the same.
func TestRatchetOfAKeyThatIsThereTwice(t *testing.T) {
	p := profileOfPools(t)
	pool := func(name, version string) *v1beta1.Shoot {
		s := shoot(t, "{region: europe, provider: {workers: [{name: "+name+", machine: {type: virt, image: {name: gl, version: "+version+"}}}]}}")
		s.Spec.Provider.Workers[0].ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1",
			"kind": "WorkerConfig", "trustedLaunch": {"enabled": false}, "trustedLaunch": {"enabled": false}}`)}
		return s
	}
	was := pool("w", "10.0.0")
	for want, is := range []*v1beta1.Shoot{pool("w", "10.0.0"), pool("w", "9.0.0"), pool("x", "10.0.0")} {
		report := consistency.Ratchet(p.CheckShoot(is, nil), p.CheckShoot(was, nil), is, was)
		if len(report.Errors) != min(want, 1) {
			t.Error(want, report.Errors)
		}
	}
}

// The same image, of which more is said than before, is no other one.
func TestAnImageThatIsSaidToSupportMore(t *testing.T) {
	launch := withTrusted
	before := strings.ReplaceAll(ofVirt(launch, "", amdVirt, amdVirt), strconv.Quote(amdVirt), "x")
	all := with(amdVirt, "openstack-trustedLaunch: [enabled, disabled], gardener-bootType: [secure, standard]")
	after := strings.ReplaceAll(ofVirt(launch, "", with(amdVirt, "openstack-trustedLaunch: [enabled, disabled]"), all), strconv.Quote(all), "x")
	if got := updated(t, parse(t, before), parse(t, after), uses("plain")...); got != "" {
		t.Error(got)
	}
	if got := updated(t, parse(t, before), parse(t, strings.Replace(after, "image: x", "image: z", 1)), uses("plain")...); strings.Count(got, "Forbidden") != 1 {
		t.Error("another image:", got)
	}
}
