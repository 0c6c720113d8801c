// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/internal/cli/manifest"
)

// Names are those of objects which have only the beginning of one, in generateName: the API server adds five characters. Here these are a
// number. The zero Names is that of inputs of which nothing has been read.
type Names struct {
	numbers map[nameless]int
	// read counts the objects without a name, by file.
	read map[string]int
}

// nameless is an object without a name: its file, and how many others there are before it.
type nameless struct {
	file   string
	before int
}

// Again returns the names for inputs that are read again, in which each object keeps its number.
func (n *Names) Again() Names { return Names{numbers: n.numbers} }

// Named returns an object with a name. The number is for one that has none yet.
func Named[T any](names *Names, o *manifest.Object, object *T, number int) (*manifest.Object, *T) {
	if o.Name == "" {
		number = names.numberOf(o.File, number)
	}
	meta, has := any(object).(metav1.Object)
	if !has || meta.GetName() != "" || meta.GetGenerateName() == "" {
		return o, object
	}
	applied, created := *o, *object
	applied.Name = fmt.Sprintf("%s%05d", meta.GetGenerateName(), number)
	any(&created).(metav1.Object).SetName(applied.Name)
	return &applied, &created
}

// numberOf returns the number of the next object without a name in a file: the one that it had when it was read before, or another one.
func (n *Names) numberOf(file string, other int) int {
	if n.numbers == nil {
		n.numbers = map[nameless]int{}
	}
	if n.read == nil {
		n.read = map[string]int{}
	}
	is := nameless{file, n.read[file]}
	n.read[file]++
	n.numbers[is] = cmp.Or(n.numbers[is], other)
	return n.numbers[is]
}
