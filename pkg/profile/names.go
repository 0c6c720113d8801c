// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"strings"

	"github.com/capkit/capkit/pkg/words"
)

// Meant returns the worker capability that a registered name probably misspells. It returns "" if the name is correct or resembles none.
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

// Misspelt returns the registered name that probably misspells a worker capability, or "" if there is none.
func (p *Profile[R]) Misspelt(name string) string {
	for _, def := range p.vocabulary.Definitions() {
		if p.Meant(def.Name) == name {
			return def.Name
		}
	}
	return ""
}

// ValuesOf returns the defined values of a worker capability, or nil if it is unknown.
func (p *Profile[R]) ValuesOf(name string) []string {
	for _, d := range p.vocabulary.WorkerCapabilities() {
		if d.Name == name {
			return d.Values
		}
	}
	return nil
}
