// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/testing/fakenova"
	"github.com/capkit/capkit/test/seed"
)

// These cases fail, or used to, if a worker controller chooses only by profile and status. Each is reconciled twice after the change,
// because some fail only then.

// become replaces the profile and reconciles twice, and expects no errors and no changes of objects.
func become(t testing.TB, shoot *seed.Shoot, profile *v1beta1.CloudProfile) {
	t.Helper()
	check(t, shoot.ChangeProfile(t.Context(), func(p *v1beta1.CloudProfile) { p.Spec = profile.Spec }))
	expectUnchanged(t, shoot)
	expectUnchanged(t, shoot)
}

// These texts are the entries of a version in core and in the provider config.
const (
	listed1, provided1 = `
  - version: 1.0.0
    capabilityFlavors: [{architecture: [amd64]}, {architecture: [arm64]}]`, `
    - version: 1.0.0
      capabilityFlavors:
      - {capabilities: {architecture: [amd64]}, regions: [{name: europe, id: amd-1}]}
      - {capabilities: {architecture: [arm64]}, regions: [{name: europe, id: arm-1}]}`
	listed2, provided2 = `
  - version: 2.0.0
    capabilityFlavors: [{architecture: [amd64], hypervisor: [virtualized]}, {architecture: [amd64], hypervisor: [baremetal]}]`, `
    - version: 2.0.0
      capabilityFlavors:
      - {capabilities: {architecture: [amd64], hypervisor: [virtualized]}, regions: [{name: europe, id: virt-2}]}
      - {capabilities: {architecture: [amd64], hypervisor: [baremetal]}, regions: [{name: europe, id: bare-2}]}`
	listed3, provided3 = `
  - version: 3.0.0
    capabilityFlavors: [{architecture: [amd64]}]`, `
    - version: 3.0.0
      capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: gl-3}]`
	legacyListed1, legacyProvided1 = `{version: 1.0.0, architectures: [amd64, arm64]}, `, `
    - version: 1.0.0
      regions: [{name: europe, id: arm-1, architecture: arm64}, {name: europe, id: amd-1, architecture: amd64}]`
)

func TestDelistedWhileTheProfileLosesItsCapabilities(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("arm", "arm", "1.0.0"), pool("web", "virt", "1.0.0"))
	become(t, shoot, profileOf(t, legacySpec, legacyListed1, "", legacyProvided1, ""))
	reconcile(t, shoot, func(w *extensionsv1alpha1.Worker) { seed.Size(2, 2)(&w.Spec.Pools[1]) })
	expectMachines(t, shoot, map[string][]string{"arm": {"arm-1"}, "web": {"amd-1", "amd-1"}})
}

func TestDelistedWhileTheProfileGetsCapabilities(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, &seed.ShootOptions{Profile: profileOf(t, legacySpec)})
	run(t, shoot, ours)
	create(t, shoot, pool("arm", "arm", "1.0.0"), pool("web", "virt", "1.0.0"))
	become(t, shoot, profileOf(t, profileSpec, listed1, "", provided1, ""))
	reconcile(t, shoot, func(w *extensionsv1alpha1.Worker) { seed.Size(2, 2)(&w.Spec.Pools[1]) })
	expectMachines(t, shoot, map[string][]string{"arm": {"arm-1"}, "web": {"amd-1", "amd-1"}})
}

func TestDelistedAfterItWasFoundByItsName(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, &seed.ShootOptions{Profile: profileOf(t, legacySpec)})
	run(t, shoot, ours)
	create(t, shoot, pool("web", "virt", "3.0.0"))
	become(t, shoot, profileOf(t, profileSpec, listed3, "", provided3, ""))
	reconcile(t, shoot, sized(2))
	expectMachines(t, shoot, map[string][]string{"web": {"gl-3", "gl-3"}})
}

func TestDelistedAndTwoRecordsFit(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	metal, web := pool("metal", "bare", "2.0.0"), pool("web", "virt", "2.0.0")
	create(t, shoot, metal, web)
	become(t, shoot, profileOf(t, profileSpec, listed2, "", provided2, ""))
	for range 2 { // a machine type that fits both gets the one that ranks first, not the one that is recorded first
		reconcile(t, shoot, func(w *extensionsv1alpha1.Worker) {
			w.Spec.Pools = []extensionsv1alpha1.WorkerPool{metal, web, pool("new", "any", "2.0.0")}
		})
		expectMachines(t, shoot, map[string][]string{"metal": {"bare-2"}, "web": {"virt-2"}, "new": {"virt-2"}})
	}
}

