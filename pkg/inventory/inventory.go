// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package inventory is what a cloud has, as one program reads it and another judges profiles by it (semantics S20): images,
// machine types, zones and so on, by region. It has no credentials.
//
// Start reading at [Inventory]. [Read] reads one from a file; [Describer] is what a provider implements so that profiles of its cloud can be
// judged by inventories. The judge is package verify.
package inventory

import (
	"strings"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
)

const (
	// APIVersion is that of the format.
	APIVersion = "capkit/v1"
	// Kind is that of an [Inventory].
	Kind = "Inventory"
)

// Inventory is what was found in some regions of a cloud. Of all fields and lists, absent (nil) means unknown, and empty means
// that there is nothing.
type Inventory struct {
	// APIVersion is the constant of this name.
	APIVersion string `json:"apiVersion"`
	// Kind is the constant of this name.
	Kind string `json:"kind"`
	// Provider is the provider type, as in spec.type of a CloudProfile: "openstack".
	Provider string `json:"provider"`
	// Taken is when the cloud was asked.
	Taken time.Time `json:"taken"`
	// Regions that were read, by name in the order of the alphabet; each once.
	Regions []Region `json:"regions"`
}

// Region is what was found in one region.
type Region struct {
	// Name as in the regions of a CloudProfile.
	Name string `json:"name"`
	// Unread names the lists below that could not be read: "volumeTypes". They are nil. In the order of the fields here.
	Unread []string `json:"unread,omitempty"`
	// Images that can be booted, or that would be if they were active.
	Images []Image `json:"images,omitzero"`
	// MachineTypes that servers can have.
	MachineTypes []MachineType `json:"machineTypes,omitzero"`
	// Zones for servers.
	Zones []Zone `json:"zones,omitzero"`
	// VolumeTypes that volumes can have.
	VolumeTypes []VolumeType `json:"volumeTypes,omitzero"`
	// Networks that the credentials see.
	Networks []Network `json:"networks,omitzero"`
	// LoadBalancerProviders that load balancers can have.
	LoadBalancerProviders []LoadBalancerProvider `json:"loadBalancerProviders,omitzero"`
	// ServerGroupPolicies that server groups can have.
	ServerGroupPolicies []string `json:"serverGroupPolicies,omitzero"`
}

// Image is one that servers boot from.
type Image struct {
	// ID is the provider's reference as text: an image ID, an AMI, the ID of a gallery's image, the path of an image.
	ID string `json:"id"`
	// Name that the cloud shows.
	Name string `json:"name,omitempty"`
	// Status as the cloud says it: "active".
	Status string `json:"status,omitempty"`
	// Visibility as the cloud says it: "public", "private", "shared", "community".
	Visibility string `json:"visibility,omitempty"`
	// Architecture as Gardener calls it: "amd64", "arm64". [Read] also takes the names that [Architecture] knows.
	Architecture string `json:"architecture,omitempty"`
	// MinDiskGiB is the smallest disk that the image fits on.
	MinDiskGiB *int64 `json:"minDiskGiB,omitempty"`
	// Checksum of the content with its algorithm: "sha512:…".
	Checksum string `json:"checksum,omitempty"`
	// Properties as the cloud names them.
	Properties map[string]string `json:"properties,omitzero"`
}

// MachineType is a machine type, flavor or size.
type MachineType struct {
	// Name as in the machine types of a CloudProfile.
	Name string `json:"name"`
	// CPU is the number of virtual CPUs.
	CPU *int64 `json:"cpu,omitempty"`
	// MemoryMiB is the memory.
	MemoryMiB *int64 `json:"memoryMiB,omitempty"`
	// GPU is the number of GPUs.
	GPU *int64 `json:"gpu,omitempty"`
	// DiskGiB is the root disk that comes with the machine; 0 if it has none of its own.
	DiskGiB *int64 `json:"diskGiB,omitempty"`
	// Architecture as Gardener calls it: "amd64", "arm64". [Read] also takes the names that [Architecture] knows.
	Architecture string `json:"architecture,omitempty"`
	// Zones in which it is offered.
	Zones []string `json:"zones,omitzero"`
	// Public says that every project can use it.
	Public *bool `json:"public,omitempty"`
	// Properties as the cloud names them.
	Properties map[string]string `json:"properties,omitzero"`
}

// Zone is an availability zone for servers.
type Zone struct {
	Name string `json:"name"`
	// Available says that it takes servers.
	Available *bool `json:"available,omitempty"`
}

// VolumeType is a type of volumes.
type VolumeType struct {
	Name string `json:"name"`
}

// Network is a network.
type Network struct {
	Name string `json:"name"`
	// External says that floating IPs can be taken from it.
	External *bool `json:"external,omitempty"`
	// Shared says that every project can use it.
	Shared *bool `json:"shared,omitempty"`
}

// LoadBalancerProvider is an implementation of load balancers.
type LoadBalancerProvider struct {
	Name string `json:"name"`
}

// Architecture returns what Gardener calls an architecture, by any of the names that clouds have for it; one that it has no name for stays
// as it is.
func Architecture(name string) string {
	switch strings.ToLower(name) {
	case "x86_64", "x86-64", "x64", "amd64":
		return v1beta1constants.ArchitectureAMD64
	case "aarch64", "arm64", "armv8":
		return v1beta1constants.ArchitectureARM64
	}
	return name
}
