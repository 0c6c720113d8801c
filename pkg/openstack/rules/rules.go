// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package rules holds the rules of the OpenStack provider that are not about images: what a CloudProfileConfig may
// say, what a Shoot may have in its profile, and what credentials look like. It puts together what
// pkg/apis/openstack/validation says about single objects and what pkg/apis/openstack/lookup finds, for
// [provider.Validator] and the other interfaces of that package. Start reading at shootChecks, which lists what a Shoot
// is checked for: worker pools in workers.go, what is chosen in a region in choices.go. What an update may change is in
// update.go, and catalogue.go describes the rules.
package rules

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Of returns the rules over a provider config, which must not be changed any more.
func (e Extension) Of(config *v1alpha1.CloudProfileConfig) provider.Validator {
	c := rules{*config, e.FeatureGates}
	c.config.MachineImages = nil // not needed, and most of it
	return c
}

type rules struct {
	config v1alpha1.CloudProfileConfig
	gates  validation.FeatureGates
}

// ValidateCloudProfile checks all of the config but its images.
func (c rules) ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	return validation.CloudProfileConfig(&c.config, entries.RegionsOf(spec), at)
}

// NeedsScope reports whether there are floating pools for single domains in the Shoot's region.
func (c rules) NeedsScope(shoot *v1beta1.Shoot) bool {
	return len(lookup.Domains(c.config.Constraints.FloatingPools, shoot.Spec.Region)) > 0
}

// Extension gives a provider that embeds it the abilities that are not about images. The zero value is ready for use.
type Extension struct {
	// FeatureGates knows the feature gates that Shoots may set for the cloud controller manager. Nil: they are not checked.
	FeatureGates validation.FeatureGates
}

var (
	_ provider.ScopedValidator      = rules{}
	_ provider.RuleDescriber        = Extension{}
	_ provider.ShootUpdateValidator = Extension{}
	_ provider.CredentialsValidator = Extension{}

	_ provider.DNSCredentialsValidator = Extension{}
	_ provider.SettingsOwner           = Extension{}
)

// ValidateCredentials checks the data of a Secret with credentials of OpenStack. The scope is their domain, domainName.
func (Extension) ValidateCredentials(data map[string][]byte, at *field.Path) (string, field.ErrorList) {
	return validation.Credentials(data, at)
}

// DNSType is the type of Designate, the DNS service of OpenStack.
func (Extension) DNSType() string { return "openstack-designate" }

// ValidateDNSCredentials checks the data of a Secret with credentials for Designate.
func (Extension) ValidateDNSCredentials(data map[string][]byte, at *field.Path) field.ErrorList {
	return validation.DNSCredentials(data, at)
}

// Where the configs of a Shoot stand.
var (
	infrastructurePath = field.NewPath("spec", "provider", "infrastructureConfig")
	controlPlanePath   = field.NewPath("spec", "provider", "controlPlaneConfig")
	workersPath        = field.NewPath("spec", "provider", "workers")
)

// subject is a Shoot that is checked, with what could be read of its configs, and what the present check finds.
type subject struct {
	provider.ShootQuestion
	finding.Report
	config *v1alpha1.CloudProfileConfig
	gates  validation.FeatureGates
	// domains are those that the Shoot may be of.
	domains        domains
	infrastructure *v1alpha1.InfrastructureConfig // nil: it could not be read at all
	controlPlane   *v1alpha1.ControlPlaneConfig
	// networks of the InfrastructureConfig; nil if a part of it could not be read.
	networks *v1alpha1.Networks
	workers  []worker
}

// shootChecks are what a Shoot is checked for, in this order, and regionChecks what besides in a region of the profile.
var (
	shootChecks = []func(*subject){
		(*subject).infrastructureConfig, (*subject).controlPlaneConfig, (*subject).volumes, (*subject).workerConfigs,
		(*subject).serverGroups, (*subject).machineLabels,
	}
	regionChecks = []func(*subject){
		(*subject).keystone, (*subject).floatingPool, (*subject).loadBalancerProvider, (*subject).loadBalancerClasses,
		(*subject).zones,
	}
)

// ValidateShoot checks a Shoot's configs, and what they may have in the profile.
func (c rules) ValidateShoot(question provider.ShootQuestion) finding.Report {
	cloud := &question.Shoot.Spec.Provider
	s := &subject{ShootQuestion: question, config: &c.config, gates: c.gates, domains: domainsOf(&c.config, question)}
	infrastructure, infrastructureErrs := readInfrastructure(question.Shoot)
	controlPlane, controlPlaneErrs := decode[v1alpha1.ControlPlaneConfig](
		cloud.ControlPlaneConfig, "ControlPlaneConfig", controlPlanePath)
	s.infrastructure, s.controlPlane = infrastructure, controlPlane
	if len(infrastructureErrs) == 0 {
		s.networks = &infrastructure.Networks
	}
	for i := range cloud.Workers {
		s.workers = append(s.workers, workerOf(&cloud.Workers[i], workersPath.Index(i)))
	}
	checks := shootChecks
	if len(s.Profile.Regions) == 0 || s.region() != nil { // a profile without regions is taken to have every one
		checks = slices.Concat(shootChecks, regionChecks)
	}
	var found finding.Report
	for _, check := range checks {
		s.Report = finding.Report{} // however much one finds, the next one is not cut short
		check(s)
		found.Add(s.Report)
	}
	found = providerconfig.UnreadIn(infrastructureErrs, infrastructurePath).Silence(found)
	found = providerconfig.UnreadIn(controlPlaneErrs, controlPlanePath).Silence(found)
	found.Errors = slices.Concat(infrastructureErrs, controlPlaneErrs, found.Errors)
	return found
}

func (s *subject) infrastructureConfig() {
	if s.infrastructure != nil {
		s.Add(validation.InfrastructureConfig(s.infrastructure, s.Shoot.Spec.Networking, infrastructurePath))
	}
}

func (s *subject) controlPlaneConfig() {
	if s.controlPlane != nil {
		version := s.Shoot.Spec.Kubernetes.Version
		s.Add(validation.ControlPlaneConfig(s.controlPlane, s.networks, version, s.gates, controlPlanePath))
	}
}

// region returns the Shoot's region in the profile; nil if the profile does not have it.
func (s *subject) region() *v1beta1.Region {
	is := func(r v1beta1.Region) bool { return r.Name == s.Shoot.Spec.Region }
	if i := slices.IndexFunc(s.Profile.Regions, is); i >= 0 {
		return &s.Profile.Regions[i]
	}
	return nil
}

func readInfrastructure(shoot *v1beta1.Shoot) (*v1alpha1.InfrastructureConfig, finding.List) {
	raw := shoot.Spec.Provider.InfrastructureConfig
	return decode[v1alpha1.InfrastructureConfig](raw, "InfrastructureConfig", infrastructurePath)
}

// decode reads a config of a Shoot, as far as it can. It returns nil if there is none, or one of another kind.
func decode[C any, P interface {
	*C
	schema.ObjectKind
}](raw *runtime.RawExtension, kind string, at *field.Path) (*C, finding.List) {
	config := P(new(C))
	errs := providerconfig.Decode(raw, schema.GroupVersion(v1alpha1.GroupVersion).WithKind(kind), config, at)
	if providerconfig.UnreadIn(errs, at).Covers(at) {
		return nil, errs
	}
	return config, errs
}
