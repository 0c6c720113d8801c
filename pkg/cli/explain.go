// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/imageselector"
)

// Explanation is what explain prints for one worker pool: the answer and how it came about.
type Explanation struct {
	Answer
	Reasoning
}

// Reasoning is the record of a decision.
type Reasoning struct {
	// Order is the preference order that was used.
	Order string `json:"order"`
	// Vocabulary in order of priority.
	Vocabulary []v1beta1.CapabilityDefinition `json:"vocabulary"`
	// Machine is what the machine type supports, with omissions filled in.
	Machine v1beta1.Capabilities `json:"machine"`
	// Flavors of the image version, in the order written.
	Flavors []ExplainedFlavor `json:"flavors"`
	// Comparisons that were made to find the best candidate, in order.
	Comparisons []ExplainedComparison `json:"comparisons"`
	// OtherOrder is set if the other preference order picks another flavor.
	OtherOrder *OtherOrder `json:"otherOrder,omitempty"`
}

// ExplainedFlavor is one flavor and what became of it.
type ExplainedFlavor struct {
	Capabilities v1beta1.Capabilities `json:"capabilities"`
	// Supports is Capabilities with omissions filled in.
	Supports v1beta1.Capabilities `json:"supports"`
	// Effective is what remains on the machine type; absent if that is nothing for some capability.
	Effective v1beta1.Capabilities `json:"effective,omitempty"`
	// Reason and Message say why the flavor is out; absent for a candidate.
	Reason  imageselector.Reason `json:"reason,omitempty"`
	Message string               `json:"message,omitempty"`
	Chosen  bool                 `json:"chosen"`

	supports, effective, clause string
}

// ExplainedComparison is one step on the way to the best candidate. Best and Next are indices into the flavors.
type ExplainedComparison struct {
	Best int `json:"best"`
	Next int `json:"next"`
	// Winner is one of the two; Best in a tie.
	Winner     int    `json:"winner"`
	Capability string `json:"capability,omitempty"`
	Message    string `json:"message"`
}

// OtherOrder tells what the other preference order would pick.
type OtherOrder struct {
	Order string `json:"order"`
	// Flavor is an index into the flavors.
	Flavor int `json:"flavor"`
}

func reasoning[R any](p *consistency.Profile[R], r consistency.Resolution[R]) Reasoning {
	d := &r.Decision
	e := Reasoning{
		Order: r.Pool.Order.String(), Vocabulary: p.Vocabulary().Definitions(), Machine: r.Machine.Capabilities(),
		Flavors: []ExplainedFlavor{}, Comparisons: []ExplainedComparison{},
	}
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		f := ExplainedFlavor{
			Capabilities: declared(v.Flavor.Capabilities), Supports: v.Set.Capabilities(), Reason: v.Reason,
			Chosen: i == d.Chosen, supports: v.Set.String(), clause: consistency.Rejection(d, i),
		}
		if f.clause != "" {
			f.Message = f.supports + " " + f.clause
		}
		if v.Effective != (capability.Set{}) {
			f.Effective, f.effective = v.Effective.Capabilities(), v.Effective.String()
		}
		e.Flavors = append(e.Flavors, f)
	}
	for _, c := range d.Comparisons {
		winner := c.Best
		if c.Preference.Sign > 0 {
			winner = c.Next
		}
		e.Comparisons = append(e.Comparisons, ExplainedComparison{
			Best: c.Best, Next: c.Next, Winner: winner, Capability: c.Preference.Capability, Message: decided(c.Preference),
		})
	}
	other := d.Request
	other.Order = otherOrder(other.Order)
	if chosen := p.Catalog().Choose(other); d.Chosen >= 0 && chosen != d.Chosen {
		e.OtherOrder = &OtherOrder{Order: other.Order.String(), Flavor: chosen}
	}
	return e
}

func otherOrder(order capability.Order) capability.Order {
	if order == capability.GEP33 {
		return capability.Gardener
	}
	return capability.GEP33
}

// decided puts into words what decided a comparison.
func decided(p capability.Preference) string {
	first, second := orNone(p.First), orNone(p.Second)
	switch {
	case p.Sign == 0:
		return "both support exactly the same: the first one written wins"
	case p.Round == 0:
		return fmt.Sprintf("%s: only one of them supports %s", p.Capability, p.First+p.Second)
	case p.Own:
		return fmt.Sprintf("equal on this machine type; without it, the %s preferred value of %s is %s against %s", ordinal(p.Round), p.Capability, first, second)
	}
	return fmt.Sprintf("the %s preferred value of %s is %s against %s", ordinal(p.Round), p.Capability, first, second)
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}

// ordinal is "most", "second most", "third most" and so on.
func ordinal(round int) string {
	words := []string{"most", "second most", "third most", "fourth most", "fifth most"}
	if round <= len(words) {
		return words[round-1]
	}
	return fmt.Sprintf("%d. most", round)
}

// printExplanation writes an explanation for people.
func printExplanation(w io.Writer, e Explanation) {
	fmt.Fprintln(w, question(e.Answer))
	fmt.Fprintf(w, "\nVocabulary, most important capability and best value first:\n")
	for _, def := range e.Vocabulary {
		fmt.Fprintf(w, "  %s: [%s]\n", def.Name, strings.Join(def.Values, ", "))
	}
	if len(e.Machine) > 0 {
		fmt.Fprintf(w, "\nMachine type %s supports:\n  %s\n", e.MachineType, inOrder(e.Vocabulary, e.Machine))
	}
	if len(e.Flavors) > 0 {
		fmt.Fprintf(w, "\nFlavors of %s@%s:\n", e.Image, e.Version)
	}
	for i, f := range e.Flavors {
		fmt.Fprintf(w, "  %s %s\n", letter(i), f.supports)
		if f.Reason != "" {
			fmt.Fprintf(w, "      out: it %s\n", f.clause)
			continue
		}
		fmt.Fprintf(w, "      fits; on this machine type: %s\n", f.effective)
	}
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
