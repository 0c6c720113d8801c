// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack

import (
	"context"
	"fmt"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/quotasets"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servergroups"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/projects"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/roles"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/users"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/imagedata"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
	"k8s.io/utils/ptr"
)

// What there is in a new OpenStack.
const (
	// Domain, Project, User and Password are those of a user with the role member, as a Shoot has one.
	Domain   = "Default"
	Project  = "shoots"
	User     = "gardener"
	Password = "pass-word"

	// Flavor is the name of the only flavor.
	Flavor = "small"
	// SecurityGroup and KeyName are in the project, and of the user.
	SecurityGroup = "nodes"
	KeyName       = "key"
)

// World is what there is in a new OpenStack.
type World struct {
	// Network and Subnet are IDs of those in the project.
	Network, Subnet string
	// ProjectID is the ID of the project.
	ProjectID string
	// Images are IDs of images that everybody may boot, by their names, image-1 and image-2.
	Images map[string]string
}

// Secret returns the data of a Secret for the user.
func (o *OpenStack) Secret() map[string][]byte {
	return map[string][]byte{
		"domainName": []byte(Domain), "tenantName": []byte(Project), "username": []byte(User), "password": []byte(Password),
		"authURL": []byte(o.Keystone()),
	}
}

// Client returns a client of the user that is logged in, for tests to see what there is.
func (o *OpenStack) Client(ctx context.Context) (*gophercloud.ProviderClient, error) {
	return o.login(ctx, User, Password, Project)
}

// Admin returns a client of the administrator that is logged in, for tests to change what there is.
func (o *OpenStack) Admin(ctx context.Context) (*gophercloud.ProviderClient, error) {
	return o.login(ctx, "admin", AdminPassword, "admin")
}

func (o *OpenStack) login(ctx context.Context, user, password, project string) (*gophercloud.ProviderClient, error) {
	return openstack.AuthenticatedClient(ctx, gophercloud.AuthOptions{
		IdentityEndpoint: o.Keystone(), Username: user, Password: password, TenantName: project, DomainName: Domain, AllowReauth: true,
	})
}

var region = gophercloud.EndpointOpts{Region: Region}

// populate creates the world.
func (o *OpenStack) populate(ctx context.Context) (World, error) {
	world := World{Images: map[string]string{}}
	admin, err := o.Admin(ctx)
	if err != nil {
		return world, err
	}
	if world.ProjectID, err = createUser(ctx, admin); err != nil {
		return world, fmt.Errorf("creating the user: %w", err)
	}
	for _, name := range []string{"image-1", "image-2"} {
		if world.Images[name], err = createImage(ctx, admin, name); err != nil {
			return world, fmt.Errorf("creating an image: %w", err)
		}
	}
	compute, err := openstack.NewComputeV2(admin, region)
	if err != nil {
		return world, err
	}
	err = flavors.Create(ctx, compute, flavors.CreateOpts{Name: Flavor, RAM: 512, VCPUs: 1, Disk: ptr.To(1)}).Err
	if err != nil {
		return world, fmt.Errorf("creating the flavor: %w", err)
	}
	user, err := o.Client(ctx)
	if err != nil {
		return world, err
	}
	if err := world.createNetwork(ctx, user); err != nil {
		return world, fmt.Errorf("creating the network: %w", err)
	}
	if compute, err = openstack.NewComputeV2(user, region); err != nil {
		return world, err
	}
	return world, keypairs.Create(ctx, compute, keypairs.CreateOpts{Name: KeyName}).Err
}

// createUser creates the user and the project and returns the ID of the latter.
func createUser(ctx context.Context, admin *gophercloud.ProviderClient) (string, error) {
	identity, err := openstack.NewIdentityV3(admin, region)
	if err != nil {
		return "", err
	}
	project, err := projects.Create(ctx, identity, projects.CreateOpts{Name: Project, DomainID: "default"}).Extract()
	if err != nil {
		return "", err
	}
	user, err := users.Create(ctx, identity, users.CreateOpts{Name: User, Password: Password, DomainID: "default"}).Extract()
	if err != nil {
		return "", err
	}
	pages, err := roles.List(identity, roles.ListOpts{Name: "member"}).AllPages(ctx)
	if err != nil {
		return "", err
	}
	found, err := roles.ExtractRoles(pages)
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%d roles are called member: %w", len(found), err)
	}
	return project.ID, roles.Assign(ctx, identity, found[0].ID, roles.AssignOpts{UserID: user.ID, ProjectID: project.ID}).Err
}

