// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package growth tests that the work of admission grows with what a request says, and not with its square: whoever may write an
// object may write one with thousands of empty, equal or unknown elements. Nothing here looks at a clock. What is counted are basic
// blocks of our code and allocated bytes, for two sizes of the same.
//
// The counters are those of go build -cover. Program measure is compiled with them, and does the work.
package growth

// Sizes are how many elements or members are added: more than any budget for what is said of the first ones, each twice the one before.
var Sizes = [3]int{40, 80, 160}

// Row is what the program measure has found out about one object that grows in one way.
type Row struct {
	What string
	// Lists is how many lists or objects grow together.
	Lists int
	// Costs of the three sizes.
	Costs [3]Cost
}

// Cost is what a request took: the same each time, however busy the machine is.
type Cost struct {
	// Blocks are the basic blocks of our packages that were run.
	Blocks int64
	// Bytes that were allocated.
	Bytes int64
}

// Squared returns the part of the cost that grows with the square of what is added, for each pair of elements: what a line through
// the two smaller costs does not foresee of the largest.
func (r *Row) Squared() (blocks, bytes float64) {
	beyond := func(small, middle, large int64) float64 {
		return float64(large-middle-2*(middle-small)) / float64(6*Sizes[0]*Sizes[0])
	}
	c := r.Costs
	return beyond(c[0].Blocks, c[1].Blocks, c[2].Blocks), beyond(c[0].Bytes, c[1].Bytes, c[2].Bytes)
}
