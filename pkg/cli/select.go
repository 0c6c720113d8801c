// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
)

// question of the command line, as flags: about one worker pool that stands in no manifest.
type poolFlags struct {
	image, version, machineType, region, architecture string
	profile, order                                    string
}

// set tells whether any flag asks about a pool.
func (f *poolFlags) set() bool {
	return f.image+f.version+f.machineType+f.region+f.architecture != ""
}

// missing returns an error that names the flags without which there is no question.
func (f *poolFlags) missing() error {
	var names []string
	for _, flag := range []struct{ name, value string }{
		{"--image", f.image}, {"--version", f.version}, {"--machine-type", f.machineType}, {"--region", f.region},
	} {
		if flag.value == "" {
			names = append(names, flag.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%s missing: name image, version, machine type and region, or give a Shoot", strings.Join(names, ", "))
}

// ask answers the question of the flags, or that of each worker pool of the Shoots among the inputs. one tells that it
// is a single answer to the flags. What it finds wrong with the inputs becomes findings; notes are remarks about an answer.
func ask(g *garden, providers map[string]Provider, flags poolFlags) (answers []Answer, one bool, notes []string, err error) {
	order, err := capability.ParseOrder(flags.order)
	if err != nil {
		return nil, false, nil, err
	}
	if len(g.shoots) > 0 && !flags.set() {
		if flags.profile != "" {
			return nil, false, nil, errors.New("--profile goes with a question by flags: a Shoot names its profile itself")
		}
		answers, notes = g.askShoots(providers, order)
		return answers, false, notes, nil
	}
	if err := flags.missing(); err != nil {
		return nil, false, nil, err
	}
	p, notes, err := g.profileNamed(flags.profile, providers)
	if err != nil {
		return nil, false, nil, err
	}
	if err := p.CheckRegion(flags.region, nil); err != nil {
		notes = append(notes, err.Detail)
	}
	a := p.resolve(consistency.Pool{
		Image: flags.image, Version: flags.version, MachineType: flags.machineType, Architecture: flags.architecture,
		Region: flags.region, Order: order,
	})
	return []Answer{a}, true, notes, nil
}

// askShoots answers for every worker pool of every Shoot. A Shoot that has no profile to ask, or is for a region that its
// profile does not have, is a finding.
func (g *garden) askShoots(providers map[string]Provider, order capability.Order) (answers []Answer, notes []string) {
	compiled := make(map[string]profile, len(g.profiles))
	for _, name := range g.profileNames {
		if s := g.profiles[name]; s.object != nil && providers[s.object.Spec.Type] != nil {
			p, wrong := providers[s.object.Spec.Type].compile(&defaulted(s.object).Spec)
			compiled[name] = p
			notes = append(notes, aboutErrors(name, wrong)...)
		}
	}
	answers = []Answer{}
	for _, s := range g.shoots {
		if s.object == nil {
			continue // a finding says why
		}
		p, problem := g.profileOf(s, compiled, providers)
		switch {
		case problem != nil:
		case p == nil:
			problem = g.noAnswer(s, providers)
		default:
			problem = p.CheckRegion(s.object.Spec.Region, regionPath)
		}
		if problem != nil {
			g.error(s.manifest, problem)
			continue
		}
		for _, pool := range poolsOf(s.object) {
			pool.Order = order
			a := p.resolve(pool)
			a.Shoot = s.object.Namespace + "/" + s.object.Name
			answers = append(answers, a)
		}
	}
	return answers, notes
}

// aboutErrors remarks on an answer from a profile with errors.
func aboutErrors(profile string, errs int) []string {
	if errs == 0 {
		return nil
	}
	return []string{fmt.Sprintf("CloudProfile %s has %s, so the answer may change when it is repaired: see lint", profile, count(errs, "error"))}
}

// noAnswer says why there is no profile to ask for a Shoot, where lint leaves that to others: the profile is of a provider
// that the command does not know, or the Shoot names none, which core refuses.
func (g *garden) noAnswer(s *source[v1beta1.Shoot], providers map[string]Provider) *field.Error {
	kind, name, at := profileRef(s.object)
	if kind == "CloudProfile" {
		return unknownProvider(g.profiles[name].object.Spec.Type, providers)
	}
	return problem(RuleProfileMissing, field.ErrorTypeRequired, at, nil, "the Shoot names no CloudProfile or NamespacedCloudProfile")
}

// profileNamed returns the profile that the flag --profile names, or the only one among the inputs.
func (g *garden) profileNamed(name string, providers map[string]Provider) (p profile, notes []string, err error) {
	if name == "" {
		names := g.allProfiles()
		switch len(names) {
		case 0:
			return nil, nil, errors.New("no CloudProfile among the inputs")
		case 1:
			name = names[0]
		default:
			return nil, nil, fmt.Errorf("several profiles among the inputs: say --profile, one of %s", strings.Join(names, ", "))
		}
	}
	if namespace, short, found := strings.Cut(name, "/"); found {
		p, err = g.namespacedProfile(types.NamespacedName{Namespace: namespace, Name: short}, providers)
		return p, nil, err
	}
	s, found := g.profiles[name]
	switch {
	case !found:
		return nil, nil, g.noProfile("CloudProfile", name)
	case s.object == nil:
		return nil, nil, fmt.Errorf("CloudProfile %s cannot be read", name)
	case providers[s.object.Spec.Type] == nil:
		return nil, nil, errors.New(unknownProvider(s.object.Spec.Type, providers).Detail)
	}
	p, wrong := providers[s.object.Spec.Type].compile(&s.object.Spec)
	return p, aboutErrors(name, wrong), nil
}

func (g *garden) namespacedProfile(id types.NamespacedName, providers map[string]Provider) (profile, error) {
	s, found := g.namespaced[id]
	switch {
	case !found:
		return nil, g.noProfile("NamespacedCloudProfile", id.String())
	case s.object == nil:
		return nil, fmt.Errorf("NamespacedCloudProfile %s cannot be read", id)
	}
	p, problem := g.rendered(s.object, "", providers)
	if problem != nil {
		return nil, errors.New(problem.Detail)
	}
	return p, nil
}

func (g *garden) noProfile(kind, name string) error {
	return fmt.Errorf("%s %s is not among the inputs, which have %s", kind, name, strings.Join(g.allProfiles(), ", "))
}

// allProfiles returns the names of all profiles, in the order of the inputs, as --profile takes them.
func (g *garden) allProfiles() []string {
	names := slices.Clone(g.profileNames)
	for _, id := range g.namespacedNames {
		names = append(names, id.String())
	}
	return names
}

func sortedNames(providers map[string]Provider) []string {
	return slices.Sorted(maps.Keys(providers))
}

// question repeats what was asked.
func question(a Answer) string {
	prefix := ""
	if a.Shoot != "" {
		prefix = a.Shoot + ", worker pool " + a.Pool + ": "
	}
	return fmt.Sprintf("%s%s@%s on %s in %s", prefix, a.Image, a.Version, a.MachineType, a.Region)
}

// printAnswer writes an answer for people.
func printAnswer(w io.Writer, a Answer) {
	if a.Selected != nil {
		fmt.Fprintf(w, "%s boots %s\n", question(a), referenceText(a.Reference))
		if a.Ambiguous {
			fmt.Fprintln(w, "  ambiguous: another flavor supports exactly the same; the first one written was taken")
		}
		return
	}
	fmt.Fprintf(w, "%s: no image\n", question(a))
	for _, r := range a.Rejected {
		fmt.Fprintf(w, "  %s\n", withoutSuggestions(r.Message))
	}
	if len(a.Suggestions) == 0 {
		fmt.Fprintln(w, "No other version, image or machine type alone would help.")
		return
	}
	fmt.Fprintln(w, "Would work:")
	for _, s := range a.Suggestions {
		fmt.Fprintf(w, "  %s %s\n", strings.ReplaceAll(string(s.Kind), "-", " "), s.Value)
	}
}

// withoutSuggestions cuts off the suggestions that a message ends with, where they are printed by themselves.
func withoutSuggestions(message string) string {
	message, _, _ = strings.Cut(message, consistency.WouldWork)
	return message
}

// referenceText prints a reference as its fields and their values: id 1234-amd64.
func referenceText(reference any) string {
	raw, err := json.Marshal(reference)
	if err != nil {
		return fmt.Sprint(reference)
	}
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return string(raw)
	}
	words := make([]string, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		words = append(words, fmt.Sprintf("%s %v", name, fields[name]))
	}
	return strings.Join(words, ", ")
}
