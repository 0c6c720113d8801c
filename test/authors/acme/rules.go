// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// The names of the rules that only this cloud has, beside RuleTemplate.
const (
	RuleMachines = "acme-too-many-machines"
	RuleToken    = "acme-token-missing"
)

// limits are what a CloudProfileConfig says beside its images.
type limits struct{ maxMachines *int32 }

// CheckCloudProfile checks the config, which stands at the path at.
func (l limits) CheckCloudProfile(_ *v1beta1.CloudProfileSpec, at *field.Path) finding.Report {
	if l.maxMachines == nil || *l.maxMachines > 0 {
		return finding.Report{}
	}
	return finding.Report{Errors: field.ErrorList{field.Invalid(at.Child("maxMachines"), *l.maxMachines,
		"no Shoot could have a machine; write a number above zero, or leave it out").WithOrigin(RuleMachines)}}
}

// CheckShoot checks a Shoot of the profile.
func (l limits) CheckShoot(question provider.ShootQuestion) finding.Report {
	var machines int32
	for _, worker := range question.Shoot.Spec.Provider.Workers {
		machines += worker.Maximum
	}
	if l.maxMachines == nil || machines <= *l.maxMachines {
		return finding.Report{}
	}
	return finding.Report{Errors: field.ErrorList{field.Invalid(field.NewPath("spec", "provider", "workers"), machines, fmt.Sprintf(
		"the worker pools can have %d machines together, and acme allows %d; lower a maximum", machines, *l.maxMachines)).WithOrigin(RuleMachines)}}
}

// DependsOnDomain is for clouds in which it matters whose credentials a Shoot has.
func (limits) DependsOnDomain(*v1beta1.Shoot) bool { return false }

var _ consistency.Extended = Provider{}

// Rules describes the rules, for the readers of SARIF and of documentation.
func (Provider) Rules() []finding.Rule {
	return []finding.Rule{
		{Name: RuleTemplate, Severity: finding.SeverityError,
			Means: "A template ID is not one of acme.", Repair: "Write `tpl-` and eight hexadecimal digits."},
		{Name: RuleMachines, Severity: finding.SeverityError,
			Means: "The worker pools of a Shoot can have more machines than `maxMachines` allows.", Repair: "Lower the `maximum` of a worker pool."},
		{Name: RuleToken, Severity: finding.SeverityError, Online: true,
			Means: "The Secret of a Shoot has no token.", Repair: "Write the token under the key `token`."},
	}
}

// CheckShootUpdate would report what cannot be changed in a Shoot.
func (Provider) CheckShootUpdate(_, _ *v1beta1.Shoot) finding.Report { return finding.Report{} }

// CheckCredentials checks the data of a Secret. It never shows a value. Acme has no domains.
func (Provider) CheckCredentials(data map[string][]byte, at *field.Path) (domain string, errs field.ErrorList) {
	if len(data["token"]) == 0 {
		errs = field.ErrorList{field.Required(at.Key("token"), "write the token that acme gave you").WithOrigin(RuleToken)}
	}
	return "", errs
}
