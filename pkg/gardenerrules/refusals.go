// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/versions"
)

// Refusal is the reason why Gardener refuses an image version for a worker pool. The zero Refusal means that it accepts it.
type Refusal struct {
	Reason Reason
	// Asked is the worker pool's request that the version does not meet: the container runtime interface, the container runtime, or the
	// kubelet's version. Empty for other reasons.
	Asked string
	// Constraint is the version's constraint on kubelets; empty for other reasons than [OtherKubelet].
	Constraint string
}

// Reason is the reason of a [Refusal].
type Reason int

// The reasons.
const (
	// NotRefused: the worker pool can have the version.
	NotRefused Reason = iota
	// NotInProfile: the profile does not have the version.
	NotInProfile
	// Unavailable: the version is classified as unavailable.
	Unavailable
	// Expired: the version has expired, and the worker pool is new.
	Expired
	// NoInPlaceUpdates: the worker pool is new and is updated in place, which the version does not support.
	NoInPlaceUpdates
	// OtherKubelet: the version does not support the worker pool's kubelet, or its constraint is invalid.
	OtherKubelet
	// NoCRI: the version does not have the container runtime interface.
	NoCRI
	// NoContainerRuntime: the container runtime interface of the version does not have the container runtime.
	NoContainerRuntime
)

// RefusesImage returns why Gardener refuses an image version for a worker pool. v is nil if the profile does not have the version. before
// is the stored pool, nil if it is new; kubernetes is the control plane's version. The architecture and the machine type are not checked,
// nor is the update strategy of an existing pool.
//
// It is the rule of validateMachineImagesConstraints, validateCRI and validateKubeletVersion (plugin/pkg/shoot/validator), for a version
// that an update changes.
func RefusesImage(v *v1beta1.MachineImageVersion, worker, before *v1beta1.Worker, kubernetes string) Refusal {
	if v == nil {
		return Refusal{Reason: NotInProfile}
	}
	switch versions.Classification(v.ExpirableVersion) {
	case v1beta1.ClassificationUnavailable:
		return Refusal{Reason: Unavailable}
	case v1beta1.ClassificationExpired:
		if before == nil {
			return Refusal{Reason: Expired}
		}
	}
	if before == nil && UpdatedInPlace(worker) && (v.InPlaceUpdates == nil || !v.InPlaceUpdates.Supported) {
		return Refusal{Reason: NoInPlaceUpdates}
	}
	if refusal := RefusesKubelet(v, worker, kubernetes); refusal != (Refusal{}) {
		return refusal
	}
	return refusesCRI(v, worker.CRI)
}

// RuntimesOf returns a key that is equal for worker pools with the same container runtimes in the same order; empty if a pool names no
// container runtime interface.
func RuntimesOf(asked *v1beta1.CRI) string {
	if asked == nil {
		return ""
	}
	names := []string{"=" + string(asked.Name)}
	for _, runtime := range asked.ContainerRuntimes {
		names = append(names, runtime.Type)
	}
	return strings.Join(names, "/")
}

func refusesCRI(v *v1beta1.MachineImageVersion, asked *v1beta1.CRI) Refusal {
	if asked == nil {
		return Refusal{}
	}
	i := slices.IndexFunc(v.CRI, func(c v1beta1.CRI) bool { return c.Name == asked.Name })
	if i < 0 {
		return Refusal{Reason: NoCRI, Asked: string(asked.Name)}
	}
	for _, runtime := range asked.ContainerRuntimes {
		if !slices.ContainsFunc(v.CRI[i].ContainerRuntimes, func(r v1beta1.ContainerRuntime) bool { return r.Type == runtime.Type }) {
			return Refusal{Reason: NoContainerRuntime, Asked: runtime.Type}
		}
	}
	return Refusal{}
}

// RefusesKubelet returns whether Gardener refuses an image version because of a worker pool's kubelet. It returns the zero Refusal if a
// Kubernetes version is invalid.
//
// It is the rule of validateKubeletVersion (plugin/pkg/shoot/validator), which judges every worker pool at every update.
func RefusesKubelet(v *v1beta1.MachineImageVersion, worker *v1beta1.Worker, kubernetes string) Refusal {
	constraint := ptr.Deref(v.KubeletVersionConstraint, "")
	if constraint == "" {
		return Refusal{}
	}
	kubelet, err := KubeletVersion(kubernetes, worker)
	allowed, wrong := semver.NewConstraint(constraint)
	if err == nil && (wrong != nil || !allowed.Check(kubelet)) {
		return Refusal{OtherKubelet, kubelet.String(), constraint}
	}
	return Refusal{}
}

// KubeletVersion returns the version of a worker pool's kubelets. kubernetes is the control plane's version. The error says which version
// is invalid.
func KubeletVersion(kubernetes string, worker *v1beta1.Worker) (*semver.Version, error) {
	version, err := semver.NewVersion(kubernetes)
	if own := worker.Kubernetes; err == nil && own != nil && own.Version != nil {
		kubernetes = *own.Version
		version, err = semver.NewVersion(kubernetes)
	}
	if err != nil {
		return nil, fmt.Errorf("the Kubernetes version %q: %w", kubernetes, err)
	}
	return version, nil
}
