// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector_test

import (
	"errors"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// exampleCatalog has two flavors of gardenlinux@1877.5.0. The flavor for bare metal has an image in eu-1 only.
func exampleCatalog() (*capability.Vocabulary, *imageselector.Catalog[string]) {
	v, _ := capability.Compile([]v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64"}},
		{Name: "hypervisor", Values: []string{"baremetal", "virtualized"}},
	}, nil)
	return v, imageselector.NewCatalog(v, []imageselector.Image[string]{{
		Name: "gardenlinux",
		Versions: []imageselector.Version[string]{{
			Version: "1877.5.0",
			Flavors: []imageselector.Flavor[string]{
				{
					Capabilities: v1beta1.Capabilities{"hypervisor": {"virtualized"}},
					Regional:     []imageselector.Regional[string]{{Region: "eu-1", Ref: "vm-eu"}, {Region: "us-1", Ref: "vm-us"}},
				}, {
					Capabilities: v1beta1.Capabilities{"hypervisor": {"baremetal"}},
					Regional:     []imageselector.Regional[string]{{Region: "eu-1", Ref: "metal-eu"}},
				},
			},
		}},
	}})
}

func ExampleNewCatalog() {
	v, catalog := exampleCatalog()
	for _, flavor := range catalog.Flavors("gardenlinux", "1877.5.0") {
		ref, found := flavor.Reference("us-1")
		fmt.Printf("%s %q %t\n", v.Format(flavor.Capabilities), ref, found)
	}
	// Output:
	// {hypervisor: [virtualized]} "vm-us" true
	// {hypervisor: [baremetal]} "" false
}

func ExampleCatalog_Select() {
	v, catalog := exampleCatalog()
	request := imageselector.Request{Image: "gardenlinux", Version: "1877.5.0", Region: "eu-1", Machine: v.All()}
	fmt.Println(catalog.Select(request))

	request.Region = "us-1"
	fmt.Println(catalog.Select(request))

	request.Machine, _ = v.Set(v1beta1.Capabilities{"hypervisor": {"baremetal"}}, nil)
	_, err := catalog.Select(request)
	fmt.Println(errors.Is(err, imageselector.ErrNoImage))
	// Output:
	// metal-eu <nil>
	// vm-us <nil>
	// true
}

func ExampleCatalog_Decide() {
	v, catalog := exampleCatalog()
	metal, _ := v.Set(v1beta1.Capabilities{"hypervisor": {"baremetal"}}, nil)
	for _, machine := range []capability.Set{v.All(), metal} {
		for _, region := range []string{"eu-1", "us-1"} {
			d := catalog.Decide(imageselector.Request{Image: "gardenlinux", Version: "1877.5.0", Region: region, Machine: machine})
			fmt.Printf("%s on %s: flavor %d %q\n", region, machine, d.Chosen, d.Reference)
			for i, verdict := range d.Verdicts {
				if verdict.Reason != "" {
					fmt.Printf("  not flavor %d: %s", i, verdict.Reason)
					for _, c := range verdict.Conflicts {
						fmt.Printf(" %s, it has %v, the machine type %v", c.Capability, c.Offer, c.Need)
					}
					fmt.Println()
				}
			}
		}
	}
	// Output:
	// eu-1 on {architecture: [amd64], hypervisor: [baremetal, virtualized]}: flavor 1 "metal-eu"
	// us-1 on {architecture: [amd64], hypervisor: [baremetal, virtualized]}: flavor 0 "vm-us"
	//   not flavor 1: region
	// eu-1 on {architecture: [amd64], hypervisor: [baremetal]}: flavor 1 "metal-eu"
	//   not flavor 0: capability hypervisor, it has [virtualized], the machine type [baremetal]
	// us-1 on {architecture: [amd64], hypervisor: [baremetal]}: flavor -1 ""
	//   not flavor 0: capability hypervisor, it has [virtualized], the machine type [baremetal]
	//   not flavor 1: region
}
