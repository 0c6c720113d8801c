// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictyaml_test

import (
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/internal/strictyaml"
)

// An error in the syntax is at the line of the mistake, which often is not the line that the parser names.
func TestPlacesOfSyntaxErrors(t *testing.T) {
	for text, line := range map[string]int{
		// indentation
		"a: b\nc:\n\td: e\nf: g\n":            3,
		"a: b\nc:\n  d: e\n\tf: g\nf: g\n":    4,
		"a:\n    b: c\n  d: e\nf: g\n":        3,
		"a: b\n  c: d\ne: f\n":                2,
		"a:\n  b: c\n    d: e\nf: g\n":        3,
		"a:\n  b: c\n  - d\ne: f\n":           3,
		"a: b\n- c\nd: e\n":                   2,
		"a:\n- b\n  c: d\n- e\nf: g\n":        3,
		"a:\n  - b: c\n  d: e\nf: g\n":        3,
		"a: b\nc:\n  d: |\n      x\n     y\n": 5,
		"a: b\nc: |\n\ty\ne: f\n":             3,
		// brackets and quotes
		"a: b\nc: [x, y\nd: e\nf: g\n":      2,
		"a: b\nc: d\nd: [e\n":               3,
		"# x\n# y\na: [b\n":                 3,
		"a: b\nc: [x y: z, ]]\nd: e\n":      2,
		"a: b\nc: {x: y\nd: e\nf: g\n":      2,
		"a: b\nd: [a: b: c]\ne: f\n":        2,
		"a: b\nd: [a,\nb c: d\n e: f]\n":    3,
		"a: b\nd: {- a}\nf: g\n":            2,
		"a: b\nc: [x] y\ne: f\n":            2,
		"a: b\nc: x]\nd: ]\n":               3,
		"a: b\nd: , x\ne: f\n":              2,
		"a: b\nc: \"x\nd: e\nf: g\n":        2,
		"a: b\nc: d\ne: 'x\n":               3,
		"a: b\nc: \"x\" y\ne: f\n":          2,
		"a: b\nb: c\nc: \"\\xzz\"\nd: e\n":  3,
		"a: b\nc: \"x\\q\"\nd: e\n":         2,
		"a: b\r\nc: [x\r\nd: e\r\nf: g\r\n": 2,
		"a: b\rc: [x\rd: e\r":               2,
		"a: \u2028 b\u0085\nc: [x\nd: e\n":  2,
		// keys and values
		"a: b\nc: d: e\nf: g\n":    2,
		"\n\n# x\na: b\nc: d: e\n": 5,
		"a: b\nc\nd: e\n":          2,
		"a: b\nd: e\nc\n":          3,
		"a: b\n: z\nd: e\n":        2,
		"a: b\n? c\nd e\nf: g\n":   3,
		"a: b\nc: @d\ne: f\n":      2,
		"a: b\n%d: x\ne: f\n":      2,
		"a: b\nc: |x\n  y\ne: f\n": 2,
		// anchors, aliases, tags and directives
		"a: b\nc: *x\ne: f\n":               2,
		"a: b\nc: &x &y z\ne: f\n":          2,
		"a: b\nc: !e!x y\ne: f\n":           2,
		"%YAML 1.1\n%YAML 1.1\n---\na: b\n": 2,
		"%YAML 2.0\n---\na: b\n":            1,
		// characters
		"a: b\nc: \x01\nd: e\n": 2,
		"a: b\nc: \xff\nd: e\n": 2,
		// the second document
		"{a: b}\nc: d\n":                        2,
		"a: b\n...\nc\n":                        3,
		"a: b\n---\nc: [d\n":                    3,
		"a: b\n---\n---\n- c:":                  4,
		"\ufeff# \u2029a: b\u0085\n---\nc: d\n": 3,
	} {
		fault := &strictyaml.Fault{}
		err := (&strictyaml.Reader{}).Read([]byte(text), "", func(*yaml.Node) {})
		if !errors.As(err, &fault) || fault.Line != line {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
		wrong := strictyaml.Check(text)
		if wrong != nil && wrong.Offset > len(text) || wrong == nil && !strings.Contains(err.Error(), "a second document") &&
			!strings.Contains(err.Error(), "the end of the document") {
			t.Errorf("%q: %v", text, wrong)
		}
	}
}
