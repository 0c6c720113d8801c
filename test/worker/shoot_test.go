// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/test/seed"
)

// profileSpec is the CloudProfile of most tests. Version 1 of gl has a flavor for each machine type, version 2 has no virtual machines on
// arm, and version 3 is mapped by its image name.
const profileSpec = `
type: openstack
machineCapabilities:
- {name: architecture, values: [amd64, arm64]}
- {name: hypervisor, values: [virtualized, baremetal]}
machineTypes:
- {name: virt, cpu: "4", gpu: "0", memory: 8Gi, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}
- {name: bare, cpu: "8", gpu: "0", memory: 16Gi, capabilities: {architecture: [amd64], hypervisor: [baremetal]}}
- {name: any, cpu: "8", gpu: "0", memory: 16Gi, capabilities: {architecture: [amd64]}}
- {name: arm, cpu: "4", gpu: "0", memory: 8Gi, architecture: arm64, capabilities: {architecture: [arm64], hypervisor: [virtualized]}}
regions: [{name: europe, zones: [{name: europe-1a}, {name: europe-1b}, {name: europe-1c}]}]
machineImages:
- name: gl
  versions:
  - version: 1.0.0
    capabilityFlavors: [{architecture: [amd64]}, {architecture: [arm64]}]
  - version: 2.0.0
    capabilityFlavors: [{architecture: [amd64], hypervisor: [virtualized]}, {architecture: [amd64], hypervisor: [baremetal]}]
  - version: 3.0.0
    capabilityFlavors: [{architecture: [amd64]}]
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  keystoneURL: https://keystone.example.com/v3/
  constraints: {floatingPools: [{name: fp}], loadBalancerProviders: [{name: amphora}]}
  machineImages:
  - name: gl
    versions:
    - version: 1.0.0
      capabilityFlavors:
      - {capabilities: {architecture: [amd64]}, regions: [{name: europe, id: amd-1}]}
      - {capabilities: {architecture: [arm64]}, regions: [{name: europe, id: arm-1}]}
    - version: 2.0.0
      capabilityFlavors:
      - {capabilities: {architecture: [amd64], hypervisor: [virtualized]}, regions: [{name: europe, id: virt-2}]}
      - {capabilities: {architecture: [amd64], hypervisor: [baremetal]}, regions: [{name: europe, id: bare-2}]}
    - version: 3.0.0
      capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: gl-3}]
`

// legacySpec is the same profile in the format without capabilities.
const legacySpec = `
type: openstack
machineTypes:
- {name: virt, cpu: "4", gpu: "0", memory: 8Gi, architecture: amd64}
- {name: bare, cpu: "8", gpu: "0", memory: 16Gi, architecture: amd64}
- {name: arm, cpu: "4", gpu: "0", memory: 8Gi, architecture: arm64}
regions: [{name: europe, zones: [{name: europe-1a}]}]
machineImages:
- name: gl
  versions: [{version: 1.0.0, architectures: [amd64, arm64]}, {version: 3.0.0, architectures: [amd64]}]
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  keystoneURL: https://keystone.example.com/v3/
  constraints: {floatingPools: [{name: fp}], loadBalancerProviders: [{name: amphora}]}
  machineImages:
  - name: gl
    versions:
    - version: 1.0.0
      regions: [{name: europe, id: arm-1, architecture: arm64}, {name: europe, id: amd-1, architecture: amd64}]
    - version: 3.0.0
      image: gl-3
`

// profileOf parses the spec of a CloudProfile after replacing texts (old, new, old, new). It fails if an old text is missing.
func profileOf(t testing.TB, spec string, replace ...string) *v1beta1.CloudProfile {
	t.Helper()
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(spec, replace[i]) {
			t.Fatalf("the profile has no %q", replace[i])
		}
		spec = strings.ReplaceAll(spec, replace[i], replace[i+1])
	}
	profile := &v1beta1.CloudProfile{}
	profile.Name = "openstack"
	if err := yaml.UnmarshalStrict([]byte(spec), &profile.Spec); err != nil {
		t.Fatal(err)
	}
	return profile
}

var shoots atomic.Int32

