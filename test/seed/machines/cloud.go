// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// cloud has the servers of all shoots. They are lost when the process ends.
type cloud struct {
	unneeded
	client kubernetes.Interface

	mu      sync.Mutex
	servers map[string]map[string]string // names of machines and their provider IDs, by namespace
}

func newCloud(c kubernetes.Interface) *cloud {
	return &cloud{client: c, servers: map[string]map[string]string{}}
}

// of returns the cloud as the machine controller of a namespace sees it.
func (c *cloud) of(namespace string) driver.Driver { return &project{c, namespace} }

// project is the part of the cloud that belongs to a shoot.
type project struct {
	*cloud
	namespace string
}

var _ driver.Driver = &project{}

func providerID(namespace, name string) string { return "seed:///" + namespace + "/" + name }

func (p *project) has(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.servers[p.namespace][name] != ""
}

// failures is the name of the ConfigMap by which a test makes the cloud fail, see package seed.
const (
	failures     = "cloud-failures"
	quotaKey     = "quota"
	imagePrefix  = "image."
	diskPrefix   = "volumeType."
	userDataName = "userData"
)

// refusal says why there cannot be a server; nil if there can. The caller holds the lock.
func (p *project) refusal(ctx context.Context, s *spec) error {
	failing, err := p.client.CoreV1().ConfigMaps(p.namespace).Get(ctx, failures, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return status.Error(codes.Unavailable, err.Error())
	}
	if message, refused := failing.Data[imagePrefix+s.image()]; refused {
		return status.Error(codes.InvalidArgument, message)
	}
	if _, kind, is := s.volume(); is {
		if message, refused := failing.Data[diskPrefix+kind]; refused {
			return status.Error(codes.InvalidArgument, message)
		}
	}
	quota, limited := failing.Data[quotaKey]
	if limit, err := strconv.Atoi(quota); limited && (err != nil || len(p.servers[p.namespace]) >= limit) {
		return status.Error(codes.ResourceExhausted, fmt.Sprintf("Quota exceeded for instances: %s allowed", quota))
	}
	return nil
}

// CreateMachine creates a server, and the node that its kubelet would register: ready, with the image as OS image.
func (p *project) CreateMachine(ctx context.Context, r *driver.CreateMachineRequest) (*driver.CreateMachineResponse, error) {
	s, err := specOf(r.MachineClass)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if len(r.Secret.Data[userDataName]) == 0 {
		return nil, status.Error(codes.InvalidArgument, fmt.Sprintf("machine class %s: no %s in its Secret", r.MachineClass.Name, userDataName))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.refusal(ctx, s); err != nil {
		return nil, err
	}
	id := providerID(p.namespace, r.Machine.Name)
	if err := register(ctx, p.client, r.Machine.Name, s, id); err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	if p.servers[p.namespace] == nil {
		p.servers[p.namespace] = map[string]string{}
	}
	p.servers[p.namespace][r.Machine.Name] = id
	return &driver.CreateMachineResponse{ProviderID: id, NodeName: r.Machine.Name}, nil
}

// These annotations of a node say what its machine has beside the server: the size of the volume in GiB and its type; and the subnets
// of the port, with the networks that it lets through.
const (
	volumeAnnotation = "seed/volume"
	portAnnotation   = "seed/port"
)

// register does what the kubelet of a machine does first.
func register(ctx context.Context, client kubernetes.Interface, machine string, s *spec, id string) error {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: machine, Labels: map[string]string{
			corev1.LabelHostname: machine, corev1.LabelInstanceTypeStable: s.FlavorName,
			corev1.LabelTopologyRegion: s.Region, corev1.LabelTopologyZone: s.AvailabilityZone,
		}},
		Spec: corev1.NodeSpec{ProviderID: id},
	}
	if size, kind, is := s.volume(); is {
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, volumeAnnotation, strings.TrimSpace(fmt.Sprintf("%d %s", size, kind)))
	}
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, portAnnotation, strings.Join(slices.Concat(s.subnets(), s.podNetworks()), " "))
	created, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		created, err = client.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	created.Status.NodeInfo.OSImage = s.image()
	created.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		LastHeartbeatTime: metav1.Time{Time: time.Now()}, LastTransitionTime: metav1.Time{Time: time.Now()},
	}}
	_, err = client.CoreV1().Nodes().UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// DeleteMachine deletes a server. The node is left to the machine controller.
func (p *project) DeleteMachine(_ context.Context, r *driver.DeleteMachineRequest) (*driver.DeleteMachineResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.servers[p.namespace][r.Machine.Name] == "" {
		return nil, status.Error(codes.NotFound, "no server "+r.Machine.Name)
	}
	delete(p.servers[p.namespace], r.Machine.Name)
	return &driver.DeleteMachineResponse{}, nil
}

// GetMachineStatus says that there is a server, or NotFound.
func (p *project) GetMachineStatus(_ context.Context, r *driver.GetMachineStatusRequest) (*driver.GetMachineStatusResponse, error) {
	if !p.has(r.Machine.Name) {
		return nil, status.Error(codes.NotFound, "no server "+r.Machine.Name)
	}
	return &driver.GetMachineStatusResponse{ProviderID: providerID(p.namespace, r.Machine.Name), NodeName: r.Machine.Name}, nil
}

// ListMachines lists all servers of the shoot, as those of an OpenStack project which have its tags.
func (p *project) ListMachines(context.Context, *driver.ListMachinesRequest) (*driver.ListMachinesResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	servers := map[string]string{}
	for name, id := range p.servers[p.namespace] {
		servers[id] = name
	}
	return &driver.ListMachinesResponse{MachineList: servers}, nil
}

// unneeded is what no driver here is asked for.
type unneeded struct{}

// InitializeMachine does not exist here: there is nothing left to do.
func (unneeded) InitializeMachine(context.Context, *driver.InitializeMachineRequest) (*driver.InitializeMachineResponse, error) {
	return nil, status.Error(codes.Unimplemented, "servers are complete when they are created")
}

// GetVolumeIDs does not exist here: no pod has a volume.
func (unneeded) GetVolumeIDs(context.Context, *driver.GetVolumeIDsRequest) (*driver.GetVolumeIDsResponse, error) {
	return nil, status.Error(codes.Unimplemented, "no pod has a volume")
}
