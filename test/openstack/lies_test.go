// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build openstack

package openstack_test

import (
	"context"
	"net/http"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	gopher "github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumetypes"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/imagedata"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/external"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/test/openstack"
)

// admin returns a client with the administrator's rights.
func admin(ctx context.Context) *gophercloud.ProviderClient {
	GinkgoHelper()
	client, err := o.Admin(ctx)
	Expect(err).NotTo(HaveOccurred())
	return client
}

// world has the objects in the cloud that the profile refers to.
type world struct {
	glance                 map[string]*gophercloud.ServiceClient // by region
	nova, neutron, cinder  *gophercloud.ServiceClient
	images                 map[string]string // IDs by "REGION/NAME"
	flavors, nets, volumes map[string]string // IDs by names
}

// image describes an image to create.
type image struct {
	content, visibility string
	minDisk             int
	properties          map[string]string
	hidden              bool
}

// truth has the images that the profile refers to, and some more.
var truth = map[string]image{
	"europe/virtual":   {content: "virtual", properties: map[string]string{"hw_architecture": "x86_64"}},
	"asia/virtual":     {content: "virtual", properties: map[string]string{"hw_architecture": "x86_64"}},
	"europe/bare":      {content: "bare", properties: map[string]string{"hw_architecture": "x86_64", "hypervisor_type": "baremetal"}},
	"europe/arm":       {content: "arm", properties: map[string]string{"hw_architecture": "aarch64"}},
	"asia/arm":         {content: "arm", properties: map[string]string{"hw_architecture": "aarch64"}},
	"europe/named":     {content: "named", properties: map[string]string{"hw_architecture": "x86_64"}},
	"asia/named":       {content: "named", properties: map[string]string{"hw_architecture": "x86_64"}},
	"europe/community": {content: "community", visibility: "community"},
	"europe/hidden":    {content: "hidden", hidden: true},
}

// flavor describes a flavor to create.
type flavor struct {
	cpu, memory, disk int
	private           bool
	specs             map[string]string
}

var trueFlavors = map[string]flavor{
	"medium_2_4": {cpu: 2, memory: 4096, disk: 20},
	"gpu_2_2":    {cpu: 2, memory: 2048, disk: 20, specs: map[string]string{"pci_passthrough:alias": "a100:2"}},
	"arm_2_4":    {cpu: 2, memory: 4096, disk: 20, specs: map[string]string{"trait:HW_ARCH_AARCH64": "required"}},
	"bare_8_16":  {cpu: 8, memory: 16384, disk: 400},
	"volume_1_1": {cpu: 1, memory: 1024, disk: 0},
	"secret_1_1": {cpu: 1, memory: 1024, disk: 1, private: true},
}

func newWorld(ctx context.Context) *world {
	GinkgoHelper()
	w := &world{
		glance: map[string]*gophercloud.ServiceClient{}, images: map[string]string{},
		flavors: map[string]string{}, nets: map[string]string{}, volumes: map[string]string{},
	}
	client := admin(ctx)
	var errs [5]error
	europe, asia := gophercloud.EndpointOpts{Region: openstack.Region}, gophercloud.EndpointOpts{Region: openstack.SecondRegion}
	w.glance["europe"], errs[0] = gopher.NewImageV2(client, europe)
	w.glance["asia"], errs[1] = gopher.NewImageV2(client, asia)
	w.nova, errs[2] = gopher.NewComputeV2(client, europe)
	w.neutron, errs[3] = gopher.NewNetworkV2(client, europe)
	w.cinder, errs[4] = gopher.NewBlockStorageV3(client, europe)
	for _, err := range errs {
		Expect(err).NotTo(HaveOccurred())
	}
	for name := range truth {
		w.createImage(ctx, name, truth[name])
	}
	for name := range trueFlavors {
		w.createFlavor(ctx, name, trueFlavors[name])
	}
	for _, name := range []string{"fp-pool-1", "fp-public-1"} {
		w.createNetwork(ctx, name, true)
	}
	for _, name := range []string{"default", "premium"} {
		w.createVolumeType(ctx, name)
	}
	return w
}

