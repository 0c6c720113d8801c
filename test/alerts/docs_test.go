// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package alerts

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Rows of the tables of docs/metrics.md.
var (
	metricOfLibrary = regexp.MustCompile("`((?:controller_runtime|leader_election|rest_client|process)_[a-z_]+)`")
	query           = regexp.MustCompile("(?m)^\\| [^|]*\\? \\| `([^`]*)` \\|$")
	alertRow        = regexp.MustCompile("(?m)^\\| `(Capkit[A-Za-z]+)` \\| ([a-z]+) \\| [^|]+ \\|$")
)

// TestDocumented checks that what docs/metrics.md says of queries, alerts and the metrics of libraries is so.
func TestDocumented(t *testing.T) {
	content, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	text, names := string(content), registered(t)
	queries, foreign := query.FindAllStringSubmatch(text, -1), metricOfLibrary.FindAllStringSubmatch(text, -1)
	if len(queries) < 5 || len(foreign) < 5 {
		t.Errorf("only %d queries, and %d metrics of libraries", len(queries), len(foreign))
	}
	for _, match := range queries {
		known(t, "docs/metrics.md", parse(t, match[1]))
	}
	for _, match := range foreign {
		if !names[match[1]] {
			t.Errorf("docs/metrics.md mentions %s, which the component does not have", match[1])
		}
	}
	var documented, defined []string
	for _, match := range alertRow.FindAllStringSubmatch(text, -1) {
		documented = append(documented, match[1]+", "+match[2])
	}
	for _, alert := range alerts(t) {
		defined = append(defined, alert.Alert+", "+alert.Labels["severity"])
	}
	slices.Sort(documented)
	slices.Sort(defined)
	if diff := cmp.Diff(defined, documented); diff != "" {
		t.Errorf("the alerts in docs/metrics.md (-defined +documented):\n%s", diff)
	}
}
