// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/keypairs"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	// booting is how long a server may take to become active, or to go away.
	booting = 5 * time.Minute
	asking  = 200 * time.Millisecond
)

// openStack makes servers in OpenStack. They are known by their names and by the tags of the machine class.
type openStack struct {
	unneeded
	client kubernetes.Interface
}

var _ driver.Driver = &openStack{}

// account is OpenStack as seen with the credentials of a machine class.
type account struct {
	*spec
	provider *gophercloud.ProviderClient
	compute  *gophercloud.ServiceClient
}

// login logs in with a password: the Secret is that of the class together with the one of the credentials.
func login(ctx context.Context, class *machinev1alpha1.MachineClass, secret *corev1.Secret) (*account, error) {
	s, err := specOf(class)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	value := func(key string) string { return string(secret.Data[key]) }
	provider, err := openstack.AuthenticatedClient(ctx, gophercloud.AuthOptions{
		IdentityEndpoint: value("authURL"), Username: value("username"), Password: value("password"),
		DomainName: value("domainName"), TenantName: value("tenantName"),
	})
	if err != nil {
		return nil, failed(err)
	}
	compute, err := openstack.NewComputeV2(provider, gophercloud.EndpointOpts{Region: s.Region})
	if err != nil {
		return nil, failed(err)
	}
	return &account{s, provider, compute}, nil
}

// serversOf logs in, and lists the servers of a name, as [account.own] does.
func serversOf(ctx context.Context, class *machinev1alpha1.MachineClass, secret *corev1.Secret, name string) (*account, []servers.Server, error) {
	a, err := login(ctx, class, secret)
	if err != nil {
		return nil, nil, err
	}
	own, err := a.own(ctx, name)
	return a, own, err
}

// failed returns an error of OpenStack as one of a machine controller.
func failed(err error) error {
	code := codes.Internal
	switch {
	case gophercloud.ResponseCodeIs(err, http.StatusUnauthorized):
		code = codes.Unauthenticated
	case gophercloud.ResponseCodeIs(err, http.StatusForbidden):
		code = codes.ResourceExhausted
	case gophercloud.ResponseCodeIs(err, http.StatusBadRequest):
		code = codes.InvalidArgument
	case gophercloud.ResponseCodeIs(err, http.StatusNotFound):
		code = codes.NotFound
	}
	return status.Error(code, err.Error())
}

// own lists the servers with the tags of the shoot and of nodes. An empty name stands for all.
func (a *account) own(ctx context.Context, name string) ([]servers.Server, error) {
	options := servers.ListOpts{}
	if name != "" {
		options.Name = "^" + regexp.QuoteMeta(name) + "$"
	}
	pages, err := servers.List(a.compute, options).AllPages(ctx)
	if err != nil {
		return nil, failed(err)
	}
	all, err := servers.ExtractServers(pages)
	if err != nil {
		return nil, failed(err)
	}
	var own []servers.Server
	for i := range all {
		if a.tagged(all[i].Metadata) {
			own = append(own, all[i])
		}
	}
	return own, nil
}

func (a *account) tagged(metadata map[string]string) bool {
	for tag := range a.Tags {
		if _, has := metadata[tag]; !has && strings.HasPrefix(tag, "kubernetes.io-") {
			return false
		}
	}
	return true
}

func (a *account) providerID(server *servers.Server) string {
	return "openstack:///" + a.Region + "/" + server.ID
}

// flavor returns the ID of the flavor.
func (a *account) flavor(ctx context.Context) (string, error) {
	pages, err := flavors.ListDetail(a.compute, flavors.ListOpts{}).AllPages(ctx)
	if err != nil {
		return "", err
	}
	all, err := flavors.ExtractFlavors(pages)
	if err != nil {
		return "", err
	}
	for i := range all {
		if all[i].Name == a.FlavorName {
			return all[i].ID, nil
		}
	}
	return "", fmt.Errorf("there is no flavor %q", a.FlavorName)
}

