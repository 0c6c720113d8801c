// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// checkMachineLabels checks that no machine label is a label of the worker pool as well, since machines have both.
func checkMachineLabels(s *subject) validation.Findings {
	var found validation.Findings
	for _, w := range s.workers {
		said := map[string]bool{}
		for i, label := range w.config.MachineLabels {
			if _, both := w.Labels[label.Name]; both && !said[label.Name] {
				said[label.Name] = true
				at := w.at.Child("providerConfig", "machineLabels").Index(i).Child("name")
				detail := fmt.Sprintf("machines have the labels of their worker pool as well, which has %s already; "+
					"rename or remove one of the two", label.Name)
				found.Add(failed(
					finding.New(validation.OriginEntryDuplicate, field.ErrorTypeDuplicate, at, label.Name, detail)))
			}
		}
	}
	return found
}
