// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/strictjson"
)

// Check returns the mistakes in a provider itself, so that they are found when an extension starts instead of at a user's request
// (semantics S3). It reports a type that does not fit into Gardener's label for it; worker capabilities without the provider's prefix,
// which is its type and a dash; requests for undefined capabilities or values; fields that a WorkerConfig or a worker pool does not have;
// parts of a WorkerConfig that are missing or have no effect; invalid policies; contradictory abilities; rules without a name or a
// severity, or with the name of another one; and invalid references, which it derives for a synthetic image version. The error has a line
// for each mistake. Nil: there is none.
func Check[R any](provider Provider[R]) error {
	workers := provider.Workers()
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("provider %s: %s", provider.Type(), fmt.Sprintf(format, args...)))
	}
	if faults := validation.IsQualifiedName(constants.LabelExtensionProviderTypePrefix + provider.Type()); len(faults) > 0 {
		wrong("the type %q does not fit into Gardener's label %sTYPE: %s", provider.Type(), constants.LabelExtensionProviderTypePrefix, faults[0])
	}
	workers.checkDefinitions(provider.Type()+"-", wrong)
	if workers.kind != (schema.GroupVersionKind{}) && (workers.kind.Version == "" || workers.kind.Kind == "") {
		wrong("the kind of the WorkerConfig has no version, or no kind")
	}
	for _, fault := range workers.faults {
		wrong("%s", fault)
	}
	if len(workers.faults) == 0 {
		workers.tryEmpty(wrong)
	}
	workers.checkRequests(wrong)
	PoliciesOf(provider).Check(wrong)
	checkAbilities(provider, wrong)
	return errors.Join(errs...)
}

func (w Workers) checkDefinitions(prefix string, wrong func(format string, args ...any)) {
	defined := sets.New[string]()
	for _, d := range w.definitions {
		values := sets.New(d.Values...)
		switch {
		case defined.Has(d.Name):
			wrong("worker capability %q is defined twice", d.Name)
		case !strings.HasPrefix(d.Name, prefix) || d.Name == prefix:
			wrong("worker capability %q must begin with %q, the prefix of this provider", d.Name, prefix)
		case len(validation.IsQualifiedName(d.Name)) > 0:
			wrong("%q is not a name for a capability: %s", d.Name, strings.Join(validation.IsQualifiedName(d.Name), "; "))
		}
		switch {
		case len(d.Values) == 0 || values.Has("") || len(values) < len(d.Values):
			wrong("worker capability %q needs values, each of them once, and none of them empty", d.Name)
		case d.Undeclared != "" && !values.Has(d.Undeclared):
			wrong("worker capability %q: the undeclared value %q is none of its values [%s]",
				d.Name, d.Undeclared, strings.Join(d.Values, ", "))
		case d.MachineTypesOnly && len(d.Values) < 2:
			wrong("worker capability %q is asked of machine types only and needs a second value, for machine types that do not have [%s]",
				d.Name, d.Values[0])
		}
		defined.Insert(d.Name)
	}
}

func (w Workers) checkRequests(wrong func(format string, args ...any)) {
	known := map[string]sets.Set[string]{}
	for _, d := range slices.Concat(capability.Reserved(), capability.FirstText(), w.definitions) {
		known[d.Name] = sets.New(d.Values...)
	}
	for _, s := range w.settings {
		values, found := known[s.Capability]
		at := s.Because.String()
		if s.Setting == "" || at == "providerConfig." {
			wrong("the request for worker capability %q does not say for which setting, and at which field", s.Capability)
		}
		switch name, ofConfig := strings.CutPrefix(at, "providerConfig."); {
		case !ofConfig:
			if lacks := lacking(&v1beta1.Worker{}, at); lacks != "" {
				wrong("the PoolField %q of %q does not exist in a worker pool: %s", at, s.Setting, lacks)
			}
		case w.kind == (schema.GroupVersionKind{}):
			wrong("%q is a setting of a providerConfig, whose kind is not given", s.Setting)
		case name != "" && w.lacks(name) != "":
			wrong("the Field %q of %q does not exist in the providerConfig: %s", name, s.Setting, w.lacks(name))
		}
		if s.OnlyIfRegistered && !strings.HasPrefix(s.Capability, capability.ReservedPrefix) {
			wrong("%q is to ask for %q only if it is offered, which is for reserved capabilities; set OnlyIfRegistered in its definition",
				s.Setting, s.Capability)
		}
		switch {
		case !found:
			wrong("%q asks for %q, which is not among the worker capabilities that it defines", s.Setting, s.Capability)
		case len(s.Values) == 0 || !values.HasAll(s.Values...):
			wrong("%q asks for [%s] of worker capability %q, which has the values [%s]",
				s.Setting, strings.Join(s.Values, ", "), s.Capability, strings.Join(sets.List(values), ", "))
		}
	}
}

// tryEmpty evaluates the requests for an empty worker pool, as they are for every pool without a config, and reports a panic.
func (w Workers) tryEmpty(wrong func(format string, args ...any)) {
	defer func() {
		if reason := recover(); reason != nil {
			wrong("a request panics when it is asked about a worker pool without any settings: %v", reason)
		}
	}()
	w.Requirements(Pool{})
	listed := sets.New[string]()
	for _, r := range w.Rolling(Pool{}) {
		switch lacks := w.lacks(r.Field); {
		case r.Field == "":
			wrong("an entry of RollingUpdate has no Field")
		case listed.Has(r.Field):
			wrong("RollingUpdate has the Field %q twice", r.Field)
		case lacks != "":
			wrong("RollingUpdate has the Field %q, which does not exist in the providerConfig: %s", r.Field, lacks)
		}
		listed.Insert(r.Field)
	}
}

// lacking says why an object cannot have a field at a path, with dots between names. Empty: it has the field, or may have it.
func lacking(object any, path string) string {
	written := "null"
	for _, name := range slices.Backward(strings.Split(path, ".")) {
		name, _, _ = strings.Cut(name, "[")
		written = fmt.Sprintf("{%q: %s}", name, written)
	}
	for _, f := range strictjson.Decode([]byte(written), object, nil) {
		if f.Origin == strictjson.OriginUnknownField {
			return f.Detail
		}
	}
	return ""
}
