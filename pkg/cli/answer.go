// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/imageselector"
)

// Answer is what select prints for one worker pool. Its JSON is an interface: a field once published keeps its name and
// meaning.
type Answer struct {
	// Shoot as NAMESPACE/NAME and Pool; empty if the question is not about a Shoot.
	Shoot string `json:"shoot,omitempty"`
	Pool  string `json:"pool,omitempty"`

	Image       string `json:"image"`
	Version     string `json:"version"`
	MachineType string `json:"machineType"`
	Region      string `json:"region"`

	// Selected is set if an image was found, Refused if none was.
	*Selected
	*Refused

	// reasoning is what explain adds.
	reasoning Reasoning
	err       *field.Error
}

// Selected is the part of an [Answer] about the image that was found.
type Selected struct {
	// Reference is the provider's own form.
	Reference any `json:"reference"`
	// Capabilities as the flavor declares them, Effective what remains of them on the machine type.
	Capabilities v1beta1.Capabilities `json:"capabilities"`
	Effective    v1beta1.Capabilities `json:"effective"`
	// Ambiguous tells that another flavor supports exactly the same.
	Ambiguous bool `json:"ambiguous"`
}

// Refused is the part of an [Answer] that says why there is no image.
type Refused struct {
	Error string `json:"error"`
	// Rejected has an entry for each flavor, in the order written; or a single one if flavors were not looked at.
	Rejected    []Rejected               `json:"rejected"`
	Suggestions []consistency.Suggestion `json:"suggestions"`
}

// Rejected says why a flavor is out.
type Rejected struct {
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
	Reason       imageselector.Reason `json:"reason"`
	// Capability is the first one in conflict, with the values of the flavor, of the machine type and of the worker.
	Capability string   `json:"capability,omitempty"`
	Flavor     []string `json:"flavor,omitempty"`
	Machine    []string `json:"machine,omitempty"`
	Worker     []string `json:"worker"`
	Message    string   `json:"message"`
}

// answer turns a resolution into what is printed.
func answer[R any](p *consistency.Profile[R], r consistency.Resolution[R]) Answer {
	a := Answer{
		Pool: r.Pool.Name, Image: r.Pool.Image, Version: r.Pool.Version, MachineType: r.Pool.MachineType, Region: r.Pool.Region,
		err: r.Err, reasoning: reasoning(p, r),
	}
	if r.Err == nil {
		v := r.Decision.Verdicts[r.Decision.Chosen]
		a.Selected = &Selected{
			Reference: r.Decision.Reference, Capabilities: declared(v.Flavor.Capabilities),
			Effective: v.Effective.Capabilities(), Ambiguous: r.Decision.Ambiguous,
		}
		return a
	}
	a.Refused = &Refused{Error: r.Err.Detail, Rejected: []Rejected{}, Suggestions: r.Suggestions}
	if a.Refused.Suggestions == nil {
		a.Refused.Suggestions = []consistency.Suggestion{}
	}
	if r.Reason != "" {
		whole := Rejected{Reason: r.Reason, Message: r.Err.Detail}
		if r.Reason == consistency.ReasonArchitecture {
			whole.Capability, whole.Machine = capability.Architecture, r.Machine.Values(capability.Architecture)
			whole.Worker = []string{r.Pool.Architecture}
		}
		a.Refused.Rejected = append(a.Refused.Rejected, whole)
	}
	for i := range r.Decision.Verdicts {
		a.Refused.Rejected = append(a.Refused.Rejected, rejected(p, &r.Decision, i))
	}
	return a
}

func rejected[R any](p *consistency.Profile[R], d *imageselector.Decision[R], i int) Rejected {
	v := &d.Verdicts[i]
	r := Rejected{Capabilities: declared(v.Flavor.Capabilities), Reason: v.Reason, Message: p.Vocabulary().Format(v.Flavor.Capabilities) + " " + consistency.Rejection(d, i)}
	if len(v.Conflicts) > 0 {
		r.Capability, r.Flavor, r.Machine = v.Conflicts[0].Capability, v.Conflicts[0].Offer, v.Conflicts[0].Need
	}
	return r
}

// declared keeps a flavor that declares nothing an empty object in JSON.
func declared(c v1beta1.Capabilities) v1beta1.Capabilities {
	if c == nil {
		return v1beta1.Capabilities{}
	}
	return c
}
