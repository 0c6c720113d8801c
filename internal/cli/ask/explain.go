// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// Explain returns the command explain.
func Explain(c *command.Call) *cobra.Command {
	return question(c, &cobra.Command{
		Use:        "explain FILE...",
		SuggestFor: []string{"why"},
		Short:      "Show why a worker pool boots an image, or none",
		Long: `Takes the same input as select and shows how the choice is made: the vocabulary, the capabilities of the machine type and the
requests of the worker pool, the verdict for each flavor of the image version, and the comparisons that decide. Settings in the
pool's providerConfig that replace its machines when they change come last. Whether the profile allows them is not checked here:
use lint with a Shoot for that.`,
		Example: "  capkit explain --image ubuntu --version 1.0.0 --machine-type general-medium --region local cloudprofile.yaml\n" +
			"  capkit explain --image ubuntu --version 1.0.0 --machine-type general-medium --region local " +
			"--secure-boot --update-strategy AutoInPlaceUpdate cloudprofile.yaml",
	}, true)
}

// reasoning is the record of a decision.
type reasoning struct {
	Order string `json:"order"`
	// Vocabulary is in order of priority.
	Vocabulary []v1beta1.CapabilityDefinition `json:"vocabulary"`
	// Machine is what the machine type supports, including defaults.
	Machine v1beta1.Capabilities `json:"machine"`
	// Worker is what the worker pool requests, including implied values.
	Worker v1beta1.Capabilities `json:"worker"`
	// Flavors are those of the image version, in the order written.
	Flavors []explainedFlavor `json:"flavors"`
	// Comparisons are listed in the order they were made.
	Comparisons []explainedComparison `json:"comparisons"`
	// OtherOrder is set if the other preference order picks another flavor.
	OtherOrder *otherChoice `json:"otherOrder,omitempty"`
	// RollingUpdate are the parts of the worker pool's provider config whose change replaces its machines, with their current values.
	// It is absent if the provider config has errors, if a question by flags has none, and if the machines are updated in place.
	RollingUpdate []provider.Rolling `json:"rollingUpdate,omitempty"`
}

// explainedFlavor is one flavor with its verdict.
type explainedFlavor struct {
	Capabilities v1beta1.Capabilities `json:"capabilities"`
	// Supports is Capabilities with defaults.
	Supports v1beta1.Capabilities `json:"supports"`
	// Effective is what remains on the machine type; absent if no value remains for some capability.
	Effective v1beta1.Capabilities `json:"effective,omitempty"`
	// Reason and Message explain why the flavor is excluded; absent for a candidate.
	Reason  imageselector.Reason `json:"reason,omitempty"`
	Message string               `json:"message,omitempty"`
	// ExcludedBy is as in [rejected].
	ExcludedBy capability.Cause `json:"excludedBy,omitempty"`
	Chosen     bool             `json:"chosen"`
}

// explainedComparison is one step in finding the best candidate. Best and Next are indices into the flavors.
type explainedComparison struct {
	Best int `json:"best"`
	Next int `json:"next"`
	// Winner is Best or Next; Best in a tie.
	Winner     int    `json:"winner"`
	Capability string `json:"capability,omitempty"`
	Message    string `json:"message"`
}

// otherChoice is the choice of the other preference order.
type otherChoice struct {
	Order string `json:"order"`
	// Flavor is an index into the flavors.
	Flavor int `json:"flavor"`
}

