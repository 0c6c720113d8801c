// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// explain returns the command of this name.
func (c *command) explain() *cobra.Command {
	var output string
	var flags poolFlags
	cmd := &cobra.Command{
		Use:   "explain FILE...",
		Short: "Show why a worker pool boots the image that it boots, or none",
		Long: `Takes what select takes and shows how the choice is made: the vocabulary, what the machine type supports and the worker
pool asks for, what becomes of every flavor of the image version, and the comparisons that decide; then what in the pool's
providerConfig can only be changed at the price of new machines. Whether the profile allows these is not looked at here: lint
checks that, in a Shoot.`,
		Example: "  capkit explain --image ubuntu --version 1.0.0 --machine-type general-medium --region local cloudprofile.yaml\n" +
			"  capkit explain --image ubuntu --version 1.0.0 --machine-type general-medium --region local " +
			"--secure-boot --update-strategy AutoInPlaceUpdate cloudprofile.yaml",
		Args: needFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.answer(args, flags, output, func(answers []Answer, one bool) (any, func(io.Writer)) {
				explanations := make([]Explanation, 0, len(answers))
				for _, a := range answers {
					explanations = append(explanations, Explanation{Answer: a, Reasoning: a.reasoning})
				}
				return wrap(explanations, one), func(w io.Writer) {
					for i, e := range explanations {
						if i > 0 {
							fmt.Fprintln(w)
						}
						printExplanation(w, e)
					}
				}
			})
		},
	}
	questionFlags(cmd, &flags, &output)
	return cmd
}

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
	// Worker is what the worker pool asks for, what it implies included; nothing of a capability that it does not ask
	// for.
	Worker v1beta1.Capabilities `json:"worker"`
	// Flavors of the image version, in the order written.
	Flavors []explainedFlavor `json:"flavors"`
	// Comparisons that were made to find the best candidate, in order.
	Comparisons []explainedComparison `json:"comparisons"`
	// OtherOrder is set if the other preference order picks another flavor.
	OtherOrder *otherChoice `json:"otherOrder,omitempty"`
	// RollingUpdate are the parts of the worker pool's providerConfig whose change replaces its machines, with what
	// they are now, empty if they are not there. It is absent if the provider has none, if the providerConfig has
	// errors, and for a question by flags without a providerConfig.
	RollingUpdate []provider.Rolling `json:"rollingUpdate,omitempty"`

	// sets show machine type and worker pool side by side; nil if there is nothing to say about worker capabilities.
	sets []setsRow
}

// explainedFlavor is one flavor and what became of it.
type explainedFlavor struct {
	Capabilities v1beta1.Capabilities `json:"capabilities"`
	// Supports is Capabilities with omissions filled in.
	Supports v1beta1.Capabilities `json:"supports"`
	// Effective is what remains on the machine type; absent if that is nothing for some capability.
	Effective v1beta1.Capabilities `json:"effective,omitempty"`
	// Reason and Message say why the flavor is out; absent for a candidate.
	Reason  imageselector.Reason `json:"reason,omitempty"`
	Message string               `json:"message,omitempty"`
	// ExcludedBy is as in [Rejected].
	ExcludedBy Excluder `json:"excludedBy,omitempty"`
	Chosen     bool     `json:"chosen"`

	supports, effective string
	// exclusions are the reasons why it is out, one for each that it does not go with. The first is that of Message.
	exclusions []exclusion
}

// exclusion is a reason why a flavor is out, as a clause with the flavor as its subject.
type exclusion struct {
	by     Excluder
	clause string
}

// explainedComparison is one step on the way to the best candidate. Best and Next are indices into the flavors.
type explainedComparison struct {
	Best int `json:"best"`
	Next int `json:"next"`
	// Winner is one of the two; Best in a tie.
	Winner     int    `json:"winner"`
	Capability string `json:"capability,omitempty"`
	Message    string `json:"message"`
}

// otherChoice is what the other preference order would pick.
type otherChoice struct {
	Order string `json:"order"`
	// Flavor is an index into the flavors.
	Flavor int `json:"flavor"`
}

// reasoning turns a resolution into the record of its decision.
func reasoning[R any](p *consistency.Profile[R], r consistency.Resolution[R]) Reasoning {
	d := &r.Decision
	e := Reasoning{
		Order: r.Pool.Order.String(), Vocabulary: p.Vocabulary().Definitions(), Machine: r.Machine.Capabilities(),
		Worker: asked(p.Vocabulary(), r.Requirements), sets: sets(p, &r),
		Flavors: []explainedFlavor{}, Comparisons: []explainedComparison{},
	}
	for i := range d.Verdicts {
		e.Flavors = append(e.Flavors, explained(p, &r, i))
	}
	for _, c := range d.Comparisons {
		winner := c.Best
		if c.Preference.Sign > 0 {
			winner = c.Next
		}
		e.Comparisons = append(e.Comparisons, explainedComparison{
			Best: c.Best, Next: c.Next, Winner: winner,
			Capability: c.Preference.Capability, Message: decided(c.Preference, letter(winner)),
		})
	}
	other := d.Request
	other.Order = otherOrder(other.Order)
	if chosen := p.Catalog().Choose(other); d.Chosen >= 0 && chosen != d.Chosen {
		e.OtherOrder = &otherChoice{Order: other.Order.String(), Flavor: chosen}
	}
	return e
}