func TestABetterFlavorIsAdded(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, &seed.ShootOptions{Profile: profileOf(t, profileSpec,
		"{architecture: [amd64], hypervisor: [virtualized]}, {architecture: [amd64], hypervisor: [baremetal]}]",
		"{architecture: [amd64], hypervisor: [baremetal]}]",
		"      - {capabilities: {architecture: [amd64], hypervisor: [virtualized]}, regions: [{name: europe, id: virt-2}]}\n", "")})
	run(t, shoot, ours)
	web := pool("web", "any", "2.0.0")
	create(t, shoot, web)
	become(t, shoot, profileOf(t, profileSpec))
	reconcile(t, shoot, func(w *extensionsv1alpha1.Worker) {
		seed.Size(2, 2)(&web)
		w.Spec.Pools = []extensionsv1alpha1.WorkerPool{web, pool("new", "any", "2.0.0")}
	})
	expectMachines(t, shoot, map[string][]string{"web": {"bare-2", "bare-2"}, "new": {"virt-2"}})
}

func TestAnImageIsUploadedAgain(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("web", "virt", "1.0.0"))
	before := names(expectMachines(t, shoot, map[string][]string{"web": {"amd-1"}}))
	profile := profileOf(t, profileSpec, "id: amd-1", "id: amd-1-again")
	check(t, shoot.ChangeProfile(t.Context(), func(p *v1beta1.CloudProfile) { p.Spec = profile.Spec }))
	for range 2 {
		reconcile(t, shoot, sized(2))
		for _, m := range expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1-again"}}) {
			if m.Image == "amd-1" && m.Name != before[0] {
				t.Errorf("%s is replaced", before[0])
			}
		}
	}
}

