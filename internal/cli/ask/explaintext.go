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
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

func printExplanation(w io.Writer, a *Answer) {
	report.Printf(w, "%s\n", questionText(a))
	sides := PrintSupport(w, a.profile, &a.resolution)
	verdicts := a.resolution.Decision.Verdicts
	if len(verdicts) > 0 {
		report.Printf(w, "\nFlavors of %s@%s:\n", a.Image, a.Version)
	}
	for i := range verdicts {
		report.Printf(w, "  %s %s\n", letter(i), verdicts[i].Set)
		PrintOutcome(w, a.profile, &a.resolution, &verdicts[i], sides)
	}
	PrintUndeclared(w, a.profile.Vocabulary(), verdicts)
	if len(a.Comparisons) > 0 {
		report.Printf(w, "\nComparisons, in the order %s:\n", a.Order)
	}
	for _, c := range a.Comparisons {
		report.Printf(w, "  %s against %s: %s -> %s\n", letter(c.Best), letter(c.Next), c.Message, letter(c.Winner))
	}
	fmt.Fprintln(w)
	printAnswer(w, a)
	if a.OtherOrder != nil {
		report.Printf(w, "With --order=%s it would be flavor %s.\n", a.OtherOrder.Order, letter(a.OtherOrder.Flavor))
	}
	PrintRolling(w, a.RollingUpdate)
}

// PrintUndeclared writes which flavors support all values of a capability because they do not declare it. Worker capabilities are left out:
// for these, an omission has a meaning of its own.
func PrintUndeclared(w io.Writer, v *capability.Vocabulary, verdicts []imageselector.Verdict[any]) {
	workers := v.WorkerCapabilities()
	for _, c := range v.Definitions() {
		if len(c.Values) < 2 || slices.ContainsFunc(workers, func(d capability.Definition) bool { return d.Name == c.Name }) {
			continue
		}
		var silent []string
		for i := range verdicts {
			if _, declared := verdicts[i].Flavor.Supported(v)[c.Name]; !declared && len(verdicts[i].Set.Values(c.Name)) == len(c.Values) {
				silent = append(silent, letter(i))
			}
		}
		switch len(silent) {
		case 0:
		case 1:
			report.Printf(w, "  Flavor %s does not declare %s, and so supports all values.\n", silent[0], c.Name)
		default:
			report.Printf(w, "  Flavors %s do not declare %s, and so support all values.\n", words.And(silent), c.Name)
		}
	}
}

// PrintRolling lists the provider config settings whose change replaces the pool's machines, if at least one is set.
func PrintRolling(w io.Writer, settings []provider.Rolling) {
	if !slices.ContainsFunc(settings, func(r provider.Rolling) bool { return r.Value != "" }) {
		return
	}
	fmt.Fprintln(w, "\nChanging one of these settings in the pool's providerConfig replaces its machines, one after the other:")
	for _, setting := range settings {
		report.Printf(w, "  %s: %s\n", setting.Field, cmp.Or(setting.Value, "not set"))
	}
}

// PrintSupport writes the capabilities of the machine type and the requests of the worker pool. It reports whether it
// wrote them side by side, as it does if worker capabilities matter.
func PrintSupport(w io.Writer, p input.AnyProfile, r *resolve.Resolution[any]) (sides bool) {
	rows := sets(p, r)
	if rows != nil {
		report.Printf(w, "\nMost important capability and best value first:\n")
		table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		report.Printf(table, "  capability\tvalues\tmachine type %s\tworker pool asks for\n", r.Pool.MachineType)
		for _, row := range rows {
			report.Printf(table, "  %s\t%s\t%s\t%s\n", row.capability, row.values, row.machine, row.worker)
		}
		_ = table.Flush() // like all text output, ignoring write errors
	} else {
		report.Printf(w, "\nVocabulary, most important capability and best value first:\n")
		for _, def := range p.Vocabulary().Definitions() {
			report.Printf(w, "  %s: [%s]\n", def.Name, strings.Join(def.Values, ", "))
		}
		if r.Machine.String() == "{}" {
			return false
		}
		report.Printf(w, "\nMachine type %s supports:\n  %s\n", r.Pool.MachineType, r.Machine)
	}
	if omitted := p.LeftToDefault(r.Pool.MachineType); len(omitted) > 0 {
		report.Printf(w, "  The machine type does not declare %s, and so supports all values.\n", words.And(omitted))
	}
	return rows != nil
}

// setsRow describes one capability: its values, best first, and which of them the machine type supports and the worker pool requests.
type setsRow struct{ capability, values, machine, worker string }

// sets returns a row for each registered capability. It adds the worker capabilities that matter although not
// registered: declared by a flavor or the machine type, or explicitly requested by the worker pool. The result is nil
// if no worker capability is registered or matters, as in most profiles.
func sets(p input.AnyProfile, r *resolve.Resolution[any]) []setsRow {
	v := p.Vocabulary()
	var rows []setsRow
	for _, def := range v.Definitions() {
		rows = append(rows, rowOf(p, r, def.Name, def.Values))
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
			rows = append(rows, rowOf(p, r, d.Name, d.Values))
		}
	}
	if !matters {
		return nil
	}
	return rows
}

// declares reports whether a flavor or the machine type declares an unregistered capability.
func declares(r *resolve.Resolution[any], name string) bool {
	_, declared := r.Machine.Capabilities()[name]
	return declared || slices.ContainsFunc(r.Decision.Verdicts, func(v imageselector.Verdict[any]) bool {
		_, found := texts.Declared(v.Flavor.Capabilities, name)
		return found
	})
}

// rowOf describes a capability. Its values are nil for a provider's capability that is not registered. Requests that
// are ignored because the profile does not offer the capability are marked.
func rowOf(p input.AnyProfile, r *resolve.Resolution[any], name string, values []string) setsRow {
	row := setsRow{capability: name, values: strings.Join(values, ", "), machine: "unknown", worker: "-"}
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
			if p.Vocabulary().Ignores(q) {
				asks += ", which is ignored"
			}
			asked = append(asked, asks)
		}
	}
	if name == capability.Architecture && r.Pool.Architecture != "" {
		asked = append(asked, r.Pool.Architecture)
	}
	isOwn := func(d capability.Definition) bool { return d.Name == name }
	switch {
	case len(asked) > 0:
		row.worker = strings.Join(asked, "; ")
	case r.Reason == reasonWorkerConfig && slices.ContainsFunc(p.Provider().Workers().Definitions(), isOwn):
		row.worker = "not known"
	}
	return row
}

// PrintOutcome writes the verdict on a flavor. If sides is set, it adds what excludes the flavor.
func PrintOutcome(w io.Writer, p input.AnyProfile, r *resolve.Resolution[any], v *imageselector.Verdict[any], sides bool) {
	fits := "on this machine type"
	if sides {
		fits = "for this worker pool"
	}
	for _, rejection := range resolve.Rejections(v, r.Pool.Region) {
		out := "out"
		if sides {
			out = "excluded by the " + causes[rejection.By]
		}
		report.Printf(w, "      %s: it %s\n", out, rejection)
	}
	if v.Reason == "" {
		report.Printf(w, "      fits; %s: %s\n", fits, v.Effective.String()+undeclaredIn(p, r, v.Effective))
	}
}

// causes are the words, after "the", for what excludes a flavor.
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
