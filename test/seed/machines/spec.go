// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"fmt"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"

	"github.com/capkit/capkit/internal/testing/machinedriver"
)

// config is the providerSpec of a machine class for OpenStack, as the machine controller of OpenStack reads it.
type config struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       spec   `json:"spec"`
}

type spec struct {
	ImageID          string            `json:"imageID"`
	ImageName        string            `json:"imageName"`
	Region           string            `json:"region"`
	AvailabilityZone string            `json:"availabilityZone"`
	FlavorName       string            `json:"flavorName"`
	KeyName          string            `json:"keyName"`
	SecurityGroups   []string          `json:"securityGroups"`
	Tags             map[string]string `json:"tags"`
	NetworkID        string            `json:"networkID"`
	SubnetID         *string           `json:"subnetID"`
	SubnetIDs        []string          `json:"subnetIDs"`
	PodNetworkCIDR   string            `json:"podNetworkCidr"`
	PodNetworkCIDRs  []string          `json:"podNetworkCIDRs"`
	RootDiskSize     int               `json:"rootDiskSize"`
	RootDiskType     *string           `json:"rootDiskType"`
	UseConfigDrive   *bool             `json:"useConfigDrive"`
	ServerGroupID    *string           `json:"serverGroupID"`
	Networks         []struct {
		ID         string `json:"id"`
		Name       string `json:"name"`
		PodNetwork bool   `json:"podNetwork"`
	} `json:"networks"`
}

// image returns what a machine boots: the ID of an image or, without one, its name.
func (s *spec) image() string { return cmp.Or(s.ImageID, s.ImageName) }

// subnets returns the IDs of the subnets that the port of a machine is in; none: a port is made with the server, in the network.
func (s *spec) subnets() []string {
	if len(s.SubnetIDs) == 0 && s.SubnetID != nil {
		return []string{*s.SubnetID}
	}
	return s.SubnetIDs
}

// podNetworks returns the CIDRs that a port lets through beside its own addresses.
func (s *spec) podNetworks() []string {
	if len(s.PodNetworkCIDRs) == 0 && s.PodNetworkCIDR != "" {
		return []string{s.PodNetworkCIDR}
	}
	return s.PodNetworkCIDRs
}

// volume returns the volume that a machine boots from: its size in GiB and its type, empty for the default. It is false if the machine
// boots from a disk of its own: without a size nobody asks for the type.
func (s *spec) volume() (size int, kind string, is bool) {
	if s.RootDiskSize == 0 {
		return 0, "", false
	}
	if s.RootDiskType != nil {
		kind = *s.RootDiskType
	}
	return s.RootDiskSize, kind, true
}

// specOf reads the providerSpec of a machine class. The error names everything that the machine controller of OpenStack refuses.
func specOf(class *machinev1alpha1.MachineClass) (*spec, error) {
	if err := machinedriver.Check(machinedriver.V0271, class.ProviderSpec.Raw); err != nil {
		return nil, fmt.Errorf("machine class %s: %w", class.Name, err)
	}
	var c config
	if err := json.Unmarshal(class.ProviderSpec.Raw, &c); err != nil {
		return nil, fmt.Errorf("machine class %s: %w", class.Name, err)
	}
	return &c.Spec, nil
}
