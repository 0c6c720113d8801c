// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// config returns the provider config of a CloudProfile.
func config(t *testing.T, file string) *v1alpha1.CloudProfileConfig {
	t.Helper()
	config := &v1alpha1.CloudProfileConfig{}
	if err := json.Unmarshal(object[v1beta1.CloudProfile](t, file).Spec.ProviderConfig.Raw, config); err != nil {
		t.Fatal(err)
	}
	return config
}

// rows returns the cells of the rows of the table with a heading.
func rows(t *testing.T, document, heading string) [][]string {
	t.Helper()
	_, table, found := strings.Cut(read(t, document), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no table %s", document, heading)
	}
	var rows [][]string
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			break
		}
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), " | ") {
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	return rows[1:] // without the line of dashes
}

var code = regexp.MustCompile("`([^`]*)`")

// quotedIn returns what is written as code.
func quotedIn(text string) []string {
	var words []string
	for _, match := range code.FindAllStringSubmatch(text, -1) {
		words = append(words, match[1])
	}
	return words
}

// Shoots may choose what openstack.md says in its worked example, and get the entries that it says.
func TestFloatingPools(t *testing.T) {
	t.Chdir("../..")
	pools := config(t, "docs/examples/floating-pools.yaml").Constraints.FloatingPools
	table := rows(t, "docs/openstack.md", "| region | domain | Shoots may choose | because |")
	if len(table) != 6 {
		t.Errorf("%d rows", len(table))
	}
	for _, row := range table {
		if diff := cmp.Diff(quotedIn(row[2]), lookup.FloatingPools(pools, row[0], row[1])); diff != "" {
			t.Errorf("%s, %s: %s", row[0], row[1], diff)
		}
	}
	if entry := lookup.FloatingPool(pools, "fp-pool-1", "asia", ""); entry == nil || len(entry.LoadBalancerClasses) == 0 {
		t.Errorf("fp-pool-1 in asia is %v", entry)
	}
	slices.Reverse(pools)
	for _, row := range table {
		if diff := cmp.Diff(quotedIn(row[2]), lookup.FloatingPools(pools, row[0], row[1])); diff != "" {
			t.Errorf("in reverse, %s, %s: %s", row[0], row[1], diff)
		}
	}
}

// The warnings about the guide's example are those that openstack.md explains, and there are no others.
func TestWarningsAboutTheGuide(t *testing.T) {
	t.Chdir("../..")
	output, status := run(t, "docs/openstack.md", "capkit lint example/cloudprofile-guide.yaml")
	var got, want []string
	for _, match := range regexp.MustCompile(`(?m): warning: .* \[([a-z-]+)\]$`).FindAllStringSubmatch(output, -1) {
		got = append(got, match[1])
	}
	for _, row := range rows(t, "docs/openstack.md", "| rule | where | why |") {
		want = append(want, quotedIn(row[0])...)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" || status != 0 {
		t.Errorf("status %d: %s", status, diff)
	}
}

// The rules that openstack.md names exist.
func TestRulesOfOpenStack(t *testing.T) {
	t.Chdir("../..")
	for _, row := range rows(t, "docs/openstack.md", "| field | must be | else |") {
		for _, rule := range quotedIn(row[2]) {
			if !strings.Contains(read(t, "docs/rules.md"), "\n## "+rule+"\n") {
				t.Errorf("there is no rule %s", rule)
			}
		}
	}
}

// Each field in the API reference says what it is and, if it may be left out, what that means.
func TestReference(t *testing.T) {
	t.Chdir("../..")
	fields := 0
	for line := range strings.Lines(read(t, "docs/api/openstack.md")) {
		cells := strings.SplitN(strings.Trim(strings.TrimSpace(line), "| "), " | ", 3)
		if !strings.HasPrefix(line, "| `") || len(cells) < 3 {
			continue
		}
		fields++
		says := regexp.MustCompile(`\b(Absent|Empty): |deprecated`).MatchString(cells[2])
		if required := strings.HasSuffix(cells[1], ", required"); !required && !says {
			t.Errorf("%s does not say what its absence means: %s", cells[0], cells[2])
		}
	}
	if fields < 90 {
		t.Errorf("only %d fields", fields)
	}
}
