// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// CheckWorker returns what is wrong with a WorkerConfig by itself, for [provider.WorkersOf].
func CheckWorker(config *v1alpha1.WorkerConfig, at *field.Path) field.ErrorList {
	return validation.WorkerConfig(config, at).Errors.Errors()
}

// Triggers are the parts of a WorkerConfig whose change replaces the machines of a worker pool, for
// [provider.WorkersOf]: its server group, and the machine labels that say so.
var Triggers = []provider.Trigger[v1alpha1.WorkerConfig]{
	{Field: "serverGroup", Value: func(config *v1alpha1.WorkerConfig) string {
		if config.ServerGroup == nil {
			return ""
		}
		return config.ServerGroup.Policy
	}},
	{Field: "machineLabels", Value: func(config *v1alpha1.WorkerConfig) string {
		var labels []string
		for _, label := range config.MachineLabels {
			if label.TriggerRollingOnUpdate != nil && *label.TriggerRollingOnUpdate {
				labels = append(labels, label.Name+"="+label.Value)
			}
		}
		slices.Sort(labels)
		return strings.Join(labels, ", ")
	}},
}

// checkZones checks that the profile has the zones of worker pools.
func checkZones(s *subject) validation.Findings {
	var found validation.Findings
	region := slices.IndexFunc(s.Profile.Regions, func(r v1beta1.Region) bool { return r.Name == s.Shoot.Spec.Region })
	if region < 0 {
		return found // a profile without regions
	}
	var has []string
	for _, zone := range s.Profile.Regions[region].Zones {
		has = append(has, zone.Name)
	}
	place := "in region " + s.Shoot.Spec.Region
	for _, w := range s.workers {
		if found.Full() {
			break
		}
		at := w.at.Child("zones")
		if len(w.Zones) == 0 {
			found.Add(failed(notAmong(RuleZone, at, "", has, "zone", place)))
		}
		for i, zone := range w.Zones {
			if found.Full() {
				break
			}
			if !slices.Contains(has, zone) {
				found.Add(failed(notAmong(RuleZone, at.Index(i), zone, has, "zone", place)))
			} else if first := slices.Index(w.Zones, zone); first < i {
				found.Add(failed(finding.New(validation.OriginEntryDuplicate, field.ErrorTypeDuplicate, at.Index(i), zone, fmt.Sprintf("%s is zone %s already; remove one of the two", at.Index(first), zone))))
			}
		}
	}
	return found
}

// checkVolumes checks that the profile has the volume types of worker pools, if it has any.
func checkVolumes(s *subject) validation.Findings {
	var found validation.Findings
	var has []string
	for _, volumeType := range s.Profile.VolumeTypes {
		has = append(has, volumeType.Name)
	}
	check := func(name *string, at *field.Path) {
		if name != nil && len(has) > 0 && !slices.Contains(has, *name) && !found.Full() {
			found.Add(failed(validation.NotAmong(RuleVolumeType, at.Child("type"), *name, has, fmt.Sprintf("the profile has no volume type %s", orEmpty(*name)))))
		}
	}
	for _, w := range s.workers {
		if w.Volume != nil {
			check(w.Volume.Type, w.at.Child("volume"))
		}
		for i := range w.DataVolumes {
			check(w.DataVolumes[i].Type, w.at.Child("dataVolumes").Index(i))
		}
	}
	return found
}

// checkWorkerConfigs warns about what there is to warn about in single configs. Their errors are reported by those who ask
// which image a worker pool boots.
func checkWorkerConfigs(s *subject) validation.Findings {
	var found validation.Findings
	for _, w := range s.workers {
		found.Warnings = append(found.Warnings, validation.WorkerConfig(w.config, w.at.Child("providerConfig")).Warnings...)
	}
	return found
}

// affinity is the policy of server groups whose machines are all on one host.
const affinity = "affinity"

// checkServerGroups checks whether worker pools may have their server groups.
func checkServerGroups(s *subject) validation.Findings {
	var found validation.Findings
	for _, w := range s.workers {
		errs := w.serverGroup(validation.Choices(s.config.ServerGroupPolicies))
		found.Errors = append(found.Errors, provider.UnreadIn(w.errs, w.at.Child("providerConfig")).Without(errs)...)
	}
	return found
}

// serverGroup says what is wrong with the server group of a worker pool, in a profile that has some policies; nil if nothing is,
// or there is no server group.
func (w *worker) serverGroup(has []string) finding.List {
	group, at := w.config.ServerGroup, w.at.Child("providerConfig", "serverGroup", "policy")
	switch {
	case group == nil:
	case len(has) == 0:
		return finding.List{finding.New(RuleServerGroup, field.ErrorTypeNotSupported, at, group.Policy, "the profile has no serverGroupPolicies, so that no worker pool can have a server group; remove serverGroup")}
	case strings.TrimSpace(group.Policy) == "":
		return finding.List{validation.NotAmong(validation.OriginSettingMissing, at, "", has, "write a policy of the profile, or remove serverGroup")}
	case !slices.Contains(has, group.Policy):
		return finding.List{validation.NotAmong(RuleServerGroup, at, group.Policy, has, fmt.Sprintf("the profile has no server group policy %s", group.Policy))}
	case group.Policy == affinity && len(w.Zones) > 1:
		return finding.List{finding.New(RuleServerGroup, field.ErrorTypeForbidden, at, group.Policy, fmt.Sprintf(
			"machines with policy affinity are all on one host, which cannot be in several zones (%s); keep one zone, or choose another policy, such as soft-affinity if the profile has it", few(w.Zones)))}
	}
	return nil
}

// checkMachineLabels checks that no machine label is a label of the worker pool as well, since machines have both.
func checkMachineLabels(s *subject) validation.Findings {
	var found validation.Findings
	for _, w := range s.workers {
		said := map[string]bool{}
		for i, label := range w.config.MachineLabels {
			if _, both := w.Labels[label.Name]; both && !said[label.Name] {
				said[label.Name] = true
				found.Add(failed(finding.New(validation.OriginEntryDuplicate, field.ErrorTypeDuplicate, w.at.Child("providerConfig", "machineLabels").Index(i).Child("name"), label.Name,
					fmt.Sprintf("machines have the labels of their worker pool as well, which has %s already; rename or remove one of the two", label.Name))))
			}
		}
	}
	return found
}