// imageID returns the ID of the image, which may be given by its name.
func (a *account) imageID(ctx context.Context) (string, error) {
	if a.ImageID != "" {
		return a.ImageID, nil
	}
	client, err := openstack.NewImageV2(a.provider, gophercloud.EndpointOpts{Region: a.Region})
	if err != nil {
		return "", err
	}
	pages, err := images.List(client, images.ListOpts{Name: a.ImageName}).AllPages(ctx)
	if err != nil {
		return "", err
	}
	found, err := images.ExtractImages(pages)
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("there are %d images %q", len(found), a.ImageName)
	}
	if err != nil {
		return "", err
	}
	return found[0].ID, nil
}

// port makes the port of a machine, or finds it: it has an address in each subnet, and lets through what comes from pods.
func (a *account) port(ctx context.Context, machine string) (servers.Network, error) {
	neutron, found, err := a.ports(ctx, machine)
	if err != nil {
		return servers.Network{}, err
	}
	if len(found) == 0 {
		var addresses []ports.IP
		for _, subnet := range a.subnets() {
			addresses = append(addresses, ports.IP{SubnetID: subnet})
		}
		var pairs []ports.AddressPair
		for _, cidr := range a.podNetworks() {
			pairs = append(pairs, ports.AddressPair{IPAddress: cidr})
		}
		port, err := ports.Create(ctx, neutron, ports.CreateOpts{
			Name: machine, NetworkID: a.NetworkID, FixedIPs: addresses, AllowedAddressPairs: pairs,
		}).Extract()
		if err != nil {
			return servers.Network{}, err
		}
		found = []ports.Port{*port}
	}
	return servers.Network{Port: found[0].ID}, nil
}

// ports returns the ports of a machine, by their name.
func (a *account) ports(ctx context.Context, machine string) (*gophercloud.ServiceClient, []ports.Port, error) {
	neutron, err := openstack.NewNetworkV2(a.provider, gophercloud.EndpointOpts{Region: a.Region})
	if err != nil {
		return nil, nil, err
	}
	pages, err := ports.List(neutron, ports.ListOpts{Name: machine, NetworkID: a.NetworkID}).AllPages(ctx)
	if err != nil {
		return nil, nil, err
	}
	found, err := ports.ExtractPorts(pages)
	return neutron, found, err
}

// removePort deletes the ports of a machine, if there are any: OpenStack does so only with those that it made with the server.
func (a *account) removePort(ctx context.Context, machine string) error {
	neutron, found, err := a.ports(ctx, machine)
	for i := range found {
		if err := ports.Delete(ctx, neutron, found[i].ID).ExtractErr(); err != nil && !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
			return err
		}
	}
	return err
}

// request asks for a server.
func (a *account) request(ctx context.Context, name string, userData []byte) (*servers.Server, error) {
	if _, _, is := a.volume(); is {
		return nil, errors.New("there are no volumes in this OpenStack: leave the volume of the worker pool out")
	}
	flavor, err := a.flavor(ctx)
	if err != nil {
		return nil, err
	}
	image, err := a.imageID(ctx)
	if err != nil {
		return nil, err
	}
	network := servers.Network{UUID: a.NetworkID}
	if len(a.subnets()) > 0 {
		if network, err = a.port(ctx, name); err != nil {
			return nil, err
		}
	}
	var hints servers.SchedulerHintOptsBuilder
	if a.ServerGroupID != nil {
		hints = servers.SchedulerHintOpts{Group: *a.ServerGroupID}
	}
	options := servers.CreateOpts{
		Name: name, ImageRef: image, FlavorRef: flavor, AvailabilityZone: a.AvailabilityZone, Metadata: a.Tags, UserData: userData,
		SecurityGroups: a.SecurityGroups, Networks: []servers.Network{network},
	}
	return servers.Create(ctx, a.compute, keypairs.CreateOptsExt{CreateOptsBuilder: options, KeyName: a.KeyName}, hints).Extract()
}

