// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// The names of the rules that only this cloud has.
const (
	RuleTemplate    = "acme-template-malformed"
	RuleFastNetwork = "acme-fast-network-ignored"
	RuleMachines    = "acme-too-many-machines"
	RuleMachineType = "acme-machine-type-unknown"
	RuleVolumes     = "acme-too-many-volumes"
	RuleToken       = "acme-token-missing"
)

// limits are what a CloudProfileConfig says beside its images.
type limits struct {
	machineTypes []MachineType
	maxMachines  *int32
}

// ValidateCloudProfile checks the config, which stands at the path at.
func (l limits) ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	var report finding.Report
	for i, t := range l.machineTypes {
		if !slices.ContainsFunc(spec.MachineTypes, func(core v1beta1.MachineType) bool { return core.Name == t.Name }) {
			report.Errors = append(report.Errors, finding.New(RuleMachineType, field.ErrorTypeNotFound,
				at.Child("machineTypes").Index(i).Child("name"), t.Name, "spec.machineTypes has no machine type of that name"))
		}
	}
	if l.maxMachines != nil && *l.maxMachines <= 0 {
		report.Errors = append(report.Errors, finding.New(RuleMachines, field.ErrorTypeInvalid, at.Child("maxMachines"),
			*l.maxMachines, "no Shoot could have a machine; write a number above zero, or leave it out"))
	}
	return report
}

// ValidateShoot checks a Shoot of the profile.
func (l limits) ValidateShoot(question provider.ShootQuestion) finding.Report {
	var report finding.Report
	var machines int32
	at := field.NewPath("spec", "provider", "workers")
	for i, worker := range question.Shoot.Spec.Provider.Workers {
		machines += worker.Maximum
		for _, t := range l.machineTypes {
			if n := len(worker.DataVolumes); t.Name == worker.Machine.Type && n > t.MaxVolumes {
				report.Errors = append(report.Errors, finding.New(RuleVolumes, field.ErrorTypeTooMany, at.Index(i).Child("dataVolumes"),
					n, fmt.Sprintf("a machine of type %s can have %d data volumes; remove some, or take another type", t.Name, t.MaxVolumes)))
			}
		}
	}
	if l.maxMachines != nil && machines > *l.maxMachines {
		report.Errors = append(report.Errors, finding.New(RuleMachines, field.ErrorTypeInvalid, at, machines, fmt.Sprintf(
			"the worker pools can have %d machines together, and acme allows %d; lower a maximum", machines, *l.maxMachines)))
	}
	return report
}

var (
	_ provider.RuleDescriber        = Provider{}
	_ provider.ListExtender         = Provider{}
	_ provider.CredentialsValidator = Provider{}
)

// Rules describes the rules, for the readers of SARIF and of documentation.
func (Provider) Rules() []finding.Rule {
	rules := finding.On(finding.ObjectCloudProfile,
		finding.Denies(RuleTemplate, "A template ID is not one of acme.", "Write `tpl-` and eight hexadecimal digits."),
		finding.Warns(RuleFastNetwork, "A flavor has the legacy field `fastNetwork`, which is ignored there.",
			"Remove it, and write `network` into the capabilities of the flavor."),
		finding.Denies(RuleMachineType, "The provider config is about a machine type that the profile does not have.",
			"Correct the name, or remove the entry."),
	)
	rules = append(rules, finding.On(finding.ObjectShoot,
		finding.Denies(RuleVolumes, "A worker pool has more data volumes than its machine type allows.",
			"Remove data volumes, or take another machine type."),
	)...)
	rules = append(rules, finding.On(finding.ObjectAny,
		finding.Denies(RuleMachines, "The worker pools of a Shoot can have more machines than `maxMachines` allows, or that is not above zero.",
			"Lower the `maximum` of a worker pool; in a CloudProfile, write a number above zero."),
	)...)
	return append(rules, finding.Online(finding.On(finding.ObjectSecret,
		finding.Denies(RuleToken, "The Secret of a Shoot has no token.", "Write the token under the key `token`."),
	))...)
}

// ValidateCredentials checks the data of a Secret. It never shows a value. In acme it does not matter whose they are.
func (Provider) ValidateCredentials(data map[string][]byte, at *field.Path) (scope string, errs field.ErrorList) {
	if len(data["token"]) == 0 {
		errs = field.ErrorList{field.Required(at.Key("token"), "write the token that acme gave you").WithOrigin(RuleToken)}
	}
	return "", errs
}
