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

// Objects are the objects of one kind, in the order of the inputs and by [NAMESPACE/]NAME.
type Objects[T any] struct {
	All    []*Source[T]
	ByName map[string]*Source[T]
}

// Source is an object with its manifest.
type Source[T any] struct {
	Manifest *manifest.Object
	Name     string
	// Which distinguishes it from another version of the same object, as in " before the update"; empty if there is none.
	Which string
	// Object is the object as written, without defaults; nil if the manifest could not be decoded.
	Object *T
	// Compiled is the profile that the object is or results in, memoized.
	Compiled AnyProfile
	// Live reports whether the object is from the cluster. Aside reports whether it is only read for references, and not checked.
	Live, Aside bool
	// Old is the object before an update; nil for a creation.
	Old *T
	// stored is the object as the API server stores it, memoized.
	stored *T
}

// UpdateOf returns a copy of a source as an update of old. The copy is not compiled.
func (s *Source[T]) UpdateOf(old *T) *Source[T] {
	return &Source[T]{Manifest: s.Manifest, Name: s.Name, Object: s.Object, Live: s.Live, Aside: s.Aside, Old: old}
}

// Forget releases an object that is not needed any more. There may be tens of thousands.
func (s *Source[T]) Forget() { s.Object, s.stored = nil, nil }

// put adds a source with a new name.
func (o *Objects[T]) put(s *Source[T]) {
	if o.ByName == nil {
		o.ByName = map[string]*Source[T]{}
	}
	o.ByName[s.Name] = s
	o.All = append(o.All, s)
}

// TakeOver copies all objects to another Given, except those from the files in without, and those whose names it already has. The copies
// are not compiled. Objects that are not checked are shared.
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

// Replace adds a source, in place of one with the same name if it exists.
func (o *Objects[T]) Replace(s *Source[T]) {
	first := o.ByName[s.Name]
	if first == nil {
		o.put(s)
		return
	}
	o.ByName[s.Name] = s
	o.All[slices.Index(o.All, first)] = s
}

// Clone returns copies of the objects that are not compiled.
func (o *Objects[T]) Clone() (cloned Objects[T]) {
	o.takeOver(&cloned, nil)
	return cloned
}
