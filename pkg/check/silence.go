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

// lack is a flavor that says nothing about a reserved capability which is registered as the second text of GEP-0054 has it, so that
// it has all registered values. Before the registration it had fewer values, or another one.
type lack struct {
	Capability string
	// Had are the values that it had: the registered ones, or all if none is registered. Has are those that it has. Both are in the order of
	// the vocabulary.
	Had, Has []string
}

// silences says what flavors say nothing about. [silencesOf] makes one.
type silences struct {
	vocabulary *capability.Vocabulary
	about      []capability.Definition
}

// silencesOf returns what flavors can be silent about: the reserved capabilities that a vocabulary registers as the second text has it.
func silencesOf(vocabulary *capability.Vocabulary) silences {
	s := silences{vocabulary: vocabulary}
	for _, d := range vocabulary.WorkerCapabilities() {
		if texts.OfSecond(d.Name) && vocabulary.IsRegistered(d.Name) {
			s.about = append(s.about, d)
		}
	}
	return s
}

// none reports whether there is nothing to be silent about.
func (s silences) none() bool { return len(s.about) == 0 }

// of returns what a flavor of an image version says nothing about, in the order of the vocabulary, if that gives it more than before the
// registration, or other values, since one that is incomplete lacks what the flavor had. The version is that of core; nil if core does
// not list it.
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
