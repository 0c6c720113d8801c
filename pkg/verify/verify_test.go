// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/verify"
)

// Unknown parts are returned as facts; with Strict they are errors at the region.
func TestUnread(t *testing.T) {
	cloud := strings.Replace(file(t, "inventory.yaml"), "  volumeTypes: [{name: default}, {name: premium}]\n  networks: [{name: fp-pool-1, external: true}]\n",
		"  unread: [volumeTypes, networks]\n", 1)
	cloud = strings.Replace(cloud, "- name: europe\n", "- name: eurpoe\n", 1)
	for strict, want := range map[bool][]string{
		false: nil,
		true: {
			"error cloud-unread spec.regions[0].name\n    region europe: there is no inventory; did you mean eurpoe?",
			"error cloud-unread spec.regions[1].name\n    volumeTypes and networks of region asia could not be read when the inventory was taken; " +
				"take one with credentials that may read all of it",
		},
	} {
		report, unread := judged(t, file(t, "profile.yaml"), cloud, verify.Options{At: now, Strict: strict})
		var said []string
		for _, line := range lines(report, true) {
			if !strings.Contains(line, "bare_8_16") { // only europe has it
				said = append(said, line)
			}
		}
		if diff := cmp.Diff(want, said); diff != "" || len(unread) != 2 {
			t.Error(diff, unread)
		}
	}
}

// The caller owns the result: asking the cloud again gives the same answer.
func TestUnreadIsTheCallers(t *testing.T) {
	cloud := strings.Replace(file(t, "inventory.yaml"), "  networks: [{name: fp-pool-1, external: true}]\n", "  unread: [networks]\n", 1)
	p := given.Sound(t, openstack.Provider{}, &given.Decoded[v1beta1.CloudProfile](t, file(t, "profile.yaml")).Spec)
	asked := verify.NewCloud(openstack.Provider{}, nil, readInventory(t, cloud))
	for range 2 {
		_, unread := verify.CloudProfile(p, asked, verify.Options{At: now})
		if len(unread) == 0 || unread[0].String() != "networks of region asia could not be read when the inventory was taken" {
			t.Fatal(unread)
		}
		unread[0].Lists[0] = "zones"
	}
}

const child = `
apiVersion: core.gardener.cloud/v1beta1
kind: NamespacedCloudProfile
metadata: {name: child, namespace: garden-demo}
spec:
  parent: {kind: CloudProfile, name: openstack}
  machineTypes:
  - {name: big_8_64, cpu: "8", gpu: "0", memory: 64Gi, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}
  volumeTypes:
  - {name: gold, class: gold}
  machineImages:
  - name: gardenlinux
    versions:
    - {version: 934.1.0, expirationDate: "2027-06-01T00:00:00Z"}
    - {version: 1592.9.0, expirationDate: "2026-02-01T00:00:00Z"}
  - name: own
    versions:
    - version: 1.0.0
      capabilityFlavors:
      - {architecture: [amd64], hypervisor: [virtualized]}
    - version: 0.9.0
      expirationDate: "2026-01-01T00:00:00Z"
      capabilityFlavors:
      - {architecture: [amd64], hypervisor: [virtualized]}
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImages:
    - name: own
      versions:
      - version: 1.0.0
        capabilityFlavors:
        - capabilities: {architecture: [amd64], hypervisor: [virtualized]}
          regions:
          - {name: europe, id: 22222222-0000-4000-8000-000000000001}
      - version: 0.9.0
        capabilityFlavors:
        - capabilities: {architecture: [amd64], hypervisor: [virtualized]}
          regions:
          - {name: europe, id: 22222222-0000-4000-8000-000000000009}
`

