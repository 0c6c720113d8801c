// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
)

var azure = cloud{
	asJSON: "with --output json", finish: finishAzure,
	kinds: []kind{
		{"az vm list-skus", []string{"resourceType", "locationInfo"}, "", nil, azureSKU},
		{"az vm image list", []string{"urn", "offer"}, "image-list", beginImages, azureOffer},
		{"az sig image-version list", []string{"publishingProfile", "storageProfile", "id"}, "version", beginImages, azureVersion},
		{"az sig image-version list-community", []string{"uniqueId", "publishedDate"}, "community", beginImages, azureShared},
		{"az sig image-version list-shared", []string{"uniqueId", "storageProfile"}, "shared", beginImages, azureShared},
		{"az sig image-definition list", []string{"hyperVGeneration", "osType", "identifier"}, "definition", nil, azureDefinition},
		{"az image list", []string{"id", "storageProfile", "hyperVGeneration"}, "images", beginImages, azureManaged},
	},
}

// definition is an image definition in a gallery.
type definition struct {
	Architecture string
	Generation   string `json:"hyperVGeneration"`
	OSType       string `json:"osType"`
	OSState      string `json:"osState"`
	Features     []struct{ Name, Value string }
	ID           string
	UniqueID     string `json:"uniqueId"`
}

// versionOf matches the last parts of an image version's ID, after the ID of its definition.
var versionOf = regexp.MustCompile(`(?i)/versions/[^/]+$`)

func azureDefinition(r *reading, i *item) {
	d := &definition{}
	if !i.into(d) {
		return
	}
	for _, id := range []string{d.ID, d.UniqueID} {
		if id != "" {
			r.definitions[strings.ToLower(id)] = d
		}
	}
}

// azureDisk is an image's disk.
type azureDisk struct {
	Image struct {
		SizeGB     *int64 `json:"sizeInGB"`
		DiskSizeGB *int64 `json:"diskSizeGb"` // in shared galleries
	} `json:"osDiskImage"`
	Disk struct {
		SizeGB *int64 `json:"diskSizeGB"`
	} `json:"osDisk"`
}

// azureStatus returns an image's status. Azure's Succeeded is [active].
func azureStatus(state string) string {
	if strings.EqualFold(state, "Succeeded") {
		return active
	}
	return strings.ToLower(state)
}

func azureVersion(r *reading, i *item) {
	var version struct {
		ID, Name, Location string
		ProvisioningState  string
		StorageProfile     azureDisk
		PublishingProfile  struct {
			TargetRegions []struct{ Name string }
		}
	}
	if !i.into(&version, "id") {
		return
	}
	regions := []string{version.Location}
	for _, target := range version.PublishingProfile.TargetRegions {
		regions = append(regions, target.Name)
	}
	if !slices.ContainsFunc(regions, func(name string) bool { return same(name, r.region) }) {
		return // not replicated to this region
	}
	r.images.add(i, inventory.Image{
		ID: version.ID, Name: nameIn(version.ID), Status: azureStatus(version.ProvisioningState), MinDiskGiB: version.StorageProfile.Image.SizeGB,
	})
}

// nameIn returns the name and version of an image in a gallery, as NAME/VERSION, from its ID; empty if the ID is too short.
func nameIn(id string) string {
	parts := strings.Split(id, "/")
	if len(parts) < 4 {
		return ""
	}
	return parts[len(parts)-3] + "/" + parts[len(parts)-1]
}

func azureShared(r *reading, i *item) {
	var version struct {
		UniqueID       string `json:"uniqueId"`
		Location       string
		StorageProfile azureDisk
	}
	if !i.into(&version, "uniqueId") {
		return
	}
	if !versionOf.MatchString(version.UniqueID) {
		azureDefinition(r, i) // an image, not a version
		return
	}
	if version.Location != "" && !same(version.Location, r.region) {
		return
	}
	visibility := "shared"
	if strings.HasPrefix(strings.ToLower(version.UniqueID), "/communitygalleries/") {
		visibility = "public"
	}
	r.images.add(i, inventory.Image{
		ID: version.UniqueID, Name: nameIn(version.UniqueID), Status: active, Visibility: visibility, MinDiskGiB: version.StorageProfile.Image.DiskSizeGB,
	})
}

func azureOffer(r *reading, i *item) {
	var offer struct{ URN, Architecture string }
	if i.into(&offer, "urn") {
		r.images.add(i, inventory.Image{
			ID: offer.URN, Name: offer.URN, Status: active, Visibility: "public", Architecture: inventory.Architecture(offer.Architecture),
			Properties: i.properties("urn", "architecture"),
		})
	}
}

