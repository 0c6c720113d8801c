// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
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
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// ask answers the question of the flags, or that of each worker pool of the Shoots among the inputs. one tells that it
// is a single answer to the flags. What it finds wrong with the inputs becomes findings.
func ask(g *garden, flags poolFlags, stdin io.Reader) (answers []Answer, one bool, err error) {
	order, err := capability.ParseOrder(flags.order)
	if err != nil {
		return nil, false, err
	}
	if len(g.shoots) > 0 && !flags.set() {
		if err := flags.outOfPlace(); err != nil {
			return nil, false, err
		}
		return g.askShoots(order), false, nil
	}
	if err := flags.missing(); err != nil {
		return nil, false, err
	}
	p, err := g.profileNamed(flags.profile)
	if err != nil {
		return nil, false, err
	}
	if unknown := p.CheckRegion(flags.region, nil); unknown != nil {
		g.notes = append(g.notes, unknown.Detail)
	}
	if slices.Contains(flags.given, "gpu") && !slices.Contains(gpuTypes(), flags.gpu) {
		g.notes = append(g.notes, unknownGPU(flags.gpu))
	}
	config, fault, err := g.workerConfig(flags, stdin, p.madeBy())
	if err != nil {
		return nil, false, err
	}
	a := p.resolve(provider.Pool{
		Image: flags.image, Version: flags.version, MachineType: flags.machineType, Architecture: flags.architecture,
		Region: flags.region, Order: order, Worker: flags.worker(), Config: rawConfig(config),
	})
	g.noteFurther(config, a.further.Errors())
	a.refuseFor(cmp.Or(fault, first(a.further.Errors())), p.madeBy().workers())
	return []Answer{a}, true, nil
}

// first returns what the first of some errors says; empty if there is none.
func first(errs field.ErrorList) string {
	if len(errs) == 0 {
		return ""
	}
	return message(errs[0].Origin, errs[0])
}

// unknownGPU is the note about a type of GPU that no image supports.
func unknownGPU(gpu string) string {
	note := fmt.Sprintf("images support GPUs of the types %s, so %s asks for one without GPU support", strings.Join(gpuTypes(), ", "), gpu)
	for _, known := range gpuTypes() {
		if strings.EqualFold(known, gpu) {
			note += "; did you mean " + known + "?"
		}
	}
	return note
}

// askShoots answers for every worker pool of every Shoot. A Shoot that has no profile to ask, or is for a region that its
// profile does not have, is a finding.
func (g *garden) askShoots(order capability.Order) []Answer {
	answers := []Answer{}
	for _, s := range g.shoots {
		if s.object == nil {
			continue // a finding says why
		}
		p, problem := g.profileOf(s.object)
		switch {
		case problem != nil:
		case p == nil:
			problem = g.noAnswer(s.object)
		default:
			if unknown := p.CheckRegion(s.object.Spec.Region, field.NewPath("spec", "region")); unknown != nil {
				problem = unknown.Error
			}
		}
		if problem != nil {
			g.error(s.manifest, problem)
			continue
		}
		for _, pool := range provider.PoolsOf(s.object) {
			pool.Order = order
			a := p.resolve(pool)
			a.Shoot = s.object.Namespace + "/" + s.object.Name
			g.report(s.manifest, finding.Report{Errors: a.further})
			a.refuseFor(cmp.Or(duplicateKey(s.manifest, &pool, p), first(a.further.Errors())), p.madeBy().workers())
			answers = append(answers, a)
		}
	}
	return answers
}

// duplicateKey says of a worker pool in a manifest that its providerConfig has a key twice; empty if it has none, or if
// workers ask for nothing by their providerConfig.
func duplicateKey(o *manifest.Object, pool *provider.Pool, p profile) string {
	if len(p.madeBy().workers().Settings()) == 0 {
		return ""
	}
	return o.DuplicateKey(pool.Path.Child("providerConfig").String())
}