// A NamespacedCloudProfile is checked for its own entries, at their paths. It is also checked for versions that have expired in its
// parent, but not here.
func TestNamespaced(t *testing.T) {
	object := given.Decoded[v1beta1.CloudProfile](t, file(t, "profile.yaml"))
	parent, _ := profile.Compile(openstack.Provider{}, &object.Spec, field.NewPath("spec"))
	own := given.Decoded[v1beta1.NamespacedCloudProfile](t, child)
	spec, err := namespaced.Render(openstack.Provider{}, own, object)
	if err != nil {
		t.Fatal(err)
	}
	result, _ := profile.Compile(openstack.Provider{}, spec, nil)
	judge := func(cloud *inventory.Inventory) []string {
		report, _ := verify.NamespacedCloudProfile(parent, result, own, verify.NewCloud(openstack.Provider{}, nil, cloud), verify.Options{At: now})
		return lines(report, false)
	}
	cloud := readInventory(t, file(t, "inventory.yaml"))
	const at = "spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].regions[0].id"
	want := []string{
		"error cloud-image-missing spec.machineImages[0].versions[0].version", "error cloud-machine-type-missing spec.machineTypes[0].name",
		"error cloud-image-missing " + at, "error cloud-volume-type-missing spec.volumeTypes[0].name",
	}
	if diff := cmp.Diff(want, judge(cloud)); diff != "" {
		t.Error(diff)
	}
	for i := range cloud.Regions {
		r := &cloud.Regions[i]
		for _, id := range []string{"22222222-0000-4000-8000-000000000001", "99999999-0000-4000-8000-000000000001"} {
			r.Images = append(r.Images, inventory.Image{ID: id, MinDiskGiB: ptr.To[int64](10)})
		}
		r.MachineTypes = append(r.MachineTypes, inventory.MachineType{Name: "big_8_64", CPU: ptr.To[int64](8), DiskGiB: ptr.To[int64](20)})
		r.VolumeTypes = append(r.VolumeTypes, inventory.VolumeType{Name: "gold"})
	}
	if found := judge(cloud); len(found) > 0 {
		t.Error(found)
	}
	europe := &cloud.Regions[0]
	europe.MachineTypes[len(europe.MachineTypes)-1].Zones = []string{"europe-1b"}
	europe.MachineTypes[len(europe.MachineTypes)-1].DiskGiB = ptr.To[int64](5)
	europe.Images[len(europe.Images)-2].Architecture = "arm64"
	want = []string{
		"error cloud-image-architecture " + at, "warning cloud-image-disk spec.machineImages[0].versions[0].version",
		"warning cloud-zone-machine-type spec.machineTypes[0].name", "warning cloud-image-disk " + at,
	}
	if diff := cmp.Diff(want, judge(cloud)); diff != "" {
		t.Error(diff)
	}
}

