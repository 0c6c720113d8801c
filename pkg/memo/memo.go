// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package memo memoizes results.
package memo

// Get returns the value of a key in a table. If the table has none, it calls find and stores the result. A nil table stores nothing. Get is
// not safe for concurrent use of one table.
func Get[K comparable, V any](table map[K]V, key K, find func() V) V {
	value, known := table[key]
	if !known {
		value = find()
		if table != nil {
			table[key] = value
		}
	}
	return value
}
