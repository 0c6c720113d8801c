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
	const (
		supported  = "inPlaceUpdates: {supported: true}, "
		both       = "gardener-updateType: [inPlace, rolling]"
		rolling    = "gardener-updateType: [rolling]"
		untrusted  = "openstack-trustedLaunch: [disabled]"
		allTrusted = "openstack-trustedLaunch: [disabled, enabled]"
	)
	lost := func(who string) string {
		return "Forbidden spec.providerConfig.machineImages mapping-in-use: gl@1: no image is left for worker pools of " + who + ": they get no new machines; put the flavor or the reference back until nobody uses it"
	}
	replaced := func(who string) string {
		return "Forbidden spec.providerConfig.machineImages mapping-in-use: gl@1: the image that worker pools of " + who + " boot is removed, and new machines boot another one; put the flavor or the reference back until nobody uses it"
	}
	useless := func(who string) string {
		return "Forbidden spec.machineImages mapping-in-use: gl@1: the image is still there, but worker pools of " + who + " cannot boot it any more, because what is said about it or about their machine types has changed: they get no new machines; undo that until nobody uses it"
	}
	h, launch := hypervisors, withTrusted
	for name, tc := range map[string]struct {
		old, new string
		wishes   []string
		want     []string
	}{
		"secure boot is taken":                 {ofVirt(h, "", amdVirt, amdVirt, with(amdVirt, bootSecure)), ofVirt(h, "", amdVirt, amdVirt), []string{"secure"}, []string{lost("Shoot garden-a/secure")}},
		"secure boot is offered":               {ofVirt(h, "", amdVirt, amdVirt), ofVirt(h, "", amdVirt, with(amdVirt, bootSecure), amdVirt), []string{"secure"}, nil},
		"secure boot is offered, and more":     {ofVirt(h, "", amdVirt, amdVirt), ofVirt(h, "", amdVirt, with(amdVirt, bootBoth), with(amdVirt, both), amdVirt), nil, nil},
		"the plain flavor is taken":            {ofVirt(h, "", amdVirt, amdVirt, with(amdVirt, bootBoth)), ofVirt(h, "", amdVirt, with(amdVirt, bootBoth)), []string{"secure"}, []string{replaced("Shoot garden-a/plain")}},
		"trusted launch is taken":              {ofVirt(launch, "", amdVirt+", "+with(amdVirt, trusted), amdVirt, with(amdVirt, trusted)), ofVirt(launch, "", amdVirt, amdVirt), []string{"trusted"}, []string{lost("Shoot garden-a/trusted")}},
		"trusted launch is offered":            {ofVirt(launch, "", amdVirt, amdVirt), ofVirt(launch, "", with(amdVirt, trusted)+", "+amdVirt, with(amdVirt, trusted), amdVirt), []string{"trusted"}, nil},
		"trusted launch is offered to all":     {ofVirt(launch, "", amdVirt, amdVirt), ofVirt(launch, "", with(amdVirt, allTrusted)+", "+amdVirt, with(amdVirt, allTrusted), amdVirt), []string{"trusted"}, nil},
		"trusted launch is registered":         {ofVirt(h, "", amdVirt, amdVirt), ofVirt(launch, "", amdVirt, amdVirt), []string{"trusted"}, nil},
		"trusted launch is registered no more": {ofVirt(launch, "", amdVirt+", "+with(amdVirt, trusted), amdVirt, with(amdVirt, trusted)), ofVirt(h, "", amdVirt, amdVirt), []string{"trusted"}, []string{lost("Shoot garden-a/trusted")}},
		"a plain flavor is written out":        {ofVirt(launch, "", amdVirt, amdVirt), ofVirt(launch, "", with(amdVirt, untrusted), with(amdVirt, untrusted)), nil, []string{replaced("Shoot garden-a/plain")}},

		"what is implied is written out":               {ofVirt(h, "", amdVirt, amdVirt), ofVirt(h, "", amdVirt, with(amdVirt, bootStandard)), nil, nil},
		"what is implied is left out":                  {ofVirt(h, "", amdVirt, with(amdVirt, bootStandard)), ofVirt(h, "", amdVirt, amdVirt), nil, nil},
		"what core implies is written out":             {ofVirt(h, supported, amdVirt, amdVirt), ofVirt(h, supported, amdVirt, with(amdVirt, both)), []string{"inPlace"}, nil},
		"what core implies is left out":                {ofVirt(h, supported, amdVirt, with(amdVirt, both)), ofVirt(h, supported, amdVirt, amdVirt), []string{"inPlace"}, nil},
		"what core implies is written by hand":         {ofVirt(h, supported, amdVirt, amdVirt), ofVirt(h, "", amdVirt, with(amdVirt, both)), []string{"inPlace"}, nil},
		"what core implies, and less":                  {ofVirt(h, supported, amdVirt, amdVirt, with(amdVirt, rolling)), ofVirt(h, supported, amdVirt, with(amdVirt, rolling)), []string{"inPlace"}, []string{lost("Shoot garden-a/inPlace"), replaced("Shoot garden-a/plain")}},
		"core implies no more":                         {ofVirt(h, supported, amdVirt, amdVirt), ofVirt(h, "", amdVirt, amdVirt), []string{"inPlace"}, []string{useless("Shoot garden-a/inPlace")}},
		"core implies more":                            {ofVirt(h, "", amdVirt, amdVirt), ofVirt(h, supported, amdVirt, amdVirt), []string{"inPlace"}, nil},
		"another order, in which the same is best":     {ofVirt(h, "", amdVirt, amdVirt, with(amdVirt, bootBoth)), ofVirt(h, "", amdVirt, with(amdVirt, bootBoth), amdVirt), []string{"secure"}, nil},
		"a reserved capability is registered":          {ofVirt(h, "", amdVirt, amdVirt, with(amdVirt, bootSecure)), ofVirt(withBootType, "", amdVirt+", "+with(amdVirt, bootSecure), amdVirt, with(amdVirt, bootSecure)), []string{"secure"}, nil},
		"one without what everybody asks for":          {ofVirt(h, "", amdVirt, amdVirt), ofVirt(hypervisors+"- {name: gardener-bootType, values: [secure]}\n", "", amdVirt, amdVirt), nil, []string{useless("Shoot garden-a/plain")}},
		"a flavor for another feature takes its place": {ofVirt(h, "", amdVirt, amdVirt, with(amdVirt, bootSecure)), ofVirt(h, "", amdVirt, amdVirt, with(with(amdVirt, bootSecure), both)), []string{"secure"}, []string{replaced("Shoot garden-a/secure")}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, updated(t, tc.old, tc.new, uses(tc.wishes...)...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A changed preference among flavors with a feature is told as any other is, for pools that ask for nothing special.
func TestChangedChoicesAmongWorkerCapabilities(t *testing.T) {
	const enabled, disabled = "{name: openstack-trustedLaunch, values: [enabled, disabled]}", "{name: openstack-trustedLaunch, values: [disabled, enabled]}"
	two := ofVirt(withTrusted, "", with(amdVirt, trusted)+", "+with(amdVirt, "openstack-trustedLaunch: [disabled]"), with(amdVirt, trusted), with(amdVirt, "openstack-trustedLaunch: [disabled]"))
	want := []string{"Invalid spec.machineImages[0].versions[0] image-choice-changed: gl@1: new machines of machine type m boot another flavor than the existing ones, which would still do"}
	if diff := cmp.Diff(want, updated(t, two, strings.Replace(two, enabled, disabled, 1))); diff != "" {
		t.Error(diff)
	}
	secure := ofVirt(withBootType, "", with(amdVirt, bootBoth)+", "+with(amdVirt, bootSecure), with(amdVirt, bootBoth), with(amdVirt, bootSecure))
	if got := updated(t, secure, strings.Replace(secure, "[secure, standard]}\n", "[standard, secure]}\n", 1)); len(got) > 0 {
		t.Error("only one of the two fits:", got)
	}
}

// A pool that is refused for what it asks is not refused for an update that leaves it as it is.
func TestRatchetOfPoolsThatAsk(t *testing.T) {
	p := profileOfPools(t)
	const (
		machine = "machine: {type: virt, image: {name: gl, version: 10.0.0}}"
		launch  = "providerConfig: {apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: WorkerConfig, trustedLaunch: {enabled: true}}"
		bad     = "providerConfig: {apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: WorkerConfig, trustedLaunch: {enable: true}}"
		wrong   = "providerConfig: {apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: WorkerConfig, trustedLaunch: {enabled: []}}"
		inPlace = "updateStrategy: AutoInPlaceUpdate"
		other   = "{name: v, " + machine + "}"
	)
	pools := func(workers ...string) string {
		return "{region: europe, provider: {workers: [" + strings.Join(workers, ", ") + "]}}"
	}
	worker := func(settings ...string) string { return "{name: w, " + strings.Join(settings, ", ") + "}" }
	for name, tc := range map[string]struct {
		before, after string
		want          int
	}{
		"unchanged":                                 {pools(worker(machine, launch)), pools(worker(machine, launch)), 0},
		"in place, unchanged":                       {pools(worker(machine, inPlace)), pools(worker(machine, inPlace)), 0},
		"reordered":                                 {pools(worker(machine, launch), other), pools(other, worker(machine, launch)), 0},
		"written in another order":                  {pools(worker(machine, launch)), pools(worker("maximum: 3", launch, machine)), 0},
		"renamed":                                   {pools(worker(machine, launch)), pools(strings.Replace(worker(machine, launch), "name: w", "name: x", 1)), 1},
		"another image":                             {pools(worker(machine, launch)), pools(worker(strings.Replace(machine, "10.0.0", "9.0.0", 1), launch)), 1},
		"asked for since":                           {pools(worker(machine)), pools(worker(machine, launch)), 1},
		"asked for no more":                         {pools(worker(machine, launch)), pools(worker(machine)), 0},
		"something else, too":                       {pools(worker(machine, launch)), pools(worker(machine, launch, inPlace)), 1},
		"something else instead":                    {pools(worker(machine, launch)), pools(worker(machine, inPlace)), 1},
		"by another strategy":                       {pools(worker(machine, inPlace)), pools(worker(machine, "updateStrategy: ManualInPlaceUpdate")), 1},
		"an error of the config":                    {pools(worker(machine, bad)), pools(worker(machine, bad)), 0},
		"an error, and a new one":                   {pools(worker(machine, bad)), pools(worker(machine, strings.Replace(bad, "enable:", "enabled: true, enable:", 1))), 2},
		"an unknown field, and another image":       {pools(worker(machine, bad)), pools(worker(strings.Replace(machine, "10.0.0", "9.0.0", 1), bad)), 0},
		"an unknown field that says something else": {pools(worker(machine, bad)), pools(worker(machine, strings.Replace(bad, "enable: true", "enable: false", 1))), 1},
		"a type, and another image":                 {pools(worker(machine, wrong)), pools(worker(strings.Replace(machine, "10.0.0", "9.0.0", 1), wrong)), 1},
		"two alike, and a new pool":                 {pools(worker(machine, launch)), pools(worker(machine, launch), strings.Replace(worker(machine, launch), "name: w", "name: x", 1)), 1},
	} {
		t.Run(name, func(t *testing.T) {
			is, was := shoot(t, tc.after), shoot(t, tc.before)
			report := consistency.Ratchet(p.CheckShoot(is, nil), p.CheckShoot(was, nil), is, was)
			if len(report.Errors) != tc.want {
				t.Error(report.Errors)
			}
			checkFindings(t, report.Errors)
		})
	}
}

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
	if got := updated(t, before, after, uses("plain")...); len(got) > 0 {
		t.Error(got)
	}
	if got := updated(t, before, strings.Replace(after, "image: x", "image: z", 1), uses("plain")...); len(got) != 1 {
		t.Error("another image:", got)
	}
}