// noAnswer says why there is no profile to ask for a Shoot, where lint leaves that to others: the profile is of a provider
// that the command does not know, or the Shoot names none, which core refuses.
func (g *garden) noAnswer(shoot *v1beta1.Shoot) *field.Error {
	kind, name, at := profileRef(shoot)
	switch kind {
	case "CloudProfile":
		return g.unknownProvider(g.profiles[name].object.Spec.Type)
	case "NamespacedCloudProfile":
		return g.unknownProviderOf(g.namespaced[types.NamespacedName{Namespace: shoot.Namespace, Name: name}])
	}
	return problem(RuleProfileMissing, field.ErrorTypeRequired, at, nil, "the Shoot names no CloudProfile or NamespacedCloudProfile")
}

// unknownProviderOf says that the provider of a NamespacedCloudProfile is unknown.
func (g *garden) unknownProviderOf(s *source[v1beta1.NamespacedCloudProfile]) *field.Error {
	if parent := g.parentOf(s); parent != nil && parent.object != nil {
		return g.unknownProvider(parent.object.Spec.Type)
	}
	return g.unknownProvider(s.object.Status.CloudProfileSpec.Type)
}

// profileNamed returns the profile that the flag --profile names; or, if it is empty, the only one among the inputs, apart
// from a parent that is there for a NamespacedCloudProfile. A CloudProfile is taken as it is written, without defaults.
func (g *garden) profileNamed(name string) (profile, error) {
	if name == "" {
		names := g.leaves()
		switch len(names) {
		case 0:
			return nil, errors.New("no CloudProfile among the inputs")
		case 1:
			name = names[0]
		default:
			return nil, fmt.Errorf("several profiles among the inputs: say --profile, one of %s", strings.Join(g.allProfiles(), ", "))
		}
	}
	s, found := g.profiles[name]
	switch {
	case !found:
		return g.namespacedProfile(name)
	case s.object == nil:
		return nil, fmt.Errorf("CloudProfile %s cannot be read", name)
	case g.providers[s.object.Spec.Type] == nil:
		return nil, errors.New(g.unknownProvider(s.object.Spec.Type).Detail)
	}
	provider := g.providers[s.object.Spec.Type]
	p, wrong := provider.compile(&filled(s.object, provider).Spec)
	g.noteErrors("CloudProfile "+name, wrong)
	return p, nil
}

// namespacedProfile returns a NamespacedCloudProfile by its name, as [NAMESPACE/]NAME.
func (g *garden) namespacedProfile(name string) (profile, error) {
	s, err := g.namespacedNamed(name)
	switch {
	case err != nil:
		return nil, g.noProfile(name)
	case s.object == nil:
		return nil, fmt.Errorf("NamespacedCloudProfile %s cannot be read", name)
	}
	p, problem := g.compileNamespaced(s, "")
	if p == nil && problem == nil {
		problem = g.unknownProviderOf(s)
	}
	if problem != nil {
		return nil, errors.New(problem.Detail)
	}
	return p, nil
}

// leaves returns the names of the profiles that are no parent of another one among the inputs, as --profile takes them.
func (g *garden) leaves() []string {
	parents := map[string]bool{}
	for _, s := range g.namespaced {
		if s.object != nil {
			parents[s.object.Spec.Parent.Name] = true
		}
	}
	return slices.DeleteFunc(g.allProfiles(), func(name string) bool { return parents[name] })
}

func (g *garden) noProfile(name string) error {
	kind := "CloudProfile"
	if strings.Contains(name, "/") {
		kind = "NamespacedCloudProfile"
	}
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
	image := a.Image + "@" + a.Version
	switch {
	case a.Image == "":
		image = "no image named,"
	case a.Version == "":
		image = a.Image + ", no version named,"
	}
	return fmt.Sprintf("%s%s on %s in %s%s", prefix, image, a.MachineType, a.Region, settings(a.Requested))
}

// settings names what asks for capabilities, unless that is what the pool leaves unsaid.
func settings(requested []capability.Requirement) string {
	var words []string
	for _, r := range requested {
		if !r.Implied {
			words = append(words, r.Setting)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
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
