// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package rules contains the rules of the OpenStack provider that are not about images. They are about the contents of a
// CloudProfileConfig, the choices of a Shoot in its profile, and the form of credentials. The package combines the checks of single
// objects in pkg/apis/openstack/validation with the look-ups in pkg/apis/openstack/lookup, and implements [provider.Validator] and the
// other interfaces of that package. Rules about images belong to package check.
//
// Start reading at shootChecks, the list of checks of a Shoot. Worker pools are in workers.go, and the choices in a region in choices.go.
// Checks of updates are in update.go, and catalogue.go describes the rules.
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

// Of returns the rules of a provider config. The caller must not modify it afterwards.
func (e Extension) Of(config *v1alpha1.CloudProfileConfig) provider.Validator {
	c := rules{*config, e.FeatureGates}
	c.config.MachineImages = nil // not needed, and the largest part
	return c
}

type rules struct {
	config v1alpha1.CloudProfileConfig
	gates  validation.FeatureGates
}

// ValidateCloudProfile checks the config except its images.
func (c rules) ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	return validation.CloudProfileConfig(&c.config, entries.RegionsOf(spec), at)
}

// NeedsScope reports whether the Shoot's region has floating pools for single domains.
func (c rules) NeedsScope(shoot *v1beta1.Shoot) bool {
	return len(lookup.Domains(c.config.Constraints.FloatingPools, shoot.Spec.Region)) > 0
}

// Extension adds the abilities that are not about images to a provider that embeds it. The zero value is ready for use.
type Extension struct {
	// FeatureGates knows the feature gates that Shoots may set for the cloud controller manager. If it is nil, they are not checked.
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

// ValidateCredentials checks the data of a Secret with OpenStack credentials. Their scope is the domain, domainName.
func (Extension) ValidateCredentials(data map[string][]byte, at *field.Path) (string, field.ErrorList) {
	return validation.Credentials(data, at)
}

// DNSType returns the type of Designate, the DNS service of OpenStack.
func (Extension) DNSType() string { return "openstack-designate" }

// ValidateDNSCredentials checks the data of a Secret with credentials for Designate.
func (Extension) ValidateDNSCredentials(data map[string][]byte, at *field.Path) field.ErrorList {
	return validation.DNSCredentials(data, at)
}

// The paths of a Shoot's configs.
var (
	infrastructurePath = field.NewPath("spec", "provider", "infrastructureConfig")
	controlPlanePath   = field.NewPath("spec", "provider", "controlPlaneConfig")
	workersPath        = field.NewPath("spec", "provider", "workers")
)

// subject is a Shoot under check, with the readable parts of its configs, and the findings of the current check.
type subject struct {
	provider.ShootQuestion
	finding.Report
	config *v1alpha1.CloudProfileConfig
	gates  validation.FeatureGates
	// domains are the possible domains of the Shoot.
	domains        domains
	infrastructure *v1alpha1.InfrastructureConfig // nil: it could not be read at all
	controlPlane   *v1alpha1.ControlPlaneConfig
	// networks of the InfrastructureConfig; nil if a part of it could not be read.
	networks *v1alpha1.Networks
	workers  []worker
}

// shootChecks are the checks of every Shoot, in order. regionChecks follow if the profile has the Shoot's region.
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

// ValidateShoot checks a Shoot's configs, and its choices in the profile.
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
	if len(s.Profile.Regions) == 0 || s.region() != nil { // a profile without regions has every region
		checks = slices.Concat(shootChecks, regionChecks)
	}
	var found finding.Report
	for _, check := range checks {
		s.Report = finding.Report{} // so that the limit of findings applies to each check
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

// region returns the Shoot's region in the profile, or nil if the profile lacks it.
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

// decode reads a config as far as possible. It returns nil if the config is missing or of another kind.
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
