// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ask

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

// Select returns the command select, whose name is a keyword.
func Select(c *command.Call) *cobra.Command {
	return question(c, &cobra.Command{
		Use:        "select FILE...",
		SuggestFor: []string{"which", "image"},
		Short:      "Show which image a worker pool boots",
		Long: `Shows which image a worker pool boots: one described by flags, or each one of the Shoots in the files. If a Shoot leaves the image
or its version to Gardener, the answer is for the version that Gardener fills in when the pool is created or, with --webhook=true
or a cluster that has it, for the choice of the webhook mutate-shoot of capkit's admission component.

A worker pool may ask for features that its image must have declared: by its providerConfig, which is given with --worker-config
for a question by flags, and by properties like secure boot, which have their own flags. Whether the profile allows other settings
of a providerConfig, such as a server group, is not checked here: use lint with a Shoot for that.`,
		Example: "  capkit select --image gardenlinux --version 1877.5.0 --machine-type medium_4_8 --region europe cloudprofile.yaml\n" +
			"  capkit select --image gardenlinux --version 1877.5.0 --machine-type medium_4_8 --region europe " +
			"--worker-config workerconfig.yaml cloudprofile.yaml\n" +
			"  capkit select --image gardenlinux --region europe -o table cloudprofile.yaml\n" +
			"  capkit select shoot.yaml cloudprofile.yaml namespacedcloudprofile.yaml\n" +
			"  capkit select -n garden-demo --shoot shop --pool web",
	}, false)
}

// Answer is select's output for one worker pool; explain adds the reasoning. Its JSON is an interface: a published
// field keeps its name and meaning.
type Answer struct {
	// Shoot, as NAMESPACE/NAME, and Pool are empty if the question is not about a Shoot.
	Shoot string `json:"shoot,omitempty"`
	Pool  string `json:"pool,omitempty"`

	Image   string `json:"image"`
	Version string `json:"version"`
	// Defaulted says what filled in the image, or part of the version, that the pool leaves to Gardener; empty if nothing did.
	Defaulted   input.Filler `json:"defaulted,omitempty"`
	MachineType string       `json:"machineType"`
	Region      string       `json:"region"`
	// Unavailable is what zones of the worker pool lack. A question by flags considers all zones of the region.
	// Gardener refuses a new worker pool there (semantics S18). Empty for none.
	Unavailable []unavailable `json:"unavailable,omitempty"`
	// Requested are the worker pool's requests, including implied ones (semantics S3), if they could be read.
	Requested []capability.Requirement `json:"requested,omitempty"`

	// selected is set if an image was found, refused otherwise.
	*selected
	*refused
	*reasoning

	profile    input.AnyProfile
	resolution resolve.Resolution[any]
	filling    input.Filling
	// also are further questions with the same answer, in its text.
	also []string
}

// unavailable is a machine type or a volume type that zones lack.
type unavailable struct {
	// Kind is machineType or volumeType.
	Kind  string   `json:"kind"`
	Name  string   `json:"name"`
	Zones []string `json:"zones"`
}

// String describes the missing type.
func (u unavailable) String() string {
	what := map[string]string{"machineType": "machine type", "volumeType": "volume type"}[u.Kind]
	return fmt.Sprintf("%s %s is unavailable in %s %s", what, u.Name, words.Plural(u.Zones, "zone"), words.And(u.Zones))
}

// unavailableTo returns what the pool's zones lack. A pool without a path, as in a question by flags, has all zones of its region.
func unavailableTo(profile *v1beta1.CloudProfileSpec, pool *provider.Pool) (all []unavailable) {
	lacks := gardenerrules.InRegion(profile, pool.Region)
	zones := pool.Zones
	if pool.Path == nil {
		zones = lacks.Zones()
	}
	if without := lacks.MachineType(pool.MachineType, zones); len(without) > 0 {
		all = append(all, unavailable{"machineType", pool.MachineType, without})
	}
	if pool.Volume != nil && pool.Volume.Type != nil {
		if without := lacks.VolumeType(*pool.Volume.Type, zones); len(without) > 0 {
			all = append(all, unavailable{"volumeType", *pool.Volume.Type, without})
		}
	}
	return all
}

// selected describes the image that was found.
type selected struct {
	// Reference is in the provider's own form.
	Reference any `json:"reference"`
	// Capabilities are declared by the flavor; Effective is what remains of them on the machine type.
	Capabilities v1beta1.Capabilities `json:"capabilities"`
	Effective    v1beta1.Capabilities `json:"effective"`
	// Ambiguous is true if another flavor supports exactly the same.
	Ambiguous bool `json:"ambiguous"`
}

// refused explains why there is no image.
type refused struct {
	Error string `json:"error"`
	// Rejected has an entry for each flavor, in the order written, or a single one if the flavors were not examined.
	Rejected    []rejected           `json:"rejected"`
	Suggestions []resolve.Suggestion `json:"suggestions"`

	// mistake is an error in the question that must be corrected before suggestions make sense; empty if none is known.
	mistake string
}

