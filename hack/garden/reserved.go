// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"

	"github.com/capkit/capkit/test/garden"
	"github.com/capkit/capkit/test/garden/extension"
)

// maintainDisks requests the maintenance of the Shoot with a worker pool that is updated in place.
var maintainDisks = maintenanceOf("disks")

// inPlace is the chapter on updates in place, with a capability that Gardener defines and the operator registers.
var inPlace = []step{
	{title: "A CloudProfile registers how machines are updated. This Gardener accepts that; v1.150 as it is refuses the name.",
		kubectl: apply("hack/garden/demo/cloudprofile-in-place.yaml"), says: []string{"created"}},
	{title: "Gardener defines the values. Another one is refused, by Gardener itself.",
		kubectl: []string{"patch", "cloudprofile", "openstack-in-place", "--type=json", "-p",
			`[{"op":"add","path":"/spec/machineCapabilities/1/values/-","value":"inPlace"}]`},
		refused: true, says: []string{`spec.machineCapabilities[1].values[2]: Unsupported value: "inPlace": supported values: "rolling", "in-place"`}},
	{title: "What is registered stands in core flavors and in the provider config. The flavor for updates in place is taken from the latter. Refused.",
		kubectl: []string{"patch", "cloudprofile", "openstack-in-place", "--type=json", "-p",
			`[{"op":"remove","path":"/spec/providerConfig/machineImages/0/versions/0/capabilityFlavors/1"}]`},
		refused: true, says: []string{"no provider image for {architecture: [amd64], gardener-update-type: [in-place]}", "add it under"}},
	{title: "A Shoot with a worker pool that is updated in place, and one whose machines are replaced, of the same image version. It is admitted.",
		kubectl: apply("hack/garden/demo/shoot-in-place.yaml"), says: []string{"created"}},
	{title: "Each boots its flavor. The command line tells which, without a garden.",
		capkit: []string{"select", "hack/garden/demo/shoot-in-place.yaml", "hack/garden/demo/cloudprofile-in-place.yaml"},
		says: []string{"worker pool archive: ", "(update strategy AutoInPlaceUpdate) boots id 2150-4-amd64-inplace\n",
			"worker pool web: ", "boots id 2150-4-amd64\n"}},
	{title: "The operator adds a newer image version. Core says that it can be updated in place, but there is no flavor for that yet.",
		kubectl: []string{"patch", "cloudprofile", "openstack-in-place", "--type=json", "--patch-file=hack/garden/demo/newer-rolling.yaml"},
		says:    []string{"patched"}},
	{title: "A user gives that version to archive, the worker pool that is updated in place. Refused, with what would work.",
		kubectl: []string{"patch", "shoot", "disks", "-n", "garden-demo", "--type=json", "-p",
			`[{"op":"replace","path":"/spec/provider/workers/0/machine/image/version","value":"2150.5.0"}]`},
		refused: true, eventually: true, // and then the API server and admission have seen the version
		says: []string{"worker pool archive: update strategy AutoInPlaceUpdate asks for gardener-update-type [in-place]",
			"no flavor of gardenlinux@2150.5.0", "would work: version 2150.4.0"}},
	{title: "Gardener's maintenance chooses it for both worker pools. Maintain the Shoot now.",
		kubectl: maintainDisks, says: []string{"annotated"}},
	{title: "It succeeds: admission replaces a version that does not boot if Gardener, and not a user, has chosen it.",
		kubectl: []string{"wait", "shoot", "disks", "-n", "garden-demo", "--timeout=10s",
			"--for=jsonpath={.status.lastMaintenance.state}=Succeeded"},
		says: []string{"condition met"}, eventually: true, again: maintainDisks},
	{title: "archive stays on the newest version with a flavor for updates in place. web is updated.",
		kubectl: []string{"get", "shoot", "disks", "-n", "garden-demo", "-o",
			`jsonpath={range .spec.provider.workers[*]}{.name}{": "}{.machine.image.version}{"\n"}{end}`},
		says: []string{"archive: 2150.4.0\n", "web: 2150.5.0\n"}, eventually: true},
	{title: "An Event of the admission component on the Shoot says so, and why.",
		kubectl: eventsOf("disks"),
		says: []string{"shoot/disks", "archive stays on gardenlinux@2150.4.0: maintenance chose gardenlinux@2150.5.0",
			"asks for gardener-update-type [in-place]"}, eventually: true},
}

// demoReserved does the chapter of OpenStack's demo on trusted launch, and the one on updates in place, in a garden that accepts what
// Gardener defines by GEP-0054.
func demoReserved(ctx context.Context, c extension.Component) error {
	if c != extension.OpenStack {
		return errors.New("there is this demo for openstack only")
	}
	o := garden.Options{AcceptsReserved: true, FeatureGates: map[string]bool{"InPlaceNodeUpdates": true}}
	return show(ctx, c, o, nil, slices.Concat(launch, inPlace))
}