// forget takes out what follows from what a worker pool asks for, since that is not known.
func (e *Reasoning) forget(workers provider.Workers) {
	e.Flavors, e.Comparisons, e.OtherOrder = []explainedFlavor{}, []explainedComparison{}, nil
	for i := range e.sets {
		row := &e.sets[i]
		own := slices.ContainsFunc(workers.Definitions(), func(d capability.Definition) bool { return d.Name == row.capability })
		if own && row.worker == "-" {
			row.worker = "not known"
		}
	}
}

// explained says what became of one flavor.
func explained[R any](p *consistency.Profile[R], r *consistency.Resolution[R], i int) explainedFlavor {
	d := &r.Decision
	v := &d.Verdicts[i]
	f := explainedFlavor{
		Capabilities: declared(v.Flavor.Capabilities), Supports: v.Set.Capabilities(), Reason: v.Reason, ExcludedBy: excluder(v),
		Chosen: i == d.Chosen, supports: v.Set.String(), exclusions: exclusions(d, i),
	}
	if len(f.exclusions) > 0 {
		f.Message = f.supports + " " + f.exclusions[0].clause
	}
	if v.Effective != (capability.Set{}) {
		f.Effective = v.Effective.Capabilities()
		f.effective = v.Effective.String() + undeclaredOf(r, f.Effective, v.Effective) + unaskedOf(p, r, v.Effective)
	}
	return f
}

// undeclaredOf says what a flavor supports, without declaring it, of the capabilities that the worker pool asks for.
func undeclaredOf[R any](r *consistency.Resolution[R], declared v1beta1.Capabilities, effective capability.Set) string {
	var words []string
	for _, q := range r.Requirements {
		if _, found := declared[q.Capability]; !found && !q.Implied {
			words = append(words, fmt.Sprintf("%s [%s]", q.Capability, strings.Join(effective.Values(q.Capability), ", ")))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return ", and " + strings.Join(words, ", ") + ", which it does not declare"
}

// unaskedOf says what a flavor supports of the registered worker capabilities that it does not declare, and that the
// worker pool does not ask for.
func unaskedOf[R any](p *consistency.Profile[R], r *consistency.Resolution[R], effective capability.Set) string {
	var words []string
	for _, d := range p.Vocabulary().WorkerCapabilities() {
		_, declared := effective.Capabilities()[d.Name]
		asked := slices.ContainsFunc(r.Requirements, func(q capability.Requirement) bool { return q.Capability == d.Name })
		if p.Vocabulary().IsRegistered(d.Name) && !declared && !asked {
			words = append(words, fmt.Sprintf("%s [%s]", d.Name, strings.Join(effective.Values(d.Name), ", ")))
		}
	}
	switch len(words) {
	case 0:
		return ""
	case 1:
		return ", and " + words[0] + " while nobody asks for it"
	}
	return ", and " + strings.Join(words, ", ") + " while nobody asks for them"
}

// exclusions returns the reasons why a flavor is out: for each that it does not go with, the first one.
func exclusions[R any](d *imageselector.Decision[R], i int) []exclusion {
	if d.Verdicts[i].Reason == "" {
		return nil
	}
	single := imageselector.Decision[R]{Request: d.Request, Verdicts: []imageselector.Verdict[R]{d.Verdicts[i]}}
	v := &single.Verdicts[0]
	all := []exclusion{{excluder(v), consistency.Rejection(&single, 0)}}
	for _, c := range d.Verdicts[i].Conflicts {
		v.Conflicts = []capability.Conflict{c}
		by := excluder(v)
		if !slices.ContainsFunc(all, func(e exclusion) bool { return e.by == by }) {
			all = append(all, exclusion{by, consistency.Rejection(&single, 0)})
		}
	}
	return all
}

// asked returns what a worker pool asks for. Of a capability that the profile does not register it is as the pool has
// it.
func asked(v *capability.Vocabulary, requirements []capability.Requirement) v1beta1.Capabilities {
	request, unmet := v.Request(requirements)
	c := v1beta1.Capabilities{}
	for _, r := range requirements {
		c[r.Capability] = request.Values(r.Capability)
	}
	for _, r := range unmet {
		c[r.Capability] = r.Values
	}
	return c
}

// otherOrder returns the order that is not the given one.
func otherOrder(order capability.Order) capability.Order {
	if order == capability.GEP33 {
		return capability.Gardener
	}
	return capability.GEP33
}

// decided puts into words what decided a comparison for a winner.
func decided(p capability.Preference, winner string) string {
	first, second := orNothing(p.First), orNothing(p.Second)
	switch {
	case p.LeftOut && p.Own && p.Round > 0:
		return fmt.Sprintf("equal for this worker pool; %s does without %s, so it is the plainer one", winner, p.Capability)
	case p.LeftOut:
		return fmt.Sprintf("%s does without %s, so it is the plainer one", winner, p.Capability)
	case p.Sign == 0:
		return "both support exactly the same: the first one written wins"
	case p.Round == 0:
		return fmt.Sprintf("%s: only one of them supports %s", p.Capability, p.First+p.Second)
	case p.Own:
		return fmt.Sprintf("equal on this machine type; without it, the %s preferred value of %s is %s against %s",
			ordinal(p.Round), p.Capability, first, second)
	}
	return fmt.Sprintf("the %s preferred value of %s is %s against %s", ordinal(p.Round), p.Capability, first, second)
}

// orNothing names a set that has run out of values; none is a value of some capabilities.
func orNothing(value string) string {
	if value == "" {
		return "nothing"
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
