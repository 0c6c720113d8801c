// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/words"
)

var aws = cloud{
	asJSON: "with --output json", wrapped: true, finish: finishAWS,
	kinds: []kind{
		{"aws ec2 describe-images", []string{"Images"}, "", beginImages, awsImage},
		{"aws ec2 describe-instance-types", []string{"InstanceTypes"}, "", beginTypes, awsType},
		{"aws ec2 describe-instance-type-offerings --location-type availability-zone", []string{"InstanceTypeOfferings"}, "", beginTypes, awsOffering},
		{"aws ec2 describe-availability-zones", []string{"AvailabilityZones"}, "", beginZones, awsZone},
	},
}

// active is the inventory status of an image that can be booted.
const active = "active"

func awsImage(r *reading, i *item) {
	var image struct {
		ImageID                   string `json:"ImageId"`
		Name, State, Architecture string
		Public                    *bool
		RootDeviceName            string
		BlockDeviceMappings       []struct {
			DeviceName string
			Ebs        struct{ VolumeSize *int64 }
		}
		Tags []struct{ Key, Value string }
	}
	if !i.into(&image, "ImageId") {
		return
	}
	converted := inventory.Image{
		ID: image.ImageID, Name: image.Name, Status: image.State, Architecture: inventory.Architecture(image.Architecture),
		Properties: i.properties("ImageId", "Name", "State", "Architecture", "Public"),
	}
	if image.State == "available" {
		converted.Status = active
	}
	if image.Public != nil {
		converted.Visibility = map[bool]string{true: "public", false: "private"}[*image.Public]
	}
	for _, mapping := range image.BlockDeviceMappings {
		if mapping.DeviceName == image.RootDeviceName && mapping.Ebs.VolumeSize != nil {
			converted.MinDiskGiB = mapping.Ebs.VolumeSize
		}
	}
	for _, tag := range image.Tags {
		converted.Properties["tag:"+tag.Key] = tag.Value
	}
	r.images.add(i, converted)
}

func awsType(r *reading, i *item) {
	var machine struct {
		InstanceType string
		VCPUInfo     struct { // spelt as in AWS
			DefaultVCPUs *int64 `json:"DefaultVCpus"`
		} `json:"VCpuInfo"`
		MemoryInfo struct{ SizeInMiB *int64 }                //nolint:tagliatelle // as AWS calls it
		Processor  struct{ SupportedArchitectures []string } `json:"ProcessorInfo"`
		GPUs       struct{ Gpus []struct{ Count int64 } }    `json:"GpuInfo"`
	}
	if !i.into(&machine, "InstanceType") {
		return
	}
	var gpus int64
	for _, gpu := range machine.GPUs.Gpus {
		gpus += gpu.Count
	}
	converted := inventory.MachineType{
		Name: machine.InstanceType, CPU: machine.VCPUInfo.DefaultVCPUs, MemoryMiB: machine.MemoryInfo.SizeInMiB, GPU: &gpus,
		Properties: i.properties("InstanceType"),
	}
	for _, architecture := range machine.Processor.SupportedArchitectures { // x86 machines also run 32-bit code
		if converted.Architecture == "" || architecture != "i386" {
			converted.Architecture = inventory.Architecture(architecture)
		}
	}
	r.machineTypes.add(i, converted)
}

func awsOffering(r *reading, i *item) {
	var offering struct{ InstanceType, LocationType, Location string }
	if !i.into(&offering, "InstanceType", "Location") {
		return
	}
	r.machineTypes.add(i, inventory.MachineType{Name: offering.InstanceType})
	switch offering.LocationType {
	case "region":
		if offering.Location != r.region {
			i.wrong("Location", otherRegion(offering.Location, r.region))
		}
	case "availability-zone", "":
		if !strings.HasPrefix(offering.Location, r.region) {
			i.wrong("Location", otherRegion(offering.Location, r.region))
			return
		}
		r.zoned(offering.InstanceType, []string{offering.Location})
	case "availability-zone-id":
		r.zoned(offering.InstanceType, []string{zoneID + offering.Location})
	}
}

// zoneID is the prefix of zone IDs in a list of zone names.
const zoneID = "\x00"

func otherRegion(is, want string) string {
	return fmt.Sprintf("is about %s, and --region says %s: import each region by itself", words.Quoted(is), want)
}

func awsZone(r *reading, i *item) {
	var zone struct{ ZoneName, ZoneID, State, RegionName, OptInStatus string }
	if !i.into(&zone, "ZoneName") {
		return
	}
	if zone.RegionName != "" && zone.RegionName != r.region {
		i.wrong("RegionName", otherRegion(zone.RegionName, r.region))
		return
	}
	available := zone.State == "available" && zone.OptInStatus != "not-opted-in"
	r.zoneIDs[zone.ZoneID] = zone.ZoneName
	r.zones.add(i, inventory.Zone{Name: zone.ZoneName, Available: &available})
}

// finishAWS replaces zone IDs by zone names, and sets the zones of machine types.
func finishAWS(r *reading) {
	missing := map[string]bool{}
	for _, zones := range r.typeZones {
		for i, zone := range zones {
			if id, isID := strings.CutPrefix(zone, zoneID); isID {
				if zones[i] = r.zoneIDs[id]; zones[i] == "" {
					missing[id] = true
				}
			}
		}
	}
	if len(missing) > 0 {
		r.errs = append(r.errs, fmt.Errorf("offerings are by IDs of zones, %s, whose names are not known: add what aws ec2 describe-availability-zones "+
			"prints, or ask for --location-type availability-zone", words.And(slices.Sorted(maps.Keys(missing)))))
		return
	}
	r.settleZones()
}
