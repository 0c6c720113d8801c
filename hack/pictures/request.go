// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

// step is a station of a request.
type step struct {
	class, title string
	lines        []string
}

// steps are where a write comes past, in order.
var steps = []step{
	{"box", "kubectl apply", []string{"a CloudProfile,", "a Shoot, or what", "belongs to them"}},
	{"card", "Gardener", []string{"fills in defaults,", "and versions that", "are left out"}},
	{"accentbox", "capkit completes", []string{"core flavors that", "follow from the", "provider config; a", "version that boots"}},
	{"card", "Gardener", []string{"validates the", "object"}},
	{"accentbox", "capkit checks", []string{"both halves agree,", "each worker pool", "has an image that", "fits"}},
	{"goodbox", "stored", []string{"the answer has", "the warnings"}},
}

// request draws the way of a write through the API server and the webhooks.
func request() (*canvas, error) {
	const (
		top, width, height, between = 72.0, 158.0, 144.0, 18.0
		answers                     = top + height + 46
	)
	c := &canvas{h: answers + 122, title: "What happens to a write: Gardener fills in, capkit completes, Gardener validates, capkit checks, then it is stored"}
	c.w = 20 + float64(len(steps))*(width+between) - between + 20
	c.text("title", 20, 32, "What happens to a write")
	c.text("muted", 20, 52, "Blue is the admission component. capkit lint calls the same functions, before the write.")
	for i, s := range steps {
		x := 20 + float64(i)*(width+between)
		c.rect(s.class, x, top, width, height)
		c.text("strong", x+10, top+26, s.title)
		c.lines("", x+10, top+52, s.lines...)
		if i > 0 {
			c.arrow("", x-between, top+height/2, x, top+height/2)
		}
	}
	// Both answers come from the checks: what the user can repair, and what he cannot.
	at := func(i int) float64 { return 20 + float64(i)*(width+between) }
	refusal, failure := at(2), at(4)+70
	c.arrow("bad", at(4)+30, top+height, at(4)+30, answers)
	c.arrow("", at(4)+110, top+height, at(4)+110, answers)
	c.rect("badbox", refusal, answers, failure-refusal-12, 102)
	c.text("bad strong", refusal+12, answers+26, "refused: 422 Invalid")
	c.lines("", refusal+12, answers+48, "all errors at once, with what would work;", "errors that the stored object has already", "are warnings")
	c.rect("box", failure, answers, at(5)+width-failure, 102)
	c.text("strong", failure+12, answers+26, "not decided: 500")
	c.lines("", failure+12, answers+48, "a lookup failed: nothing", "is stored; try again")
	return c, nil
}
