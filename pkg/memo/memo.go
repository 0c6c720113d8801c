// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package memo finds things out once.
package memo

// Get returns the value of a key in a table. If the table has none, find is called, and its result is put there. It is not safe for
// concurrent use of one table.
func Get[K comparable, V any](table map[K]V, key K, find func() V) V {
	value, known := table[key]
	if !known {
		value = find()
		table[key] = value
	}
	return value
}
