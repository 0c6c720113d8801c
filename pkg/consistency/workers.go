// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

// Workers says which capabilities a provider's workers can ask for, and by which settings (semantics S3). The zero Workers
// is that of a provider whose workers ask for nothing of its own; their providerConfig is then not looked at. [WorkersOf]
// makes others. It is immutable and safe for concurrent use.
type Workers struct {
	kind         schema.GroupVersionKind
	definitions  []capability.Definition
	settings     []Setting
	requirements func(raw *runtime.RawExtension, at *field.Path) ([]capability.Requirement, field.ErrorList)
	rolling      func(raw *runtime.RawExtension) []Rolling
}

// Setting is one setting of a worker's providerConfig that asks for a capability.
type Setting struct {
	// Setting in words, as the user writes it: "trustedLaunch.enabled: true".
	Setting string `json:"setting"`
	// Field of the providerConfig that errors are reported at.
	Field string `json:"field"`
	// Capability is the name of what it asks for, Values those that will do.
	Capability string   `json:"capability"`
	Values     []string `json:"values"`
}

// WorkersOf returns the Workers of a provider whose WorkerConfig, W, is of the given kind: the capabilities that it
// defines, and the rules by which settings ask for them. The arguments must not be changed any more. [CheckProvider]
// tells what is wrong with them.
//
// checks find what is wrong with a config that could be decoded, at paths below at: a value of text that no rule knows, for
// example, which would ask for nothing without a word. The Origin of each error is the name of its rule.
func WorkersOf[W any, P interface {
	*W
	Config
}](kind schema.GroupVersionKind, definitions []capability.Definition, rules capability.Rules[W], checks ...func(config *W, at *field.Path) field.ErrorList) Workers {
	w := Workers{kind: kind, definitions: definitions}
	for _, r := range rules {
		w.settings = append(w.settings, Setting{r.Setting, r.Field, r.Capability, r.Values})
	}
	w.requirements = func(raw *runtime.RawExtension, at *field.Path) ([]capability.Requirement, field.ErrorList) {
		config := P(new(W))
		if !hasContent(raw) {
			return rules.Requirements(config, at), nil
		}
		errs := DecodeConfig(raw, kind, config, at)
		if len(errs) == 0 {
			for _, check := range checks {
				errs = append(errs, check(config, at)...)
			}
		}
		return rules.Requirements(config, at), errs
	}
	return w
}

// Kind returns the kind of the WorkerConfig; the zero kind if the provider's workers ask for nothing of its own.
func (w Workers) Kind() schema.GroupVersionKind { return w.kind }

// Definitions returns the worker capabilities that the provider defines, in the order of their priority. The caller owns
// the slice, but not what its elements hold.
func (w Workers) Definitions() []capability.Definition { return slices.Clone(w.definitions) }

// Settings returns the settings that ask for them, in the order of the rules. The caller owns the slice, but not what its
// elements hold.
func (w Workers) Settings() []Setting { return slices.Clone(w.settings) }

// Requirements returns what a worker's providerConfig that stands at the path at asks for. A worker without one, or with
// one that is null, asks for what follows from saying nothing. The errors are those of [DecodeConfig]; what could be read
// counts all the same.
func (w Workers) Requirements(raw *runtime.RawExtension, at *field.Path) ([]capability.Requirement, field.ErrorList) {
	if w.requirements == nil {
		return nil, nil
	}
	return w.requirements(raw, at)
}

// Trigger is a part of a worker's providerConfig, W, whose change replaces the machines of the worker pool, one after the
// other.
type Trigger[W any] struct {
	// Field of the providerConfig, as users write it: "serverGroup".
	Field string
	// Value returns what counts of a config, in a form that people read, and that is the same if nothing has changed that
	// counts; empty if the config does not have it. It is asked about an empty config, too.
	Value func(config *W) string
}

// Rolling is a part of a worker's providerConfig whose change replaces the machines of the worker pool.
type Rolling struct {
	// Field of the providerConfig.
	Field string `json:"field"`
	// Value is what counts of it at present; empty if the worker does not have it.
	Value string `json:"value"`
}

