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

// ValidateShootUpdate reports what an update changes that cannot be changed. What could not be read of either Shoot is
// not compared: it may be the update that repairs it.
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
	for i := range slices.Backward(old.Spec.Provider.Workers) { // of two the first counts
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

// change is what an update makes of a worker pool, which stands at the path at.
type change struct {
	*finding.Report
	old, pool *v1beta1.Worker
	at        *field.Path
}

// zones demands that the worker pool keeps its zones, in their order. It can get more behind them.
func (c change) zones() {
	old, zones := c.old.Zones, c.pool.Zones
	if len(old) > len(zones) || !slices.Equal(old, zones[:len(old)]) {
		c.Found(validation.RuleFieldImmutable, field.ErrorTypeInvalid, c.at.Child("zones"), words.Few(zones),
			"worker pool %s keeps its zones, in their order, as its machines are counted by them: they were %s; "+
				"put these first, more can follow; or create a new worker pool", c.pool.Name, cmp.Or(words.Few(old), none))
	}
}

// inPlace demands that nothing is changed for which machines would have to be replaced: they are updated in place.
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

// sameConfig reports whether the configs of two worker pools say the same, as far as they can be read. One that says
// nothing is the same as none. One that cannot be read at all counts as the same: it may be the update that repairs it.
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

// none stands for what is not there.
const none = "none"
