// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/alicloud"
	"github.com/capkit/capkit/pkg/aws"
	"github.com/capkit/capkit/pkg/azure"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/gcp"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/verify"
)

// clouds holds the clouds with inventories, by the folder of their examples.
var clouds = map[string]provider.Provider[any]{
	"":         provider.Untyped(openstack.Provider{}),
	"aws":      provider.Untyped(aws.Provider{}),
	"azure":    provider.Untyped(azure.Provider{}),
	"gcp":      provider.Untyped(gcp.Provider{}),
	"alicloud": provider.Untyped(alicloud.Provider{}),
}

// described is an inventory generated from a profile, with the paths of its images: the profile is true of it.
type described struct {
	*inventory.Inventory
	// at maps each image, by region and ID or name, to the paths of its references.
	at map[[2]string][]string
}

func describe(p *profile.Profile[any], uses func(*v1beta1.CloudProfileSpec, *field.Path) []inventory.Use) *described {
	spec := p.Spec()
	d := &described{&inventory.Inventory{APIVersion: inventory.APIVersion, Kind: inventory.Kind, Provider: spec.Type, Taken: now}, map[[2]string][]string{}}
	for _, region := range spec.Regions {
		r := inventory.Region{Name: region.Name, Images: []inventory.Image{}}
		for _, zone := range region.Zones {
			r.Zones = append(r.Zones, inventory.Zone{Name: zone.Name, Available: ptr.To(true)})
		}
		for i := range spec.MachineTypes {
			t := &spec.MachineTypes[i]
			machine, _ := p.Machine(t.Name)
			r.MachineTypes = append(r.MachineTypes, inventory.MachineType{
				Name: t.Name, CPU: ptr.To(t.CPU.Value()), GPU: ptr.To(t.GPU.Value()), MemoryMiB: ptr.To(t.Memory.Value() >> 20), DiskGiB: ptr.To[int64](40),
				Architecture: machine.Set.Values(capability.Architecture)[0],
			})
		}
		for _, t := range spec.VolumeTypes {
			r.VolumeTypes = append(r.VolumeTypes, inventory.VolumeType{Name: t.Name})
		}
		d.images(p, &r)
		if uses != nil {
			d.uses(uses(spec, field.NewPath("spec")), &r)
		}
		d.Regions = append(d.Regions, r)
	}
	return d
}

func (d *described) uses(uses []inventory.Use, r *inventory.Region) {
	r.Networks, r.LoadBalancerProviders = []inventory.Network{}, []inventory.LoadBalancerProvider{}
	for _, use := range uses {
		if !slices.Contains(use.Regions, r.Name) {
			continue
		}
		switch name := strings.ReplaceAll(use.Name, "*", "some"); use.List {
		case inventory.ListNetworks:
			r.Networks = append(r.Networks, inventory.Network{Name: name, External: ptr.To(true)})
		case inventory.ListLoadBalancerProviders:
			r.LoadBalancerProviders = append(r.LoadBalancerProviders, inventory.LoadBalancerProvider{Name: name})
		case inventory.ListServerGroupPolicies:
			r.ServerGroupPolicies = append(r.ServerGroupPolicies, name)
		case inventory.ListVolumeTypes:
			r.VolumeTypes = append(r.VolumeTypes, inventory.VolumeType{Name: name})
		}
	}
}

func (d *described) images(p *profile.Profile[any], r *inventory.Region) {
	for version := range p.Versions() {
		flavors := p.Catalog().Flavors(version.ID.Image, version.ID.Version)
		for i := range flavors {
			set, _ := p.Vocabulary().Flavor(flavors[i].Supported(p.Vocabulary()), nil, nil)
			ref, found := flavors[i].Reference(r.Name)
			if !found {
				continue
			}
			in := ref.(inventory.Referrer).InInventory()
			at := ""
			for _, regional := range flavors[i].Regional {
				if regional.Region == r.Name {
					at = regional.Path.Child(in.Field).String()
				}
			}
			if at == "" {
				at = flavors[i].Global.Path.String()
			}
			image := inventory.Image{ID: in.ID, Name: in.Name, Status: "active", Visibility: "public", Architecture: set.Values(capability.Architecture)[0]}
			if image.ID == "" {
				image.ID = "id-of-" + in.Name
			}
			key := [2]string{r.Name, image.ID}
			if d.at[key] == nil {
				decoy := inventory.Image{ID: image.ID + "x", Name: "decoy"} // of the same form
				r.Images = append(r.Images, image, decoy)
			}
			if !slices.Contains(d.at[key], at) {
				d.at[key] = append(d.at[key], at)
			}
		}
	}
}

