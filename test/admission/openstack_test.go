// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

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

// constrained returns the example CloudProfile under another name, with more that constrains Shoots: in europe the domain
// demo has a floating pool of its own and no other one, and the domain dev one more than all have. In asia there are other
// load balancer providers.
func constrained(t *testing.T, name string) *v1beta1.CloudProfile {
	t.Helper()
	profile := openstack(t, name)
	config := &v1alpha1.CloudProfileConfig{}
	edit(t, profile.Spec.ProviderConfig, config, func() {
		config.Constraints.FloatingPools = []v1alpha1.FloatingPool{
			{Name: "fp-pool-1", LoadBalancerClasses: []v1alpha1.LoadBalancerClass{{Name: "internet", FloatingNetworkID: ptr.To(someNetwork), FloatingSubnetID: ptr.To(subnet)}}},
			{Name: "fp-demo", Region: ptr.To("europe"), Domain: ptr.To("demo")},
			{Name: "fp-dev", Region: ptr.To("europe"), Domain: ptr.To("dev"), NonConstraining: ptr.To(true)},
		}
		config.Constraints.LoadBalancerProviders = []v1alpha1.LoadBalancerProvider{{Name: "haproxy"}, {Name: "f5", Region: ptr.To("asia")}}
		config.ServerGroupPolicies = []string{"soft-anti-affinity"}
	})
	return profile
}

