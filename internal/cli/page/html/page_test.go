// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"compress/gzip"
	"encoding/base64"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/maintain"
	"github.com/capkit/capkit/internal/cli/report"
)

// A part that is not listed would silently be missing from each page.
func TestPartsOfTheScript(t *testing.T) {
	entries, err := files.ReadDir("script")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		found = append(found, strings.TrimSuffix(entry.Name(), ".js"))
	}
	if listed := slices.Sorted(slices.Values(parts)); !slices.Equal(listed, found) {
		t.Errorf("%q are listed, and there are %q", listed, found)
	}
}

// Names on a page are printable, in its title and in copied text. Only multi-line texts contain line breaks.
func TestNamesArePrintable(t *testing.T) {
	data := func(text string, lines Lines) string {
		var page strings.Builder
		answers := slices.Values([]Answers{{Settings: text, Cells: [][]Cell{{{Advice: lines}}}}})
		if err := Write(&page, &Report{
			Notes: []string{text}, Findings: []report.Finding{{Message: text, Object: report.Object{Name: text}}},
			Profiles: []Profile{{Name: text, Inputs: []string{text}, Requests: []Request{{Config: lines, Answers: answers}}}},
			More:     []Pools{{MaintainedPool: maintain.MaintainedPool{Reason: text}}}, Totals: map[string]int{text: 1},
		}); err != nil {
			t.Fatal(err)
		}
		_, packed, _ := strings.Cut(page.String(), `id="data">`)
		packed, _, _ = strings.Cut(packed, "</script>")
		zipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
		if err != nil || !zipped.ModTime.IsZero() || zipped.Name != "" {
			t.Fatal(err, zipped)
		}
		raw, err := io.ReadAll(zipped)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	const name = "a\x1b[31m\u202e\n##[error]<b>\xff"
	const printable, lines = `a\x1b[31m\u202e\n##[error]<b>\xff`, `a\x1b[31m\u202e` + "\n" + `##[error]<b>\xff`
	if diff := cmp.Diff(data(printable, lines), data(name, name)); diff != "" {
		t.Error(diff)
	}
}

// The page's policy allows exactly its own style and script.
func TestPolicyAllowsWhatIsThere(t *testing.T) {
	var page strings.Builder
	if err := Write(&page, &Report{Notes: []string{"</script>"}}); err != nil {
		t.Fatal(err)
	}
	for _, element := range []string{"style", "script"} {
		_, content, _ := strings.Cut(page.String(), "\n<"+element+">")
		content, _, found := strings.Cut(content, "</"+element+">\n")
		// html/template escapes a plus sign in an attribute.
		allowed := strings.NewReplacer("+", "&#43;", "'", "&#39;").Replace(element + "-src " + source(content))
		if !found || content == "" || !strings.Contains(page.String(), allowed) {
			t.Errorf("%s is not in %.600s", allowed, page.String())
		}
	}
}
