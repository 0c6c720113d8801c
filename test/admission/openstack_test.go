// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

const (
	inInfrastructure = "spec.provider.infrastructureConfig."
	inControlPlane   = "spec.provider.controlPlaneConfig."
	inWorker         = "spec.provider.workers[0].providerConfig."
)

const (
	subnet       = "4f9e5e0a-6d0a-4d5b-9d0c-1f0b6f5b8a01"
	otherSubnet  = "4f9e5e0a-6d0a-4d5b-9d0c-1f0b6f5b8a02"
	someNetwork  = "4f9e5e0a-6d0a-4d5b-9d0c-1f0b6f5b8a03"
	otherNetwork = "4f9e5e0a-6d0a-4d5b-9d0c-1f0b6f5b8a04"
)

type shootChange func(*v1beta1.Shoot)

// constrained returns the example CloudProfile under another name, with more constraints for Shoots. In europe, domain demo has a floating
// pool of its own and no other, and domain dev has one besides the common ones. In asia the load balancer providers differ.
func constrained(name string) *v1beta1.CloudProfile {
	GinkgoHelper()
	profile := openstack(name)
	reshape(profile.Spec.ProviderConfig, func(config *v1alpha1.CloudProfileConfig) {
		config.Constraints.FloatingPools = []v1alpha1.FloatingPool{
			{Name: "fp-pool-1", LoadBalancerClasses: []v1alpha1.LoadBalancerClass{
				{Name: "internet", FloatingNetworkID: ptr.To(someNetwork), FloatingSubnetID: ptr.To(subnet)},
			}},
			{Name: "fp-demo", Region: ptr.To("europe"), Domain: ptr.To("demo")},
			{Name: "fp-dev", Region: ptr.To("europe"), Domain: ptr.To("dev"), NonConstraining: ptr.To(true)},
		}
		config.Constraints.LoadBalancerProviders = []v1alpha1.LoadBalancerProvider{{Name: "haproxy"}, {Name: "f5", Region: ptr.To("asia")}}
		config.ServerGroupPolicies = []string{"soft-anti-affinity"}
	})
	return profile
}

// reshape changes a valid config.
func reshape[C any](raw *runtime.RawExtension, change func(*C)) {
	GinkgoHelper()
	config := new(C)
	Expect(json.Unmarshal(raw.Raw, config)).To(Succeed())
	change(config)
	var err error
	raw.Raw, err = json.Marshal(config)
	Expect(err).NotTo(HaveOccurred())
}

// infrastructure, networks and controlPlane change a config of a Shoot. workerConfig changes the config of its first worker
// pool, or adds one.
func infrastructure(change func(*v1alpha1.InfrastructureConfig)) shootChange {
	return func(s *v1beta1.Shoot) { reshape(s.Spec.Provider.InfrastructureConfig, change) }
}

func networks(change func(*v1alpha1.Networks)) shootChange {
	return infrastructure(func(c *v1alpha1.InfrastructureConfig) { change(&c.Networks) })
}

func controlPlane(change func(*v1alpha1.ControlPlaneConfig)) shootChange {
	return func(s *v1beta1.Shoot) { reshape(s.Spec.Provider.ControlPlaneConfig, change) }
}

func workerConfig(change func(*v1alpha1.WorkerConfig)) shootChange {
	return func(s *v1beta1.Shoot) {
		worker := &s.Spec.Provider.Workers[0]
		if worker.ProviderConfig == nil {
			worker.ProviderConfig = &runtime.RawExtension{
				Raw: []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"}`),
			}
		}
		reshape(worker.ProviderConfig, change)
	}
}

func chooseFloatingPool(name string) shootChange {
	return infrastructure(func(c *v1alpha1.InfrastructureConfig) { c.FloatingPoolName = name })
}

func chooseWorkers(cidr string) shootChange {
	return networks(func(n *v1alpha1.Networks) { n.Workers = cidr })
}

func choosePolicy(policy string) shootChange {
	return workerConfig(func(c *v1alpha1.WorkerConfig) { c.ServerGroup = &v1alpha1.ServerGroup{Policy: policy} })
}

func addClass(subnet string) shootChange {
	return controlPlane(func(c *v1alpha1.ControlPlaneConfig) {
		c.LoadBalancerClasses = []v1alpha1.LoadBalancerClass{{Name: "mine", FloatingNetworkID: ptr.To(someNetwork), FloatingSubnetID: ptr.To(subnet)}}
	})
}

