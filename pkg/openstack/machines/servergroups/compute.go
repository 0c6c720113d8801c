// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups

import (
	"context"
	"net/http"
	"sync"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servergroups"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
)

// microversions of the compute API, in the order in which they are tried. A service without a microversion answers 406. Since 2.64 a
// group has a field policy; older versions have a list policies. Soft policies need 2.15.
var microversions = []string{policyField, "2.15", ""}

const policyField = "2.64"

// pageSize is the number of groups per page. The service may return fewer.
const pageSize = 1000

// compute is the compute service, Nova.
type compute struct {
	service
	provider *gophercloud.ProviderClient
	endpoint string

	lock sync.Mutex
	// version is the index of the first microversion that has not been refused.
	version int
}

// newCompute returns the compute service at a URL of the service catalog.
func newCompute(provider *gophercloud.ProviderClient, endpoint string, secrets []string) (*compute, error) {
	c := &compute{provider: provider, endpoint: gophercloud.NormalizeURL(endpoint)}
	c.service = service{
		name: "compute service", fields: "the service catalog of the identity service", secrets: append(secrets, provider.Token()),
	}
	var err error
	if c.host, err = hostOf(endpoint); err != nil {
		return nil, problem("the URL of the compute service in the service catalog of the identity service cannot be read; correct it there")
	}
	return c, nil
}

// call makes a request with the newest microversion that the service supports.
func (c *compute) call(request func(*gophercloud.ServiceClient) error) error {
	c.lock.Lock()
	version := c.version
	c.lock.Unlock()
	for ; ; version++ {
		client := &gophercloud.ServiceClient{
			ProviderClient: c.provider, Endpoint: c.endpoint, Type: "compute", Microversion: microversions[version],
		}
		err := request(client)
		if !gophercloud.ResponseCodeIs(err, http.StatusNotAcceptable) || version+1 == len(microversions) {
			return err
		}
		c.lock.Lock()
		c.version = max(c.version, version+1)
		c.lock.Unlock()
	}
}

// List reads pages until an empty one, because the service may limit their size.
func (c *compute) List(ctx context.Context) ([]Group, error) {
	var groups []Group
	seen := map[string]bool{} // a group that is created meanwhile moves others to the next page
	for offset := 0; ; {
		var page []servergroups.ServerGroup
		err := c.call(func(client *gophercloud.ServiceClient) error {
			pages, err := servergroups.List(client, servergroups.ListOpts{Limit: pageSize, Offset: offset}).AllPages(ctx)
			if err == nil {
				page, err = servergroups.ExtractServerGroups(pages)
			}
			return err
		})
		if err != nil {
			return nil, c.failure("", err)
		}
		before := len(groups)
		for i := range page {
			if !seen[page[i].ID] {
				seen[page[i].ID] = true
				groups = append(groups, groupOf(&page[i]))
			}
		}
		if len(groups) == before { // an empty page, or a service without paging
			return groups, nil
		}
		offset += len(page)
	}
}

// Get reads one group.
func (c *compute) Get(ctx context.Context, id string) (Group, error) {
	return c.group(func(client *gophercloud.ServiceClient) (*servergroups.ServerGroup, error) {
		return servergroups.Get(ctx, client, id).Extract()
	})
}

// Create sends the policy in the field of the microversion.
func (c *compute) Create(ctx context.Context, name, policy string) (Group, error) {
	return c.group(func(client *gophercloud.ServiceClient) (*servergroups.ServerGroup, error) {
		options := servergroups.CreateOpts{Name: name, Policy: policy}
		if client.Microversion != policyField {
			options.Policy, options.Policies = "", []string{policy}
		}
		return servergroups.Create(ctx, client, options).Extract()
	})
}

// group makes a request whose response is a group.
func (c *compute) group(request func(*gophercloud.ServiceClient) (*servergroups.ServerGroup, error)) (Group, error) {
	var group *servergroups.ServerGroup
	err := c.call(func(client *gophercloud.ServiceClient) (err error) {
		group, err = request(client)
		return err
	})
	switch {
	case err != nil:
		return Group{}, c.failure("", err)
	case group == nil || group.ID == "":
		return Group{}, c.failure("", errNoGroup)
	}
	return groupOf(group), nil
}

// Delete succeeds if the group does not exist.
func (c *compute) Delete(ctx context.Context, id string) error {
	err := c.call(func(client *gophercloud.ServiceClient) error {
		return servergroups.Delete(ctx, client, id).ExtractErr()
	})
	if err == nil || isNotFound(err) {
		return nil
	}
	return c.failure("", err)
}

// Metadata reads the metadata of one server.
func (c *compute) Metadata(ctx context.Context, server string) (map[string]string, error) {
	var metadata map[string]string
	err := c.call(func(client *gophercloud.ServiceClient) (err error) {
		metadata, err = servers.Metadata(ctx, client, server).Extract()
		return err
	})
	if err != nil {
		return nil, c.failure("", err)
	}
	return metadata, nil
}

// groupOf converts a group, with the policy from the field of the microversion. No group has several policies.
func groupOf(g *servergroups.ServerGroup) Group {
	group := Group{ID: g.ID, Name: g.Name, Members: g.Members}
	if g.Policy != nil {
		group.Policy = *g.Policy
	} else if len(g.Policies) > 0 {
		group.Policy = g.Policies[0]
	}
	return group
}
