// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

// printExplanation writes an explanation for people.
func printExplanation(w io.Writer, e Explanation) {
	fmt.Fprintln(w, question(e.Answer))
	if e.sets != nil {
		printSets(w, e)
	} else {
		printMachine(w, e)
	}
	printFlavors(w, e)
	if len(e.Comparisons) > 0 {
		fmt.Fprintf(w, "\nComparisons, in the order %s:\n", e.Order)
	}
	for _, c := range e.Comparisons {
		fmt.Fprintf(w, "  %s against %s: %s -> %s\n", letter(c.Best), letter(c.Next), c.Message, letter(c.Winner))
	}
	fmt.Fprintln(w)
	printAnswer(w, e.Answer)
	if e.OtherOrder != nil {
		fmt.Fprintf(w, "With --order=%s it would be flavor %s.\n", e.OtherOrder.Order, letter(e.OtherOrder.Flavor))
	}
	printRollingUpdate(w, e.RollingUpdate)
}

// printRollingUpdate writes which parts of the providerConfig may be changed at the price of new machines.
func printRollingUpdate(w io.Writer, parts []provider.Rolling) {
	if len(parts) == 0 {
		return
	}
	words := make([]string, 0, len(parts))
	for _, part := range parts {
		words = append(words, fmt.Sprintf("%s (%s)", part.Field, cmp.Or(part.Value, "none")))
	}
	fmt.Fprintf(w, "\nIn its providerConfig, a change of %s replaces the pool's machines, one after the other.\n", oneOf(words))
}

// printMachine writes what decides if worker capabilities do not matter.
func printMachine(w io.Writer, e Explanation) {
	fmt.Fprintf(w, "\nVocabulary, most important capability and best value first:\n")
	for _, def := range e.Vocabulary {
		fmt.Fprintf(w, "  %s: [%s]\n", def.Name, strings.Join(def.Values, ", "))
	}
	if len(e.Machine) > 0 {
		fmt.Fprintf(w, "\nMachine type %s supports:\n  %s\n", e.MachineType, inOrder(e.Vocabulary, e.Machine))
	}
}

// printFlavors writes what became of the flavors. Where worker capabilities matter it says first what each does not go with.
func printFlavors(w io.Writer, e Explanation) {
	fits, out := "fits; on this machine type", func(exclusion) string { return "out" }
	if e.sets != nil {
		fits, out = "fits; for this worker pool", func(x exclusion) string { return "out by the " + x.by.words() }
	}
	if len(e.Flavors) > 0 {
		fmt.Fprintf(w, "\nFlavors of %s@%s:\n", e.Image, e.Version)
	}
	for i, f := range e.Flavors {
		fmt.Fprintf(w, "  %s %s\n", letter(i), f.supports)
		for _, x := range f.exclusions {
			fmt.Fprintf(w, "      %s: it %s\n", out(x), x.clause)
		}
		if f.Reason == "" {
			fmt.Fprintf(w, "      %s: %s\n", fits, f.effective)
		}
	}
}

// words is how people read an excluder, after "the".
func (e Excluder) words() string {
	switch e {
	case excludedByMachine:
		return "machine type"
	case excludedByWorker:
		return "worker pool"
	case excludedByBoth:
		return "machine type and worker pool together"
	}
	return "region"
}

func inOrder(vocabulary []v1beta1.CapabilityDefinition, c v1beta1.Capabilities) string {
	v, _ := capability.Compile(vocabulary, nil)
	return v.Format(c)
}

// letter names the flavors A, B, …, Z, 27, 28, …
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprint(i + 1)
}
