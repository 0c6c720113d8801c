// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"iter"
	"strings"
)

// maxAlike limits the length of the versions that FindAlike compares, in bytes.
const maxAlike = 64

// FindAlike returns a function that finds the first of versions that extends another version by further parts, or vice versa: 1877.5 and
// 1877.5.0. It returns the index, or -1 if there is none. The time for a call depends on the number of the version's parts, not on the
// number of versions. Versions of more than 64 bytes match none.
func FindAlike(versions []string) func(version string) int {
	// exact has the first version with each text, and longer the first that extends a text by a dot and more.
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

// shorter yields a version without its last part, without its last two parts, and so on, while the rest is not empty.
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
