// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// CheckWorker returns the errors of a WorkerConfig by itself, for [provider.WorkersOf].
func CheckWorker(config *v1alpha1.WorkerConfig, at *field.Path) field.ErrorList {
	return validation.WorkerConfig(config, at).Errors.Errors()
}

// Triggers are the parts of a WorkerConfig whose change replaces the machines of a worker pool, for [provider.WorkersOf]. They are the
// server group, machine labels with triggerRollingOnUpdate, security groups in any order, and trusted launch, which existing machines
// would not get.
var Triggers = []provider.Trigger[v1alpha1.WorkerConfig]{
	{Field: "serverGroup", Value: func(config *v1alpha1.WorkerConfig) string {
		return ptr.Deref(config.ServerGroup, v1alpha1.ServerGroup{}).Policy
	}},
	{Field: "machineLabels", Value: func(config *v1alpha1.WorkerConfig) string {
		var labels []string
		for _, label := range config.MachineLabels {
			if ptr.Deref(label.TriggerRollingOnUpdate, false) {
				labels = append(labels, label.Name+"="+label.Value)
			}
		}
		slices.Sort(labels)
		return strings.Join(labels, ", ")
	}},
	{Field: "additionalSecurityGroups", Value: func(config *v1alpha1.WorkerConfig) string {
		return strings.Join(slices.Sorted(slices.Values(config.AdditionalSecurityGroups)), ", ")
	}},
	{Field: "trustedLaunch", Value: func(config *v1alpha1.WorkerConfig) string {
		if config.TrustedLaunch == nil || !config.TrustedLaunch.Enabled {
			return ""
		}
		return "enabled"
	}},
}

// worker is a worker pool with its config.
type worker struct {
	*v1beta1.Worker
	at     *field.Path
	config *v1alpha1.WorkerConfig // never nil
	errs   finding.List           // from reading it
}

// workerOf reads the config of a worker pool. Its errors are reported elsewhere, with the pool's image.
func workerOf(pool *v1beta1.Worker, at *field.Path) worker {
	config, errs := decode[v1alpha1.WorkerConfig](pool.ProviderConfig, "WorkerConfig", at.Child("providerConfig"))
	if config == nil {
		config = &v1alpha1.WorkerConfig{}
	}
	return worker{pool, at, config, errs}
}

// volumes checks that the profile has the worker pools' volume types, and names those that new pools in their zones can have. A profile
// without volume types is not checked.
func (s *subject) volumes() {
	lacks := gardenerrules.InRegion(s.Profile, s.Shoot.Spec.Region)
	for _, w := range s.workers {
		offered := sync.OnceValue(func() []string { return lacks.VolumeTypes(s.Profile, w.Zones) })
		check := func(name *string, at *field.Path) {
			has := func(t v1beta1.VolumeType) bool { return t.Name == *name }
			if name != nil && len(s.Profile.VolumeTypes) > 0 && !slices.ContainsFunc(s.Profile.VolumeTypes, has) && !s.LeavesOut() {
				validation.NotAmong(&s.Report, ruleVolumeType, at.Child("type"), *name, offered(),
					"the profile has no volume type "+words.Quoted(*name)+forPool(w))
			}
		}
		if w.Volume != nil {
			check(w.Volume.Type, w.at.Child("volume"))
		}
		for i := range w.DataVolumes {
			check(w.DataVolumes[i].Type, w.at.Child("dataVolumes").Index(i))
		}
	}
}

// forPool names the worker pool in a message.
func forPool(w worker) string { return " for worker pool " + w.Name }

// workerConfigs adds the warnings about single configs. Their errors are reported elsewhere, with the pool's image.
func (s *subject) workerConfigs() {
	for _, w := range s.workers {
		s.Add(finding.Report{Warnings: validation.WorkerConfig(w.config, w.at.Child("providerConfig")).Warnings})
	}
}

