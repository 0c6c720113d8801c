// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"encoding/json"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// ownSettings are the fields of a WorkerConfig that provider-openstack does not have.
var ownSettings = []string{"trustedLaunch"}

// OwnSettings returns an error for each worker pool setting that provider-openstack does not know. Its worker controller decodes a
// WorkerConfig strictly, even in a deletion. With any value in the field, even null, it could no longer reconcile or delete the Shoot.
func (Extension) OwnSettings(shoot *v1beta1.Shoot) finding.List {
	var report finding.Report
	for i := range shoot.Spec.Provider.Workers {
		pool := &shoot.Spec.Provider.Workers[i]
		var config map[string]json.RawMessage
		if !providerconfig.HasContent(pool.ProviderConfig) || json.Unmarshal(pool.ProviderConfig.Raw, &config) != nil {
			continue
		}
		for _, name := range ownSettings {
			if value, has := config[name]; has {
				report.Found(ruleOwnSetting, field.ErrorTypeForbidden, workersPath.Index(i).Child("providerConfig", name), string(value),
					"worker pool %s: %s is read by the worker controller of capkit only, and this landscape has another one, which could neither "+
						"reconcile nor delete the Shoot; remove it", pool.Name, name)
			}
		}
	}
	return report.Errors
}