func TestOnlyTheConfigHasANodeTemplate(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("web", "virt", "1.0.0", func(p *extensionsv1alpha1.WorkerPool) {
		p.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{
			"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "WorkerConfig",
			"nodeTemplate": {"capacity": {"example.com/card": "2"}}
		}`)}
	}))
	expectMachines(t, shoot, map[string][]string{"web": {"amd-1"}})
	expectUnchanged(t, shoot)
	classes, err := shoot.Classes(t.Context())
	check(t, err)
	if template := classes[0].NodeTemplate; template == nil || template.Capacity.Name("example.com/card", "").Value() != 2 {
		t.Errorf("the node template is %+v", template)
	}
}

// A mistake in the mapping of one pool stops neither it nor other existing pools, only new ones.
func TestAMistakeInTheProfileStopsNoPoolThatRuns(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("arm", "arm", "1.0.0"), pool("web", "virt", "1.0.0"))
	size := int32(1)
	for _, mistake := range [][]string{
		{"regions: [{name: europe, id: arm-1}]", "regions: [{name: asia, id: arm-1}]"},
		{"regions: [{name: europe, id: arm-1}]", `regions: [{name: europe, id: ""}]`},
		{"capabilityFlavors: [{architecture: [amd64]}, {architecture: [arm64]}]", "capabilityFlavors: [{architecture: [amd64]}]"},
		{"{name: arm, ", "{name: arm2, "},
	} {
		become(t, shoot, profileOf(t, profileSpec, mistake...))
		size++
		reconcile(t, shoot, func(w *extensionsv1alpha1.Worker) {
			for i := range w.Spec.Pools {
				seed.Size(size, size)(&w.Spec.Pools[i])
			}
		})
		expectMachines(t, shoot, map[string][]string{
			"arm": slices.Repeat([]string{"arm-1"}, int(size)), "web": slices.Repeat([]string{"amd-1"}, int(size)),
		})
		expectRefused(t, shoot, true, func(w *extensionsv1alpha1.Worker) {
			w.Spec.Pools = append(w.Spec.Pools, pool("new", "arm", "1.0.0"))
		}, "post worker reconciliation hook failed: worker pool new: ")
		reconcile(t, shoot, func(w *extensionsv1alpha1.Worker) { w.Spec.Pools = w.Spec.Pools[:2] })
	}
}

// A refused new pool does not stop the others from scaling. A pool that it would replace stays.
func TestANewPoolThatIsRefused(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	refused := pool("new", "arm", "2.0.0") // it has no virtual machines on arm
	create(t, shoot, pool("web", "virt", "1.0.0"), pool("db", "virt", "2.0.0"))
	expectRefused(t, shoot, true, func(w *extensionsv1alpha1.Worker) {
		seed.Size(2, 2)(&w.Spec.Pools[0])
		w.Spec.Pools = append(w.Spec.Pools, refused)
	}, "worker pool new: ")
	expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1"}, "db": {"virt-2"}})
	// The pool db is now called new.
	expectRefused(t, shoot, true, func(w *extensionsv1alpha1.Worker) {
		seed.Size(3, 3)(&w.Spec.Pools[0])
		w.Spec.Pools = slices.Delete(w.Spec.Pools, 1, 2)
	}, "failed to generate the machine deployments: worker pool new: ")
	expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1"}, "db": {"virt-2"}})
	// The profile now has an image for it.
	const listed, provided = "[{architecture: [amd64], hypervisor: [virtualized]}, ",
		"      - {capabilities: {architecture: [amd64], hypervisor: [virtualized]}"
	profile := profileOf(t, profileSpec, listed, "[{architecture: [arm64]}, "+listed[1:],
		provided, "      - {capabilities: {architecture: [arm64]}, regions: [{name: europe, id: arm-2}]}\n"+provided)
	check(t, shoot.ChangeProfile(t.Context(), func(p *v1beta1.CloudProfile) { p.Spec = profile.Spec }))
	reconcile(t, shoot, nil)
	expectMachines(t, shoot, map[string][]string{"web": {"amd-1", "amd-1", "amd-1"}, "new": {"arm-2"}})
}

// A record applies only to machine types that it fits.
func TestDelistedAndAnotherMachineType(t *testing.T) {
	t.Parallel()
	shoot := newShoot(t, nil)
	run(t, shoot, ours)
	create(t, shoot, pool("web", "virt", "2.0.0"))
	become(t, shoot, profileOf(t, profileSpec, listed2, "", provided2, ""))
	expectRefused(t, shoot, true, func(w *extensionsv1alpha1.Worker) { // like the gardenlet
		w.Spec.Pools[0].MachineType, w.Spec.Pools[0].NodeAgentSecretName = "bare", ptr.To("gardener-node-agent-web-bare")
	}, "nor does an image fit that machines of the Shoot have booted")
	expectMachines(t, shoot, map[string][]string{"web": {"virt-2"}})
}

// grouped returns a pool change that requests a server group.
func grouped(policy string) func(*extensionsv1alpha1.WorkerPool) {
	return func(p *extensionsv1alpha1.WorkerPool) {
		raw, _ := json.Marshal(map[string]any{
			"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "WorkerConfig",
			"serverGroup": map[string]string{"policy": policy},
		})
		p.ProviderConfig = &runtime.RawExtension{Raw: raw}
	}
}

// inOpenStack returns the options of a shoot in a fake OpenStack.
func inOpenStack(t testing.TB, openstack *fakenova.OpenStack) *seed.ShootOptions {
	return &seed.ShootOptions{
		Profile: profileOf(t, profileSpec, "https://keystone.example.com/v3/", openstack.Keystone()), Credentials: openstack.Secret(),
	}
}

// One Shoot is s1 with a pool test-x, and the other is s1-test with a pool x.
func TestShootsWithACommonPrefixInOneProject(t *testing.T) {
	t.Parallel()
	openstack := fakenova.New(t, false)
	var shoots []*seed.Shoot
	for name, pools := range map[string]extensionsv1alpha1.WorkerPool{
		"shoot--prefix--s1":      pool("test-x", "virt", "1.0.0", grouped("affinity")),
		"shoot--prefix--s1-test": pool("x", "virt", "1.0.0", grouped("affinity")),
	} {
		shoot, err := theSeed(t).NewShoot(t.Context(), name, *inOpenStack(t, openstack))
		check(t, err)
		run(t, shoot, ours)
		create(t, shoot, pools)
		reconcile(t, shoot, nil)
		shoots = append(shoots, shoot)
	}
	// Groups that provider-openstack may have left behind for either Shoot.
	openstack.Put("shoot--prefix--s1-test-x-0123456789", "affinity")
	if groups := openstack.Groups(); len(groups) != 3 {
		t.Fatalf("there are %v", groups)
	}
	status := providerStatus(t, mustGet(t, shoots[1]))
	expectDeleted(t, shoots[0])
	reconcile(t, shoots[1], nil)
	if again := providerStatus(t, mustGet(t, shoots[1])); asJSON(t, status) != asJSON(t, again) {
		t.Errorf("the other one had %+v, and has %+v", status, again)
	}
	groups := openstack.Groups()
	if len(groups) != 2 || groups[0].ID != status.ServerGroupDependencies[0].ID && groups[1].ID != status.ServerGroupDependencies[0].ID {
		t.Errorf("the groups that are left: %v", groups)
	}
}

func mustGet(t testing.TB, shoot *seed.Shoot) *extensionsv1alpha1.Worker {
	t.Helper()
	worker, err := shoot.Get(t.Context())
	check(t, err)
	return worker
}
