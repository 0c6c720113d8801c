// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package words_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/capkit/capkit/pkg/words"
)

// If two names are equally close, neither is suggested.
func TestClosest(t *testing.T) {
	for _, c := range []struct{ name, known, want string }{
		{"europe-1c", "europe-1a europe-1b", ""},
		{"europe-1c", "europe-1a", "europe-1a"},
		{"hypervizor", "architecture hypervisor", "hypervisor"},
		{"hypervizor", "hypervisor hypervisor", "hypervisor"},
		{"regios", "region regions", "regions"},
		{"abcde", "abcdx abcdy abcdef", "abcdef"},
	} {
		if got := words.Closest(c.name, strings.Fields(c.known)); got != c.want {
			t.Errorf("%s among %s: %q, want %q", c.name, c.known, got, c.want)
		}
	}
}

// For names that are often similar, only a slip is corrected.
func TestSlip(t *testing.T) {
	for _, c := range []struct {
		name, known, want string
	}{
		{"eurpoe", "europe asia", "europe"},
		{"Europe", "europe asia", "europe"},
		{"europ", "europe asia", "europe"},
		{"eu-frankfrt-1", "eu-frankfurt-1 eu-frankfurt-2", "eu-frankfurt-1"},
		{"eu-de-2", "eu-de-1", ""},
		{"eu-nl-1", "eu-de-1", ""},
		{"us-west", "us-east", ""},
		{"region-a", "region-b", ""},
		{"north", "forth worth", ""},
		{"nortx", "north norty", ""},
		{"eurpeo1", "europe", ""},
		{"garden-linux", "gardenlinux ubuntu", "gardenlinux"},
		{"Standard_D4sv5", "Standard_D4s_v4 Standard_D4s_v5", "Standard_D4s_v5"},
		{"medium48", "medium_4_8 medium_48", ""},
		{"GardenLinux", "garden-linux garden_linux gardenlinux", "gardenlinux"},
		{"1.1", "11", ""},
		{"", "europe", ""},
		{strings.Repeat("e", 100), strings.Repeat("e", 99), ""},
	} {
		if got := words.Slip(c.name, strings.Fields(c.known)); got != c.want {
			t.Errorf("%s among %s: %q, want %q", c.name, c.known, got, c.want)
		}
	}
}

// A name is replaced only if nothing else can be meant.
func TestCertain(t *testing.T) {
	for _, c := range []struct {
		name, known, want string
	}{
		{"EUROPE", "europe asia", "europe"},
		{"eurpoe", "europe asia", "europe"},
		{"ue-de-1", "eu-de-1 eu-de-2", "eu-de-1"},
		{"europee", "europe", "europe"},
		{"europ", "europe", "europe"},
		{"europ", "europe europa", ""},
		{"amr64", "amd64 arm64", ""},
		{"amr64", "arm64", "arm64"},
		{"Europe", "europe EUROPE", ""},
		{"europe", "europe", ""},
		{"euroqe", "europe", ""},
		{"eu-de-2", "eu-de-1", ""},
		{"eu-de-11", "eu-de-1", ""},
		{"eud-e-1", "eu-de-1", ""},
		{"eu-d", "eu-de", ""},
		{"eueop", "europe", ""},
	} {
		if got := words.Certain(c.name, strings.Fields(c.known)); got != c.want {
			t.Errorf("%s among %s: %q, want %q", c.name, c.known, got, c.want)
		}
	}
}

// A speller answers as Slip does for the first names that it is asked about.
func TestSpeller(t *testing.T) {
	speller := words.NewSpeller([]string{"europe", "asia"})
	for range 2 {
		for name, want := range map[string]string{"eurpoe": "europe", "Asia": "asia", "africa": ""} {
			if got := speller.Slip(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
	for i := range 100 {
		speller.Slip(fmt.Sprint("region-", i))
	}
	if got := speller.Slip("ASIA"); got != "" {
		t.Errorf("after a hundred names it still looks for one: %s", got)
	}
	if got := speller.Slip("eurpoe"); got != "europe" {
		t.Errorf("what it has found is forgotten: %q", got)
	}
}

// The zero Speller knows no names.
func TestZeroSpeller(t *testing.T) {
	var speller words.Speller
	if got := speller.Slip("europe") + speller.Certain("europe") + speller.Closest("europe"); got != "" {
		t.Errorf("it means %s", got)
	}
}
