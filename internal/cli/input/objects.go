// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"slices"

	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/profile"
)

// AnyProfile is a compiled profile of any provider; nil if there is none.
type AnyProfile = *profile.Profile[any]

// Objects are those of one kind: in the order of the inputs, and by name, which is [NAMESPACE/]NAME.
type Objects[T any] struct {
	All    []*Source[T]
	ByName map[string]*Source[T]
}

// Source is an object with the manifest that it was read from.
type Source[T any] struct {
	Manifest *manifest.Object
	Name     string
	// Which tells it apart from another version of the same object, as in " before the update"; empty if there is none.
	Which string
	// Object is as it was written, without defaults; nil if the manifest could not be decoded.
	Object *T
	// Compiled is the profile that the object is or results in; nil until somebody asks for it.
	Compiled AnyProfile
	// Live is set for an object of the cluster, and Aside for one of those that is only there for others to refer to.
	Live, Aside bool
	// Old is what the object is an update of; nil if it is as it is created.
	Old *T
	// stored is the object as the API server stores it; nil until somebody asks for it.
	stored *T
}

// UpdateOf returns a copy of a source as an update of another object. Nothing of it is compiled.
func (s *Source[T]) UpdateOf(old *T) *Source[T] {
	return &Source[T]{Manifest: s.Manifest, Name: s.Name, Object: s.Object, Live: s.Live, Aside: s.Aside, Old: old}
}

// Forget lets go of an object that nobody will ask for again, of which there may be tens of thousands.
func (s *Source[T]) Forget() { s.Object, s.stored = nil, nil }

// put adds a source whose name is new.
func (o *Objects[T]) put(s *Source[T]) {
	if o.ByName == nil {
		o.ByName = map[string]*Source[T]{}
	}
	o.ByName[s.Name] = s
	o.All = append(o.All, s)
}

// TakeOver gives copies of all objects to another one, but for those of some files, and those whose names it has. Nothing of the
// copies is compiled. What is not checked is shared.
func (in *Given) TakeOver(to *Given, without map[string]bool) {
	in.Profiles.takeOver(&to.Profiles, without)
	in.Namespaced.takeOver(&to.Namespaced, without)
	in.Shoots.takeOver(&to.Shoots, without)
	to.beside = in.beside
}

func (o *Objects[T]) takeOver(to *Objects[T], without map[string]bool) {
	for _, s := range o.All {
		if !without[s.Manifest.File] && to.ByName[s.Name] == nil {
			to.put(s.UpdateOf(s.Old))
		}
	}
}

// Replace adds a source, in the place of one with the same name if there is one.
func (o *Objects[T]) Replace(s *Source[T]) {
	first := o.ByName[s.Name]
	if first == nil {
		o.put(s)
		return
	}
	o.ByName[s.Name] = s
	o.All[slices.Index(o.All, first)] = s
}

// Clone returns objects of which nothing is compiled yet.
func (o *Objects[T]) Clone() (cloned Objects[T]) {
	o.takeOver(&cloned, nil)
	return cloned
}
