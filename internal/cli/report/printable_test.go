// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/finding"
)

// Colours are used only on terminals that support them, unless NO_COLOR is set.
func TestNoColoursOnDumbTerminals(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	for _, tc := range []struct {
		term, refused string
		want          bool
	}{{term: "xterm", want: true}, {term: "dumb"}, {term: "xterm", refused: "1"}} {
		t.Setenv("TERM", tc.term)
		t.Setenv("NO_COLOR", tc.refused)
		if tc.refused == "" {
			if err := os.Unsetenv("NO_COLOR"); err != nil {
				t.Fatal(err)
			}
		}
		if coloured := NewWriter(terminal).colours != nil; coloured != tc.want {
			t.Errorf("%+v: %v", tc, coloured)
		}
	}
}

// The output of a Writer does not depend on how its input is split.
func TestWriter(t *testing.T) {
	const text = "grün: ##x [y] a::b\r\n" + "\t::a\n ::b##[c] ###[d]\n##vso[e]\x1b\xe2\x80\n\u202e::f"
	const want = "grün: ##x [y] a::b\r\n" + "\t\\x3a:a\n \\x3a:b\\x23#[c] #\\x23#[d]\n\\x23#vso[e]\\x1b\\xe2\\x80\n\\u202e::f"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := NewWriter(&out)
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if n, err := w.Write(rest[:min(size, len(rest))]); n != min(size, len(rest)) || err != nil {
				t.Fatal(n, err)
			}
		}
		if before := out.String(); strings.Contains(before, "f") {
			t.Errorf("%q does not wait for the end of a line", before)
		}
		if err := w.Flush(); err != nil || out.String() != want {
			t.Errorf("%v %q\nwant %q", err, out.String(), want)
		}
	}
	if NewWriter(NewWriter(io.Discard)).out != io.Discard {
		t.Error("a Writer to a Writer is another one")
	}
}

func TestWriterFails(t *testing.T) {
	reader, writer := io.Pipe()
	reader.CloseWithError(iotest.ErrTimeout)
	w := NewWriter(writer)
	if _, err := w.Write([]byte("a")); err != nil {
		t.Error(err)
	}
	if n, err := w.Write([]byte("\n")); n != 0 || !errors.Is(err, iotest.ErrTimeout) {
		t.Error(n, err)
	}
}

// On a terminal, only severities are coloured.
func TestColours(t *testing.T) {
	var out bytes.Buffer
	w := &Writer{out: &out, colours: colours}
	findings := []Finding{
		{Severity: finding.SeverityError, Message: "a \x1b[31mb", File: "c\x1b[1m"}, {Severity: finding.SeverityWarning, Message: "d", File: "e"},
	}
	if err := Text(w, findings); err != nil {
		t.Fatal(err)
	}
	const want = `c\x1b[1m: ` + "\x1b[31;1merror\x1b[0;22m" + `: a \x1b[31mb []` + "\ne: \x1b[33;1mwarning\x1b[0;22m: d []\n"
	if out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
}

// Documents preserve their texts, and a Writer does not need to escape them.
func FuzzDocuments(f *testing.F) {
	for _, text := range []string{
		"", "::a", "a\n::b\n", " ::c\n", "##[d]", "#", "##", "\x1b\x7f\u0085\u009b\u00a0\u2028\u202e\ufeff\ufffe\U000e0001🚀", "a: b", "- a\n\tb ",
		strings.Repeat("a ", 50) + "::b " + strings.Repeat("c ", 50),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "")                      // as in JSON
		key := strings.ToValidUTF8(text[:min(len(text), 80)], "") // YAML keys have at most 1024 characters, including escape sequences
		value := map[string]any{"k" + key: []any{text, "a", map[string]any{"b": text}}, "c": "d"}
		for name, format := range map[string]struct {
			write func(io.Writer, any) error
			read  func([]byte, any) error
		}{
			"JSON": {JSON, json.Unmarshal},
			"YAML": {YAML, func(text []byte, into any) error { return yaml.Unmarshal(text, into) }},
		} {
			var out bytes.Buffer
			if err := format.write(&out, value); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var got any
			if err := format.read(out.Bytes(), &got); err != nil || !reflect.DeepEqual(got, any(value)) {
				t.Errorf("%s: %v: %q from %q", name, err, got, out.String())
			}
			if !Harmless(out.String()) {
				t.Errorf("%s: %q is not harmless", name, out.String())
			}
		}
	})
}
