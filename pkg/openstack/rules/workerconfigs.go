// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
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

// checkWorkerConfigs warns about what there is to warn about in single configs. Their errors are reported by those who
// ask which image a worker pool boots.
func checkWorkerConfigs(s *subject) validation.Findings {
	var found validation.Findings
	for _, w := range s.workers {
		found.Add(validation.Findings{Warnings: validation.WorkerConfig(w.config, w.at.Child("providerConfig")).Warnings})
	}
	return found
}