// newShoot creates a shoot with a unique name. If o is nil, it uses profileSpec.
func newShoot(t testing.TB, o *seed.ShootOptions) *seed.Shoot {
	t.Helper()
	if o == nil {
		o = &seed.ShootOptions{Profile: profileOf(t, profileSpec)}
	}
	shoot, err := theSeed(t).NewShoot(t.Context(), fmt.Sprintf("shoot--worker--s%d", shoots.Add(1)), *o)
	check(t, err)
	return shoot
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pool returns a pool with image gl. Machine type arm has its own architecture.
func pool(name, machineType, version string, changes ...func(*extensionsv1alpha1.WorkerPool)) extensionsv1alpha1.WorkerPool {
	p := seed.Pool(name, machineType, "gl", version)
	if machineType == "arm" {
		p.Architecture = ptr.To(v1beta1constants.ArchitectureARM64)
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

// patience is the time limit of a wait, long enough for a busy machine.
const patience = 10 * time.Minute

// period is the polling interval. Many tests poll at the same time; at a shorter one, the API server mostly answers these.
const period = time.Second

// eventually waits until condition returns nil. On a timeout it fails with the last error.
func eventually(t testing.TB, condition func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), period, patience, true, func(ctx context.Context) (bool, error) {
		last = condition(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%v; at last: %v", err, last)
	}
}

// expectSucceeded waits until the requested operation has succeeded. Earlier errors are ignored, because the controller may have been
// busy with a previous operation.
func expectSucceeded(t testing.TB, shoot *seed.Shoot) *extensionsv1alpha1.Worker {
	t.Helper()
	var worker *extensionsv1alpha1.Worker
	eventually(t, func(ctx context.Context) (err error) {
		if worker, err = shoot.Result(ctx); err != nil || worker == nil {
			return cmp.Or(err, fmt.Errorf("the operation on the Worker of %s has not ended", shoot.Name))
		}
		if last := worker.Status.LastOperation; last.State != v1beta1.LastOperationStateSucceeded {
			return fmt.Errorf("%s: %+v %+v", shoot.Name, last, worker.Status.LastError)
		}
		return nil
	})
	return worker
}

// create creates a Worker with these pools and waits until it is reconciled.
func create(t testing.TB, shoot *seed.Shoot, pools ...extensionsv1alpha1.WorkerPool) *extensionsv1alpha1.Worker {
	t.Helper()
	check(t, shoot.Create(t.Context(), shoot.Worker(pools...), ""))
	return expectSucceeded(t, shoot)
}

// reconcile changes the Worker and waits until it is reconciled.
func reconcile(t testing.TB, shoot *seed.Shoot, change func(*extensionsv1alpha1.Worker)) *extensionsv1alpha1.Worker {
	t.Helper()
	check(t, shoot.Reconcile(t.Context(), change))
	return expectSucceeded(t, shoot)
}

// expectRefused changes the Worker, and waits until a reconciliation has failed with an error that contains these texts. configuration
// says whether the error must have the code for configuration problems.
func expectRefused(t testing.TB, shoot *seed.Shoot, configuration bool, change func(*extensionsv1alpha1.Worker), texts ...string) {
	t.Helper()
	check(t, shoot.Reconcile(t.Context(), change))
	expectError(t, shoot, configuration, texts...)
}

func expectError(t testing.TB, shoot *seed.Shoot, configuration bool, texts ...string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		worker, err := shoot.Result(ctx)
		if err != nil || worker == nil {
			return cmp.Or(err, fmt.Errorf("the operation on the Worker of %s has not ended", shoot.Name))
		}
		failed := worker.Status.LastError
		if failed == nil || worker.Status.LastOperation.State == v1beta1.LastOperationStateSucceeded {
			return fmt.Errorf("there is no error: %+v", worker.Status.LastOperation)
		}
		for _, text := range texts {
			if !strings.Contains(failed.Description, text) {
				return fmt.Errorf("%q does not say %q", failed.Description, text)
			}
		}
		if has := slices.Contains(failed.Codes, v1beta1.ErrorConfigurationProblem); has != configuration {
			return fmt.Errorf("the codes of %q are %v", failed.Description, failed.Codes)
		}
		return nil
	})
}

// expectMachines waits until exactly these machines of a shoot run, and returns them. want has the image of each machine by pool.
func expectMachines(t testing.TB, shoot *seed.Shoot, want map[string][]string) []seed.Machine {
	t.Helper()
	var machines []seed.Machine
	eventually(t, func(ctx context.Context) (err error) {
		if machines, err = shoot.Machines(ctx); err != nil {
			return err
		}
		booted := map[string][]string{}
		for _, m := range machines {
			if m.Phase != machinev1alpha1.MachineRunning || m.Deleted {
				return fmt.Errorf("%+v", m)
			}
			booted[m.Pool] = append(booted[m.Pool], m.Image)
		}
		for _, images := range booted {
			slices.Sort(images)
		}
		if !maps.EqualFunc(booted, want, slices.Equal) {
			return fmt.Errorf("the machines of %s boot %v, not %v", shoot.Name, booted, want)
		}
		return nil
	})
	return machines
}

func names(machines []seed.Machine) []string {
	var names []string
	for _, m := range machines {
		names = append(names, m.Name)
	}
	return names
}

// versionsOf returns the versions of all decisive objects of a shoot.
func versionsOf(t testing.TB, shoot *seed.Shoot) seed.Versions {
	t.Helper()
	found, err := shoot.Versions(t.Context())
	check(t, err)
	return found
}

// expectUnchanged reconciles the Worker again, and expects that no decisive object is written.
func expectUnchanged(t testing.TB, shoot *seed.Shoot) {
	t.Helper()
	before := settled(t, shoot)
	reconcile(t, shoot, nil)
	if changed := before.Changed(versionsOf(t, shoot)); len(changed) > 0 {
		t.Errorf("another reconciliation changes %v", changed)
	}
}

// settled waits until machine-controller-manager has finished its writes, and returns the versions of all decisive objects.
func settled(t testing.TB, shoot *seed.Shoot) seed.Versions {
	t.Helper()
	rest := seed.Rest{}
	eventually(t, func(ctx context.Context) error { return rest.Look(ctx, shoot) })
	return rest.Versions
}

// replaceRaw replaces a text in JSON that is in Go's format.
func replaceRaw(t testing.TB, raw *[]byte, old, replacement string) {
	t.Helper()
	if !strings.Contains(string(*raw), old) {
		t.Fatalf("there is no %s in %s", old, *raw)
	}
	*raw = []byte(strings.ReplaceAll(string(*raw), old, replacement))
}
