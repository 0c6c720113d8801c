// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// ValidateShootUpdate reports changes of immutable fields. It does not compare unreadable parts of either Shoot, because the update may
// repair them.
func (Extension) ValidateShootUpdate(shoot, old *v1beta1.Shoot) finding.Report {
	var found finding.Report
	was, wrong := readInfrastructure(old)
	is, errs := readInfrastructure(shoot)
	if was != nil && is != nil {
		changes := finding.Report{Errors: validation.InfrastructureConfigUpdate(was, is, len(wrong) == 0, infrastructurePath)}
		changes = providerconfig.UnreadIn(wrong, infrastructurePath).Silence(changes)
		found = providerconfig.UnreadIn(errs, infrastructurePath).Silence(changes)
	}
	stored := make(map[string]*v1beta1.Worker, len(old.Spec.Provider.Workers))
	for i := range slices.Backward(old.Spec.Provider.Workers) { // the first of a name wins
		stored[old.Spec.Provider.Workers[i].Name] = &old.Spec.Provider.Workers[i]
	}
	for i := range shoot.Spec.Provider.Workers {
		pool := &shoot.Spec.Provider.Workers[i]
		if before := stored[pool.Name]; before != nil {
			c := change{&found, before, pool, workersPath.Index(i)}
			c.zones()
			if gardenerrules.UpdatedInPlace(pool) {
				c.inPlace()
			} else {
				c.replacing()
			}
		}
	}
	return found.Sorted()
}

// change is the update of a worker pool. at is its path.
type change struct {
	*finding.Report
	old, pool *v1beta1.Worker
	at        *field.Path
}

// zones requires that the worker pool keeps its zones and their order. Zones may be appended.
func (c change) zones() {
	old, zones := c.old.Zones, c.pool.Zones
	if len(old) > len(zones) || !slices.Equal(old, zones[:len(old)]) {
		c.Found(validation.RuleFieldImmutable, field.ErrorTypeInvalid, c.at.Child("zones"), words.Few(zones),
			"worker pool %s keeps its zones, in their order, as its machines are counted by them: they were %s; "+
				"put these first, more can follow; or create a new worker pool", c.pool.Name, cmp.Or(words.Few(old), none))
	}
}

// inPlace rejects changes that replace machines in a worker pool with in-place updates.
func (c change) inPlace() {
	keeps := func(same bool, name string) {
		if !same {
			c.Found(validation.RuleFieldImmutable, field.ErrorTypeForbidden, c.at.Child(name), nil,
				"the machines of worker pool %s are updated in place (%s), and %s takes effect in new machines only; "+
					"put the old value back, or create a new worker pool", c.pool.Name, *c.pool.UpdateStrategy, name)
		}
	}
	keeps(sameConfig(c.old, c.pool), "providerConfig")
	keeps(equality.Semantic.DeepEqual(c.old.DataVolumes, c.pool.DataVolumes), "dataVolumes")
}

// sameConfig reports whether the readable parts of two worker pools' configs are equal. An empty config equals a missing one. An
// unreadable config equals every other, because the update may repair it.
func sameConfig(old, pool *v1beta1.Worker) bool {
	config := func(w *v1beta1.Worker) *v1alpha1.WorkerConfig {
		if !providerconfig.HasContent(w.ProviderConfig) {
			return &v1alpha1.WorkerConfig{}
		}
		config, _ := decode[v1alpha1.WorkerConfig](w.ProviderConfig, "WorkerConfig", field.NewPath("providerConfig"))
		if config != nil {
			config.TypeMeta = metav1.TypeMeta{}
		}
		return config
	}
	was, is := config(old), config(pool)
	return was == nil || is == nil || equality.Semantic.DeepEqual(was, is)
}

func (c change) replacing() {
	was, is := workerOf(c.old, c.at).config, workerOf(c.pool, c.at).config
	for _, trigger := range Triggers {
		if before, after := trigger.Value(was), trigger.Value(is); before != after {
			after = cmp.Or(after, none)
			c.Found(ruleMachinesReplaced, field.ErrorTypeInvalid, c.at.Child("providerConfig", trigger.Field), after,
				"%s was %s and is %s now, which replaces the machines of worker pool %s, one after the other",
				trigger.Field, cmp.Or(before, none), after, c.pool.Name)
		}
	}
}

// none represents an absent value in messages.
const none = "none"