// eachExample calls a function for each CloudProfile among a cloud's examples.
func eachExample(t *testing.T, do func(t *testing.T, name string, cloud provider.Provider[any], p *profile.Profile[any])) {
	t.Helper()
	n := 0
	for folder, cloud := range clouds {
		files, err := filepath.Glob(filepath.Join("../../example", folder, "cloudprofile*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			object := given.Decoded[v1beta1.CloudProfile](t, string(text))
			if object.Spec.Type != cloud.Type() {
				continue
			}
			n++
			t.Run(strings.TrimPrefix(name, "../../example/"), func(t *testing.T) {
				p, _ := profile.Compile(cloud, &object.Spec, field.NewPath("spec"))
				do(t, name, cloud, p)
			})
		}
	}
	if n < 18 {
		t.Errorf("only %d examples", n)
	}
}

func usesOf(cloud provider.Provider[any]) func(*v1beta1.CloudProfileSpec, *field.Path) []inventory.Use {
	describer, _ := provider.As[inventory.Describer](cloud)
	return describer.DescribeInventories().Uses
}

// A profile is true of the cloud that it describes, in all formats of all clouds. If an image is missing, exactly its references are
// reported.
func TestProfilesOfAllClouds(t *testing.T) {
	eachExample(t, func(t *testing.T, _ string, cloud provider.Provider[any], p *profile.Profile[any]) {
		d := describe(p, usesOf(cloud))
		options := verify.Options{At: now.AddDate(-3, 0, 0), Strict: true}
		if report, unread := verify.CloudProfile(p, verify.NewCloud(cloud, nil, d.Inventory), options); len(lines(report, true))+len(unread) > 0 {
			t.Fatal(strings.Join(lines(report, true), "\n"), unread)
		}
		removed := 0
		for i := range d.Regions {
			for k, image := range d.Regions[i].Images {
				less := *d.Inventory
				less.Regions = slices.Clone(d.Regions)
				less.Regions[i].Images = slices.Delete(slices.Clone(d.Regions[i].Images), k, k+1)
				report, _ := verify.CloudProfile(p, verify.NewCloud(cloud, nil, &less), options)
				var want []string
				for _, at := range d.at[[2]string{d.Regions[i].Name, image.ID}] {
					want = append(want, "error cloud-image-missing "+at)
				}
				slices.Sort(want)
				found := lines(report, false)
				slices.Sort(found)
				if diff := cmp.Diff(want, found); diff != "" && len(found) > 0 {
					t.Errorf("without %s: %s", image.ID, diff)
				}
				if len(found) > 0 {
					removed++
				}
			}
		}
		versions := slices.Collect(p.Versions())
		active := slices.ContainsFunc(versions, func(v entries.Version) bool { return v.Active() })
		if removed == 0 && active {
			t.Error("no image was missed")
		}
	})
}

// Synonyms in the clouds' terms, and gaps in their inventories.
func TestWordsOfClouds(t *testing.T) {
	const azureID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/g/images/i/versions/"
	for name, tc := range map[string]struct {
		cloud  provider.Provider[any]
		folder string
		ref    any
		images []inventory.Image
		want   string
		gap    string
	}{
		"an AMI is available": {ref: aws.Image{AMI: "ami-1"}, cloud: clouds["aws"], images: []inventory.Image{{ID: "ami-1", Status: "available"}}},
		"an AMI is pending": {ref: aws.Image{AMI: "ami-1"}, cloud: clouds["aws"],
			images: []inventory.Image{{ID: "ami-1", Status: "pending"}}, want: "cloud-image-inactive"},
		"there are no AMIs":     {ref: aws.Image{AMI: "ami-1"}, cloud: clouds["aws"], images: []inventory.Image{}, want: "cloud-image-missing"},
		"nobody knows the AMIs": {ref: aws.Image{AMI: "ami-1"}, cloud: clouds["aws"], gap: "images"},
		"an image of GCP is ready": {ref: gcp.Image{Image: "projects/p/global/images/i"}, cloud: clouds["gcp"],
			images: []inventory.Image{{ID: "projects/p/global/images/i", Status: "READY"}}},
		"a URL is a path": {ref: gcp.Image{Image: "projects/p/global/images/i"}, cloud: clouds["gcp"],
			images: []inventory.Image{{ID: "https://www.googleapis.com/compute/v1/projects/p/global/images/i", Status: "READY"}}},
		"no list has families": {ref: gcp.Image{Image: "projects/p/global/images/family/f"}, cloud: clouds["gcp"],
			images: []inventory.Image{{ID: "projects/p/global/images/i"}}, gap: "images like projects/p/global/images/family/f"},
		"nor does an empty one have families": {ref: gcp.Image{Image: "projects/p/global/images/family/f"}, cloud: clouds["gcp"],
			images: []inventory.Image{}, gap: "images like projects/p/global/images/family/f"},
		"a project says nothing of another one": {ref: gcp.Image{Image: "projects/q/global/images/i"}, cloud: clouds["gcp"],
			images: []inventory.Image{{ID: "projects/p/global/images/i"}}, gap: "images like projects/q/global/images/i"},
		"an image of GCP is gone": {ref: gcp.Image{Image: "projects/p/global/images/j"}, cloud: clouds["gcp"],
			images: []inventory.Image{{ID: "projects/p/global/images/i"}},
			want:   "cloud-image-missing"},
		"Azure tells no letters apart": {ref: azure.Image{ID: azureID + "1"}, cloud: clouds["azure"],
			images: []inventory.Image{{ID: strings.ToUpper(azureID) + "1", Status: "Succeeded"}}},
		"a version of a gallery is gone": {ref: azure.Image{ID: azureID + "1"}, cloud: clouds["azure"], images: []inventory.Image{{ID: azureID + "2"}},
			want: "cloud-image-missing"},
		"the versions of one image say nothing of those of another": {ref: azure.Image{ID: strings.ReplaceAll(azureID, "/i/", "/j/") + "1"}, cloud: clouds["azure"],
			images: []inventory.Image{{ID: azureID + "1"}}, gap: "images like " + strings.ReplaceAll(azureID, "/i/", "/j/") + "1"},
		"no list has the version that is the latest": {ref: azure.Image{ID: azureID + "latest"}, cloud: clouds["azure"],
			images: []inventory.Image{{ID: azureID + "1"}}, gap: "images like " + azureID + "latest"},
		"no list has an image without a version": {ref: azure.Image{ID: strings.TrimSuffix(azureID, "/versions/")}, cloud: clouds["azure"],
			images: []inventory.Image{{ID: azureID + "1"}}, gap: "images like " + strings.TrimSuffix(azureID, "/versions/")},
		"a gallery says nothing of the marketplace": {ref: azure.Image{URN: "p:o:s:1"}, cloud: clouds["azure"],
			images: []inventory.Image{{ID: azureID + "2"}}, gap: "images like p:o:s:1"},
		"nor does an empty one": {ref: azure.Image{URN: "p:o:s:1"}, cloud: clouds["azure"], images: []inventory.Image{}, gap: "images like p:o:s:1"},
		"the marketplace does": {ref: azure.Image{URN: "p:o:s:1"}, cloud: clouds["azure"],
			images: []inventory.Image{{ID: "p:o:s:2"}}, want: "cloud-image-missing"},
		"a gallery says nothing of community ones": {ref: azure.Image{CommunityGalleryImageID: "/CommunityGalleries/c/Images/i/Versions/1"}, cloud: clouds["azure"],
			images: []inventory.Image{{ID: azureID + "2"}}, gap: "images like /CommunityGalleries/c/Images/i/Versions/1"},
		"an image of AliCloud is available": {ref: alicloud.Image{ID: "m-1"}, cloud: clouds["alicloud"],
			images: []inventory.Image{{ID: "m-1", Status: "Available"}}},
		"an image of AliCloud is gone": {ref: alicloud.Image{ID: "m-1"}, cloud: clouds["alicloud"],
			images: []inventory.Image{{ID: "m-2", Status: "Available"}}, want: "cloud-image-missing"},
		"letters of a UUID":   {ref: openstack.Image{ID: "AB"}, cloud: clouds[""], images: []inventory.Image{{ID: "ab"}}},
		"names are not known": {ref: openstack.Image{Name: "gl"}, cloud: clouds[""], images: []inventory.Image{{ID: "ab"}}, gap: "images like gl"},
		"a name that none of some images has": {ref: openstack.Image{Name: "gl"}, cloud: clouds[""],
			images: []inventory.Image{{ID: "ab"}, {ID: "cd", Name: "other"}}, want: "cloud-image-missing"},
		"no images, and so none of the name": {ref: openstack.Image{Name: "gl"}, cloud: clouds[""],
			images: []inventory.Image{}, want: "cloud-image-missing"},
		"a status that only another cloud has": {ref: openstack.Image{ID: "ab"}, cloud: clouds[""],
			images: []inventory.Image{{ID: "ab", Status: "available"}}, want: "cloud-image-inactive"},
		"the cloud writes its status in other letters": {ref: openstack.Image{ID: "ab"}, cloud: clouds[""], images: []inventory.Image{{ID: "ab", Status: "ACTIVE"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Sound(t, referring{tc.cloud, tc.ref}, &v1beta1.CloudProfileSpec{
				Type: tc.cloud.Type(), Regions: []v1beta1.Region{{Name: "r"}},
				MachineImages: []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{{
					ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"}, Architectures: []string{"amd64"},
				}}}},
			})
			i := &inventory.Inventory{Regions: []inventory.Region{{Name: "r", Images: tc.images}}}
			report, unread := verify.CloudProfile(p, verify.NewCloud(tc.cloud, nil, i), verify.Options{At: now, Strict: true})
			found := lines(report, false)
			if gap := []verify.Unread{{Region: "r", Gap: tc.gap}}; (tc.gap != "" || len(unread) > 0) && !cmp.Equal(gap, unread) {
				t.Error(unread)
			}
			if tc.want == "" && len(found) > 0 || tc.want != "" && (len(found) != 1 || !strings.Contains(found[0], " "+tc.want+" ")) {
				t.Error(lines(report, true))
			}
		})
	}
}

