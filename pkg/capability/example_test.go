// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

var hypervisors = []v1beta1.CapabilityDefinition{
	{Name: "architecture", Values: []string{"amd64", "arm64"}},
	{Name: "hypervisor", Values: []string{"baremetal", "virtualized"}},
}

func ExampleCompile() {
	v, errs := capability.Compile(hypervisors, field.NewPath("spec", "machineCapabilities"))
	fmt.Println(len(errs), v.Legacy(), v.All())

	v, _ = capability.Compile(nil, nil)
	fmt.Println(v.Legacy(), v.All())

	_, errs = capability.Compile([]v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "amd64"}},
	}, field.NewPath("spec", "machineCapabilities"))
	fmt.Println(errs[0].Field)
	fmt.Println(errs[0].ErrorBody())
	// Output:
	// 0 false {architecture: [amd64, arm64], hypervisor: [baremetal, virtualized]}
	// true {architecture: [amd64, arm64]}
	// spec.machineCapabilities[0].values[1]
	// Duplicate value: "amd64": value "amd64" of capability "architecture" is registered already, as values[0]; remove one of the two
}

func ExampleVocabulary_Set() {
	v, _ := capability.Compile(hypervisors, nil)
	machine, _ := v.Set(v1beta1.Capabilities{"architecture": {"amd64"}}, nil)
	flavor, _ := v.Set(v1beta1.Capabilities{"hypervisor": {"virtualized"}}, nil)
	fmt.Println(machine)
	fmt.Println(flavor.Compatible(machine), flavor.Intersect(machine))

	arm, _ := v.Set(v1beta1.Capabilities{"architecture": {"arm64"}}, nil)
	c := arm.Conflicts(machine, capability.Set{})[0]
	fmt.Println(arm.Compatible(machine), c.Capability, c.Offer, c.Need)

	_, errs := v.Set(v1beta1.Capabilities{"hypervisor": {"metal"}}, field.NewPath("capabilities"))
	fmt.Println(errs[0].Field, errs[0].Origin)
	// Output:
	// {architecture: [amd64], hypervisor: [baremetal, virtualized]}
	// true {architecture: [amd64], hypervisor: [virtualized]}
	// false architecture [arm64] [amd64]
	// capabilities.hypervisor[0] capability-value-unregistered
}

func ExampleCompare() {
	v, _ := capability.Compile([]v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64"}},
		{Name: "storage", Values: []string{"NVMe", "SCSI"}},
		{Name: "net", Values: []string{"accelerated", "basic"}},
	}, nil)
	a, _ := v.Set(v1beta1.Capabilities{"net": {"basic"}}, nil)
	b, _ := v.Set(v1beta1.Capabilities{"storage": {"NVMe"}, "net": {"accelerated"}}, nil)
	for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
		p := capability.Compare(a, b, v.All(), capability.Set{}, order)
		fmt.Printf("%s: %+d because of %s, %q against %q\n", order, p.Sign, p.Capability, p.First, p.Second)
	}
	// Output:
	// gep33: +1 because of net, "basic" against "accelerated"
	// gardener: -1 because of storage, "SCSI" against ""
}

func ExampleWorker_Requirements() {
	gpu := "nvidia"
	worker := capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate, GPU: &gpu}
	for _, r := range worker.Requirements(field.NewPath("spec", "provider", "workers").Index(0)) {
		fmt.Println(r.Setting, "asks for", r.Capability, r.Values, r.Because)
	}
	// Output:
	// no secure boot asks for gardener-boot-type [standard] <nil>
	// update strategy AutoInPlaceUpdate asks for gardener-update-type [in-place] spec.provider.workers[0].updateStrategy
	// GPU of type nvidia asks for gardener-gpuSupport [nvidia] <nil>
}

