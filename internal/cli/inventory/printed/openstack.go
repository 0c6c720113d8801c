// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/inventory/openstack"
	"github.com/capkit/capkit/pkg/inventory"
)

var openStack = cloud{
	asJSON: "with -f json", finish: finishOpenStack,
	kinds: []kind{
		{"openstack flavor list --long --all", []string{"VCPUs", "RAM"}, "flavor", beginTypes, osFlavor},
		{"openstack image list --long", []string{"ID", "Visibility"}, "image", beginImages, osImage},
		{"openstack image show", []string{"id", "min_disk", "visibility"}, "", nil, osShown},
		{"openstack availability zone list --compute", []string{"Zone Name"}, "zone", beginZones, osZone},
		{"openstack network list --long", []string{"Router Type"}, "network", beginNetworks, osNetwork},
		{"openstack volume type list", []string{"ID", "Name", "Is Public"}, "volume-type", beginVolumeTypes, osVolumeType},
		{"openstack loadbalancer provider list", []string{"name", "description"}, "provider", beginProviders, osProvider},
	},
}

func osImage(r *reading, i *item) {
	var image struct {
		ID, Name, Status, Visibility, Checksum string
		Properties                             properties
	}
	if !i.into(&image, "ID") {
		return
	}
	r.md5[image.ID] = image.Checksum
	r.images.add(i, inventory.Image{
		ID: image.ID, Name: image.Name, Status: image.Status, Visibility: image.Visibility,
		Properties: image.Properties, Architecture: openstack.ImageArchitecture(image.Properties),
	})
}

// finishOpenStack sets the checksums of images that have none to the MD5 checksum of the list.
func finishOpenStack(r *reading) {
	for i := range r.images.items {
		if image := &r.images.items[i]; image.Checksum == "" {
			image.Checksum = openstack.Checksum("", "", r.md5[image.ID])
		}
	}
}

// ofImages are properties that concern the storage of an image.
var ofImages = []string{"os_hash_algo", "os_hash_value", "os_hidden", "stores", "locations", "direct_url", "self"}

func osShown(r *reading, i *item) {
	var image struct {
		ID, Name, Status, Visibility, Checksum string
		MinDisk                                int64  `json:"min_disk"`
		Size                                   *int64 // nil before the upload
		VirtualSize                            *int64 `json:"virtual_size"`
		Properties                             properties
	}
	if !i.into(&image, "id") {
		return
	}
	r.images.begin()
	bytes := int64(0)
	for _, size := range []*int64{image.Size, image.VirtualSize} {
		if size != nil {
			bytes = max(bytes, *size)
		}
	}
	converted := inventory.Image{
		ID: image.ID, Name: image.Name, Status: image.Status, Visibility: image.Visibility, MinDiskGiB: openstack.MinDisk(image.MinDisk, bytes),
		Checksum:   openstack.Checksum(image.Properties["os_hash_algo"], image.Properties["os_hash_value"], image.Checksum),
		Properties: image.Properties, Architecture: openstack.ImageArchitecture(image.Properties),
	}
	for _, name := range ofImages {
		delete(converted.Properties, name)
	}
	r.images.add(i, converted)
}

func osFlavor(r *reading, i *item) {
	var flavor struct {
		Name             string
		VCPUs, RAM, Disk *int64
		Public           *bool `json:"Is Public"`
		Properties       properties
	}
	if !i.into(&flavor, "Name") {
		return
	}
	m := inventory.MachineType{
		Name: flavor.Name, CPU: flavor.VCPUs, MemoryMiB: flavor.RAM, DiskGiB: flavor.Disk, Public: flavor.Public, Properties: flavor.Properties,
	}
	openstack.Complete(&m)
	r.machineTypes.add(i, m)
}

func osZone(r *reading, i *item) {
	var zone struct {
		Name     string  `json:"Zone Name"`
		Status   string  `json:"Zone Status"`
		Resource *string `json:"Zone Resource"`
	}
	if !i.into(&zone, "Zone Name") || zone.Resource != nil && *zone.Resource != "" || zone.Name == "internal" {
		return // skip zones of networks and routers, and Nova's internal zone
	}
	available := zone.Status == "available"
	for n, has := range r.zones.items { // zones for volumes often have the same names
		if has.Name == zone.Name {
			*r.zones.items[n].Available = *has.Available || available
			return
		}
	}
	r.zones.add(i, inventory.Zone{Name: zone.Name, Available: &available})
}

func osNetwork(r *reading, i *item) {
	var network struct {
		Name   string
		Shared *bool
		Router any `json:"Router Type"` // true or false in JSON, a word in tables
	}
	if !i.into(&network) || network.Name == "" {
		return
	}
	external := network.Router == true || network.Router == "External"
	r.networks.add(i, inventory.Network{Name: network.Name, External: &external, Shared: network.Shared})
}

func osVolumeType(r *reading, i *item) {
	var volumeType struct{ Name string }
	if i.into(&volumeType, "Name") {
		r.volumeTypes.add(i, inventory.VolumeType{Name: volumeType.Name})
	}
}

func osProvider(r *reading, i *item) {
	var provider struct{ Name string }
	if i.into(&provider, "name") {
		r.loadBalancerProviders.add(i, inventory.LoadBalancerProvider{Name: provider.Name})
	}
}

// properties are the properties of an image or a flavor. Older versions of the command print a string like a='b', c='d' instead of an
// object. Members that are objects, lists, null, true or false are ignored.
type properties map[string]string

// pair matches one property in a string.
var pair = regexp.MustCompile(`([^=,\s][^=,]*)='([^']*)'`)

// UnmarshalJSON reads an object, a string, or null, which sets nil.
func (p *properties) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if *p = (properties{}); string(raw) == "null" {
			*p = nil
		}
		for _, match := range pair.FindAllStringSubmatch(text, -1) {
			(*p)[strings.TrimSpace(match[1])] = match[2]
		}
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	*p = properties{}
	for name, value := range members {
		if text, simple := scalar(value); simple && !slices.Contains([]string{"true", "false"}, string(value)) {
			(*p)[name] = text
		}
	}
	return nil
}
