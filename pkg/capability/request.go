// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package capability

import (
	"slices"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Requirement is what a worker pool asks for in one worker capability (semantics S3).
type Requirement struct {
	// Capability is its name.
	Capability string `json:"capability"`
	// Values are those that will do. Their order means nothing.
	Values []string `json:"values"`
	// Setting says in words what asks for it: "update strategy AutoInPlaceUpdate".
	Setting string `json:"setting"`
	// Implied is set if the requirement follows from what the pool leaves unsaid: without secure boot it asks for
	// standard.
	Implied bool `json:"implied"`
	// Because is the path of the setting; nil if it is in no manifest.
	Because *field.Path `json:"-"`
}

// Request compiles what a worker pool asks for. Two requirements of one capability have to be met by one value.
//
// unmet are the requirements, in their order, that no image can ever meet: their capability is neither reserved nor a
// worker capability of the provider that is registered, or none of their values is registered. They are no part of
// the set: it is for the caller to refuse them. No image declares a capability that is not registered; so a
// requirement of it that the undeclared value meets is met by all, and one that [Vocabulary.Ignores] reports is
// ignored. Neither is unmet.
//
// It does not allocate if nothing is asked for, or what the zero [Worker] asks for, as by most pools; see
// BenchmarkRequest.
func (v *Vocabulary) Request(requirements []Requirement) (request Set, unmet []Requirement) {
	var buffer [64]byte // on the stack, and enough for any vocabulary of a usual size
	bits := append(buffer[:0], v.unrequested.bits...)
	for _, q := range requirements {
		r := v.byName[q.Capability]
		if r == nil && (v.undeclaredMeets(q) || v.Ignores(q)) {
			continue
		}
		if r == nil || r.worker == nil || !slices.ContainsFunc(q.Values, r.worker.offers) {
			unmet = append(unmet, q)
			continue
		}
		r.worker.request(bits, q.Values)
		r.restrict(bits, q.Values) // the same, unless the capability is registered
	}
	for _, usual := range []Set{v.ordinary, v.unrequested} {
		if string(bits) == usual.bits {
			return usual, unmet
		}
	}
	return Set{vocabulary: v, bits: string(bits)}, unmet
}

// Ignores reports whether a requirement counts for nothing, though the undeclared value does not meet it: its
// capability is not registered, and counts only if it is ([Definition].OnlyIfRegistered). [Vocabulary.Request] leaves
// such a requirement out and does not return it as unmet; callers warn about it.
func (v *Vocabulary) Ignores(r Requirement) bool {
	return v.unregistered[r.Capability].OnlyIfRegistered && !v.undeclaredMeets(r)
}

// undeclaredMeets reports whether all images meet a requirement because its capability is not registered.
func (v *Vocabulary) undeclaredMeets(r Requirement) bool {
	d := v.unregistered[r.Capability]
	return d.Undeclared != "" && slices.Contains(r.Values, d.Undeclared)
}

// offers reports whether a worker capability has a value, and registers it if it is registered.
func (w *workerCapability) offers(value string) bool {
	index, defined := w.byValue[value]
	return defined && index < w.offered
}

// request adds a requirement, some value of which is offered, to the bits of a request.
func (w *workerCapability) request(bits []byte, values []string) {
	if at, mask := w.bit(w.bitNotRequested()); bits[at]&mask != 0 { // the first requirement: so far any value will do
		clear(bits[w.from:w.to])
		for i := w.flags; i < w.offered; i++ {
			w.put(bits, i)
		}
	}
	w.restrict(bits, values)
}

// restrict clears the bits of all values but the given ones.
func (r *entry) restrict(bits []byte, values []string) {
	for i := r.flags; i < len(r.values); i++ {
		if !slices.Contains(values, r.values[i]) {
			at, mask := r.bit(i)
			bits[at] &^= mask
		}
	}
}

// Worker are the properties of a worker pool that ask for reserved capabilities (GEP-0054, semantics S3). The zero
// Worker is a pool with none of them: it asks for a standard boot and rolling updates.
type Worker struct {
	// SecureBoot is set if machines boot with secure boot. The Shoot API of Gardener v1.150 has no such field.
	SecureBoot bool
	// UpdateStrategy of the pool; empty is AutoRollingUpdate.
	UpdateStrategy v1beta1.MachineUpdateStrategy
	// GPU is the type of the pool's GPU: nvidia, amd or intel. Any other type asks for an image without GPU support.
	// Nil: the pool says nothing about a GPU, and nothing is requested. The Shoot API of Gardener v1.150 has no such
	// field.
	GPU *string
}

// Requirements returns what the properties ask for, in the order of [Reserved]. at is the path of the worker, nil if
// it is in no manifest. The caller owns the result.
func (w Worker) Requirements(at *field.Path) []Requirement {
	boot := Requirement{
		Capability: BootType, Values: []string{bootTypeStandard}, Setting: "no secure boot", Implied: true,
	}
	if w.SecureBoot {
		boot = Requirement{Capability: BootType, Values: []string{bootTypeSecure}, Setting: "secure boot"}
	}
	update := Requirement{
		Capability: UpdateType, Values: []string{UpdateTypeRolling}, Setting: "no update in place", Implied: true,
	}
	if helper.IsUpdateStrategyInPlace(&w.UpdateStrategy) {
		update = Requirement{
			Capability: UpdateType, Values: []string{UpdateTypeInPlace}, Setting: "update strategy " + string(w.UpdateStrategy),
		}
	}
	if at != nil {
		update.Because = at.Child("updateStrategy")
	}
	requirements := []Requirement{boot, update}
	if w.GPU != nil {
		gpu := Requirement{Capability: gpuSupport, Values: []string{gpuSupportNone}, Setting: "GPU of type " + *w.GPU}
		if slices.Contains(gpuTypes, *w.GPU) {
			gpu.Values = []string{*w.GPU}
		}
		requirements = append(requirements, gpu)
	}
	return requirements
}