// remove deletes everything that was created in the cloud.
func (w *world) remove(ctx context.Context) {
	GinkgoHelper()
	for name := range w.images {
		w.deleteImage(ctx, name)
	}
	for name := range w.flavors {
		w.deleteFlavor(ctx, name)
	}
	for name := range w.nets {
		w.deleteNetwork(ctx, name)
	}
	for name := range w.volumes {
		w.deleteVolumeType(ctx, name)
	}
}

func (w *world) id(region, name string) string { return w.images[region+"/"+name] }

func (w *world) createImage(ctx context.Context, name string, i image) {
	GinkgoHelper()
	region, called, _ := strings.Cut(name, "/")
	called, _, _ = strings.Cut(called, "#") // the rest distinguishes images of the same name
	if i.visibility == "" {
		i.visibility = "public"
	}
	created, err := images.Create(ctx, w.glance[region], images.CreateOpts{
		Name: called, Visibility: ptr.To(images.ImageVisibility(i.visibility)), Hidden: ptr.To(i.hidden), ContainerFormat: "bare", DiskFormat: "raw",
		MinDisk: i.minDisk, Properties: i.properties,
	}).Extract()
	Expect(err).NotTo(HaveOccurred())
	w.images[name] = created.ID
	if i.content != "" {
		Expect(imagedata.Upload(ctx, w.glance[region], created.ID, strings.NewReader(i.content)).Err).NotTo(HaveOccurred())
	}
}

func (w *world) deleteImage(ctx context.Context, name string) {
	GinkgoHelper()
	region, _, _ := strings.Cut(name, "/")
	Expect(images.Delete(ctx, w.glance[region], w.images[name]).ExtractErr()).To(Succeed())
	delete(w.images, name)
}

func (w *world) createFlavor(ctx context.Context, name string, f flavor) {
	GinkgoHelper()
	created, err := flavors.Create(ctx, w.nova, flavors.CreateOpts{
		Name: name, RAM: f.memory, VCPUs: f.cpu, Disk: ptr.To(f.disk), IsPublic: ptr.To(!f.private),
	}).Extract()
	Expect(err).NotTo(HaveOccurred())
	w.flavors[name] = created.ID
	if f.specs != nil {
		Expect(flavors.CreateExtraSpecs(ctx, w.nova, created.ID, flavors.ExtraSpecsOpts(f.specs)).Err).NotTo(HaveOccurred())
	}
}

func (w *world) deleteFlavor(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(flavors.Delete(ctx, w.nova, w.flavors[name]).ExtractErr()).To(Succeed())
	delete(w.flavors, name)
}

func (w *world) createNetwork(ctx context.Context, name string, isExternal bool) {
	GinkgoHelper()
	created, err := networks.Create(ctx, w.neutron, external.CreateOptsExt{CreateOptsBuilder: networks.CreateOpts{Name: name}, External: &isExternal}).Extract()
	Expect(err).NotTo(HaveOccurred())
	w.nets[name] = created.ID
}

func (w *world) deleteNetwork(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(networks.Delete(ctx, w.neutron, w.nets[name]).ExtractErr()).To(Succeed())
	delete(w.nets, name)
}

func (w *world) createVolumeType(ctx context.Context, name string) {
	GinkgoHelper()
	created, err := volumetypes.Create(ctx, w.cinder, volumetypes.CreateOpts{Name: name}).Extract()
	Expect(err).NotTo(HaveOccurred())
	w.volumes[name] = created.ID
}

func (w *world) deleteVolumeType(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(volumetypes.Delete(ctx, w.cinder, w.volumes[name]).ExtractErr()).To(Succeed())
	delete(w.volumes, name)
}

// done changes the cloud, and returns a function that reverts the change.
type done func(ctx context.Context, w *world) (undo func(context.Context))

// instead replaces an image by another one of the same name.
func instead(name string, change func(*image)) done {
	return func(ctx context.Context, w *world) func(context.Context) {
		other := truth[name]
		properties := map[string]string{}
		for key, value := range other.properties {
			properties[key] = value
		}
		other.properties = properties
		change(&other)
		w.deleteImage(ctx, name)
		w.createImage(ctx, name, other)
		return func(ctx context.Context) {
			w.deleteImage(ctx, name)
			w.createImage(ctx, name, truth[name])
		}
	}
}

// withoutID deletes an image whose ID stays in the profile.
func withoutID(name string) done {
	return func(ctx context.Context, w *world) func(context.Context) {
		was := w.images[name]
		w.deleteImage(ctx, name)
		w.images[name] = was
		return func(ctx context.Context) { w.createImage(ctx, name, truth[name]) }
	}
}

