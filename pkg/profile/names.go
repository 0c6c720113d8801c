// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"strings"

	"github.com/capkit/capkit/pkg/words"
)

// Meant returns the worker capability that a registered name was probably meant to be; empty if it is one or like none.
func (p *Profile[R]) Meant(name string) string {
	var known []string
	for _, d := range p.provider.Workers().Definitions() {
		known = append(known, d.Name)
		if strings.EqualFold(p.provider.Type()+"-"+name, d.Name) {
			return d.Name
		}
	}
	if meant := words.Closest(name, known); meant != name {
		return meant
	}
	return ""
}

// Misspelt returns the registered name by which a worker capability was probably meant; empty if there is none.
func (p *Profile[R]) Misspelt(name string) string {
	for _, def := range p.vocabulary.Definitions() {
		if p.Meant(def.Name) == name {
			return def.Name
		}
	}
	return ""
}

// ValuesOf returns the values that a worker capability is defined with.
func (p *Profile[R]) ValuesOf(name string) []string {
	for _, d := range p.vocabulary.WorkerCapabilities() {
		if d.Name == name {
			return d.Values
		}
	}
	return nil
}