var _ = Describe("What the provider config constrains", Ordered, func() {
	BeforeAll(func(ctx SpecContext) {
		create(ctx, constrained("constraints"))
		for _, domain := range []string{"demo", "dev"} {
			bind(ctx, "of-"+domain, domain)
		}
	})

	DescribeTable("is the floating pool, by the domain of the credentials", func(ctx SpecContext, credentials, pool string, allowed bool) {
		name := credentials + "-" + strings.TrimPrefix(pool, "fp-")
		s := shoot(name, "constraints")
		s.Spec.CredentialsBindingName = ptr.To(credentials)
		chooseFloatingPool(pool)(s)
		bySecretBinding := s.DeepCopy()
		bySecretBinding.Spec.SecretBindingName, bySecretBinding.Spec.CredentialsBindingName = s.Spec.CredentialsBindingName, nil
		bySecretBinding.Name += "-s"
		for _, s := range []*v1beta1.Shoot{s, bySecretBinding} {
			if err := u.Create(ctx, s); allowed {
				Expect(err).NotTo(HaveOccurred())
			} else {
				Expect(err).To(beRefusedAt(inInfrastructure + "floatingPoolName"))
			}
			Expect(u.Heard()).NotTo(ContainElement(ContainSubstring("domain")), "the domain is known")
		}
	},
		Entry("of the domain", "of-demo", "fp-demo", true),
		Entry("of all, where the domain has one of its own", "of-demo", "fp-pool-1", false),
		Entry("of all, where the domain has one more", "of-dev", "fp-pool-1", true),
	)

	It("is not the zone, which is for Gardener's own admission", func(ctx SpecContext) {
		s := shoot("elsewhere", "constraints")
		s.Spec.Provider.Workers[0].Zones = []string{"europe-1z"}
		Expect(u.Create(ctx, s)).To(MatchError(ContainSubstring("spec.provider.workers[0].zones")))
	})
})

var _ = Describe("The configs of a Shoot", Ordered, func() {
	var s *v1beta1.Shoot

	BeforeAll(func(ctx SpecContext) {
		create(ctx, constrained("config-updates"))
		s = shoot("config-updates", "config-updates")
		chooseWorkers("10.250.0.0/18")(s)
		expectAccepted(u.Create(ctx, s))
	})
	AfterAll(func(ctx SpecContext) { destroy(ctx, s) })

	DescribeTable("cannot be changed", func(ctx SpecContext, at string, by shootChange) {
		Expect(change(ctx, s, by)).To(beRefusedAt(inInfrastructure + at))
	},
		Entry("in the network of the workers", "networks.workers", networks(func(n *v1alpha1.Networks) { n.Workers = "10.250.0.0/19" })),
		Entry("in the network", "networks.id", networks(func(n *v1alpha1.Networks) { n.ID = ptr.To(otherNetwork) })),
		Entry("in the router", "networks.router.id", networks(func(n *v1alpha1.Networks) { n.Router = &v1alpha1.Router{ID: otherNetwork} })),
		Entry("in the subnet of the floating pool", "floatingPoolSubnetName",
			infrastructure(func(c *v1alpha1.InfrastructureConfig) { c.FloatingPoolSubnetName = ptr.To("a") })),
	)

	It("cannot be changed in the floating pool, whichever domain it is of", func(ctx SpecContext) {
		Expect(change(ctx, s, chooseFloatingPool("fp-demo"))).To(MatchError(ContainSubstring(inInfrastructure + "floatingPoolName")))
	})

	It("can be changed elsewhere, with a warning if machines are replaced", func(ctx SpecContext) {
		expectAccepted(change(ctx, s, networks(func(n *v1alpha1.Networks) { n.ShareNetwork = &v1alpha1.ShareNetwork{Enabled: true} })))
		expectAccepted(change(ctx, s, networks(func(n *v1alpha1.Networks) { n.Worker, n.Workers = n.Workers, "" })), "networks.worker")
		expectAccepted(change(ctx, s, networks(func(n *v1alpha1.Networks) { n.Worker, n.Workers = "", n.Worker })))
		expectAccepted(change(ctx, s, addClass(subnet)))
		expectAccepted(change(ctx, s, workerConfig(func(c *v1alpha1.WorkerConfig) {
			c.MachineLabels = []v1alpha1.MachineLabel{{Name: "team", Value: "shops"}}
		})))
		expectAccepted(change(ctx, s, workerConfig(func(c *v1alpha1.WorkerConfig) { c.MachineLabels[0].TriggerRollingOnUpdate = ptr.To(true) })),
			inWorker+"machineLabels")
		expectAccepted(change(ctx, s, choosePolicy("soft-anti-affinity")), inWorker+"serverGroup")
	})
})

var _ = Describe("A Shoot whose floating pool is gone", func() {
	It("can be changed, hibernated and deleted (semantics S10), and no other one can be created", func(ctx SpecContext) {
		profile := openstack("pool-gone")
		create(ctx, profile)
		s := shoot("pool-gone", "pool-gone")
		create(ctx, s)
		another := s.DeepCopy()
		another.ObjectMeta = metav1.ObjectMeta{Name: "pool-gone-too", Namespace: s.Namespace}
		Expect(change(ctx, profile, func(p *v1beta1.CloudProfile) {
			edit(p.Spec.ProviderConfig, replace("/constraints/floatingPools/0/name", "fp-pool-2"))
		})).To(Succeed())

		const why = inInfrastructure + "floatingPoolName"
		Eventually(ctx, func() error { return u.Create(ctx, another.DeepCopy(), client.DryRunAll) }).Should(beRefusedAt(why))
		expectAccepted(change(ctx, s, label))
		expectAccepted(change(ctx, s, scale), why)
		expectAccepted(change(ctx, s, hibernate), why)
		Expect(change(ctx, s, chooseFloatingPool("fp-pool-2"))).To(beRefusedAt(why))
		destroy(ctx, s)
	})
})
