// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package fieldpath_test

import (
	"cmp"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// Paths are ordered step by step: names as text, indices as numbers, and parents before children. A path is formatted like a field.Path.
func TestCompare(t *testing.T) {
	type step struct {
		name  string
		index int
	}
	compareSteps := func(a, b step) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.name, b.name)) }
	draw := func(t *rapid.T) (steps []step, path *field.Path) {
		path = field.NewPath("spec")
		for i := range rapid.IntRange(0, 4).Draw(t, "steps") {
			if i%2 == 1 {
				index := rapid.SampledFrom([]int{0, 1, 2, 9, 10, 11, 20, 100}).Draw(t, "index")
				steps, path = append(steps, step{index: index}), path.Index(index)
			} else {
				name := rapid.SampledFrom([]string{"a", "b", "aa"}).Draw(t, "name")
				steps, path = append(steps, step{name: name}), path.Child(name)
			}
		}
		return steps, path
	}
	rapid.Check(t, func(t *rapid.T) {
		a, first := draw(t)
		b, second := draw(t)
		if got, want := fieldpath.Compare(first.String(), second.String()), slices.CompareFunc(a, b, compareSteps); min(1, max(-1, got)) != want {
			t.Fatalf("%s and %s: %d, want %d", first, second, got, want)
		}
		if text := fieldpath.Of(first).Text(); text != first.String() {
			t.Fatalf("%s: %s", first, text)
		}
	})
}

// A path that is made step by step is the parsed one. Paths with a common beginning do not share what follows.
func TestSteps(t *testing.T) {
	spec := fieldpath.Parse("spec.images[0]")[:1]
	one, other := spec.Child("types").Index(2).Child("name"), spec.Child("regions").Index(0)
	for want, got := range map[string]fieldpath.Path{"spec.types[2].name": one, "spec.regions[0]": other} {
		if !slices.Equal(got, fieldpath.Parse(want)) {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
