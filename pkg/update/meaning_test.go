// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/internal/testing/worlds"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
)

// registering returns a profile with one version and optional further registrations; each flavor has its own image.
func registering(t *testing.T, registered, ofCore string, flavors ...string) *profile.Profile[openstack.Image] {
	t.Helper()
	var mapped strings.Builder
	for _, f := range flavors {
		id, declared, _ := strings.Cut(f, "=")
		fmt.Fprintf(&mapped, "      - {capabilities: {architecture: [amd64]%s}, regions: [{name: europe, id: %s}]}\n", declared, id)
	}
	compiled, _ := profile.Compile(given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
machineCapabilities: [{name: architecture, values: [amd64]}`+registered+`]
regions: [{name: europe}]
machineTypes: [{name: any, capabilities: {architecture: [amd64]}}]
machineImages:
- name: gl
  versions:
  - version: "1"
`+ofCore+`    capabilityFlavors: [{architecture: [amd64]}]
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - version: "1"
      capabilityFlavors:
`+mapped.String()), nil)
	return compiled
}

// meaningsOf summarizes meanings.
func meaningsOf(all []*update.Meaning) string {
	var texts []string
	for _, m := range all {
		text := fmt.Sprintf("%s %s %s: %v, then %v", m.Capability, m.How, m.ImageVersion, m.From, m.To)
		if m.View != "" {
			text = m.View + ": " + text
		}
		if len(m.Claims) > 0 {
			text += fmt.Sprintf(", claims %v", m.Claims)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// Registering or unregistering a capability changes the meaning of omitting it, for each capability separately.
func TestARegistrationGivesSilenceAMeaning(t *testing.T) {
	const (
		boot, bootFirst     = ", {name: gardener-boot-type, values: [standard, secure]}", ", {name: gardener-bootType, values: [secure, standard]}"
		bootOnly            = ", {name: gardener-boot-type, values: [standard]}"
		bootReordered       = ", {name: gardener-boot-type, values: [secure, standard]}"
		updates, gpu        = ", {name: gardener-update-type, values: [rolling, in-place]}", ", {name: gardener-gpuSupport, values: [nvidia, none]}"
		supported           = "    inPlaceUpdates: {supported: true}\n"
		gainsInPlace        = "gardener-update-type added gl@1: [rolling], then [rolling in-place], claims [in-place]"
		otherwise           = "gardener-boot-type changed gl@1: [standard], then [standard secure], claims [secure]"
		silent, other       = "a=", "b="
		signed, signedFirst = "a=, gardener-boot-type: [secure]", "a=, gardener-bootType: [secure]"
	)
	for name, test := range map[string]struct {
		before, after         string
		coreBefore, coreAfter string
		flavors, afterwards   []string
		want                  string
	}{
		"registered":   {"", boot, "", "", []string{silent}, nil, "gardener-boot-type added gl@1: [standard], then [standard secure], claims [secure]"},
		"not any more": {boot, "", "", "", []string{silent}, nil, "gardener-boot-type removed gl@1: [standard secure], then [standard]"},
		"both": {
			"", boot + updates, "", "", []string{silent}, nil, "gardener-boot-type added gl@1: [standard], then [standard secure], claims [secure]; " +
				gainsInPlace,
		},
		"one is already":      {boot, boot + updates, "", "", []string{silent}, nil, gainsInPlace},
		"core says the same":  {"", updates, supported, supported, []string{silent}, nil, ""},
		"core says it now":    {"", updates, "", supported, []string{silent}, nil, "gardener-update-type added gl@1: [rolling], then [rolling in-place]"},
		"who declares it":     {"", boot, "", "", []string{signed}, nil, ""},
		"by the other name":   {"", boot, "", "", []string{signedFirst}, nil, ""},
		"it is declared then": {"", boot, "", "", []string{silent}, []string{"a=, gardener-boot-type: [standard]"}, ""},
		"it was declared": {
			"", boot, "", "", []string{"a=, gardener-boot-type: [standard]"}, []string{silent},
			"gardener-boot-type added gl@1: [standard], then [standard secure], claims [secure]",
		},
		"a new flavor":             {"", boot, "", "", []string{signed}, []string{signed, other}, ""},
		"the ordinary value":       {"", bootOnly, "", "", []string{silent}, nil, ""},
		"one more value":           {bootOnly, boot, "", "", []string{silent}, nil, otherwise},
		"another order":            {boot, bootReordered, "", "", []string{silent}, nil, ""},
		"first text":               {"", bootFirst, "", "", []string{silent}, nil, ""},
		"first text, not any more": {bootFirst, "", "", "", []string{silent}, nil, ""},
		"to the second text":       {bootFirst, boot, "", "", []string{silent}, nil, otherwise},
		"to the first text":        {boot, bootFirst, "", "", []string{silent}, nil, "gardener-bootType changed gl@1: [standard secure], then [standard]"},
		"with a single name":       {"", gpu, "", "", []string{silent}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			afterwards := test.afterwards
			if afterwards == nil {
				afterwards = test.flavors
			}
			before := registering(t, test.before, test.coreBefore, test.flavors...)
			after := registering(t, test.after, test.coreAfter, afterwards...)
			facts := update.Of(given.Library{}, used(before, after))
			if got := meaningsOf(facts.Meanings); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// A registration in the parent also changes the meaning of a NamespacedCloudProfile's flavors. Inherited changes are reported once.
func TestARegistrationInTheParent(t *testing.T) {
	child := given.Decoded[v1beta1.NamespacedCloudProfile](t, `
metadata: {namespace: garden-a, name: child}
spec:
  parent: {kind: CloudProfile, name: parent}
  machineImages:
  - name: own
    versions: [{version: "2", capabilityFlavors: [{architecture: [amd64]}]}]
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImages:
    - name: own
      versions: [{version: "2", capabilityFlavors: [{capabilities: {architecture: [amd64]}, regions: [{name: europe, id: o}]}]}]
`)
	before := registering(t, "", "", "a=")
	after := registering(t, ", {name: gardener-boot-type, values: [standard, secure]}", "", "a=")
	through := func(parent *profile.Profile[openstack.Image]) *profile.Profile[openstack.Image] {
		compiled, err := namespaced.Extend(parent, child)
		if err != nil {
			t.Fatal(err)
		}
		return compiled
	}
	facts := update.Of(given.Library{}, used(before, after), update.View[openstack.Image]{Name: "garden-a/child", Before: through(before), After: through(after)})
	want := "gardener-boot-type added gl@1: [standard], then [standard secure], claims [secure]; " +
		"garden-a/child: gardener-boot-type added own@2: [standard], then [standard secure], claims [secure]"
	if got := meaningsOf(facts.Meanings); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// served returns the values of a capability for which a flavor fits a pool that requests them, on a machine type that supports
// everything.
func served(p *profile.Profile[openstack.Image], id provider.ImageVersion, declared v1beta1.Capabilities, d capability.Definition) string {
	var values []string
	set, _ := p.Vocabulary().Flavor(declared, profile.Undeclared(p.Version(id)), nil)
	for _, value := range d.Values {
		request, unmet := p.Vocabulary().Request([]capability.Requirement{{Capability: d.Name, Values: []string{value}}})
		conflicts := set.Conflicts(p.Vocabulary().All(), request)
		of := p.Vocabulary().InWords(capability.Requirement{Capability: d.Name}).Capability
		if len(unmet) == 0 && !slices.ContainsFunc(conflicts, func(c capability.Conflict) bool { return c.Capability == of }) {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return strings.Join(values, " ")
}

// inSecondText returns values in the terms of the second text, sorted.
func inSecondText(name string, values []string) string {
	var words []string
	for _, value := range values {
		if translated, known := texts.Translate(name, value); known && texts.OfFirst(name) {
			value = translated
		}
		words = append(words, value)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// In random updates with names of both texts, the facts name exactly the flavors that stay, omit the capability, and fit other worker
// pools than before.
func TestMeaningsAreWhatPoolsGet(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		old := worlds.Draw(t)
		old.Capabilities = true
		old.Reserve(t)
		updated := *old
		updated.Register(t)
		before, _ := profile.Compile(openstack.Provider{}, old.Spec(1), field.NewPath("spec"))
		after, _ := profile.Compile(openstack.Provider{}, updated.Spec(1), field.NewPath("spec"))
		facts := update.Of(given.Library{}, update.View[openstack.Image]{Before: before, After: after})
		named := map[string]string{}
		for _, m := range facts.Meanings {
			key := fmt.Sprint(m.ImageVersion, texts.Canonical(m.Capability), declaredIn(m.Flavor))
			named[key] = inSecondText(m.Capability, m.From) + ", then " + inSecondText(m.Capability, m.To)
		}
		found += len(named)
		for name, version := range old.Versions {
			id := provider.ImageVersion{Image: worlds.Image, Version: name}
			for _, flavor := range version.Flavors {
				for _, d := range capability.Reserved()[:2] {
					key := fmt.Sprint(id, d.Name, declaredIn(flavor.Capabilities))
					was, is := served(before, id, flavor.Capabilities, d), served(after, id, flavor.Capabilities, d)
					want := was + ", then " + is
					if _, says := flavor.Capabilities[d.Name]; says || was == is {
						want = ""
					}
					if named[key] != want {
						t.Fatalf("%s: %q, want %q", key, named[key], want)
					}
					delete(named, key)
				}
			}
		}
		if len(named) > 0 {
			t.Fatalf("%v", named)
		}
	})
	if found < 20 {
		t.Errorf("only %d flavors mean something else", found)
	}
}

// declaredIn renders capabilities identically for both texts of GEP-0054.
func declaredIn(c v1beta1.Capabilities) string {
	var all []string
	for name, values := range c {
		all = append(all, texts.Canonical(name)+" "+inSecondText(name, values))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// Renaming a capability to its name in the other text is not a difference. Other values are, and so are both names together.
func TestNamesOfTheOtherText(t *testing.T) {
	written := func(name, value, other string) *v1beta1.CloudProfile {
		p := &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		p.Spec = *given.Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
machineCapabilities: [{name: `+name+`, values: [rolling, `+value+`]}]
machineTypes: [{name: any, capabilities: {`+name+`: [`+value+`]`+other+`}}]
machineImages: [{name: gl, versions: [{version: "1", capabilityFlavors: [{`+name+`: [`+value+`, rolling]}]}]}]
providerConfig: {machineImages: [{name: gl, versions: [{version: "1", capabilityFlavors: [{capabilities: {`+name+`: [`+value+`]}}]}]}]}
`)
		return p
	}
	differ := func(old, updated *v1beta1.CloudProfile) string {
		_, others, rewritten := update.Differences(openstack.Provider{}, old, updated, &update.Changes[openstack.Image]{})
		return fmt.Sprint(others, rewritten)
	}
	first, second := written("gardener-updateType", "inPlace", ""), written("gardener-update-type", "in-place", "")
	const vocabulary, image, mapping = "spec.machineCapabilities[", "spec.machineImages[gl].versions[1]", "spec.providerConfig.machineImages[gl].versions[1]"
	for name, test := range map[string]struct {
		old, updated *v1beta1.CloudProfile
		want         string
	}{
		"to the second": {first, second, "[] [" + vocabulary + "gardener-update-type] " + image + " spec.machineTypes[any] " + mapping + "]"},
		"to the first":  {second, first, "[] [" + vocabulary + "gardener-updateType] " + image + " spec.machineTypes[any] " + mapping + "]"},
		"none":          {first, first, "[] []"},
		"another value": {
			first, written("gardener-update-type", "other", ""),
			"[" + vocabulary + "gardener-update-type] " + vocabulary + "gardener-updateType] " + image + ".capabilityFlavors spec.machineTypes[any].capabilities " +
				mapping + "] []",
		},
		"both names": {
			first, written("gardener-update-type", "in-place", ", gardener-updateType: [inPlace]"),
			"[spec.machineTypes[any].capabilities] [" + vocabulary + "gardener-update-type] " + image + " " + mapping + "]",
		},
	} {
		if got := differ(test.old, test.updated); got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}