// A flavor supports all values of a capability that it omits. Of an omitted worker capability it supports the undeclared value.
func ExampleVocabulary_Flavor() {
	v, _ := capability.Compile(hypervisors, nil)
	plain, _ := v.Flavor(v1beta1.Capabilities{"architecture": {"amd64"}}, nil, nil)
	standard, _ := v.Flavor(v1beta1.Capabilities{"architecture": {"amd64"}, capability.BootType: {"standard"}}, nil, nil)
	secure, _ := v.Flavor(v1beta1.Capabilities{"architecture": {"amd64"}, capability.BootType: {"secure"}}, nil, nil)
	fmt.Println(plain, plain == standard)
	fmt.Println(secure, plain == secure)

	request, _ := v.Request(capability.Worker{SecureBoot: true}.Requirements(nil))
	fmt.Println(plain.Fits(v.All(), request), secure.Fits(v.All(), request))
	// Output:
	// {architecture: [amd64], hypervisor: [baremetal, virtualized]} true
	// {architecture: [amd64], hypervisor: [baremetal, virtualized], gardener-boot-type: [secure]} false
	// false true
}

// A pool can request a provider's worker capability if it is registered.
func ExampleVocabulary_Request() {
	trusted := capability.Definition{Name: "acme-trusted", Values: []string{"on", "off"}, Undeclared: "off"}
	asked := []capability.Requirement{{Capability: "acme-trusted", Values: []string{"on"}, Setting: "trusted: true"}}

	v, _ := capability.Compile(hypervisors, nil, trusted)
	_, unmet := v.Request(asked)
	fmt.Println(len(unmet), unmet[0].Setting)

	v, _ = capability.Compile(append(hypervisors, v1beta1.CapabilityDefinition{Name: "acme-trusted", Values: []string{"on", "off"}}), nil, trusted)
	request, unmet := v.Request(asked)
	flavor, _ := v.Flavor(nil, nil, nil)
	c := flavor.Conflicts(v.All(), request)[0]
	fmt.Println(len(unmet), c.Capability, c.Offer, c.Asked, c.Cause)
	// Output:
	// 1 trusted: true
	// 0 acme-trusted [off] [on] worker
}

// A setting that is older than its capability is ignored if the operator has not registered the capability.
func ExampleVocabulary_Ignores() {
	snp := capability.Definition{Name: "acme-snp", Values: []string{"on", "off"}, Undeclared: "off", OnlyIfRegistered: true}
	asked := capability.Requirement{Capability: "acme-snp", Values: []string{"on"}, Setting: "amdSevSnp: enabled"}

	v, _ := capability.Compile(hypervisors, nil, snp)
	_, unmet := v.Request([]capability.Requirement{asked})
	fmt.Println(len(unmet), v.Ignores(asked))

	v, _ = capability.Compile(append(hypervisors, v1beta1.CapabilityDefinition{Name: "acme-snp", Values: []string{"on", "off"}}), nil, snp)
	request, unmet := v.Request([]capability.Requirement{asked})
	flavor, _ := v.Flavor(nil, nil, nil)
	fmt.Println(len(unmet), v.Ignores(asked), flavor.Fits(v.All(), request))
	// Output:
	// 0 true
	// 0 false false
}

// No image needs to declare a capability that is required of machine types only. A machine type without support declares so.
func ExampleVocabulary_MachineTypesOnly() {
	volume := capability.Definition{Name: "acme-volume", Values: []string{"yes", "no"}, Undeclared: "yes", MachineTypesOnly: true}
	asked := capability.Requirement{Capability: "acme-volume", Values: []string{"yes"}, Setting: "volume"}

	v, _ := capability.Compile(hypervisors, nil, volume)
	fmt.Println(v.MachineTypesOnly("acme-volume"), v.Moot(asked))

	v, _ = capability.Compile(append(hypervisors, v1beta1.CapabilityDefinition{Name: "acme-volume", Values: []string{"yes", "no"}}), nil, volume)
	request, _ := v.Request([]capability.Requirement{asked})
	flavor, _ := v.Flavor(nil, nil, nil)
	without, _ := v.Set(v1beta1.Capabilities{"acme-volume": {"no"}}, nil)
	fmt.Println(v.Moot(asked), flavor.Fits(v.All(), request), flavor.Fits(without, request), flavor.Fits(without, capability.Set{}))
	// Output:
	// true true
	// false true false true
}
