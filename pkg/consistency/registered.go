// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

// checkWorkerCapabilities checks how the profile registers worker capabilities: with values that they have, and with one
// that worker pools ask for.
func (p *Profile[R]) checkWorkerCapabilities() Report {
	var report Report
	definitions := map[string]capability.Definition{}
	for _, d := range p.vocabulary.WorkerCapabilities() {
		definitions[d.Name] = d
	}
	for i, def := range p.spec.MachineCapabilities {
		if d, found := definitions[def.Name]; found {
			delete(definitions, def.Name) // of two the first counts
			report.merge(p.checkWorkerCapability(&d, def.Values, p.at.Child("machineCapabilities").Index(i).Child("values")))
		}
	}
	return report
}

// checkWorkerCapability checks the values with which a worker capability is registered.
func (p *Profile[R]) checkWorkerCapability(d *capability.Definition, values []string, at *field.Path) Report {
	var report Report
	rule, asked := RuleWorkerValueUnknown, p.ordinarilyAsked(d.Name)
	if asked == nil {
		asked = p.provider.Workers().askedOf(d.Name)
	}
	if strings.HasPrefix(d.Name, capability.ReservedPrefix) {
		rule = capability.RuleReservedValue
	}
	for i, value := range values {
		if !slices.Contains(d.Values, value) {
			report.Errors = append(report.Errors, finding(rule, field.ErrorTypeNotSupported, at.Index(i), value, fmt.Sprintf(
				"worker capability %s has the values [%s]; nothing ever asks for %q", d.Name, strings.Join(d.Values, ", "), value)))
		}
	}
	if len(asked) > 0 && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(asked, v) }) {
		report.Warnings = append(report.Warnings, finding(RuleWorkerValueUnasked, field.ErrorTypeInvalid, at, strings.Join(values, ", "), fmt.Sprintf(
			"worker pools ask for %s [%s], and none of that is registered, so they are refused; register it as well",
			d.Name, strings.Join(asked, ", "))))
	}
	return report
}

// ordinarilyAsked returns the values of a capability that a worker pool asks for which says nothing; nil if there are none.
func (p *Profile[R]) ordinarilyAsked(name string) []string {
	for _, q := range p.askedBy(Pool{}).requirements {
		if q.Capability == name {
			return q.Values
		}
	}
	return nil
}

// askedOf returns the values of a capability that settings ask for, sorted.
func (w Workers) askedOf(name string) []string {
	var asked []string
	for _, s := range w.settings {
		if s.Capability == name {
			asked = append(asked, s.Values...)
		}
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}
