// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package inventory defines the inventory of a cloud, by region: images, machine types, zones and so on. One program takes it, and another
// compares profiles with it (semantics S20). It has no credentials.
//
// Start reading at [Inventory]. [Read] reads one from a file. Providers implement [Describer] so that package verify can compare profiles
// with inventories.
package inventory

import (
	"strings"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
)

const (
	// APIVersion is the API version of the format.
	APIVersion = "capkit/v1"
	// Kind is the kind of an [Inventory].
	Kind = "Inventory"
)

// Inventory records the contents of some regions of a cloud. For all fields and lists, absent (nil) means unknown, and empty means that
// there is nothing.
type Inventory struct {
	// APIVersion is the constant [APIVersion].
	APIVersion string `json:"apiVersion"`
	// Kind is the constant [Kind].
	Kind string `json:"kind"`
	// Provider is the provider type, as in spec.type of a CloudProfile: "openstack".
	Provider string `json:"provider"`
	// Taken is when the cloud was read.
	Taken time.Time `json:"taken"`
	// Regions are those that were read, each once, sorted by name.
	Regions []Region `json:"regions"`
}

// Region records the contents of one region.
type Region struct {
	// Name is as in the regions of a CloudProfile.
	Name string `json:"name"`
	// Unread names lists below that could not be read, as in "volumeTypes", in the order of the fields. These lists are nil.
	Unread []string `json:"unread,omitempty"`
	// Images are those that can be booted, or could be if they were active.
	Images []Image `json:"images,omitzero"`
	// MachineTypes are the machine types of servers.
	MachineTypes []MachineType `json:"machineTypes,omitzero"`
	// Zones are the availability zones for servers.
	Zones []Zone `json:"zones,omitzero"`
	// VolumeTypes are the types of volumes.
	VolumeTypes []VolumeType `json:"volumeTypes,omitzero"`
	// Networks are those that the credentials can see.
	Networks []Network `json:"networks,omitzero"`
	// LoadBalancerProviders are the implementations of load balancers.
	LoadBalancerProviders []LoadBalancerProvider `json:"loadBalancerProviders,omitzero"`
	// ServerGroupPolicies are the policies of server groups.
	ServerGroupPolicies []string `json:"serverGroupPolicies,omitzero"`
}

// Image is an image that servers boot from.
type Image struct {
	// ID is the provider's reference as a string: an image ID, an AMI, the ID of a gallery image, a path.
	ID string `json:"id"`
	// Name is the name that the cloud shows.
	Name string `json:"name,omitempty"`
	// Status is in the cloud's words: "active".
	Status string `json:"status,omitempty"`
	// Visibility is in the cloud's words: "public", "private", "shared", "community".
	Visibility string `json:"visibility,omitempty"`
	// Architecture is Gardener's name: "amd64", "arm64". [Read] also accepts the names that [Architecture] knows.
	Architecture string `json:"architecture,omitempty"`
	// MinDiskGiB is the size of the smallest sufficient disk.
	MinDiskGiB *int64 `json:"minDiskGiB,omitempty"`
	// Checksum is that of the content, with its algorithm: "sha512:…".
	Checksum string `json:"checksum,omitempty"`
	// Properties have the cloud's names.
	Properties map[string]string `json:"properties,omitzero"`
}

// MachineType is a machine type, flavor or size.
type MachineType struct {
	// Name is as in the machine types of a CloudProfile.
	Name string `json:"name"`
	// CPU is the number of virtual CPUs.
	CPU *int64 `json:"cpu,omitempty"`
	// MemoryMiB is the memory size.
	MemoryMiB *int64 `json:"memoryMiB,omitempty"`
	// GPU is the number of GPUs.
	GPU *int64 `json:"gpu,omitempty"`
	// DiskGiB is the size of the machine's own root disk; 0 if it has none.
	DiskGiB *int64 `json:"diskGiB,omitempty"`
	// Architecture is Gardener's name: "amd64", "arm64". [Read] also accepts the names that [Architecture] knows.
	Architecture string `json:"architecture,omitempty"`
	// Zones are the zones that offer the machine type.
	Zones []string `json:"zones,omitzero"`
	// Public reports that every project can use it.
	Public *bool `json:"public,omitempty"`
	// Properties have the cloud's names.
	Properties map[string]string `json:"properties,omitzero"`
}

// Zone is an availability zone for servers.
type Zone struct {
	Name string `json:"name"`
	// Available reports that it takes servers.
	Available *bool `json:"available,omitempty"`
}

// VolumeType is a type of volumes.
type VolumeType struct {
	Name string `json:"name"`
}

// Network is a network.
type Network struct {
	Name string `json:"name"`
	// External reports that it provides floating IPs.
	External *bool `json:"external,omitempty"`
	// Shared reports that every project can use it.
	Shared *bool `json:"shared,omitempty"`
}

// LoadBalancerProvider is an implementation of load balancers.
type LoadBalancerProvider struct {
	Name string `json:"name"`
}

// Architecture returns Gardener's name for a cloud's name of an architecture. It returns unknown names unchanged.
func Architecture(name string) string {
	switch strings.ToLower(name) {
	case "x86_64", "x86-64", "x64", "amd64":
		return v1beta1constants.ArchitectureAMD64
	case "aarch64", "arm64", "armv8":
		return v1beta1constants.ArchitectureARM64
	}
	return name
}