// rejected explains why a flavor is excluded.
type rejected struct {
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
	Reason       imageselector.Reason `json:"reason"`
	// ExcludedBy says what excludes the flavor, for the given Reason and Capability.
	ExcludedBy capability.Cause `json:"excludedBy,omitempty"`
	// Capability is the first one in conflict. Flavor, Machine and Worker are the values that the flavor and the
	// machine type support and the worker pool requests; Worker is null if it requests none.
	Capability string   `json:"capability,omitempty"`
	Flavor     []string `json:"flavor,omitempty"`
	Machine    []string `json:"machine,omitempty"`
	Worker     []string `json:"worker"`
	Message    string   `json:"message"`

	// text is Message without suggestions; empty if Message has none.
	text string
}

// reasonWorkerConfig complements the reasons of packages profile and imageselector.
const reasonWorkerConfig imageselector.Reason = "worker-config"

// answerTo answers for a worker pool. fault is the first error in the provider config, which the user knows as name; if
// fault is empty, the provider's first error is used. With an error, the requests are unknown, and no image is named.
func answerTo(p input.AnyProfile, pool provider.Pool, name, fault string) Answer {
	r := resolve.Explain(p, pool)
	if fault == "" && len(r.Further) > 0 {
		fault = input.Message(r.Further[0].Error)
	}
	if fault != "" && r.Err == nil {
		r.Reason, r.Message = reasonWorkerConfig, name+" has errors, so it is not known what it asks for: "+fault
		r.Err = &finding.Finding{Error: &field.Error{Detail: r.Message}}
		r.Decision = imageselector.Decision[any]{Chosen: -1, Request: r.Decision.Request}
	}
	a := Answer{
		Pool: pool.Name, Image: pool.Image, Version: pool.Version, MachineType: pool.MachineType, Region: pool.Region,
		Requested: r.Requirements, reasoning: reasoningOf(p, &r), profile: p, resolution: r, Unavailable: unavailableTo(p.Spec(), &pool),
	}
	// Without a path or a config, there is no provider config. Machines updated in place are not replaced.
	inPlace := helper.IsUpdateStrategyInPlace(&pool.Worker.UpdateStrategy)
	if fault == "" && (pool.Path != nil || pool.Config != nil) && !inPlace {
		a.RollingUpdate = p.Provider().Workers().Rolling(pool)
	}
	if r.Err == nil {
		v := r.Decision.Verdicts[r.Decision.Chosen]
		a.selected = &selected{
			Reference: r.Decision.Reference, Capabilities: declared(v.Flavor.Capabilities),
			Effective: v.Effective.Capabilities(), Ambiguous: r.Decision.Ambiguous,
		}
		return a
	}
	a.refused = &refused{
		Error: r.Err.Detail, Rejected: []rejected{}, Suggestions: append([]resolve.Suggestion{}, r.Suggestions...),
	}
	if r.Reason != "" {
		a.Rejected = append(a.Rejected, whole(p, &r))
	}
	if r.Image != nil {
		a.Rejected = append(a.Rejected, rejected{Reason: imageselector.Reason(r.Image.Origin), Message: r.Image.Detail})
	}
	for i := range r.Decision.Verdicts {
		a.Rejected = append(a.Rejected, rejectedFlavor(p, &r.Decision, i))
	}
	return a
}

// OfShoot answers for each worker pool of an input Shoot with its profile.
func OfShoot(g *input.Given, p input.AnyProfile, s *input.Source[v1beta1.Shoot]) (answers []Answer) {
	askShoot(g, p, s, &input.Filter{}, func(a Answer) bool {
		answers = append(answers, a)
		return true
	})
	return answers
}

// Text returns the answer as explain prints it.
func (a *Answer) Text() string {
	var text strings.Builder
	w := report.NewWriter(&text)
	printExplanation(w, a)
	_ = w.Flush() // a Builder never fails
	return text.String()
}

// explain adds to the error which image Gardener selects for a pool that names none.
func (a *Answer) explain(f input.Filling) {
	a.Error += f.About()
	if f.Err == nil { // the flavors are rejected for other reasons
		return
	}
	for i := range a.Rejected {
		more := f.About()
		entry := &a.Rejected[i]
		entry.text, entry.Message = cmp.Or(entry.text, entry.Message)+more, entry.Message+more
	}
}

// whole returns the entry of a pool that is refused before flavors are examined.
func whole(p input.AnyProfile, r *resolve.Resolution[any]) rejected {
	entry := rejected{Reason: r.Reason, Message: r.Err.Detail, text: r.Message}
	switch {
	case r.Err.Origin == resolve.RuleArchitecture.Name:
		entry.Capability, entry.Machine = capability.Architecture, r.Machine.Values(capability.Architecture)
		entry.Worker = []string{r.Pool.Architecture}
	case r.Reason == profile.ReasonUnregistered:
		if _, unmet := p.Vocabulary().Request(r.Requirements); len(unmet) > 0 { // the error is about the first one
			entry.Capability, entry.Worker = unmet[0].Capability, unmet[0].Values
		}
	}
	return entry
}

