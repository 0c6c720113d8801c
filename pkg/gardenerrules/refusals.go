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

// Refusal says why Gardener does not let a worker pool have an image version. The zero Refusal says that it does.
type Refusal struct {
	Reason Reason
	// Asked is what the worker pool asks for, and the version does not have: the container runtime interface, the container
	// runtime, or the version of the kubelet. Empty for other reasons.
	Asked string
	// Constraint on kubelets that the version has; empty for other reasons than [OtherKubelet].
	Constraint string
}

// Reason of a [Refusal].
type Reason int

// The reasons.
const (
	// NotRefused: the worker pool can have it.
	NotRefused Reason = iota
	// NotInProfile: the profile does not have the version.
	NotInProfile
	// Unavailable: the version is classified so.
	Unavailable
	// Expired: the version is, and the worker pool is new.
	Expired
	// NoInPlaceUpdates: the version does not support updates in place, and the worker pool is new and asks for them.
	NoInPlaceUpdates
	// OtherKubelet: the version is not for the kubelet of the worker pool.
	OtherKubelet
	// NoCRI: the version does not have the container runtime interface.
	NoCRI
	// NoContainerRuntime: its container runtime interface does not have the container runtime.
	NoContainerRuntime
)

// RefusesImage returns why Gardener does not let a worker pool have an image version, which is nil if the profile does not
// have it. before is the pool as it is stored, nil if it is new; kubernetes is the version of the control plane.
// Architecture and machine type are not looked at, nor the way of updating of a pool that exists.
//
// It is the rule, for a version that an update changes, of validateMachineImagesConstraints, validateCRI and
// validateKubeletVersion (plugin/pkg/shoot/validator).
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

// RuntimesOf returns a text that is the same for worker pools which ask for the same container runtimes in the same order; empty if that is
// left to Gardener.
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

// RefusesKubelet returns whether Gardener does not let a worker pool have an image version because of its kubelet, and which
// that is. Where a version of Kubernetes cannot be read it says nothing.
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

// KubeletVersion returns the version of the kubelets of a worker pool; kubernetes is that of the control plane.
func KubeletVersion(kubernetes string, worker *v1beta1.Worker) (*semver.Version, error) {
	controlPlane, err := semver.NewVersion(kubernetes)
	if err != nil {
		return nil, fmt.Errorf("Kubernetes version %q: %w", kubernetes, err)
	}
	if own := worker.Kubernetes; own != nil && own.Version != nil {
		return semver.NewVersion(*own.Version)
	}
	return controlPlane, nil
}
