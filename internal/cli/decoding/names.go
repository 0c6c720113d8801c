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

// Names generates names for objects that only have generateName. The API server appends five characters; here they are a number. The zero
// value is for inputs of which nothing has been read.
type Names struct {
	numbers map[nameless]int
	// read counts the objects without a name, by file.
	read map[string]int
}

// nameless identifies an object without a name by its file, and by the number of other ones before it.
type nameless struct {
	file   string
	before int
}

// Again returns the names for reading the same inputs again. Each object keeps its number.
func (n *Names) Again() Names { return Names{numbers: n.numbers} }

// Named returns a manifest and its object. If they only have generateName, it returns copies with a name. number is used for an object that
// has none yet.
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

// numberOf returns the number of a file's next object without a name: the number from an earlier reading, or else other.
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
