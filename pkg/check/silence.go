// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/profile"
)

// lack is a flavor's omission of a reserved capability that is registered as in the second text of GEP-0054, so that the flavor has all
// registered values. Before the registration it had fewer, or another one.
type lack struct {
	Capability string
	// Had are the values before the registration: those that are registered, or all if none is. Has are the present values. Both are in the
	// order of the vocabulary.
	Had, Has []string
}

// silences finds omissions of flavors. [silencesOf] makes one.
type silences struct {
	vocabulary *capability.Vocabulary
	about      []capability.Definition
}

// silencesOf returns silences for the reserved capabilities that a vocabulary registers as in the second text of GEP-0054.
func silencesOf(vocabulary *capability.Vocabulary) silences {
	s := silences{vocabulary: vocabulary}
	for _, d := range vocabulary.WorkerCapabilities() {
		if texts.OfSecond(d.Name) && vocabulary.IsRegistered(d.Name) {
			s.about = append(s.about, d)
		}
	}
	return s
}

// none reports whether no capability can be omitted.
func (s silences) none() bool { return len(s.about) == 0 }

// of returns the omissions of a flavor that give it values it did not have before the registration, in the order of the vocabulary. version
// is core's, or nil if core does not list it.
func (s silences) of(version *v1beta1.MachineImageVersion, declared v1beta1.Capabilities) (silent []lack) {
	for _, d := range s.about {
		if _, said := texts.Declared(declared, d.Name); said {
			continue
		}
		had, said := texts.Declared(profile.Undeclared(version), d.Name)
		if !said {
			had = []string{d.Undeclared}
		}
		has := s.vocabulary.Registered(d.Name)
		kept := slices.DeleteFunc(slices.Clone(has), func(value string) bool { return !slices.Contains(had, value) })
		if len(kept) > 0 {
			had = kept
		}
		if len(kept) < len(has) {
			silent = append(silent, lack{Capability: d.Name, Had: had, Has: has})
		}
	}
	return silent
}