// rejectedFlavor returns the entry of the flavor with index i.
func rejectedFlavor(p input.AnyProfile, d *imageselector.Decision[any], i int) rejected {
	v := &d.Verdicts[i]
	first := resolve.Rejections(v, d.Request.Region)[0]
	return rejected{
		Capabilities: declared(v.Flavor.Capabilities), Reason: v.Reason, ExcludedBy: first.By,
		Capability: first.Conflict.Capability, Flavor: first.Conflict.Offer, Machine: first.Conflict.Need, Worker: first.Conflict.Asked,
		Message: p.Vocabulary().Format(v.Flavor.Capabilities) + " " + first.String(),
	}
}

// declared replaces nil by an empty map, which is an empty object in JSON.
func declared(c v1beta1.Capabilities) v1beta1.Capabilities {
	if c == nil {
		return v1beta1.Capabilities{}
	}
	return c
}

// answerColumns are the column names of select's table.
var answerColumns = []string{"shoot", "pool", "image", "version", "machine type", "region", "boots", "why not"}

// rowsOf returns answers as table rows, without the first skip columns.
func rowsOf(answers iter.Seq[Answer], skip int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for a := range answers {
			boots, whyNot := "", ""
			if a.selected != nil {
				boots = report.Reference(a.Reference)
			} else {
				whyNot = a.Error
			}
			row := []string{a.Shoot, a.Pool, a.Image, a.Version, a.MachineType, a.Region, boots, whyNot}
			if !yield(row[skip:]) {
				return
			}
		}
	}
}

// printNextAnswer writes the answer with index i as text, with its reasoning if it has one.
func printNextAnswer(w io.Writer, i int, a Answer) {
	if a.reasoning == nil {
		printAnswer(w, &a)
		return
	}
	if i > 0 {
		fmt.Fprintln(w)
	}
	printExplanation(w, &a)
}

// questionText repeats the question, with the settings that request capabilities.
func questionText(a *Answer) string {
	image := a.Image + "@" + a.Version
	switch {
	case a.Image == "":
		image = "no image named,"
	case a.Version == "":
		image = a.Image + ", no version named,"
	case a.Defaulted == input.ByGardener:
		image += ", which Gardener selects,"
	case a.Defaulted == input.ByCapkit:
		image += fmt.Sprintf(", which capkit's mutate-shoot selects in place of Gardener's %s,", a.filling.Gardener)
	}
	text := fmt.Sprintf("%s on %s in %s", image, a.MachineType, a.Region)
	if a.Shoot != "" {
		text = a.Shoot + ", worker pool " + a.Pool + ": " + text
	}
	return text + SettingsText(a.Requested)
}

// SettingsText lists in parentheses the settings that request capabilities; empty if there are none.
func SettingsText(requested []capability.Requirement) string {
	if settings := Settings(requested); len(settings) > 0 {
		return " (" + strings.Join(settings, ", ") + ")"
	}
	return ""
}

// Settings returns the settings that request something, without implied requests. It is never nil.
func Settings(requested []capability.Requirement) []string {
	settings := []string{}
	for _, r := range requested {
		if !r.Implied {
			settings = append(settings, r.Setting)
		}
	}
	return settings
}

func printAnswer(w io.Writer, a *Answer) {
	report.Printf(w, "%s", questionText(a))
	printOutcome(w, a)
	if len(a.also) > 0 {
		report.Printf(w, "The same for %s\n", words.JoinFew(a.also, ", "))
	}
}

// printOutcome writes the rest of the line of a question, and the lines below it.
func printOutcome(w io.Writer, a *Answer) {
	defer func() {
		for _, u := range a.Unavailable {
			report.Printf(w, "  %s: Gardener refuses a new worker pool there\n", u)
		}
	}()
	if a.selected != nil {
		report.Printf(w, " boots %s\n", report.Reference(a.Reference))
		if a.Ambiguous {
			fmt.Fprintln(w, "  ambiguous: another flavor supports exactly the same; the first one written was taken")
		}
		return
	}
	fmt.Fprintln(w, ": no image")
	for _, r := range a.Rejected {
		report.Printf(w, "  %s\n", cmp.Or(r.text, r.Message))
	}
	if about := a.filling.About(); about != "" && a.filling.Err == nil {
		report.Printf(w, "%s\n", strings.TrimPrefix(about, "; "))
	}
	switch {
	case a.mistake != "":
		report.Printf(w, "%s\n", a.mistake)
	case a.resolution.Reason != reasonWorkerConfig: // otherwise the error contains the remedy
		PrintSuggestions(w, a.Suggestions)
	}
}

// PrintSuggestions writes what would work.
func PrintSuggestions(w io.Writer, suggestions []resolve.Suggestion) {
	if len(suggestions) == 0 {
		fmt.Fprintln(w, "No other version, image or machine type alone would help.")
		return
	}
	fmt.Fprintln(w, "Would work:")
	for _, s := range suggestions {
		report.Printf(w, "  %s\n", s)
	}
}
