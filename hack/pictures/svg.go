// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// style is the style sheet of all pictures. Each colour is there twice: for light and for dark pages. A picture has a
// background of its own, so that it can be read where the page and the browser disagree about which of them it is.
const style = `
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; font-size: 14px; fill: #1f2328; }
text.mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 13px; white-space: pre; }
text.title { font-size: 16px; font-weight: 600; }
text.strong { font-weight: 600; }
text.muted { fill: #59636e; }
text.good { fill: #116329; }
text.bad { fill: #b3161f; }
text.accent { fill: #0550ae; }
.page { fill: #ffffff; stroke: #d1d9e0; }
.card { fill: #f6f8fa; stroke: #d1d9e0; }
.box { fill: #ffffff; stroke: #afb8c1; }
.goodbox { fill: #dafbe1; stroke: #4ac26b; }
.badbox { fill: #ffebe9; stroke: #ff8182; }
.accentbox { fill: #ddf4ff; stroke: #54aeff; }
.missing { fill: none; stroke: #cf222e; stroke-dasharray: 5 4; }
.line { fill: none; stroke: #59636e; stroke-width: 1.5; }
.goodline { fill: none; stroke: #1a7f37; stroke-width: 2; }
.badline { fill: none; stroke: #cf222e; stroke-width: 2; stroke-dasharray: 5 4; }
.arrow { fill: #59636e; }
.badarrow { fill: #cf222e; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
text.muted { fill: #9198a1; }
text.good { fill: #56d364; }
text.bad { fill: #ff7b72; }
text.accent { fill: #79c0ff; }
.page { fill: #0d1117; stroke: #3d444d; }
.card { fill: #151b23; stroke: #3d444d; }
.box { fill: #0d1117; stroke: #656c76; }
.goodbox { fill: #12261e; stroke: #2ea043; }
.badbox { fill: #25171c; stroke: #b62324; }
.accentbox { fill: #121d2f; stroke: #316dca; }
.missing { stroke: #f85149; }
.line { stroke: #9198a1; }
.goodline { stroke: #3fb950; }
.badline { stroke: #f85149; }
.arrow { fill: #9198a1; }
.badarrow { fill: #f85149; }
}
`

// box is a rectangle of a picture.
type box struct {
	x, y, w, h float64
	what       string
}

// canvas draws a picture. It keeps where texts and rectangles are, so that a test finds texts that overlap or are cut.
type canvas struct {
	w, h  float64
	title string
	extra string // further rules of the style sheet
	body  strings.Builder
	texts []box
	rects []box
}

// rect draws a rectangle with round corners.
func (c *canvas) rect(class string, x, y, w, h float64) {
	c.rects = append(c.rects, box{x, y, w, h, class})
	fmt.Fprintf(&c.body, "<rect class=%q x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" rx=\"6\"/>\n", class, x, y, w, h)
}

// path draws a line along a path.
func (c *canvas) path(class, format string, args ...any) {
	fmt.Fprintf(&c.body, "<path class=%q d=%q/>\n", class, fmt.Sprintf(format, args...))
}

// arrow draws a straight line with a head at its end. It is horizontal or vertical.
func (c *canvas) arrow(class string, x1, y1, x2, y2 float64) {
	const head = 9
	switch {
	case x2 > x1:
		c.path(class+"line", "M%.6g %.6gH%.6g", x1, y1, x2-head)
		c.path(class+"arrow", "M%.6g %.6gl-%d -5v10z", x2, y2, head)
	default:
		c.path(class+"line", "M%.6g %.6gV%.6g", x1, y1, y2-head)
		c.path(class+"arrow", "M%.6g %.6gl-5 -%dh10z", x2, y2, head)
	}
}

// text writes one line whose left end is at x, on the base line y. The classes are those of the style sheet.
func (c *canvas) text(classes string, x, y float64, text string) {
	c.write(classes, "start", x, x, y, text)
}

// centered writes one line in the middle around x.
func (c *canvas) centered(classes string, x, y float64, text string) {
	c.write(classes, "middle", x, x-width(classes, text)/2, y, text)
}

func (c *canvas) write(classes, anchor string, x, left, y float64, text string) {
	attributes := ""
	if classes != "" {
		attributes = fmt.Sprintf(" class=%q", classes)
	}
	if anchor != "start" {
		attributes += fmt.Sprintf(" text-anchor=%q", anchor)
	}
	fmt.Fprintf(&c.body, "<text x=\"%.6g\" y=\"%.6g\"%s>%s</text>\n", x, y, attributes, html.EscapeString(text))
	size := fontSize(classes)
	c.texts = append(c.texts, box{left, y - 0.8*size, width(classes, text), size, text})
}

// lines writes lines below each other, and returns the base line after the last.
func (c *canvas) lines(classes string, x, y float64, lines ...string) float64 {
	for _, line := range lines {
		c.text(classes, x, y, line)
		y += lineHeight
	}
	return y
}

const lineHeight = 19

func fontSize(classes string) float64 {
	switch {
	case strings.Contains(classes, "title"):
		return 16
	case strings.Contains(classes, "mono"):
		return 13
	}
	return 14
}

// width is about how wide a text is with the widest of the fonts that the style sheet names.
func width(classes, text string) float64 {
	if strings.Contains(classes, "mono") {
		return 0.61 * fontSize(classes) * float64(utf8.RuneCountInString(text))
	}
	ems := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("fijlt.,:;'|()[] ", r):
			ems += 0.36
		case strings.ContainsRune("mwMW@→✓", r):
			ems += 0.95
		case r >= 'A' && r <= 'Z':
			ems += 0.72
		default:
			ems += 0.6
		}
	}
	return ems * fontSize(classes)
}

// wrap breaks a text into lines of a number of letters at most, where it can.
func wrap(text string, letters int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line+" "+word) > letters:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// String is the picture as a file.
func (c *canvas) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.6g %.6g\" width=\"%.6g\" height=\"%.6g\" role=\"img\">\n",
		c.w, c.h, c.w, c.h)
	b.WriteString("<!-- Generated by hack/pictures: do not edit, run make generate. -->\n")
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s%s</style>\n", html.EscapeString(c.title), style, c.extra)
	fmt.Fprintf(&b, "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"%.6g\" height=\"%.6g\" rx=\"8\"/>\n", c.w-1, c.h-1)
	b.WriteString(c.body.String())
	b.WriteString("</svg>\n")
	return b.String()
}
