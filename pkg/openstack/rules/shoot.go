// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// Where the configs of a Shoot stand.
var (
	infrastructurePath = field.NewPath("spec", "provider", "infrastructureConfig")
	controlPlanePath   = field.NewPath("spec", "provider", "controlPlaneConfig")
	workersPath        = field.NewPath("spec", "provider", "workers")
)

// subject is a Shoot that is checked, with what could be read of its configs.
type subject struct {
	provider.ShootQuestion
	config *v1alpha1.CloudProfileConfig
	// domains are those that the Shoot may be of.
	domains        domains
	infrastructure *v1alpha1.InfrastructureConfig // nil: it could not be read at all
	controlPlane   *v1alpha1.ControlPlaneConfig
	// networks of the InfrastructureConfig; nil if a part of it could not be read.
	networks *v1alpha1.Networks
	workers  []worker
}

// worker is a worker pool.
type worker struct {
	*v1beta1.Worker
	at     *field.Path
	config *v1alpha1.WorkerConfig // never nil
	errs   finding.List           // of reading it
}

// shootChecks are what a Shoot is checked for, in this order.
var shootChecks = []func(*subject) validation.Findings{
	checkInfrastructure,
	checkControlPlane,
	checkVolumes,
	checkWorkerConfigs,
	checkServerGroups,
	checkMachineLabels,
}

// regionChecks are what it is checked for besides in a region that the profile has.
var regionChecks = []func(*subject) validation.Findings{
	checkKeystone,
	checkFloatingPool,
	checkLoadBalancerProvider,
	checkLoadBalancerClasses,
	checkZones,
}

// ValidateShoot checks a Shoot's configs, and what they may have in the profile.
func (c rules) ValidateShoot(question provider.ShootQuestion) finding.Report {
	cloud := &question.Shoot.Spec.Provider
	s := &subject{ShootQuestion: question, config: &c.config, domains: domainsOf(&c.config, question)}
	infrastructure, infrastructureErrs := decode[v1alpha1.InfrastructureConfig](cloud.InfrastructureConfig, "InfrastructureConfig", infrastructurePath)
	controlPlane, controlPlaneErrs := decode[v1alpha1.ControlPlaneConfig](cloud.ControlPlaneConfig, "ControlPlaneConfig", controlPlanePath)
	s.infrastructure, s.controlPlane = infrastructure, controlPlane
	if len(infrastructureErrs) == 0 {
		s.networks = &infrastructure.Networks
	}
	for i := range cloud.Workers {
		s.workers = append(s.workers, workerOf(&cloud.Workers[i], workersPath.Index(i)))
	}
	var found validation.Findings
	checks := shootChecks
	if s.inProfile() {
		checks = slices.Concat(shootChecks, regionChecks)
	}
	for _, check := range checks {
		found.Add(check(s))
	}
	for _, list := range []*finding.List{&found.Errors, &found.Warnings} {
		*list = provider.UnreadIn(infrastructureErrs, infrastructurePath).Without(*list)
		*list = provider.UnreadIn(controlPlaneErrs, controlPlanePath).Without(*list)
	}
	found.Errors = slices.Concat(infrastructureErrs, controlPlaneErrs, found.Errors)
	return found.Report()
}

// inProfile reports whether the profile has the Shoot's region; one without regions is taken to have every one.
func (s *subject) inProfile() bool {
	return len(s.Profile.Regions) == 0 || slices.ContainsFunc(s.Profile.Regions, func(r v1beta1.Region) bool { return r.Name == s.Shoot.Spec.Region })
}

// decode reads a config of a Shoot. It returns nil if there is none, or one of another kind; and of a part that could
// not be read what the errors leave.
func decode[C any, P interface {
	*C
	schema.ObjectKind
}](raw *runtime.RawExtension, kind string, at *field.Path) (*C, finding.List) {
	config := P(new(C))
	errs := provider.Decode(raw, schema.GroupVersion(v1alpha1.GroupVersion).WithKind(kind), config, at)
	if provider.UnreadIn(errs, at).Covers(at) {
		return nil, errs
	}
	return config, errs
}

// workerOf reads the config of a worker pool. Errors in it are reported by those who ask which image the pool boots.
func workerOf(pool *v1beta1.Worker, at *field.Path) worker {
	config, errs := decode[v1alpha1.WorkerConfig](pool.ProviderConfig, "WorkerConfig", at.Child("providerConfig"))
	if config == nil {
		config = &v1alpha1.WorkerConfig{}
	}
	return worker{pool, at, config, errs}
}

func checkInfrastructure(s *subject) validation.Findings {
	if s.infrastructure == nil {
		return validation.Findings{}
	}
	return validation.InfrastructureConfig(s.infrastructure, s.Shoot.Spec.Networking, infrastructurePath)
}

func checkControlPlane(s *subject) validation.Findings {
	if s.controlPlane == nil {
		return validation.Findings{}
	}
	return validation.ControlPlaneConfig(s.controlPlane, s.networks, s.Shoot.Spec.Kubernetes.Version, controlPlanePath)
}

// failed is what a check found that found one error.
func failed(err finding.Finding) validation.Findings {
	return validation.Findings{Errors: finding.List{err}}
}

// warned is the same for a warning.
func warned(warning finding.Finding) validation.Findings {
	return validation.Findings{Warnings: finding.List{warning}}
}