func besides(name string, i image) done {
	return func(ctx context.Context, w *world) func(context.Context) {
		w.createImage(ctx, name, i)
		return func(ctx context.Context) { w.deleteImage(ctx, name) }
	}
}

// deactivated deactivates an image in Glance, so that it cannot be downloaded.
func deactivated(name string) done {
	return func(ctx context.Context, w *world) func(context.Context) {
		region, _, _ := strings.Cut(name, "/")
		act := func(ctx context.Context, action string) {
			GinkgoHelper()
			client := w.glance[region]
			_, err := client.Post(ctx, client.ServiceURL("images", w.images[name], "actions", action), nil, nil,
				&gophercloud.RequestOpts{OkCodes: []int{http.StatusNoContent}})
			Expect(err).NotTo(HaveOccurred())
		}
		act(ctx, "deactivate")
		return func(ctx context.Context) { act(ctx, "reactivate") }
	}
}

// seen changes the visibility of an image.
func seen(name, visibility string) done {
	return func(ctx context.Context, w *world) func(context.Context) {
		region, _, _ := strings.Cut(name, "/")
		set := func(ctx context.Context, visibility string) {
			GinkgoHelper()
			Expect(images.Update(ctx, w.glance[region], w.images[name], images.UpdateOpts{
				images.UpdateVisibility{Visibility: images.ImageVisibility(visibility)},
			}).Err).NotTo(HaveOccurred())
		}
		set(ctx, visibility)
		return func(ctx context.Context) { set(ctx, "public") }
	}
}

// resized replaces a flavor, or deletes it if change is nil.
func resized(name string, change func(*flavor)) done {
	return func(ctx context.Context, w *world) func(context.Context) {
		w.deleteFlavor(ctx, name)
		if change != nil {
			other := trueFlavors[name]
			change(&other)
			w.createFlavor(ctx, name, other)
		}
		return func(ctx context.Context) {
			if change != nil {
				w.deleteFlavor(ctx, name)
			}
			w.createFlavor(ctx, name, trueFlavors[name])
		}
	}
}

// disabled disables the only compute host of the zone.
func disabled(ctx context.Context, w *world) func(context.Context) {
	w.nova.Microversion = "2.53"
	pages, err := services.List(w.nova, services.ListOpts{Binary: "nova-compute"}).AllPages(ctx)
	Expect(err).NotTo(HaveOccurred())
	all, err := services.ExtractServices(pages)
	Expect(err).NotTo(HaveOccurred())
	Expect(all).To(HaveLen(1))
	set := func(ctx context.Context, status services.ServiceStatus) {
		w.nova.Microversion = "2.53"
		Expect(services.Update(ctx, w.nova, all[0].ID, services.UpdateOpts{Status: status}).Err).NotTo(HaveOccurred())
		w.nova.Microversion = ""
	}
	set(ctx, services.ServiceDisabled)
	return func(ctx context.Context) { set(ctx, services.ServiceEnabled) }
}

// internal makes a network internal, so that it has no floating IPs.
func internal(name string) done {
	return func(ctx context.Context, w *world) func(context.Context) {
		set := func(ctx context.Context, isExternal bool) {
			GinkgoHelper()
			Expect(networks.Update(ctx, w.neutron, w.nets[name], external.UpdateOptsExt{
				UpdateOptsBuilder: networks.UpdateOpts{}, External: &isExternal,
			}).Err).NotTo(HaveOccurred())
		}
		set(ctx, false)
		return func(ctx context.Context) { set(ctx, true) }
	}
}

func withoutNetwork(name string) done {
	return func(ctx context.Context, w *world) func(context.Context) {
		w.deleteNetwork(ctx, name)
		return func(ctx context.Context) { w.createNetwork(ctx, name, true) }
	}
}

func withoutVolumeType(name string) done {
	return func(ctx context.Context, w *world) func(context.Context) {
		w.deleteVolumeType(ctx, name)
		return func(ctx context.Context) { w.createVolumeType(ctx, name) }
	}
}

// profile returns the correct profile.
func (w *world) profile() string { return w.fill(profileText) }