// edit changes a config.
func edit(t *testing.T, raw *runtime.RawExtension, config any, change func()) {
	t.Helper()
	err := json.Unmarshal(raw.Raw, config)
	if err == nil {
		change()
		raw.Raw, err = json.Marshal(config)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// infrastructure changes the InfrastructureConfig of a Shoot.
func infrastructure(t *testing.T, change func(*v1alpha1.InfrastructureConfig)) func(*v1beta1.Shoot) {
	t.Helper()
	return func(s *v1beta1.Shoot) {
		config := &v1alpha1.InfrastructureConfig{}
		edit(t, s.Spec.Provider.InfrastructureConfig, config, func() { change(config) })
	}
}

// controlPlane changes the ControlPlaneConfig of a Shoot.
func controlPlane(t *testing.T, change func(*v1alpha1.ControlPlaneConfig)) func(*v1beta1.Shoot) {
	t.Helper()
	return func(s *v1beta1.Shoot) {
		config := &v1alpha1.ControlPlaneConfig{}
		edit(t, s.Spec.Provider.ControlPlaneConfig, config, func() { change(config) })
	}
}

// workerConfig changes the WorkerConfig of a Shoot's first worker pool, which need not have one yet.
func workerConfig(t *testing.T, change func(*v1alpha1.WorkerConfig)) func(*v1beta1.Shoot) {
	t.Helper()
	return func(s *v1beta1.Shoot) {
		worker, config := &s.Spec.Provider.Workers[0], &v1alpha1.WorkerConfig{}
		if worker.ProviderConfig == nil {
			worker.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"}`)}
		}
		edit(t, worker.ProviderConfig, config, func() { change(config) })
	}
}

func chooseFloatingPool(s *v1beta1.Shoot, name string) {
	raw := s.Spec.Provider.InfrastructureConfig
	raw.Raw = []byte(strings.Replace(string(raw.Raw), `"fp-pool-1"`, `"`+name+`"`, 1))
}

func hibernate(s *v1beta1.Shoot) { s.Spec.Hibernation = &v1beta1.Hibernation{Enabled: ptr.To(true)} }

func TestFloatingPoolOfADomain(t *testing.T) {
	u := newUser(t)
	u.create(t, constrained(t, "domains"))
	bind(t, u, "of-demo", "demo")
	bind(t, u, "of-dev", "dev")
	bind(t, u, "of-other", "other")
	for _, test := range []struct {
		credentials, pool string
		allowed           bool
	}{
		{"of-demo", "fp-demo", true},
		{"of-demo", "fp-pool-1", false},
		{"of-demo", "fp-dev", false},
		{"of-dev", "fp-dev", true},
		{"of-dev", "fp-pool-1", true},
		{"of-dev", "fp-demo", false},
		{"of-other", "fp-pool-1", true},
		{"of-other", "fp-demo", false},
	} {
		name := test.credentials + "-" + strings.TrimPrefix(test.pool, "fp-")
		t.Run(name, func(t *testing.T) {
			s := shoot(t, name, "domains")
			s.Spec.CredentialsBindingName = ptr.To(test.credentials)
			chooseFloatingPool(s, test.pool)
			bySecretBinding := s.DeepCopy()
			bySecretBinding.Spec.SecretBindingName, bySecretBinding.Spec.CredentialsBindingName = s.Spec.CredentialsBindingName, nil
			bySecretBinding.Name += "-s"
			for _, s := range []*v1beta1.Shoot{s, bySecretBinding} {
				u.heard()
				switch err := u.Create(t.Context(), s); {
				case !test.allowed:
					refused(t, err, inInfrastructure+"floatingPoolName")
				case err != nil:
					t.Error(err)
				}
				if warnings := strings.Join(u.heard(), "\n"); strings.Contains(warnings, "domain") {
					t.Errorf("the domain is known, and there are warnings: %s", warnings)
				}
			}
		})
	}
}

func TestLoadBalancerProviderOfARegion(t *testing.T) {
	u := newUser(t)
	u.create(t, constrained(t, "lb-regions"))
	for _, test := range []struct {
		region, provider string
		allowed          bool
	}{
		{"europe", "haproxy", true}, {"europe", "f5", false},
		{"asia", "f5", true}, {"asia", "haproxy", false},
	} {
		s := shoot(t, "lb-"+test.region+"-"+test.provider, "lb-regions")
		s.Spec.Region, s.Spec.Provider.Workers[0].Zones = test.region, []string{test.region + "-1a"}
		controlPlane(t, func(c *v1alpha1.ControlPlaneConfig) { c.LoadBalancerProvider = test.provider })(s)
		if err := u.Create(t.Context(), s); !test.allowed {
			refused(t, err, inControlPlane+"loadBalancerProvider")
		} else {
			u.accepted(t, err)
		}
	}
}

func TestConstraintsOfShoots(t *testing.T) {
	u := newUser(t)
	u.create(t, constrained(t, "constraints"))
	class := func(subnet string) func(*v1beta1.Shoot) {
		return controlPlane(t, func(c *v1alpha1.ControlPlaneConfig) {
			c.LoadBalancerClasses = []v1alpha1.LoadBalancerClass{{Name: "mine", FloatingNetworkID: ptr.To(someNetwork), FloatingSubnetID: ptr.To(subnet)}}
		})
	}
	floatingPool := infrastructure(t, func(c *v1alpha1.InfrastructureConfig) { c.FloatingPoolName = "fp-pool-2" })
	workers := func(cidr string) func(*v1beta1.Shoot) {
		return infrastructure(t, func(c *v1alpha1.InfrastructureConfig) { c.Networks.Workers = cidr })
	}
	provider := controlPlane(t, func(c *v1alpha1.ControlPlaneConfig) { c.LoadBalancerProvider = "octavia" })
	policy := func(policy string) func(*v1beta1.Shoot) {
		return workerConfig(t, func(c *v1alpha1.WorkerConfig) { c.ServerGroup = &v1alpha1.ServerGroup{Policy: policy} })
	}
	for name, test := range map[string]struct {
		change []func(*v1beta1.Shoot)
		fields []string
	}{
		"floating-pool":    {[]func(*v1beta1.Shoot){floatingPool}, []string{inInfrastructure + "floatingPoolName"}},
		"lb-provider":      {[]func(*v1beta1.Shoot){provider}, []string{inControlPlane + "loadBalancerProvider"}},
		"lb-class":         {[]func(*v1beta1.Shoot){class(otherSubnet)}, []string{inControlPlane + "loadBalancerClasses[0]"}},
		"lb-class-allowed": {[]func(*v1beta1.Shoot){class(subnet)}, nil},
		"policy":           {[]func(*v1beta1.Shoot){policy("affinity")}, []string{inWorker + "serverGroup.policy"}},
		"policy-allowed":   {[]func(*v1beta1.Shoot){policy("soft-anti-affinity")}, nil},
		"outside-of-nodes": {[]func(*v1beta1.Shoot){workers("10.251.0.0/16")}, []string{inInfrastructure + "networks.workers"}},
		"within-nodes":     {[]func(*v1beta1.Shoot){workers("10.250.4.0/22")}, nil},
		"no-network":       {[]func(*v1beta1.Shoot){workers("10.250.0.0")}, []string{inInfrastructure + "networks.workers"}},
		"all-at-once": {[]func(*v1beta1.Shoot){floatingPool, provider, workers("10.251.0.0/16"), policy("affinity")}, []string{
			inControlPlane + "loadBalancerProvider", inInfrastructure + "floatingPoolName", inInfrastructure + "networks.workers", inWorker + "serverGroup.policy",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := shoot(t, name, "constraints")
			for _, change := range test.change {
				change(s)
			}
			if err := u.Create(t.Context(), s); test.fields != nil {
				refused(t, err, test.fields...)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	elsewhere := shoot(t, "elsewhere", "constraints") // that is for Gardener's own admission
	elsewhere.Spec.Provider.Workers[0].Zones = []string{"europe-1z"}
	if err := u.Create(t.Context(), elsewhere); err == nil || !strings.Contains(err.Error(), "spec.provider.workers[0].zones") {
		t.Errorf("a zone that is not there: %v", err)
	}
}

func TestUpdatesOfConfigs(t *testing.T) {
	u := newUser(t)
	u.create(t, constrained(t, "config-updates"))
	s := shoot(t, "config-updates", "config-updates")
	infrastructure(t, func(c *v1alpha1.InfrastructureConfig) { c.Networks.Workers = "10.250.0.0/18" })(s)
	u.accepted(t, u.Create(t.Context(), s))
	update := func(by func(*v1beta1.Shoot)) error { return change(t, u, s, by) }
	networks := func(change func(*v1alpha1.Networks)) func(*v1beta1.Shoot) {
		return infrastructure(t, func(c *v1alpha1.InfrastructureConfig) { change(&c.Networks) })
	}
	for field, by := range map[string]func(*v1beta1.Shoot){
		inInfrastructure + "networks.workers":       networks(func(n *v1alpha1.Networks) { n.Workers = "10.250.0.0/19" }),
		inInfrastructure + "networks.id":            networks(func(n *v1alpha1.Networks) { n.ID = ptr.To(otherNetwork) }),
		inInfrastructure + "networks.router.id":     networks(func(n *v1alpha1.Networks) { n.Router = &v1alpha1.Router{ID: otherNetwork} }),
		inInfrastructure + "floatingPoolSubnetName": infrastructure(t, func(c *v1alpha1.InfrastructureConfig) { c.FloatingPoolSubnetName = ptr.To("a") }),
	} {
		refused(t, update(by), field)
	}
	// The domain makes no difference: the pool cannot be changed, whichever there are.
	if err := update(infrastructure(t, func(c *v1alpha1.InfrastructureConfig) { c.FloatingPoolName = "fp-demo" })); err == nil || !strings.Contains(err.Error(), inInfrastructure+"floatingPoolName") {
		t.Errorf("another floating pool: %v", err)
	}

	u.accepted(t, update(networks(func(n *v1alpha1.Networks) { n.ShareNetwork = &v1alpha1.ShareNetwork{Enabled: true} })))
	u.accepted(t, update(networks(func(n *v1alpha1.Networks) { n.Worker, n.Workers = n.Workers, "" })), "networks.worker")
	u.accepted(t, update(networks(func(n *v1alpha1.Networks) { n.Worker, n.Workers = "", n.Worker })))
	u.accepted(t, update(controlPlane(t, func(c *v1alpha1.ControlPlaneConfig) {
		c.LoadBalancerClasses = []v1alpha1.LoadBalancerClass{{Name: "mine", FloatingNetworkID: ptr.To(someNetwork), FloatingSubnetID: ptr.To(subnet)}}
	})))
	u.accepted(t, update(workerConfig(t, func(c *v1alpha1.WorkerConfig) {
		c.MachineLabels = []v1alpha1.MachineLabel{{Name: "team", Value: "shops"}}
	})))
	u.accepted(t, update(workerConfig(t, func(c *v1alpha1.WorkerConfig) {
		c.MachineLabels[0].TriggerRollingOnUpdate = ptr.To(true)
	})), inWorker+"machineLabels")
	u.accepted(t, update(workerConfig(t, func(c *v1alpha1.WorkerConfig) {
		c.ServerGroup = &v1alpha1.ServerGroup{Policy: "soft-anti-affinity"}
	})), inWorker+"serverGroup")
	destroy(t, u, s)
}

// What an operator takes away from a Shoot does not keep it from being changed, hibernated and deleted (semantics S10).
func TestShootWhoseFloatingPoolIsGone(t *testing.T) {
	u, profile := newUser(t), openstack(t, "pool-gone")
	u.create(t, profile)
	s := shoot(t, "pool-gone", "pool-gone")
	u.create(t, s)
	err := change(t, u, profile, func(p *v1beta1.CloudProfile) { replaceConfig(t, p, `"fp-pool-1"`, `"fp-pool-2"`) })
	if err != nil {
		t.Fatal(err)
	}
	const why = inInfrastructure + "floatingPoolName"
	another := s.DeepCopy()
	another.ObjectMeta = metav1.ObjectMeta{Name: "pool-gone-too", Namespace: s.Namespace}
	eventually(t, "the component knows that the floating pool is gone", func() bool {
		another := another.DeepCopy()
		err := u.Create(t.Context(), another)
		if err == nil {
			destroy(t, u, another)
			return false
		}
		refused(t, err, why)
		return true
	})
	u.accepted(t, change(t, u, s, func(s *v1beta1.Shoot) { s.Labels = map[string]string{"a": "b"} }))
	u.accepted(t, change(t, u, s, func(s *v1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum++ }), why)
	u.accepted(t, change(t, u, s, hibernate), why)
	refused(t, change(t, u, s, infrastructure(t, func(c *v1alpha1.InfrastructureConfig) { c.FloatingPoolName = "fp-pool-2" })), why)
	destroy(t, u, s)
}
