// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ask

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

func printExplanation(w io.Writer, e Answer) {
	report.Printf(w, "%s\n", questionText(e))
	PrintSupport(w, e)
	printFlavors(w, e)
	if len(e.Comparisons) > 0 {
		report.Printf(w, "\nComparisons, in the order %s:\n", e.Order)
	}
	for _, c := range e.Comparisons {
		report.Printf(w, "  %s against %s: %s -> %s\n", letter(c.Best), letter(c.Next), c.Message, letter(c.Winner))
	}
	fmt.Fprintln(w)
	printAnswer(w, e)
	if e.OtherOrder != nil {
		report.Printf(w, "With --order=%s it would be flavor %s.\n", e.OtherOrder.Order, letter(e.OtherOrder.Flavor))
	}
	printRolling(w, e)
}

// printRolling writes which settings of the providerConfig replace the pool's machines when they change, if the pool has any.
func printRolling(w io.Writer, e Answer) {
	if !slices.ContainsFunc(e.RollingUpdate, func(r provider.Rolling) bool { return r.Value != "" }) {
		return
	}
	fmt.Fprintln(w, "\nChanging one of these settings in the pool's providerConfig replaces its machines, one after the other:")
	for _, setting := range e.RollingUpdate {
		report.Printf(w, "  %s: %s\n", setting.Field, cmp.Or(setting.Value, "not set"))
	}
}

// PrintSupport writes what machine type and worker pool say.
func PrintSupport(w io.Writer, e Answer) {
	if e.Sets != nil {
		printSets(w, e)
	} else {
		printMachine(w, e)
	}
}

// printMachine writes what decides if worker capabilities do not matter.
func printMachine(w io.Writer, e Answer) {
	report.Printf(w, "\nVocabulary, most important capability and best value first:\n")
	for _, def := range e.Vocabulary {
		report.Printf(w, "  %s: [%s]\n", def.Name, strings.Join(def.Values, ", "))
	}
	if len(e.Machine) > 0 {
		report.Printf(w, "\nMachine type %s supports:\n  %s\n", e.MachineType, e.format(e.Machine))
		printLeftToDefault(w, e)
	}
}

// printLeftToDefault says what the machine type supports without declaring it.
func printLeftToDefault(w io.Writer, e Answer) {
	if len(e.LeftToDefault) > 0 {
		report.Printf(w, "  The machine type does not declare %s, and so supports all values.\n", words.And(e.LeftToDefault))
	}
}

// setsRow is what is to be said of one capability: its values, best first, and which of them have and ask for it.
type setsRow struct{ capability, values, machine, worker string }

// sets returns a row for each capability that is registered, and for each other one that matters: a flavor or the
// machine type declares it, or the worker pool asks for it other than by implication. It returns nil if no worker
// capability is registered or matters, as in most profiles.
func sets(p input.AnyProfile, r *resolve.Resolution[any]) []setsRow {
	v := p.Vocabulary()
	var rows []setsRow
	for _, def := range v.Definitions() {
		rows = append(rows, rowOf(v, r, def.Name, def.Values))
	}
	matters := false
	for _, d := range v.WorkerCapabilities() {
		switch {
		case v.IsRegistered(d.Name):
			matters = true
		case declares(r, d.Name) || requires(r, d.Name, false):
			matters = true
			if !strings.HasPrefix(d.Name, capability.ReservedPrefix) {
				d.Values = nil
			}
			rows = append(rows, rowOf(v, r, d.Name, d.Values))
		}
	}
	if !matters {
		return nil
	}
	return rows
}

// declares reports whether a flavor or the machine type declares a capability that is not registered.
func declares(r *resolve.Resolution[any], name string) bool {
	_, declared := r.Machine.Capabilities()[name]
	return declared || slices.ContainsFunc(r.Decision.Verdicts, func(v imageselector.Verdict[any]) bool {
		_, found := v.Flavor.Capabilities[name]
		return found
	})
}

// rowOf describes a capability. It has no values if it is a capability of the provider that is not registered. What the worker
// pool asks for in vain, because the profile does not offer it, is marked.
func rowOf(v *capability.Vocabulary, r *resolve.Resolution[any], name string, values []string) setsRow {
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
			asks := fmt.Sprintf("%s (%s)", strings.Join(q.Values, ", "), q.Setting)
			if v.Ignores(q) {
				asks += ", which counts for nothing"
			}
			asked = append(asked, asks)
		}
	}
	if name == capability.Architecture && r.Pool.Architecture != "" {
		asked = append(asked, r.Pool.Architecture)
	}
	row.worker = cmp.Or(strings.Join(asked, "; "), "-")
	return row
}

func printSets(w io.Writer, e Answer) {
	report.Printf(w, "\nMost important capability and best value first:\n")
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	report.Printf(table, "  capability\tvalues\tmachine type %s\tworker pool asks for\n", e.MachineType)
	for _, row := range e.Sets {
		report.Printf(table, "  %s\t%s\t%s\t%s\n", row.capability, row.values, row.machine, row.worker)
	}
	_ = table.Flush() // as with all text: what cannot be written is lost
	printLeftToDefault(w, e)
}

// printFlavors writes what became of the flavors, and where worker capabilities matter, what each does not go with.
func printFlavors(w io.Writer, e Answer) {
	if len(e.Flavors) > 0 {
		report.Printf(w, "\nFlavors of %s@%s:\n", e.Image, e.Version)
	}
	for i, f := range e.Flavors {
		report.Printf(w, "  %s %s\n", letter(i), e.format(f.Supports))
		PrintOutcome(w, e, f)
	}
}

// PrintOutcome writes what became of a flavor.
func PrintOutcome(w io.Writer, e Answer, f explainedFlavor) {
	fits, out := "fits; on this machine type", func(resolve.Rejection) string { return "out" }
	if e.Sets != nil {
		fits, out = "fits; for this worker pool", func(r resolve.Rejection) string { return "out by the " + causes[r.By] }
	}
	for _, r := range f.Rejections {
		report.Printf(w, "      %s: it %s\n", out(r), r)
	}
	if f.Reason == "" {
		report.Printf(w, "      %s: %s\n", fits, e.format(f.Effective)+f.undeclared)
	}
}

// causes are how people read what a flavor does not go with, after "the".
var causes = map[capability.Cause]string{
	capability.CauseMachine: "machine type",
	capability.CauseWorker:  "worker pool",
	capability.CauseBoth:    "machine type and worker pool together",
	resolve.ByRegion:        "region",
}

// letter names the flavors A, B, …, Z, 27, 28, …
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprint(i + 1)
}