// RollingOn returns workers whose machines are replaced when one of these parts of their providerConfig changes, in
// addition to what Gardener itself replaces machines for. W has to be that of [WorkersOf].
func RollingOn[W any, P interface {
	*W
	Config
}](workers Workers, triggers ...Trigger[W]) Workers {
	workers.rolling = func(raw *runtime.RawExtension) []Rolling {
		config := P(new(W))
		if hasContent(raw) {
			DecodeConfig(raw, workers.kind, config, nil) // what could be read counts
		}
		rolling := make([]Rolling, 0, len(triggers))
		for _, t := range triggers {
			rolling = append(rolling, Rolling{t.Field, t.Value(config)})
		}
		return rolling
	}
	return workers
}

// Rolling returns the parts of a worker's providerConfig, nil for a worker without one, whose change replaces the machines
// of the worker pool, whether or not the worker has them; in the order of [RollingOn].
func (w Workers) Rolling(raw *runtime.RawExtension) []Rolling {
	if w.rolling == nil {
		return nil
	}
	return w.rolling(raw)
}

// CheckProvider returns what is wrong with a provider itself, so that it is found when an extension starts, and not at a
// user's request (semantics S3): worker capabilities without the prefix of the provider, which is its type and a dash;
// rules that ask for what is not defined. The error has a line for each fault. Nil: nothing is wrong.
func CheckProvider[R any](provider Provider[R]) error {
	workers := provider.Workers()
	faults := workers.faultsOfDefinitions(provider.Type() + "-")
	if workers.requirements != nil && (workers.kind.Version == "" || workers.kind.Kind == "") {
		faults = append(faults, "the kind of the WorkerConfig is not given")
	}
	faults = append(faults, workers.tryEmpty()...)
	faults = append(faults, workers.faultsOfRules()...)
	var errs []error
	for _, fault := range faults {
		errs = append(errs, errors.New("provider "+provider.Type()+": "+fault))
	}
	return errors.Join(errs...)
}

// faultsOfDefinitions returns what is wrong with the definitions.
func (w Workers) faultsOfDefinitions(prefix string) []string {
	var faults []string
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	defined := sets.New[string]()
	for _, d := range w.definitions {
		values := sets.New(d.Values...)
		switch {
		case defined.Has(d.Name):
			wrong("worker capability %q is defined twice", d.Name)
		case !strings.HasPrefix(d.Name, prefix) || d.Name == prefix:
			wrong("worker capability %q must begin with %q, the prefix of this provider", d.Name, prefix)
		case len(validation.IsQualifiedName(d.Name)) > 0:
			wrong("%q is no name for a capability: %s", d.Name, strings.Join(validation.IsQualifiedName(d.Name), "; "))
		}
		switch {
		case len(d.Values) == 0 || values.Has("") || len(values) < len(d.Values):
			wrong("worker capability %q needs values, each of them once, and none of them empty", d.Name)
		case d.Undeclared != "" && !values.Has(d.Undeclared):
			wrong("worker capability %q: the undeclared value %q is none of its values [%s]", d.Name, d.Undeclared, strings.Join(d.Values, ", "))
		}
		defined.Insert(d.Name)
	}
	return faults
}

// faultsOfRules returns what is wrong with the rules.
func (w Workers) faultsOfRules() []string {
	var faults []string
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	defined := map[string]sets.Set[string]{}
	for _, d := range w.definitions {
		defined[d.Name] = sets.New(d.Values...)
	}
	for _, s := range w.settings {
		values, found := defined[s.Capability]
		if s.Setting == "" || s.Field == "" {
			wrong("the rule that asks for worker capability %q does not say for which setting, and at which field", s.Capability)
		}
		switch {
		case !found:
			wrong("%q asks for %q, which is not among the worker capabilities that it defines", s.Setting, s.Capability)
		case len(s.Values) == 0 || !values.HasAll(s.Values...):
			wrong("%q asks for [%s] of worker capability %q, which has the values [%s]",
				s.Setting, strings.Join(s.Values, ", "), s.Capability, strings.Join(sets.List(values), ", "))
		}
	}
	return faults
}

// tryEmpty asks the rules about an empty config, as they are asked about every worker without one, and returns what is
// wrong if that is not possible.
func (w Workers) tryEmpty() (faults []string) {
	defer func() {
		if reason := recover(); reason != nil {
			faults = []string{fmt.Sprintf("a rule panics when it is asked about a config without any settings: %v", reason)}
		}
	}()
	w.Requirements(nil, nil)
	return nil
}
