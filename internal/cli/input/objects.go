// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"slices"

	"github.com/capkit/capkit/internal/cli/manifest"
)

// Objects are those of one kind: in the order of the inputs, and by name, which is [NAMESPACE/]NAME.
type Objects[T any] struct {
	All    []*Source[T]
	ByName map[string]*Source[T]
}

// Source is an object with the manifest that it was read from.
type Source[T any] struct {
	Manifest *manifest.Object
	Name     string
	// Object is as it was written, without defaults; nil if the manifest could not be decoded.
	Object *T
	// Compiled is the profile that the object is or results in; nil until somebody asks for it.
	Compiled AnyProfile
	// Live is set for an object of the cluster, and aside for one of those that is only there for others to refer to.
	Live, Aside bool
	// Old is what the object is an update of; nil if it is as it is created.
	Old *T
}

// Forget lets go of an object that nobody will ask for again, of which there may be tens of thousands.
func (s *Source[T]) Forget() { s.Object = nil }

// put adds a source whose name is new.
func (o *Objects[T]) put(s *Source[T]) {
	if o.ByName == nil {
		o.ByName = map[string]*Source[T]{}
	}
	o.ByName[s.Name] = s
	o.All = append(o.All, s)
}

// TakeOver gives copies of all objects to another one, but for those of some files. Nothing of the copies is compiled.
func (g *Given) TakeOver(to *Given, without map[string]bool) {
	takeOverAll(&g.Profiles, &to.Profiles, without)
	takeOverAll(&g.Namespaced, &to.Namespaced, without)
	takeOverAll(&g.Shoots, &to.Shoots, without)
}

func takeOverAll[T any](from, to *Objects[T], without map[string]bool) {
	for _, s := range from.All {
		if without[s.Manifest.File] {
			continue
		}
		copied := *s
		copied.Compiled = nil
		to.put(&copied)
	}
}

// Adopt adds the objects that other has, unless there is one of the name.
func (g *Given) Adopt(other *Given) {
	adopt(&g.Profiles, &other.Profiles)
	adopt(&g.Namespaced, &other.Namespaced)
	adopt(&g.Shoots, &other.Shoots)
}

func adopt[T any](to, from *Objects[T]) {
	for _, s := range from.All {
		if to.ByName[s.Name] == nil {
			to.put(s)
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
func (o *Objects[T]) Clone() Objects[T] {
	var cloned Objects[T]
	for _, s := range o.All {
		other := *s
		other.Compiled = nil
		cloned.put(&other)
	}
	return cloned
}
