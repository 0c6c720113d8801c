// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// ValidateShootUpdate reports what an update changes that cannot be changed. What could not be read of either Shoot is
// not compared: it may be the update that repairs it.
func (Extension) ValidateShootUpdate(shoot, old *v1beta1.Shoot) finding.Report {
	var found validation.Findings
	was, wrong := decode[v1alpha1.InfrastructureConfig](old.Spec.Provider.InfrastructureConfig, "InfrastructureConfig", infrastructurePath)
	is, errs := decode[v1alpha1.InfrastructureConfig](shoot.Spec.Provider.InfrastructureConfig, "InfrastructureConfig", infrastructurePath)
	if was != nil && is != nil {
		changes := validation.InfrastructureConfigUpdate(was, is, len(wrong) == 0, infrastructurePath)
		found.Errors = provider.UnreadIn(errs, infrastructurePath).Without(provider.UnreadIn(wrong, infrastructurePath).Without(changes))
	}
	for i := range shoot.Spec.Provider.Workers {
		pool := &shoot.Spec.Provider.Workers[i]
		k := slices.IndexFunc(old.Spec.Provider.Workers, func(w v1beta1.Worker) bool { return w.Name == pool.Name })
		if k < 0 {
			continue
		}
		before := &old.Spec.Provider.Workers[k]
		found.Add(changedZones(before, pool, workersPath.Index(i)))
		if helper.IsUpdateStrategyInPlace(pool.UpdateStrategy) {
			found.Add(changedInPlace(before, pool, workersPath.Index(i)))
		} else {
			found.Add(replacedMachines(before, pool, workersPath.Index(i)))
		}
	}
	return found.Report().Sorted()
}

// changedZones demands that a worker pool keeps its zones, in their order. It can get more behind them.
func changedZones(old, pool *v1beta1.Worker, at *field.Path) validation.Findings {
	if n := len(old.Zones); n <= len(pool.Zones) && slices.Equal(old.Zones, pool.Zones[:n]) {
		return validation.Findings{}
	}
	return failed(finding.New(validation.OriginFieldImmutable, field.ErrorTypeInvalid, at.Child("zones"), few(pool.Zones), fmt.Sprintf(
		"worker pool %s keeps its zones, in their order, as its machines are counted by them: they were %s; put these first, more can follow; or create a new worker pool",
		pool.Name, orNone(few(old.Zones)))))
}

// changedInPlace demands that nothing is changed for which machines would have to be replaced, in a worker pool whose
// machines are updated in place.
func changedInPlace(old, pool *v1beta1.Worker, at *field.Path) validation.Findings {
	var found validation.Findings
	fail := func(name string) {
		found.Add(failed(finding.New(validation.OriginFieldImmutable, field.ErrorTypeForbidden, at.Child(name), nil, fmt.Sprintf(
			"the machines of worker pool %s are updated in place (%s), and %s takes effect in new machines only; put the old value back, or create a new worker pool",
			pool.Name, *pool.UpdateStrategy, name))))
	}
	if !sameConfig(old, pool) {
		fail("providerConfig")
	}
	if !equality.Semantic.DeepEqual(old.DataVolumes, pool.DataVolumes) {
		fail("dataVolumes")
	}
	return found
}

// sameConfig reports whether the configs of two worker pools say the same, as far as they can be read. One that says
// nothing is the same as none. One that cannot be read at all counts as the same: it may be the update that repairs it.
func sameConfig(old, pool *v1beta1.Worker) bool {
	config := func(w *v1beta1.Worker) *v1alpha1.WorkerConfig {
		if w.ProviderConfig == nil || len(w.ProviderConfig.Raw) == 0 || string(w.ProviderConfig.Raw) == "null" {
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

// replacedMachines warns about changes that replace the machines of a worker pool.
func replacedMachines(old, pool *v1beta1.Worker, at *field.Path) validation.Findings {
	var found validation.Findings
	was, is := workerOf(old, at).config, workerOf(pool, at).config
	for _, trigger := range Triggers {
		before, after := trigger.Value(was), trigger.Value(is)
		if before != after {
			found.Add(warned(finding.New(RuleMachinesReplaced, field.ErrorTypeInvalid, at.Child("providerConfig", trigger.Field), orNone(after), fmt.Sprintf(
				"%s was %s and is %s now, which replaces the machines of worker pool %s, one after the other", trigger.Field, orNone(before), orNone(after), pool.Name))))
		}
	}
	return found
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}
