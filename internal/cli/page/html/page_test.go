// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package html

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/report"
)

// A part that is not listed would be missing from each page, and nobody told.
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

// Names on a page are printable: in its title, and in what somebody copies from it. Only texts of several lines have several.
func TestNamesArePrintable(t *testing.T) {
	const name = "a\x1b[31m\u202e\n##[error]<b>\xff"
	var texts Texts
	texts.Add(name)
	texts.AddLines("a\n  " + name + "\n")
	r := &Report{
		Texts: texts.All(), Notes: []string{name}, Findings: []report.Finding{{Message: name, Object: report.Object{Name: name}}},
		Profiles: []Profile{{Name: name, Inputs: []string{name}, Requests: []Request{{Config: name}}}},
		More:     []Crowd{{MachineTypes: map[string]int{name: 1}}},
	}
	var page strings.Builder
	if err := Write(&page, r); err != nil {
		t.Fatal(err)
	}
	_, data, _ := strings.Cut(page.String(), `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	if strings.Contains(data, "##[") {
		t.Error(data)
	}
	var got Report
	if err := json.Unmarshal([]byte(data), &got); err != nil {
		t.Fatal(err)
	}
	const printable, lines = `a\x1b[31m\u202e\n##[error]<b>\xff`, `a\x1b[31m\u202e` + "\n" + `##[error]<b>\xff`
	want := &Report{
		Texts: []Lines{"", printable, "a\n  " + lines + "\n"}, Notes: []string{printable},
		Findings: []report.Finding{{Message: printable, Object: report.Object{Name: printable}}},
		Profiles: []Profile{{Name: printable, Inputs: []string{printable}, Requests: []Request{{Config: lines}}}},
		More:     []Crowd{{MachineTypes: map[string]int{printable: 1}}},
	}
	if diff := cmp.Diff(want, &got); diff != "" {
		t.Error(diff)
	}
}

// The policy of the page allows the style and the script that it has, and no others.
func TestPolicyAllowsWhatIsThere(t *testing.T) {
	var page strings.Builder
	if err := Write(&page, &Report{Texts: []Lines{"", "</script>"}}); err != nil {
		t.Fatal(err)
	}
	for _, element := range []string{"style", "script"} {
		_, content, _ := strings.Cut(page.String(), "\n<"+element+">")
		content, _, found := strings.Cut(content, "</"+element+">\n")
		// html/template writes a plus sign in an attribute as a reference.
		allowed := strings.NewReplacer("+", "&#43;", "'", "&#39;").Replace(element + "-src " + source(content))
		if !found || content == "" || !strings.Contains(page.String(), allowed) {
			t.Errorf("%s is not in %.600s", allowed, page.String())
		}
	}
}