// An operator's table replaces the provider's.
func TestPropertiesOfAnOperator(t *testing.T) {
	object := given.Decoded[v1beta1.CloudProfile](t, file(t, "profile.yaml"))
	p, _ := profile.Compile(openstack.Provider{}, &object.Spec, field.NewPath("spec"))
	cloud := readInventory(t, strings.NewReplacer("hypervisor_type: baremetal", "kind: Virtual", "os_secure_boot: required", "os_secure_boot: disabled").
		Replace(file(t, "inventory.yaml")))
	for name, tc := range map[string]struct {
		table []inventory.Property
		want  []string
	}{
		"the provider's": {want: []string{"error cloud-image-property " + secure}},
		"an empty one":   {table: []inventory.Property{}},
		"one of a property that is compared in any case of letters": {
			table: []inventory.Property{{Names: []string{"type", "kind"}, Value: "virtual", Capability: "hypervisor", Only: []string{"virtualized"}}},
			want:  []string{"error cloud-image-property " + bare},
		},
		"one that demands": {
			table: []inventory.Property{{Names: []string{"kind"}, Value: "Virtual", Capability: "hypervisor", Some: []string{"virtualized"}}},
			want:  []string{"error cloud-image-property " + bare},
		},
		"one that names": {table: []inventory.Property{{Names: []string{"kind"}}}},
		"one of a capability that the flavor does not declare": {
			table: []inventory.Property{{Names: []string{"kind"}, Value: "virtual", Capability: "gardener-boot-type",
				Only: []string{"standard"}, Some: []string{"standard"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			report, _ := verify.CloudProfile(p, verify.NewCloud(openstack.Provider{}, tc.table, cloud), verify.Options{At: now})
			if diff := cmp.Diff(tc.want, lines(report, false)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnused(t *testing.T) {
	cloud := strings.NewReplacer("name: gl-1592.9", "name: gl-0", "{name: arm_4_8, cpu", "{name: arm, cpu", "{name: bare_8_16, cpu", "{name: old_1_1, cpu").
		Replace(file(t, "inventory.yaml"))
	read := readInventory(t, cloud)
	indexed := verify.NewCloud(openstack.Provider{}, nil, read)
	object := given.Decoded[v1beta1.CloudProfile](t, file(t, "profile.yaml"))
	said := func(add ...*v1beta1.CloudProfileSpec) (all []string) {
		usage := verify.NewUsage(indexed)
		for _, spec := range add {
			verify.AddUsage(usage, openstack.Provider{}, spec)
		}
		for _, unused := range usage.Unused() {
			for _, image := range unused.Images {
				all = append(all, unused.Region+" "+image.Name)
			}
			for _, t := range unused.MachineTypes {
				all = append(all, unused.Region+" "+t.Name)
			}
		}
		return all
	}
	want := []string{"asia gl-0", "asia arm", "europe gl-0", "europe arm"}
	if diff := cmp.Diff(want, said(&object.Spec)); diff != "" {
		t.Error(diff)
	}
	own := v1beta1.CloudProfileSpec{MachineTypes: []v1beta1.MachineType{{Name: "arm"}}}
	if diff := cmp.Diff([]string{"asia gl-0", "europe gl-0"}, said(&object.Spec, &own)); diff != "" {
		t.Error(diff)
	}
	all := said()
	if len(all) != 17 {
		t.Error(all)
	}
	for i := range read.Regions {
		slices.Reverse(read.Regions[i].Images)
		slices.Reverse(read.Regions[i].MachineTypes)
	}
	indexed = verify.NewCloud(openstack.Provider{}, nil, read)
	if diff := cmp.Diff(all, said()); diff != "" {
		t.Error(diff)
	}
}

// wide returns a profile whose versions have images in each region, and an inventory that lacks every tenth of them.
func wide(t testing.TB, regions, images int) (*profile.Profile[openstack.Image], *inventory.Inventory) {
	t.Helper()
	object := given.Decoded[v1beta1.CloudProfile](t, file(t, "profile.yaml"))
	spec := &object.Spec
	spec.Regions, spec.MachineImages = nil, []v1beta1.MachineImage{{Name: "gardenlinux"}}
	var config strings.Builder
	config.WriteString(`{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"keystoneURL": "https://keystone.example.com", "machineImages": [{"name": "gardenlinux", "versions": [`)
	i := &inventory.Inventory{}
	for r := range regions {
		spec.Regions = append(spec.Regions, v1beta1.Region{Name: fmt.Sprintf("region-%d", r), Zones: []v1beta1.AvailabilityZone{{Name: "a"}}})
		region := inventory.Region{Name: fmt.Sprintf("region-%d", r)}
		for n := range images {
			id := fmt.Sprintf("%08d-0000-4000-8000-%012d", r, n)
			if n%10 == 0 {
				id = fmt.Sprintf("%08d-0000-4000-9000-%012d", r, n)
			}
			region.Images = append(region.Images, inventory.Image{ID: id, Name: fmt.Sprintf("gl-%d", n), Status: "active"})
		}
		i.Regions = append(i.Regions, region)
	}
	for n := range images {
		version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: fmt.Sprintf("%d.0.0", n)}}
		version.CapabilityFlavors = []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}}
		spec.MachineImages[0].Versions = append(spec.MachineImages[0].Versions, version)
		if n > 0 {
			config.WriteString(",")
		}
		fmt.Fprintf(&config, `{"version": "%d.0.0", "capabilityFlavors": [{"capabilities": {"architecture": ["amd64"]}, "regions": [`, n)
		for r := range regions {
			if r > 0 {
				config.WriteString(",")
			}
			fmt.Fprintf(&config, `{"name": "region-%d", "id": "%08d-0000-4000-8000-%012d"}`, r, r, n)
		}
		config.WriteString("]}]}")
	}
	config.WriteString("]}]}")
	spec.ProviderConfig.Raw = []byte(config.String())
	p, _ := profile.Compile(openstack.Provider{}, spec, field.NewPath("spec"))
	return p, i
}

// The work grows with profile plus inventory, not with their product. It is measured in allocations, for four times the images.
func TestWorkGrowsLinearly(t *testing.T) {
	work := func(regions, images int) float64 {
		p, i := wide(t, regions, images)
		report, _ := verify.CloudProfile(p, verify.NewCloud(openstack.Provider{}, nil, i), verify.Options{At: now})
		if len(report.Errors) == 0 {
			t.Fatal("nothing is missed")
		}
		return testing.AllocsPerRun(1, func() {
			verify.CloudProfile(p, verify.NewCloud(openstack.Provider{}, nil, i), verify.Options{At: now})
		})
	}
	small, large := work(5, 100), work(5, 400)
	if large > 6*small {
		t.Errorf("%.0f allocations for four times the images, %.0f for once", large, small)
	}
	if more := work(20, 100); more > 6*small {
		t.Errorf("%.0f allocations for four times the regions, %.0f for once", more, small)
	}
}

func BenchmarkVerify(b *testing.B) {
	p, i := wide(b, 30, 3000)
	b.ReportAllocs()
	for b.Loop() {
		verify.CloudProfile(p, verify.NewCloud(openstack.Provider{}, nil, i), verify.Options{At: now})
	}
}