// fill replaces <REGION/NAME> by the IDs of images.
func (w *world) fill(text string) string {
	for name, id := range w.images {
		text = strings.ReplaceAll(text, "<"+name+">", id)
	}
	return text
}

const profileText = `apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata:
  name: openstack
spec:
  type: openstack
  machineCapabilities:
  - {name: architecture, values: [amd64, arm64]}
  - {name: hypervisor, values: [virtualized, baremetal]}
  machineTypes:
  - {name: medium_2_4, cpu: "2", gpu: "0", memory: 4Gi, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}
  - {name: gpu_2_2, cpu: "2", gpu: "2", memory: 2Gi, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}
  - {name: arm_2_4, cpu: "2", gpu: "0", memory: 4Gi, capabilities: {architecture: [arm64], hypervisor: [virtualized]}}
  - {name: bare_8_16, cpu: "8", gpu: "0", memory: 16Gi, capabilities: {architecture: [amd64], hypervisor: [baremetal]}}
  - {name: volume_1_1, cpu: "1", gpu: "0", memory: 1Gi, storage: {class: premium, type: premium, size: 50Gi},
     capabilities: {architecture: [amd64], hypervisor: [virtualized]}}
  machineImages:
  - name: gardenlinux
    versions:
    - version: 1877.5.0
      capabilityFlavors:
      - {architecture: [amd64], hypervisor: [virtualized]}
      - {architecture: [amd64], hypervisor: [baremetal]}
      - {architecture: [arm64], hypervisor: [virtualized]}
    - version: 1592.9.0
      capabilityFlavors:
      - {architecture: [amd64]}
  kubernetes: {versions: [{version: 1.33.2}]}
  regions:
  - name: europe
    zones:
    - {name: nova}
  - name: asia
    zones:
    - {name: asia-1a}
  volumeTypes:
  - {name: default, class: standard}
  - {name: premium, class: premium}
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    keystoneURL: https://keystone.example.com/v3/
    constraints:
      floatingPools:
      - {name: fp-public-*, region: europe}
      - {name: fp-pool-1, region: europe}
      loadBalancerProviders:
      - {name: amphora}
    serverGroupPolicies: [soft-anti-affinity, affinity]
    machineImages:
    - name: gardenlinux
      versions:
      - version: 1877.5.0
        capabilityFlavors:
        - capabilities: {architecture: [amd64], hypervisor: [virtualized]}
          regions:
          - {name: europe, id: <europe/virtual>}
          - {name: asia, id: <asia/virtual>}
        - capabilities: {architecture: [amd64], hypervisor: [baremetal]}
          regions:
          - {name: europe, id: <europe/bare>}
        - capabilities: {architecture: [arm64], hypervisor: [virtualized]}
          regions:
          - {name: europe, id: <europe/arm>}
          - {name: asia, id: <asia/arm>}
      - version: 1592.9.0
        capabilityFlavors:
        - capabilities: {architecture: [amd64]}
          image: named
`

// The paths of findings.
const (
	flavorsPath = "spec.providerConfig.machineImages[0].versions[0].capabilityFlavors"
	virtual     = flavorsPath + "[0].regions[0].id"
	virtualAsia = flavorsPath + "[0].regions[1].id"
	bare        = flavorsPath + "[1].regions[0].id"
	arm         = flavorsPath + "[2].regions[0].id"
	armAsia     = flavorsPath + "[2].regions[1].id"
	named       = "spec.providerConfig.machineImages[0].versions[1].capabilityFlavors[0].image"
	types       = "spec.machineTypes"
	constraints = "spec.providerConfig.constraints"
)