// CreateMachine creates a server, unless there is one, waits until it is active, and registers its node. A server that
// fails is deleted.
func (o *openStack) CreateMachine(ctx context.Context, r *driver.CreateMachineRequest) (*driver.CreateMachineResponse, error) {
	a, own, err := serversOf(ctx, r.MachineClass, r.Secret, r.Machine.Name)
	if err != nil {
		return nil, err
	}
	var server *servers.Server
	if len(own) > 0 {
		server = &own[0]
	} else if server, err = a.request(ctx, r.Machine.Name, r.Secret.Data[userDataName]); err != nil {
		return nil, failed(err)
	}
	if err := a.active(ctx, server.ID); err != nil {
		return nil, status.Error(codes.Internal, errors.Join(err, a.remove(ctx, server.ID), a.removePort(ctx, r.Machine.Name)).Error())
	}
	if err := register(ctx, o.client, r.Machine.Name, a.spec, a.providerID(server)); err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	return &driver.CreateMachineResponse{ProviderID: a.providerID(server), NodeName: r.Machine.Name}, nil
}

// active waits until a server is active.
func (a *account) active(ctx context.Context, id string) error {
	return wait.PollUntilContextTimeout(ctx, asking, booting, true, func(ctx context.Context) (bool, error) {
		server, err := servers.Get(ctx, a.compute, id).Extract()
		if err != nil {
			return false, err
		}
		if server.Status == "ERROR" {
			return false, fmt.Errorf("server %s: %s", server.Name, server.Fault.Message)
		}
		return server.Status == "ACTIVE", nil
	})
}

// remove deletes a server and waits until it is gone.
func (a *account) remove(ctx context.Context, id string) error {
	err := servers.Delete(ctx, a.compute, id).ExtractErr()
	if err != nil && !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, asking, booting, true, func(ctx context.Context) (bool, error) {
		err := servers.Get(ctx, a.compute, id).Err
		if gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
			return true, nil
		}
		return false, err
	})
}

// DeleteMachine deletes a server, and its port also if there is no server: NotFound then. The node is left to the machine controller.
func (*openStack) DeleteMachine(ctx context.Context, r *driver.DeleteMachineRequest) (*driver.DeleteMachineResponse, error) {
	a, own, err := serversOf(ctx, r.MachineClass, r.Secret, r.Machine.Name)
	if err != nil {
		return nil, err
	}
	for i := range own {
		if err := a.remove(ctx, own[i].ID); err != nil {
			return nil, failed(err)
		}
	}
	if err := a.removePort(ctx, r.Machine.Name); err != nil {
		return nil, failed(err)
	}
	if len(own) == 0 {
		return nil, status.Error(codes.NotFound, "no server "+r.Machine.Name)
	}
	return &driver.DeleteMachineResponse{}, nil
}

// GetMachineStatus says that there is a server, or NotFound.
func (*openStack) GetMachineStatus(ctx context.Context, r *driver.GetMachineStatusRequest) (*driver.GetMachineStatusResponse, error) {
	a, own, err := serversOf(ctx, r.MachineClass, r.Secret, r.Machine.Name)
	if err != nil {
		return nil, err
	}
	if len(own) == 0 {
		return nil, status.Error(codes.NotFound, "no server "+r.Machine.Name)
	}
	return &driver.GetMachineStatusResponse{ProviderID: a.providerID(&own[0]), NodeName: r.Machine.Name}, nil
}

// ListMachines lists all servers of the shoot.
func (*openStack) ListMachines(ctx context.Context, r *driver.ListMachinesRequest) (*driver.ListMachinesResponse, error) {
	a, own, err := serversOf(ctx, r.MachineClass, r.Secret, "")
	if err != nil {
		return nil, err
	}
	list := map[string]string{}
	for i := range own {
		list[a.providerID(&own[i])] = own[i].Name
	}
	return &driver.ListMachinesResponse{MachineList: list}, nil
}