// misdescribed names lists of an inventory that no reference can be in.
type misdescribed struct{ openstack.Provider }

func (misdescribed) DescribeInventories() inventory.Description {
	return inventory.Description{Uses: func(_ *v1beta1.CloudProfileSpec, at *field.Path) []inventory.Use {
		return []inventory.Use{
			{List: inventory.ListZones, Name: "a", Regions: []string{"europe"}, At: at.Child("a")},
			{List: "network", Name: "b", Regions: []string{"europe"}, At: at.Child("b")},
		}
	}}
}

func TestWrongListsOfAnAuthor(t *testing.T) {
	object := given.Decoded[v1beta1.CloudProfile](t, file(t, "profile.yaml"))
	p, _ := profile.Compile(openstack.Provider{}, &object.Spec, field.NewPath("spec"))
	cloud := verify.NewCloud(misdescribed{}, nil, readInventory(t, file(t, "inventory.yaml")))
	report, _ := verify.CloudProfile(p, cloud, verify.Options{At: now})
	for i, list := range []string{"zones", "network"} {
		want := fmt.Sprintf(`spec.%c: Internal error: provider openstack: Uses of its inventory.Description returns the list %q; `+
			`it must be loadBalancerProviders, networks, serverGroupPolicies or volumeTypes`, 'a'+i, list)
		if i >= len(report.Errors) || report.Errors[i].Error.Error() != want {
			t.Errorf("no %s in %v", want, lines(report, true))
		}
	}
}

