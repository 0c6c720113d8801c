// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
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

// specOf reads the providerSpec of a machine class. The error names everything that is missing.
func specOf(class *machinev1alpha1.MachineClass) (*spec, error) {
	var c config
	decoder := json.NewDecoder(bytes.NewReader(class.ProviderSpec.Raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return nil, fmt.Errorf("machine class %s: %w", class.Name, err)
	}
	var errs []error
	expect := func(there bool, what string) {
		if !there {
			errs = append(errs, fmt.Errorf("machine class %s: the providerSpec has no %s", class.Name, what))
		}
	}
	s := &c.Spec
	expect(c.APIVersion == "openstack.machine.gardener.cloud/v1alpha1" && c.Kind == "MachineProviderConfig", "known kind")
	expect(s.image() != "", "image")
	expect(s.Region != "", "region")
	expect(s.AvailabilityZone != "", "availabilityZone")
	expect(s.FlavorName != "", "flavorName")
	expect(s.KeyName != "", "keyName")
	expect(s.PodNetworkCIDR != "" || len(s.PodNetworkCIDRs) > 0, "podNetworkCIDRs")
	for _, prefix := range []string{"kubernetes.io-cluster-", "kubernetes.io-role-"} {
		found := false
		for tag := range s.Tags {
			found = found || strings.HasPrefix(tag, prefix)
		}
		expect(found, "tag "+prefix+"...")
	}
	return s, errors.Join(errs...)
}