// toTheProfile lists wrong entries in the profile.
var toTheProfile = []struct {
	what, of, by string
	wants        []string
}{
	{"an ID is that of the other region", "asia, id: <asia/virtual>", "asia, id: <europe/virtual>",
		[]string{"error cloud-image-missing " + virtualAsia}},
	{"an ID is misspelt", "europe, id: <europe/bare>", "europe, id: 00000000-0000-4000-8000-000000000000",
		[]string{"error cloud-image-missing " + bare}},
	{"a name stands where an ID belongs", "europe, id: <europe/bare>", "europe, id: bare", []string{"error cloud-image-missing " + bare}},
	{"a name that no image has", "image: named", "image: nmaed", []string{"error cloud-image-missing " + named}},
	{"an image that needs another architecture", "europe, id: <europe/bare>", "europe, id: <europe/arm>",
		[]string{"error cloud-image-architecture " + bare}},
	{"the virtual image is the one for bare metal", "europe, id: <europe/virtual>", "europe, id: <europe/bare>",
		[]string{"error cloud-image-property " + virtual, "warning cloud-image-differs " + virtualAsia}},
	{"another image in one region", "asia, id: <asia/virtual>", "asia, id: <asia/named>", []string{"warning cloud-image-differs " + virtualAsia}},
	{"a machine type is misspelt", "name: medium_2_4", "name: medum_2_4", []string{"error cloud-machine-type-missing " + types + "[0].name"}},
	{"a machine type has more processors", `name: medium_2_4, cpu: "2"`, `name: medium_2_4, cpu: "4"`,
		[]string{"error cloud-machine-type-size " + types + "[0].cpu"}},
	{"a machine type has more memory", "memory: 16Gi", "memory: 32Gi", []string{"error cloud-machine-type-size " + types + "[3].memory"}},
	{"memory in other units", "memory: 2Gi", "memory: 2G", []string{"error cloud-machine-type-size " + types + "[1].memory"}},
	{"a machine type has more GPUs", `name: gpu_2_2, cpu: "2", gpu: "2"`, `name: gpu_2_2, cpu: "2", gpu: "4"`,
		[]string{"error cloud-machine-type-size " + types + "[1].gpu"}},
	{"a machine type has a GPU", `name: bare_8_16, cpu: "8", gpu: "0"`, `name: bare_8_16, cpu: "8", gpu: "1"`,
		[]string{"error cloud-machine-type-size " + types + "[3].gpu"}},
	{"a machine type without a disk has none in the profile", "storage: {class: premium, type: premium, size: 50Gi},", "",
		[]string{"warning cloud-machine-type-disk " + types + "[4].storage"}},
	{"a zone is misspelt", "{name: nova}", "{name: nvoa}", []string{"error cloud-zone-missing spec.regions[0].zones[0].name"}},
	{"a zone too many", "- {name: nova}", "- {name: nova}\n    - {name: nova-2}", []string{"error cloud-zone-missing spec.regions[0].zones[1].name"}},
	{"a volume type is misspelt", "{name: default, class", "{name: dfault, class",
		[]string{"error cloud-volume-type-missing spec.volumeTypes[0].name"}},
	{"a volume type too many", "- {name: default, class: standard}", "- {name: default, class: standard}\n  - {name: gold, class: gold}",
		[]string{"error cloud-volume-type-missing spec.volumeTypes[1].name"}},
	{"storage of a type that is not there", "type: premium, size", "type: gold, size",
		[]string{"error cloud-volume-type-missing " + types + "[4].storage.type"}},
	{"a floating pool is misspelt", "{name: fp-pool-1,", "{name: fp-pool-2,",
		[]string{"error cloud-network-missing " + constraints + ".floatingPools[1].name"}},
	{"a pattern that no floating pool has", "fp-public-*", "fp-private-*",
		[]string{"error cloud-network-missing " + constraints + ".floatingPools[0].name"}},
	{"a floating pool is an internal network", "{name: fp-pool-1,", "{name: shoot,",
		[]string{"error cloud-network-missing " + constraints + ".floatingPools[1].name"}},
	{"another provider of load balancers", "{name: amphora}", "{name: f5}",
		[]string{"error cloud-load-balancer-provider-missing " + constraints + ".loadBalancerProviders[0].name"}},
	{"a policy is misspelt", "affinity, affinity]", "affinity, afinity]",
		[]string{"error cloud-policy-missing spec.providerConfig.serverGroupPolicies[1]"}},
}