func createImage(ctx context.Context, admin *gophercloud.ProviderClient, name string) (string, error) {
	client, err := openstack.NewImageV2(admin, region)
	if err != nil {
		return "", err
	}
	image, err := images.Create(ctx, client, images.CreateOpts{
		Name: name, Visibility: ptr.To(images.ImageVisibilityPublic), ContainerFormat: "bare", DiskFormat: "raw",
		Properties: map[string]string{"hw_architecture": "x86_64"},
	}).Extract()
	if err != nil {
		return "", err
	}
	return image.ID, imagedata.Upload(ctx, client, image.ID, strings.NewReader(name)).Err
}

func (w *World) createNetwork(ctx context.Context, user *gophercloud.ProviderClient) error {
	client, err := openstack.NewNetworkV2(user, region)
	if err != nil {
		return err
	}
	network, err := networks.Create(ctx, client, networks.CreateOpts{Name: "shoot"}).Extract()
	if err != nil {
		return err
	}
	subnet, err := subnets.Create(ctx, client, subnets.CreateOpts{
		NetworkID: network.ID, CIDR: "10.250.0.0/16", IPVersion: gophercloud.IPv4, EnableDHCP: ptr.To(false),
	}).Extract()
	if err != nil {
		return err
	}
	w.Network, w.Subnet = network.ID, subnet.ID
	return groups.Create(ctx, client, groups.CreateOpts{Name: SecurityGroup}).Err
}

// Compute returns a client of the user for the compute service, with the fields of the microversion 2.64.
func (o *OpenStack) Compute(ctx context.Context) (*gophercloud.ServiceClient, error) {
	user, err := o.Client(ctx)
	if err != nil {
		return nil, err
	}
	compute, err := openstack.NewComputeV2(user, region)
	if err != nil {
		return nil, err
	}
	compute.Microversion = "2.64"
	return compute, nil
}

// Groups returns the server groups of the project.
func (o *OpenStack) Groups(ctx context.Context) ([]servergroups.ServerGroup, error) {
	compute, err := o.Compute(ctx)
	if err != nil {
		return nil, err
	}
	pages, err := servergroups.List(compute, servergroups.ListOpts{}).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	return servergroups.ExtractServerGroups(pages)
}

// Servers returns the servers of the project.
func (o *OpenStack) Servers(ctx context.Context) ([]servers.Server, error) {
	compute, err := o.Compute(ctx)
	if err != nil {
		return nil, err
	}
	pages, err := servers.List(compute, servers.ListOpts{}).AllPages(ctx)
	if err != nil {
		return nil, err
	}
	return servers.ExtractServers(pages)
}

// Boot asks for a server in a server group, and returns its ID.
func (o *OpenStack) Boot(ctx context.Context, name, group string, metadata map[string]string) (string, error) {
	compute, err := o.Compute(ctx)
	if err != nil {
		return "", err
	}
	compute.Microversion = ""
	pages, err := flavors.ListDetail(compute, flavors.ListOpts{}).AllPages(ctx)
	if err != nil {
		return "", err
	}
	all, err := flavors.ExtractFlavors(pages)
	if err != nil || len(all) != 1 {
		return "", fmt.Errorf("there are %d flavors: %w", len(all), err)
	}
	server, err := servers.Create(ctx, compute, servers.CreateOpts{
		Name: name, ImageRef: o.Images["image-1"], FlavorRef: all[0].ID, Metadata: metadata,
		Networks: []servers.Network{{UUID: o.Network}},
	}, servers.SchedulerHintOpts{Group: group}).Extract()
	if err != nil {
		return "", err
	}
	return server.ID, nil
}

// SetGroupQuota sets how many server groups the project may have.
func (o *OpenStack) SetGroupQuota(ctx context.Context, limit int) error {
	admin, err := o.Admin(ctx)
	if err != nil {
		return err
	}
	compute, err := openstack.NewComputeV2(admin, region)
	if err != nil {
		return err
	}
	return quotasets.Update(ctx, compute, o.ProjectID, quotasets.UpdateOpts{ServerGroups: &limit}).Err
}
