// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build openstack

package openstack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack/machines"
	"github.com/capkit/capkit/test/openstack"
	"github.com/capkit/capkit/test/seed"
	"github.com/capkit/capkit/test/suite"
)

// profile has two versions of an image. %s: the identity service, and the IDs of the two images.
const profile = `
type: openstack
machineCapabilities: [{name: architecture, values: [amd64]}]
machineTypes: [{name: small, cpu: "1", gpu: "0", memory: 512Mi, capabilities: {architecture: [amd64]}}]
regions: [{name: europe, zones: [{name: nova}]}]
machineImages:
- name: gl
  versions:
  - {version: 1.0.0, capabilityFlavors: [{architecture: [amd64]}]}
  - {version: 2.0.0, capabilityFlavors: [{architecture: [amd64]}]}
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  keystoneURL: %s
  constraints: {floatingPools: [{name: fp}], loadBalancerProviders: [{name: amphora}]}
  machineImages:
  - name: gl
    versions:
    - {version: 1.0.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, regions: [{name: europe, id: %s}]}]}
    - {version: 2.0.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, regions: [{name: europe, id: %s}]}]}
`

// infrastructure is the status that the infrastructure controller would write. %s: network and subnet.
const infrastructure = `{
	"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "InfrastructureStatus",
	"networks": {
		"id": %q, "name": "shoot", "floatingPool": {"id": "f", "name": "fp"}, "router": {"id": "r", "ip": "192.0.2.1"},
		"subnets": [{"id": %q, "cidr": "10.250.0.0/16", "purpose": "nodes"}]
	},
	"node": {"keyName": "` + openstack.KeyName + `"},
	"securityGroups": [{"id": "g", "name": "` + openstack.SecurityGroup + `", "purpose": "nodes"}]
}`

// patience is the time limit for changes of servers on a busy machine.
const patience = 10 * time.Minute

// grouped requests a server group.
func grouped(policy string) func(*extensionsv1alpha1.WorkerPool) {
	return func(p *extensionsv1alpha1.WorkerPool) {
		p.Zones, p.Volume = []string{openstack.Zone}, nil
		p.ProviderConfig = &runtime.RawExtension{Raw: fmt.Appendf(nil, `{
			"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "WorkerConfig",
			"serverGroup": {"policy": %q}
		}`, policy)}
	}
}

