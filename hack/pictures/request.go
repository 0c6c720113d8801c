// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

// steps are the stages of a write, in order: a class, a title, and the lines of a text.
var steps = [][]string{
	{"box", "strong|kubectl apply", "|a CloudProfile,", "|a Shoot, or what", "|belongs to them"},
	{"card", "strong|Gardener", "|fills in defaults,", "|and versions that", "|are left out"},
	{"accentbox", "strong|capkit completes", "|core flavors that", "|follow from the", "|provider config; a", "|version that boots"},
	{"card", "strong|Gardener", "|validates the", "|object"},
	{"accentbox", "strong|capkit checks", "|both halves agree,", "|each worker pool", "|has an image that", "|fits"},
	{"goodbox", "strong|stored", "|the answer has", "|the warnings"},
}

// request draws the path of a write through the API server and the webhooks. The checks have two other outcomes: an error that the user can
// repair, and one that the user cannot.
func request() *canvas {
	const left, top, width, distance = 20.0, 72.0, 158.0, 176.0
	middle, bottom := top+height(5)/2, top+height(5)
	c := &canvas{
		w: 2*left + 5*distance + width, h: bottom + 42 + height(4) + 20,
		title: "What happens to a write: Gardener fills in, capkit completes, Gardener validates, capkit checks, then it is stored",
	}
	c.heading("What happens to a write", "Blue is the admission component. capkit lint calls the same functions, before the write.")
	for i, s := range steps {
		x := left + float64(i)*distance
		c.cell(s[0], x, top, width, height(5), s[1:]...)
		if i > 0 {
			c.path("line", "M%.6g %.6gh9", x-18, middle)
			c.path("arrow", "M%.6g %.6gl-9 -5v10z", x, middle)
		}
	}
	for i, class := range []string{"bad", ""} {
		x := left + 4*distance + 30 + 80*float64(i)
		c.path(class+"line", "M%.6g %.6gv33", x, bottom)
		c.path(class+"arrow", "M%.6g %.6gl-5 -9h10z", x, bottom+42)
	}
	c.cell("badbox", left+2*distance, bottom+42, 410, height(4), "bad strong|refused: 422 Invalid",
		"|all errors at once, with what would work;", "|errors that the stored object has already", "|are warnings")
	c.cell("box", left+2*distance+422, bottom+42, 264, height(4),
		"strong|not decided: 500", "|a lookup failed: nothing", "|is stored; try again")
	return c
}
