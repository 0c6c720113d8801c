// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"reflect"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/versions"
)

// How migrate proves that lifecycles change nothing: each version keeps its classification at every moment from now on, and
// nothing else changes at all. This is checked for each profile, and for each NamespacedCloudProfile merged with its parent.

// proveLifecycles reports versions whose classification changes over time, and any other change.
func (m *migration) proveLifecycles() {
	for _, s := range m.Profiles.All {
		m.proveSpec(s.Manifest, &s.Object.Spec, &m.after.Profiles.ByName[s.Name].Object.Spec)
	}
	for _, s := range m.Namespaced.All {
		after := m.after.Namespaced.ByName[s.Name]
		if was, is := m.ParentOf(s), m.after.ParentOf(after); was != nil && is != nil {
			m.proveSpec(s.Manifest, gardenerrules.Merge(&s.Object.Spec, &was.Object.Spec), gardenerrules.Merge(&after.Object.Spec, &is.Object.Spec))
		}
	}
}

// proveSpec compares two CloudProfile specs.
func (m *migration) proveSpec(o *manifest.Object, was, is *v1beta1.CloudProfileSpec) {
	now := time.Now()
	before, after := expirable(was), expirable(is)
	for i := range min(len(before), len(after)) {
		if !versions.SameFrom(now, *before[i].version, *after[i].version) {
			m.AddErrors(o, input.Problem(transform.Rule, field.ErrorTypeForbidden, before[i].at, nil, "%s would not be what it is, %v, but %v",
				before[i].version.Version, versions.Since(*before[i].version, now), versions.Since(*after[i].version, now)))
		}
	}
	if !reflect.DeepEqual(withoutStages(was), withoutStages(is)) {
		m.AddErrors(o, input.Problem(transform.Rule, field.ErrorTypeForbidden, "spec", nil, "more would change than the lifecycles of versions"))
	}
}

// expirableAt is a version in a spec with its path.
type expirableAt struct {
	version *v1beta1.ExpirableVersion
	at      string
}

// expirable returns the versions of a spec.
func expirable(spec *v1beta1.CloudProfileSpec) (all []expirableAt) {
	for i := range spec.Kubernetes.Versions {
		all = append(all, expirableAt{&spec.Kubernetes.Versions[i], fmt.Sprintf("spec.kubernetes.versions[%d]", i)})
	}
	for i := range spec.MachineImages {
		for k := range spec.MachineImages[i].Versions {
			all = append(all, expirableAt{&spec.MachineImages[i].Versions[k].ExpirableVersion, fmt.Sprintf("spec.machineImages[%d].versions[%d]", i, k)})
		}
	}
	return all
}

// withoutStages returns a copy of a spec without the classifications, dates and lifecycles of versions.
func withoutStages(spec *v1beta1.CloudProfileSpec) *v1beta1.CloudProfileSpec {
	spec = spec.DeepCopy()
	for _, v := range expirable(spec) {
		*v.version = v1beta1.ExpirableVersion{Version: v.version.Version}
	}
	return spec
}