func TestRegionListedTwice(t *testing.T) {
	object := given.Decoded[v1beta1.CloudProfile](t, file(t, "profile.yaml"))
	object.Spec.Regions = append(object.Spec.Regions, object.Spec.Regions...)
	p, _ := profile.Compile(openstack.Provider{}, &object.Spec, field.NewPath("spec"))
	_, unread := verify.CloudProfile(p, verify.NewCloud(openstack.Provider{}, nil), verify.Options{At: now})
	if want := []verify.Unread{{Region: "europe"}, {Region: "asia"}}; !cmp.Equal(want, unread) {
		t.Error(unread)
	}
}

// A cloud without a description of its inventories still has machine types and zones.
func TestCloudsThatAreNotDescribed(t *testing.T) {
	object := given.Decoded[v1beta1.CloudProfile](t, file(t, "profile.yaml"))
	p, _ := profile.Compile(openstack.Provider{}, &object.Spec, field.NewPath("spec"))
	empty := `{apiVersion: capkit/v1, kind: Inventory, provider: openstack, regions: [{name: europe, images: [], machineTypes: [], zones: [], networks: []}]}`
	report, _ := verify.CloudProfile(p, verify.NewCloud(local.Provider{}, nil, readInventory(t, empty)), verify.Options{At: now})
	for _, line := range lines(report, false) {
		if strings.Contains(line, "image") || strings.Contains(line, "network") {
			t.Error(line)
		}
	}
	if len(report.Errors) != 7 {
		t.Error(strings.Join(lines(report, true), "\n"))
	}
	for _, rule := range verify.Rules(false) {
		if strings.Contains(rule.Name, "image") {
			t.Error(rule.Name)
		}
	}
}