// toTheCloud lists changes of the cloud that make the profile wrong.
var toTheCloud = []struct {
	what  string
	do    done
	wants []string
}{
	{"an image was deleted", withoutID("europe/virtual"), []string{"error cloud-image-missing " + virtual}},
	{"an image was deleted in the second region", withoutID("asia/arm"), []string{"error cloud-image-missing " + armAsia}},
	{"an image that is named was deleted", withoutID("asia/named"), []string{"error cloud-image-missing " + named}},
	{"an image was deactivated", deactivated("europe/bare"), []string{"error cloud-image-inactive " + bare}},
	{"an image was deactivated in the second region", deactivated("asia/virtual"), []string{"error cloud-image-inactive " + virtualAsia}},
	{"an image that is named was deactivated", deactivated("europe/named"), []string{"error cloud-image-inactive " + named}},
	{"an image has no content yet", instead("europe/bare", func(i *image) { i.content = "" }), []string{"error cloud-image-inactive " + bare}},
	{"an image was made private", seen("europe/virtual", "private"), []string{"warning cloud-image-hidden " + virtual}},
	{"an image was shared with some", seen("asia/virtual", "shared"), []string{"warning cloud-image-hidden " + virtualAsia}},
	{"an image that is named was made private", seen("europe/named", "private"), []string{"warning cloud-image-hidden " + named}},
	{"an image is of another architecture", instead("europe/arm", func(i *image) { i.properties["hw_architecture"] = "x86_64" }),
		[]string{"error cloud-image-architecture " + arm}},
	{"an image that is named is of another architecture", instead("europe/named", func(i *image) { i.properties["hw_architecture"] = "aarch64" }),
		[]string{"error cloud-image-architecture " + named}},
	{"an image for bare metal is for virtual machines", instead("europe/bare", func(i *image) { i.properties["hypervisor_type"] = "virtualized" }),
		[]string{"error cloud-image-property " + bare}},
	{"an image for virtual machines is for bare metal", instead("europe/arm", func(i *image) { i.properties["hypervisor_type"] = "baremetal" }),
		[]string{"error cloud-image-property " + arm}},
	{"another content in the second region", instead("asia/virtual", func(i *image) { i.content = "other" }),
		[]string{"warning cloud-image-differs " + virtualAsia}},
	{"another content of an image that is named", instead("asia/named", func(i *image) { i.content = "other" }),
		[]string{"warning cloud-image-differs " + named}},
	{"two images have the name", besides("europe/named#2", image{content: "named"}), []string{"error cloud-image-ambiguous " + named}},
	{"an image needs a larger disk", instead("europe/virtual", func(i *image) { i.minDisk = 30 }), []string{"warning cloud-image-disk " + virtual}},
	{"a flavor has a smaller disk than its image", resized("arm_2_4", func(f *flavor) { f.disk = 0 }),
		[]string{"warning cloud-machine-type-disk " + types + "[2].storage"}},
	{"a flavor was deleted", resized("gpu_2_2", nil), []string{"error cloud-machine-type-missing " + types + "[1].name"}},
	{"a flavor has fewer processors", resized("medium_2_4", func(f *flavor) { f.cpu = 1 }),
		[]string{"error cloud-machine-type-size " + types + "[0].cpu"}},
	{"a flavor has less memory", resized("bare_8_16", func(f *flavor) { f.memory = 8192 }),
		[]string{"error cloud-machine-type-size " + types + "[3].memory"}},
	{"a flavor has one GPU", resized("gpu_2_2", func(f *flavor) { f.specs = map[string]string{"pci_passthrough:alias": "a100:1"} }),
		[]string{"error cloud-machine-type-size " + types + "[1].gpu"}},
	{"a flavor lost its GPUs", resized("gpu_2_2", func(f *flavor) { f.specs = nil }), []string{"error cloud-machine-type-size " + types + "[1].gpu"}},
	{"a flavor is for another architecture", resized("arm_2_4", func(f *flavor) { f.specs = map[string]string{"trait:HW_ARCH_X86_64": "required"} }),
		[]string{"error cloud-machine-type-architecture " + types + "[2].capabilities.architecture"}},
	{"the only zone is disabled", disabled, []string{"error cloud-zone-missing spec.regions[0].zones[0].name"}},
	{"a volume type was removed", withoutVolumeType("default"), []string{"error cloud-volume-type-missing spec.volumeTypes[0].name"}},
	{"a floating pool was removed", withoutNetwork("fp-pool-1"), []string{"error cloud-network-missing " + constraints + ".floatingPools[1].name"}},
	{"a floating pool is no longer external", internal("fp-pool-1"), []string{"error cloud-network-missing " + constraints + ".floatingPools[1].name"}},
	{"no floating pool of a pattern is external any more", internal("fp-public-1"),
		[]string{"error cloud-network-missing " + constraints + ".floatingPools[0].name"}},
}
