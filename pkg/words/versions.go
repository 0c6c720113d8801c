// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"iter"
	"strings"
)

// maxAlike bounds the versions that FindAlike compares, in bytes.
const maxAlike = 64

// FindAlike returns a function that finds the first of some versions that has the parts of another one, and more, or the other way
// round: 1877.5 and 1877.5.0. It returns the index, or -1 if there is none. Each call takes as long as the version has parts,
// however many there are; versions of more than 64 bytes are like none.
func FindAlike(versions []string) func(version string) int {
	// exact has the first version of each text, and longer the first that goes on after it with a dot.
	exact, longer := map[string]int{}, map[string]int{}
	for i := len(versions) - 1; i >= 0; i-- {
		for text := range shorter(versions[i]) {
			longer[text] = i
		}
		exact[versions[i]] = i
	}
	return func(version string) int {
		first, found := len(versions), false
		take := func(i int, known bool) {
			if known {
				first, found = min(first, i), true
			}
		}
		i, known := longer[version]
		take(i, known)
		for text := range shorter(version) {
			i, known := exact[text]
			take(i, known)
		}
		if !found {
			return -1
		}
		return first
	}
}

// shorter yields what a version is without its last part, without its last two, and so on: each of them not empty.
func shorter(version string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if len(version) > maxAlike {
			return
		}
		for end := strings.LastIndexByte(version, '.'); end > 0 && yield(version[:end]); {
			end = strings.LastIndexByte(version[:end], '.')
		}
	}
}