// reasoningOf converts a resolution to the record of its decision.
func reasoningOf(p input.AnyProfile, r *resolve.Resolution[any]) *reasoning {
	d := &r.Decision
	e := &reasoning{
		Order: p.Order().String(), Vocabulary: p.Vocabulary().Definitions(), Machine: r.Machine.Capabilities(),
		Worker: asked(p.Vocabulary(), r.Requirements), Flavors: []explainedFlavor{}, Comparisons: []explainedComparison{},
	}
	for i := range d.Verdicts {
		e.Flavors = append(e.Flavors, explained(d, i))
	}
	for _, c := range d.Comparisons {
		winner := c.Best
		if c.Preference.Sign > 0 {
			winner = c.Next
		}
		e.Comparisons = append(e.Comparisons, explainedComparison{
			Best: c.Best, Next: c.Next, Winner: winner,
			Capability: c.Preference.Capability, Message: Decided(c.Preference, letter(winner)),
		})
	}
	other := d.Request
	other.Order = d.Request.Order.Other()
	if chosen := p.Catalog().Choose(other); d.Chosen >= 0 && chosen != d.Chosen {
		e.OtherOrder = &otherChoice{Order: other.Order.String(), Flavor: chosen}
	}
	return e
}

func explained(d *imageselector.Decision[any], i int) explainedFlavor {
	v := &d.Verdicts[i]
	f := explainedFlavor{
		Capabilities: declared(v.Flavor.Capabilities), Supports: v.Set.Capabilities(), Reason: v.Reason, Chosen: i == d.Chosen,
	}
	if out := resolve.Rejections(v, d.Request.Region); len(out) > 0 {
		f.ExcludedBy, f.Message = out[0].By, v.Set.String()+" "+out[0].String()
	}
	if v.Effective != (capability.Set{}) {
		f.Effective = v.Effective.Capabilities()
	}
	return f
}

// undeclaredIn describes values that a flavor supports without declaring them. It covers the worker capabilities that
// the worker pool requests, except ignored requests, and the registered ones that it does not request.
func undeclaredIn(p input.AnyProfile, r *resolve.Resolution[any], set capability.Set) (text string) {
	declared := set.Capabilities()
	var asked, unasked []string
	for _, q := range r.Requirements {
		if _, found := declared[q.Capability]; !found && !q.Implied && !p.Vocabulary().Ignores(q) {
			asked = append(asked, valuesOf(set, q.Capability))
		}
	}
	for _, d := range p.Vocabulary().WorkerCapabilities() {
		_, found := declared[d.Name]
		if p.Vocabulary().IsRegistered(d.Name) && !found && !requires(r, d.Name, true) {
			unasked = append(unasked, valuesOf(set, d.Name))
		}
	}
	if len(asked) > 0 {
		text = ", and " + strings.Join(asked, ", ") + ", which it does not declare"
	}
	if len(unasked) == 1 {
		text += ", and " + unasked[0] + " while nobody asks for it"
	} else if len(unasked) > 1 {
		text += ", and " + strings.Join(unasked, ", ") + " while nobody asks for them"
	}
	return text
}

func valuesOf(set capability.Set, name string) string {
	return fmt.Sprintf("%s [%s]", name, strings.Join(set.Values(name), ", "))
}

// requires reports whether the worker pool requests a capability. Implied requests count only if implied is true.
func requires(r *resolve.Resolution[any], name string, implied bool) bool {
	return slices.ContainsFunc(r.Requirements, func(q capability.Requirement) bool {
		return q.Capability == name && (implied || !q.Implied)
	})
}

// asked returns the worker pool's requests, of registered and unregistered capabilities.
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

// Decided describes what decided a comparison. winner names the winning flavor.
func Decided(p capability.Preference, winner string) string {
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
		return "equal on this machine type; without it, " + byValue(p)
	}
	return byValue(p)
}

// byValue names the value that decided a comparison.
func byValue(p capability.Preference) string {
	if p.First == "" || p.Second == "" { // one set has no more values
		return fmt.Sprintf("one of them also supports %s %s, the other does not", p.Capability, p.First+p.Second)
	}
	return fmt.Sprintf("the %s preferred value of %s is %s against %s", ordinal(p.Round), p.Capability, p.First, p.Second)
}

// ordinal returns "most", "second most", "third most" and so on.
func ordinal(round int) string {
	words := []string{"most", "second most", "third most", "fourth most", "fifth most"}
	if round <= len(words) {
		return words[round-1]
	}
	return fmt.Sprintf("%d. most", round)
}