func azureManaged(r *reading, i *item) {
	var image struct {
		ID, Name, Location string
		ProvisioningState  string
		StorageProfile     azureDisk
	}
	if i.into(&image, "id") && same(image.Location, r.region) {
		r.images.add(i, inventory.Image{
			ID: image.ID, Name: image.Name, Status: azureStatus(image.ProvisioningState), MinDiskGiB: image.StorageProfile.Disk.SizeGB,
			Properties: i.properties("id", "name", "provisioningState"),
		})
	}
}

// sku is a VM size or a disk type.
type sku struct {
	Name         string
	ResourceType string
	Locations    []string
	LocationInfo []struct {
		Location string
		Zones    []string
	}
	Capabilities []struct{ Name, Value string }
	Restrictions []struct {
		Type            string
		RestrictionInfo struct{ Locations, Zones []string }
	}
}

func azureSKU(r *reading, i *item) {
	var s sku
	if !i.into(&s, "name", "resourceType") {
		return
	}
	kind := strings.ToLower(s.ResourceType)
	switch kind { // the command may print only one kind
	case "virtualmachines":
		r.machineTypes.begin()
		r.zones.begin()
	case "disks":
		r.volumeTypes.begin()
	}
	if !slices.ContainsFunc(s.Locations, func(name string) bool { return same(name, r.region) }) {
		for _, location := range s.Locations {
			r.others[location] = true
		}
		return
	}
	switch kind {
	case "virtualmachines":
		s.machine(r, i)
	case "disks":
		r.volumeTypes.add(i, inventory.VolumeType{Name: s.Name})
	}
}

func (s *sku) machine(r *reading, i *item) {
	m := inventory.MachineType{Name: s.Name, GPU: new(int64), Properties: map[string]string{}}
	wrong := func(name, value string) {
		i.wrong("capabilities", s.Name+": "+name+" is "+strconv.Quote(value)+", and should be a number")
	}
	available := ""
	for _, c := range s.Capabilities {
		n, err := strconv.ParseFloat(c.Value, 64)
		count := int64(math.Round(n))
		switch m.Properties[c.Name] = c.Value; c.Name {
		case "vCPUs":
			m.CPU = &count
		case "MemoryGB":
			mib := int64(math.Round(n * 1024))
			m.MemoryMiB = &mib
		case "GPUs":
			m.GPU = &count
		case "vCPUsAvailable":
			available = c.Value
		case "CpuArchitectureType":
			m.Architecture, err = inventory.Architecture(c.Value), nil
		default:
			err = nil
		}
		if err != nil {
			wrong(c.Name, c.Value)
		}
	}
	if n, err := strconv.ParseInt(available, 10, 64); err == nil { // a size with constrained vCPUs has fewer
		m.CPU = &n
	}
	r.machineTypes.add(i, m)
	r.zoned(s.Name, s.zones(r, i))
}

// zones returns the zones in which the subscription may have VMs of the size. It also adds the size's zones to the inventory.
func (s *sku) zones(r *reading, i *item) []string {
	zones := []string{}
	for _, info := range s.LocationInfo {
		if same(info.Location, r.region) {
			zones = append(zones, info.Zones...)
		}
	}
	available := true
	for _, zone := range zones {
		r.zones.add(i, inventory.Zone{Name: zone, Available: &available})
	}
	for _, restriction := range s.Restrictions {
		zones = slices.DeleteFunc(zones, func(zone string) bool {
			return restriction.Type == "Location" || slices.Contains(restriction.RestrictionInfo.Zones, zone)
		})
	}
	return zones
}

// finishAzure adds the properties of image definitions to gallery images, and sets the zones of machine types.
func finishAzure(r *reading) {
	r.settleZones()
	r.noneOf(r.machineTypes.none(), "sizes of machines")
	r.noneOf(r.volumeTypes.none() && !r.machineTypes.known, "types of disks")
	for i := range r.images.items {
		image := &r.images.items[i]
		d := r.definitions[strings.ToLower(versionOf.ReplaceAllString(image.ID, ""))]
		if d == nil {
			continue
		}
		image.Architecture = inventory.Architecture(d.Architecture)
		image.Properties = map[string]string{}
		for name, value := range map[string]string{"hyperVGeneration": d.Generation, "osType": d.OSType, "osState": d.OSState} {
			if value != "" {
				image.Properties[name] = value
			}
		}
		for _, feature := range d.Features {
			image.Properties[feature.Name] = feature.Value
		}
	}
}
