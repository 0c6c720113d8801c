// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/words"
)

var gcp = cloud{
	asJSON: "with --format json", finish: finishGCP,
	kinds: []kind{
		{"gcloud compute machine-types list", []string{"guestCpus", "memoryMb", "zone"}, "machine", beginTypes, gcpType},
		{"gcloud compute disk-types list", []string{"validDiskSize"}, "disk", beginVolumeTypes, gcpDisk},
		{"gcloud compute images list", []string{"selfLink", "diskSizeGb"}, "image", beginImages, gcpImage},
		{"gcloud compute zones list", []string{"name", "region", "status"}, "zone", beginZones, gcpZone},
	},
}

// imagePath matches an image's path in its link.
var imagePath = regexp.MustCompile(`projects/[^/]+/global/images/[^/]+$`)

// deprecation is the deprecation status of a resource.
type deprecation struct{ State string }

// status returns the resource's status, or ready if it can be used. Deprecated resources still work.
func (d deprecation) status(ready string) string {
	if d.State == "OBSOLETE" || d.State == "DELETED" {
		return strings.ToLower(d.State)
	}
	return ready
}

// gcpArchitecture returns Gardener's name of an architecture; empty if GCP does not specify one.
func gcpArchitecture(name string) string {
	if name == "ARCHITECTURE_UNSPECIFIED" {
		return ""
	}
	return inventory.Architecture(strings.ToLower(name))
}

func gcpImage(r *reading, i *item) {
	var image struct {
		Name, SelfLink, Status, Architecture string
		DiskSizeGB                           string `json:"diskSizeGb"`
		Deprecated                           deprecation
		GuestOSFeatures                      []struct{ Type string } `json:"guestOsFeatures"`
		Labels                               map[string]string
	}
	if !i.into(&image, "selfLink") {
		return
	}
	converted := inventory.Image{
		ID: imagePath.FindString(image.SelfLink), Name: image.Name, Status: strings.ToLower(image.Status),
		Architecture: gcpArchitecture(image.Architecture),
		Properties:   i.properties("name", "selfLink", "status", "architecture", "diskSizeGb"),
	}
	if converted.ID == "" {
		i.wrong("selfLink", words.Quoted(image.SelfLink)+" does not end in projects/PROJECT/global/images/IMAGE")
		return
	}
	if image.Status == "READY" {
		converted.Status = image.Deprecated.status(active)
	}
	if image.DiskSizeGB != "" {
		size, err := strconv.ParseInt(image.DiskSizeGB, 10, 64)
		if err != nil {
			i.wrong("diskSizeGb", words.Quoted(image.DiskSizeGB)+" is not a size in GB")
			return
		}
		converted.MinDiskGiB = &size
	}
	features := make([]string, 0, len(image.GuestOSFeatures))
	for _, feature := range image.GuestOSFeatures {
		features = append(features, feature.Type)
	}
	if slices.Sort(features); len(features) > 0 {
		converted.Properties["guestOsFeatures"] = strings.Join(features, ",")
	}
	for name, value := range image.Labels {
		converted.Properties["labels."+name] = value
	}
	r.images.add(i, converted)
}

// last returns the last part of a link, which is the resource's name.
func last(link string) string { return link[strings.LastIndexByte(link, '/')+1:] }

// here reports whether a zone is in the region. It records other regions.
func (r *reading) here(zone string) bool {
	region := zone[:max(0, strings.LastIndexByte(zone, '-'))]
	if region != r.region {
		r.others[region] = true
	}
	return region == r.region
}

func gcpType(r *reading, i *item) {
	var machine struct {
		Name, Zone, Architecture string
		GuestCPUs                *int64 `json:"guestCpus"`
		MemoryMB                 *int64 `json:"memoryMb"`
		Accelerators             []struct {
			Type  string `json:"guestAcceleratorType"`
			Count int64  `json:"guestAcceleratorCount"`
		}
		Deprecated deprecation
	}
	if !i.into(&machine, "name", "zone") || !r.here(last(machine.Zone)) || machine.Deprecated.status("") != "" {
		return
	}
	var gpus int64
	for _, accelerator := range machine.Accelerators {
		if !strings.HasPrefix(accelerator.Type, "ct") { // TPUs
			gpus += accelerator.Count
		}
	}
	r.machineTypes.add(i, inventory.MachineType{
		Name: machine.Name, CPU: machine.GuestCPUs, MemoryMiB: machine.MemoryMB, GPU: &gpus,
		Architecture: gcpArchitecture(machine.Architecture),
	})
	r.zoned(machine.Name, []string{last(machine.Zone)})
}

func gcpDisk(r *reading, i *item) {
	var disk struct {
		Name, Zone string
		Deprecated deprecation
	}
	if _, regional := i.members["region"]; regional { // machines do not boot from disks in two zones
		r.regionalDisks = true
		return
	}
	r.zonalDisks = true
	if i.into(&disk, "name", "zone") && r.here(last(disk.Zone)) && disk.Deprecated.status("") == "" {
		r.volumeTypes.add(i, inventory.VolumeType{Name: disk.Name})
	}
}

func gcpZone(r *reading, i *item) {
	var zone struct {
		Name, Status string
		Deprecated   deprecation
	}
	if !i.into(&zone, "name") || !r.here(zone.Name) {
		return
	}
	available := zone.Status == "UP" && zone.Deprecated.status("") == ""
	r.zones.add(i, inventory.Zone{Name: zone.Name, Available: &available})
}

// finishGCP sets the zones of machine types. It reports lists that only have resources of other regions.
func finishGCP(r *reading) {
	r.settleZones()
	if r.regionalDisks && !r.zonalDisks { // the list, perhaps filtered by region, says nothing about zonal disks
		r.volumeTypes.known = false
	}
	r.noneOf(r.machineTypes.none(), "machine types")
	r.noneOf(r.zones.none(), "zones")
	r.noneOf(r.volumeTypes.none(), "types of disks")
}

// noneOf reports files with resources of other regions only. Probably the name of the region is wrong.
func (r *reading) noneOf(none bool, what string) {
	if others := slices.Sorted(maps.Keys(r.others)); none && len(others) > 0 {
		r.errs = append(r.errs, fmt.Errorf("there are no %s of region %s, but of %s%s", what, words.Quoted(r.region), words.Few(others),
			words.DidYouMean(words.Choice(r.region, others))))
	}
}
