// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
)

// setsRow is what is to be said of one capability: its values, best first, those that the machine type supports, and what
// the worker pool asks for.
type setsRow struct{ capability, values, machine, worker string }

// sets returns a row for each capability that is registered, and for each other one that matters: a flavor or the machine
// type declares it, or the worker pool asks for it other than by implication. It returns nil if no worker capability is
// registered or matters, as in most profiles.
func sets[R any](p *consistency.Profile[R], r *consistency.Resolution[R]) []setsRow {
	v := p.Vocabulary()
	var rows []setsRow
	for _, def := range v.Definitions() {
		rows = append(rows, rowOf(r, def.Name, def.Values))
	}
	matters := false
	for _, d := range v.WorkerCapabilities() {
		switch {
		case v.IsRegistered(d.Name):
			matters = true
		case declares(r, d.Name) || asksFor(r, d.Name):
			matters = true
			if !strings.HasPrefix(d.Name, capability.ReservedPrefix) {
				d.Values = nil
			}
			rows = append(rows, rowOf(r, d.Name, d.Values))
		}
	}
	if !matters {
		return nil
	}
	return rows
}

// declares tells whether a flavor or the machine type declares a capability that is not registered.
func declares[R any](r *consistency.Resolution[R], name string) bool {
	_, declared := r.Machine.Capabilities()[name]
	for i := range r.Decision.Verdicts {
		_, found := r.Decision.Verdicts[i].Flavor.Capabilities[name]
		declared = declared || found
	}
	return declared
}

// asksFor tells whether the worker pool asks for a capability, other than by implication.
func asksFor[R any](r *consistency.Resolution[R], name string) bool {
	return slices.ContainsFunc(r.Requirements, func(q capability.Requirement) bool { return q.Capability == name && !q.Implied })
}

// rowOf describes a capability. It has no values if it is a capability of the provider that is not registered.
func rowOf[R any](r *consistency.Resolution[R], name string, values []string) setsRow {
	row := setsRow{capability: name, values: strings.Join(values, ", "), machine: "unknown"}
	switch supported := r.Machine.Values(name); {
	case values == nil:
		row.values, row.machine = "not registered", "-"
	case r.Machine == (capability.Set{}):
	case len(supported) == 0:
		row.machine = "nothing"
	default:
		row.machine = strings.Join(supported, ", ")
	}
	var asked []string
	for _, q := range r.Requirements {
		if q.Capability == name {
			asked = append(asked, fmt.Sprintf("%s (%s)", strings.Join(q.Values, ", "), q.Setting))
		}
	}
	if name == capability.Architecture && r.Pool.Architecture != "" {
		asked = append(asked, r.Pool.Architecture)
	}
	if row.worker = strings.Join(asked, "; "); row.worker == "" {
		row.worker = "-"
	}
	return row
}

// printSets writes what decides, side by side.
func printSets(w io.Writer, e Explanation) {
	fmt.Fprintf(w, "\nMost important capability and best value first:\n")
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "  capability\tvalues\tmachine type %s\tworker pool asks for\n", e.MachineType)
	for _, row := range e.sets {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", row.capability, row.values, row.machine, row.worker)
	}
	_ = table.Flush() // as with all text: what cannot be written is lost
}