var _ = Describe("The worker controller on OpenStack", Serial, Ordered, func() {
	var (
		s     *seed.Seed
		shoot *seed.Shoot
		stop  func()
	)

	// start starts the controller, and stop ends it. Together they are a restart.
	start := func(ctx context.Context) {
		GinkgoHelper()
		mgr, err := manager.New(s.RESTConfig(), manager.Options{
			Scheme: s.Client().Scheme(), Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{shoot.Name: {}}},
			Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		})
		Expect(err).NotTo(HaveOccurred())
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		Expect(machines.AddToManager(ctx, mgr, machines.AddOptions{})).To(Succeed())
		ended := make(chan error, 1)
		go func() { ended <- mgr.Start(ctx) }()
		stop = func() {
			cancel()
			Expect(<-ended).To(Succeed())
			stop = func() {}
		}
	}

	// expectServers waits until all servers of the Shoot boot this image, no old server is left, and all are members of one
	// server group. It returns the IDs of the servers and the group.
	expectServers := func(ctx context.Context, count int, image string, old ...string) (ids []string, group string) {
		GinkgoHelper()
		Eventually(ctx, func(g Gomega) {
			ids, group = nil, ""
			all, err := o.Servers(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			for i := range all {
				ids = append(ids, all[i].ID)
				g.Expect(old).NotTo(ContainElement(all[i].ID))
				g.Expect(all[i].Status).To(Equal("ACTIVE"))
				g.Expect(all[i].Image).To(HaveKeyWithValue("id", o.Images[image]))
				g.Expect(all[i].Metadata).To(HaveKey("kubernetes.io-cluster-" + shoot.Name))
				g.Expect(all[i].KeyName).To(Equal(openstack.KeyName))
			}
			g.Expect(ids).To(HaveLen(count))
			found, err := shoot.Machines(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(HaveLen(count))
			for _, m := range found {
				g.Expect(m.Phase).To(Equal(machinev1alpha1.MachineRunning), m.Message)
			}
			there, err := o.Groups(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			for i := range there {
				if len(there[i].Members) > 0 {
					g.Expect(there[i].Members).To(ConsistOf(ids))
					group = there[i].ID
				}
			}
			g.Expect(group).NotTo(BeEmpty())
		}).WithTimeout(patience).Should(Succeed())
		return ids, group
	}

	// expectOneGroup waits until there is one server group, which the state and the machine class refer to.
	expectOneGroup := func(ctx context.Context, id string) {
		GinkgoHelper()
		Eventually(ctx, func(g Gomega) {
			there, err := o.Groups(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(there).To(ConsistOf(HaveField("ID", id)))
			worker, err := shoot.Get(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			status := &v1alpha1.WorkerStatus{}
			g.Expect(worker.Status.ProviderStatus).NotTo(BeNil())
			g.Expect(json.Unmarshal(worker.Status.ProviderStatus.Raw, status)).To(Succeed())
			g.Expect(status.ServerGroupDependencies).To(ConsistOf(
				v1alpha1.ServerGroupDependency{PoolName: "web", ID: id, Name: there[0].Name}))
			classes, err := shoot.Classes(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(classes).To(HaveLen(1))
			g.Expect(string(classes[0].ProviderSpec.Raw)).To(ContainSubstring(`"serverGroupID":"` + id + `"`))
		}).WithTimeout(patience).Should(Succeed())
	}

	// change changes the pool and requests a reconciliation.
	change := func(ctx context.Context, change func(*extensionsv1alpha1.WorkerPool)) {
		GinkgoHelper()
		Expect(shoot.Ask(ctx, v1beta1constants.GardenerOperationReconcile, func(w *extensionsv1alpha1.Worker) {
			change(&w.Spec.Pools[0])
		})).To(Succeed())
	}

	// expectError waits until the Worker has an error that contains these texts.
	expectError := func(ctx context.Context, texts ...string) (worker *extensionsv1alpha1.Worker) {
		GinkgoHelper()
		Eventually(ctx, func(g Gomega) {
			var err error
			worker, err = shoot.Get(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(worker.Status.LastError).NotTo(BeNil())
			for _, text := range texts {
				g.Expect(worker.Status.LastError.Description).To(ContainSubstring(text))
			}
		}).WithTimeout(patience).Should(Succeed())
		return worker
	}

	setPassword := func(ctx context.Context, password string) {
		GinkgoHelper()
		secret := &corev1.Secret{}
		Expect(s.Client().Get(ctx, client.ObjectKey{Namespace: shoot.Name, Name: seed.Credentials}, secret)).To(Succeed())
		secret.Data["password"] = []byte(password)
		Expect(s.Client().Update(ctx, secret)).To(Succeed())
	}

	// restart ends a waiting reconciliation: after a roll the library may wait for an object that
	// machine-controller-manager has already removed.
	restart := func(ctx context.Context) {
		GinkgoHelper()
		stop()
		start(ctx)
		change(ctx, func(*extensionsv1alpha1.WorkerPool) {})
	}

	BeforeAll(func(ctx SpecContext) {
		var err error
		s, err = seed.Start(ctx, seed.Options{OpenStack: true, Progress: GinkgoWriter})
		Expect(err).NotTo(HaveOccurred())
		suite.Share(s.Garden)
		cloudProfile := &v1beta1.CloudProfile{}
		text := fmt.Sprintf(profile, o.Keystone(), o.Images["image-1"], o.Images["image-2"])
		Expect(yaml.UnmarshalStrict([]byte(text), &cloudProfile.Spec)).To(Succeed())
		shoot, err = s.NewShoot(ctx, "shoot--real--nova", seed.ShootOptions{Profile: cloudProfile, Credentials: o.Secret()})
		Expect(err).NotTo(HaveOccurred())
		start(ctx)
		DeferCleanup(func() { stop() })
	})

	It("creates, scales, rolls and deletes the servers of a pool with a server group", func(ctx SpecContext) {
		worker := shoot.Worker(seed.Pool("web", openstack.Flavor, "gl", "1.0.0", seed.Size(2, 2), grouped(soft)))
		worker.Spec.InfrastructureProviderStatus.Raw = fmt.Appendf(nil, infrastructure, o.Network, o.Subnet)
		Expect(shoot.Create(ctx, worker, "")).To(Succeed())
		first, group := expectServers(ctx, 2, "image-1")
		expectOneGroup(ctx, group)

		By("scaling up")
		change(ctx, seed.Size(3, 3))
		more, same := expectServers(ctx, 3, "image-1")
		Expect(more).To(ContainElements(first))
		Expect(same).To(Equal(group))

		By("another version")
		change(ctx, func(p *extensionsv1alpha1.WorkerPool) {
			p.MachineImage.Version, p.NodeAgentSecretName = "2.0.0", ptr.To("gardener-node-agent-web-2")
		})
		rolled, same := expectServers(ctx, 3, "image-2", more...)
		Expect(same).To(Equal(group))
		restart(ctx)
		expectOneGroup(ctx, group)

		By("another policy")
		change(ctx, grouped("soft-affinity"))
		_, moved := expectServers(ctx, 3, "image-2", rolled...)
		Expect(moved).NotTo(Equal(group))
		restart(ctx)
		expectOneGroup(ctx, moved)

		By("Nova being away while the pool is scaled")
		Expect(o.StopNova()).To(Succeed())
		change(ctx, seed.Size(1, 1))
		expectError(ctx, "the compute service at ", "cannot be reached")
		Expect(o.StartNova(ctx)).To(Succeed())
		expectServers(ctx, 1, "image-2")
		expectOneGroup(ctx, moved)

		By("a wrong password")
		setPassword(ctx, "wrong")
		change(ctx, func(*extensionsv1alpha1.WorkerPool) {})
		worker = expectError(ctx, "the identity service at ", "answers 401")
		Expect(worker.Status.LastError.Codes).To(ConsistOf(v1beta1.ErrorInfraUnauthenticated))
		Expect(worker.Status.LastError.Description).NotTo(ContainSubstring("wrong"))
		setPassword(ctx, openstack.Password)
		change(ctx, seed.Size(2, 2))
		expectServers(ctx, 2, "image-2")
		expectOneGroup(ctx, moved)

		By("deleting the Worker")
		Expect(s.Client().Delete(ctx, worker)).To(Succeed())
		Expect(client.IgnoreNotFound(shoot.Ask(ctx, v1beta1constants.GardenerOperationReconcile, nil))).To(Succeed())
		Eventually(ctx, func(g Gomega) {
			err := s.Client().Get(ctx, client.ObjectKeyFromObject(worker), worker)
			g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%+v", worker.Status.LastError)
		}).WithTimeout(patience).Should(Succeed())
		Expect(o.Servers(ctx)).To(BeEmpty())
		Expect(o.Groups(ctx)).To(BeEmpty())
	})
})