func (s *subject) serverGroups() {
	has := validation.Choices(s.config.ServerGroupPolicies)
	for _, w := range s.workers {
		if w.config.ServerGroup != nil {
			found := w.serverGroup(w.config.ServerGroup.Policy, has)
			s.Add(providerconfig.UnreadIn(w.errs, w.at.Child("providerConfig")).Silence(found))
		}
	}
}

// affinity is the policy of server groups that place all machines on one host.
const affinity = "affinity"

// serverGroup checks the policy of a worker pool's server group against those of the profile.
func (w *worker) serverGroup(policy string, has []string) (found finding.Report) {
	at := w.at.Child("providerConfig", "serverGroup", "policy")
	switch {
	case len(has) == 0:
		found.Found(ruleServerGroup, field.ErrorTypeNotSupported, at, policy,
			"the profile has no serverGroupPolicies, so that no worker pool can have a server group; remove serverGroup")
	case strings.TrimSpace(policy) == "":
		validation.NotAmong(&found, validation.RuleSettingMissing, at, "", has,
			"write a policy of the profile, or remove serverGroup")
	case misspelt(policy, has) != "":
		found.Found(ruleServerGroup, field.ErrorTypeNotSupported, at, policy,
			"the profile has policy %s by a wrong name only, %q; have its operator correct that in serverGroupPolicies", policy, misspelt(policy, has))
	case !slices.Contains(has, policy):
		validation.NotAmong(&found, ruleServerGroup, at, policy, has, "the profile has no server group policy "+policy)
	case policy == affinity && len(w.Zones) > 1:
		found.Found(ruleServerGroup, field.ErrorTypeForbidden, at, policy,
			"machines with policy affinity are all on one host, which cannot be in several zones (%s); "+
				"keep one zone, or choose another policy, such as soft-affinity if the profile has it", words.Few(w.Zones))
	}
	return found
}

// misspelt returns the policy in a profile that is probably a misspelling of a Nova policy. It returns "" if the profile has the policy
// itself, or none like it.
func misspelt(policy string, has []string) string {
	if slices.Contains(has, policy) || !slices.Contains(validation.ServerGroupPolicies, policy) {
		return ""
	}
	i := slices.IndexFunc(has, func(h string) bool {
		return !slices.Contains(validation.ServerGroupPolicies, h) && words.Closest(h, validation.ServerGroupPolicies) == policy
	})
	if i < 0 {
		return ""
	}
	return has[i]
}

// machineLabels checks that no machine label is also a label of the worker pool, because machines get both.
func (s *subject) machineLabels() {
	for _, w := range s.workers {
		said := map[string]bool{}
		for i, label := range w.config.MachineLabels {
			if _, both := w.Labels[label.Name]; both && !said[label.Name] {
				said[label.Name] = true
				at := w.at.Child("providerConfig", "machineLabels").Index(i).Child("name")
				s.Found(validation.RuleEntryDuplicate, field.ErrorTypeDuplicate, at, label.Name,
					"machines have the labels of their worker pool as well, which has %s already; "+
						"rename or remove one of the two", label.Name)
			}
		}
	}
}

// zones checks that the profile has the worker pools' zones. It needs the Shoot's region in the profile.
func (s *subject) zones() {
	region := s.region()
	if region == nil {
		return
	}
	var has []string
	for _, zone := range region.Zones {
		has = append(has, zone.Name)
	}
	for _, w := range s.workers {
		if len(w.Zones) == 0 && !s.LeavesOut() {
			s.notAmong(ruleZone, w.at.Child("zones"), "", has, "zone", s.inRegion()+forPool(w))
		}
		for i, zone := range w.Zones {
			if s.LeavesOut() {
				return
			}
			at, first := w.at.Child("zones"), slices.Index(w.Zones, zone)
			switch {
			case !slices.Contains(has, zone):
				s.notAmong(ruleZone, at.Index(i), zone, has, "zone", s.inRegion()+forPool(w))
			case first < i:
				s.Found(validation.RuleEntryDuplicate, field.ErrorTypeDuplicate, at.Index(i), zone,
					"%s is zone %s already; remove one of the two", at.Index(first), zone)
			}
		}
	}
}
