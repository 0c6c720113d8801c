// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

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

// serverGroup says what is wrong with the server group of a worker pool, in a profile that has some policies; nil if
// nothing is, or there is no server group.
func (w *worker) serverGroup(has []string) finding.List {
	group, at := w.config.ServerGroup, w.at.Child("providerConfig", "serverGroup", "policy")
	switch {
	case group == nil:
	case len(has) == 0:
		return finding.List{finding.New(RuleServerGroup, field.ErrorTypeNotSupported, at, group.Policy,
			"the profile has no serverGroupPolicies, so that no worker pool can have a server group; remove serverGroup")}
	case strings.TrimSpace(group.Policy) == "":
		return finding.List{validation.NotAmong(validation.OriginSettingMissing, at, "", has,
			"write a policy of the profile, or remove serverGroup")}
	case !slices.Contains(has, group.Policy):
		return finding.List{validation.NotAmong(RuleServerGroup, at, group.Policy, has,
			fmt.Sprintf("the profile has no server group policy %s", group.Policy))}
	case group.Policy == affinity && len(w.Zones) > 1:
		return finding.List{finding.New(RuleServerGroup, field.ErrorTypeForbidden, at, group.Policy, fmt.Sprintf(
			"machines with policy affinity are all on one host, which cannot be in several zones (%s); "+
				"keep one zone, or choose another policy, such as soft-affinity if the profile has it", few(w.Zones)))}
	}
	return nil
}
