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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
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

// rows returns the cells of the table below a heading, by row.
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
	return rows[1:] // without the separator line
}

var code = regexp.MustCompile("`([^`]*)`")

// quotedIn returns the code spans of a text.
func quotedIn(text string) []string {
	var words []string
	for _, match := range code.FindAllStringSubmatch(text, -1) {
		words = append(words, match[1])
	}
	return words
}

// In the worked example of openstack.md, Shoots have the documented choices, and get the documented entries.
func TestFloatingPools(t *testing.T) {
	pools := config(t, "docs/examples/floating-pools.yaml").Constraints.FloatingPools
	table := rows(t, "docs/clouds/openstack.md", "| region | domain | Shoots may choose | because |")
	if len(table) != 6 {
		t.Errorf("%d rows", len(table))
	}
	check := func() {
		for _, row := range table {
			if diff := cmp.Diff(quotedIn(row[2]), lookup.FloatingPools(pools, row[0], row[1])); diff != "" {
				t.Errorf("%s, %s: %s", row[0], row[1], diff)
			}
		}
	}
	check()
	if entry := lookup.FloatingPool(pools, "fp-pool-1", "asia", ""); entry == nil || len(entry.LoadBalancerClasses) == 0 {
		t.Errorf("fp-pool-1 in asia is %v", entry)
	}
	providers := config(t, "docs/examples/floating-pools.yaml").Constraints.LoadBalancerProviders
	for region, want := range map[string][]string{"asia": {"f5"}, "europe": {"amphora"}} {
		if diff := cmp.Diff(want, lookup.LoadBalancerProviders(providers, region)); diff != "" {
			t.Errorf("load balancer providers in %s: %s", region, diff)
		}
	}
	slices.Reverse(pools) // the order does not matter
	check()
}

// openstack.md explains exactly the warnings about the guide's example.
func TestWarningsAboutTheGuide(t *testing.T) {
	output, status := run(t, "docs/clouds/openstack.md", "capkit lint example/cloudprofile-guide.yaml")
	var got, want []string
	for _, match := range regexp.MustCompile(`(?m): warning: .* \[([a-z-]+)\]$`).FindAllStringSubmatch(output, -1) {
		got = append(got, match[1])
	}
	for _, row := range rows(t, "docs/clouds/openstack.md", "| rule | where | why |") {
		want = append(want, quotedIn(row[0])...)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" || status != 0 {
		t.Errorf("status %d: %s", status, diff)
	}
}

// The rules in openstack.md exist.
func TestRulesOfOpenStack(t *testing.T) {
	for heading, column := range map[string]int{"| field | must be | else |": 2, "| refused | rule | why |": 1} {
		for _, row := range rows(t, "docs/clouds/openstack.md", heading) {
			for _, rule := range quotedIn(row[column]) {
				if !strings.Contains(read(t, "docs/rules.md"), "\n### "+rule+"\n") {
					t.Errorf("there is no rule %s", rule)
				}
			}
		}
	}
}

// The Secrets in admission.md are valid, and its binding refers to one of them.
func TestCredentials(t *testing.T) {
	names := map[string]bool{}
	for document := range strings.SplitSeq(read(t, "docs/examples/credentials.yaml"), "\n---\n") {
		var object struct {
			Kind           string
			Metadata       metav1.ObjectMeta
			StringData     map[string]string
			Provider       struct{ Type string }
			CredentialsRef corev1.ObjectReference
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		switch object.Kind {
		case "Secret":
			names[object.Metadata.Name] = true
			data := map[string][]byte{}
			for key, value := range object.StringData {
				data[key] = []byte(value)
			}
			if _, errs := validation.Credentials(data, nil); len(errs) > 0 {
				t.Errorf("%s: %v", object.Metadata.Name, errs)
			}
		case "CredentialsBinding":
			if object.Provider.Type != "openstack" || !names[object.CredentialsRef.Name] {
				t.Errorf("the binding is for %s, and to %s", object.Provider.Type, object.CredentialsRef.Name)
			}
		default:
			t.Errorf("a %s", object.Kind)
		}
	}
	if len(names) != 2 {
		t.Errorf("%d Secrets", len(names))
	}
}

// Each field in the API reference has a description, and each optional one a meaning of its absence.
func TestReference(t *testing.T) {
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
