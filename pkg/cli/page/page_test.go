// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"slices"
	"strings"
	"testing"
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
