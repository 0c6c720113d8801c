// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Classes returns the machine classes of the shoot, sorted by name.
func (s *Shoot) Classes(ctx context.Context) ([]machinev1alpha1.MachineClass, error) {
	list := &machinev1alpha1.MachineClassList{}
	err := s.seed.client.List(ctx, list, client.InNamespace(s.Name))
	return list.Items, err
}

// Deployments returns the machine deployments of the shoot, sorted by name.
func (s *Shoot) Deployments(ctx context.Context) ([]machinev1alpha1.MachineDeployment, error) {
	list := &machinev1alpha1.MachineDeploymentList{}
	err := s.seed.client.List(ctx, list, client.InNamespace(s.Name))
	return list.Items, err
}

// Machine is a machine and its node.
type Machine struct {
	// Name of the machine and of its node, Class and Pool that it is of.
	Name, Class, Pool string
	// Phase of the machine: Running if its node is ready. Empty: nothing has happened yet.
	Phase machinev1alpha1.MachinePhase
	// Message is what was done or has failed last.
	Message string
	// Image that it boots and Zone that it is in, of its node. Empty: it has none yet, or none any more.
	Image, Zone string
	// Volume that it boots from, of its node: the size in GiB and the type, if any: "50 fast". Empty: it boots from a disk of its own.
	Volume string
	// Port is that of the server: the IDs of its subnets, then the networks of pods that it lets through, of its node.
	Port string
	// Deleted is set if it is to be deleted.
	Deleted bool
}

// Machines returns the machines of the shoot, sorted by name.
func (s *Shoot) Machines(ctx context.Context) ([]Machine, error) {
	list := &machinev1alpha1.MachineList{}
	if err := s.seed.client.List(ctx, list, client.InNamespace(s.Name)); err != nil {
		return nil, err
	}
	var machines []Machine
	for i := range list.Items {
		m := &list.Items[i]
		machine := Machine{
			Name: m.Name, Class: m.Spec.Class.Name, Pool: m.Spec.NodeTemplateSpec.Labels[v1beta1constants.LabelWorkerPool],
			Phase: m.Status.CurrentStatus.Phase, Message: m.Status.LastOperation.Description, Deleted: m.DeletionTimestamp != nil,
		}
		node := &corev1.Node{}
		switch err := s.seed.client.Get(ctx, client.ObjectKey{Name: m.Name}, node); {
		case err == nil:
			machine.Image, machine.Zone = node.Status.NodeInfo.OSImage, node.Labels[corev1.LabelTopologyZone]
			machine.Volume, machine.Port = node.Annotations["seed/volume"], node.Annotations["seed/port"]
		case client.IgnoreNotFound(err) != nil:
			return nil, err
		}
		machines = append(machines, machine)
	}
	return machines, nil
}

// Versions are the resourceVersions of objects, by kind and name: "MachineClass x".
type Versions map[string]string

// Decisive returns an empty list of each kind of objects by which it is decided whether a machine is replaced. Of the Secrets,
// those of the machine classes do.
func Decisive() []client.ObjectList {
	return []client.ObjectList{
		&machinev1alpha1.MachineClassList{}, &machinev1alpha1.MachineDeploymentList{}, &machinev1alpha1.MachineSetList{},
		&machinev1alpha1.MachineList{}, &corev1.SecretList{},
	}
}

// Versions returns the versions of all decisive objects of the shoot.
func (s *Shoot) Versions(ctx context.Context) (Versions, error) {
	found := Versions{}
	for _, list := range Decisive() {
		if err := s.seed.client.List(ctx, list, client.InNamespace(s.Name)); err != nil {
			return nil, err
		}
		kind := strings.TrimSuffix(reflect.TypeOf(list).Elem().Name(), "List")
		if err := meta.EachListItem(list, func(o runtime.Object) error {
			object := o.(client.Object)
			found[kind+" "+object.GetName()] = object.GetResourceVersion()
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Changed returns the names of what has another version in others, is new there, or is missing; sorted.
func (v Versions) Changed(others Versions) []string {
	var changed []string
	for name, version := range v {
		if others[name] != version {
			changed = append(changed, name)
		}
	}
	for name := range others {
		if _, was := v[name]; !was {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

// quietLooks is how often nothing new is to be seen until nobody is expected to write any more.
const quietLooks = 5

// Rest is the state that a shoot comes to when machine-controller-manager has nothing left to write down, which it does on its own time.
type Rest struct {
	// Versions are those of the last look.
	Versions Versions
	quiet    int
}

// Look looks at a shoot once more. It returns an error as long as something may still be written.
func (r *Rest) Look(ctx context.Context, s *Shoot) error {
	now, err := s.Versions(ctx)
	if err != nil {
		return err
	}
	changed := r.Versions.Changed(now)
	r.Versions, r.quiet = now, r.quiet+1
	if len(changed) > 0 {
		r.quiet = 0
		return fmt.Errorf("%v were written", changed)
	}
	if r.quiet < quietLooks {
		return fmt.Errorf("nothing was written since %d looks", r.quiet)
	}
	return nil
}
