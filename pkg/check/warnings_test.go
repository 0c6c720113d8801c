// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

func warnings(t *testing.T, spec *v1beta1.CloudProfileSpec) []string {
	t.Helper()
	_, report := check.CloudProfile(given.ImagesOnly{}, &v1beta1.CloudProfile{Spec: *spec})
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	var lines []string
	add := func(when string, list finding.List) {
		for i, line := range given.Brief(list) {
			lines = append(lines, when+line+": "+list[i].Detail)
		}
	}
	for _, warning := range report.Warnings {
		add("", finding.List{warning})
		add("implied: ", warning.Implied)
	}
	return lines
}

func TestWarnings(t *testing.T) { checkWarnings(t, "testdata/warnings.txtar") }

// checkWarnings returns the warnings about the valid CloudProfile of each case.
func checkWarnings(t *testing.T, archive string) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		return cases.Fold(warnings(c.T(), given.SpecOf(c, "profile.yaml"))...)
	})
}

// A profile with errors gets no warnings about choices.
func TestNoWarningsAboutChoiceInABrokenProfile(t *testing.T) {
	s := profileNamed(t, "no-flavors")
	_, report := check.CloudProfile(given.ImagesOnly{}, &v1beta1.CloudProfile{Spec: *s})
	if len(report.Errors) == 0 || len(report.Warnings) > 0 {
		t.Error(report)
	}
}

// The two orders differ for ordinary worker pools. On machine type x, all pools request the only trusted image.
func TestOrdersAreComparedByWhatPoolsOfTheTypeAskFor(t *testing.T) {
	flavors := []v1beta1.Capabilities{
		{"disk": {"fast", "slow"}, "net": {"slow"}, "given-trusted": {"off"}}, {"disk": {"fast"}, "net": {"fast"}, "given-trusted": {"off"}},
		{"disk": {"slow"}, "net": {"slow"}, "given-trusted": {"on"}},
	}
	speeds := []string{"fast", "slow"}
	spec := given.CoreSpec([]v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64"}}, {Name: "disk", Values: speeds}, {Name: "net", Values: speeds},
		{Name: "given-trusted", Values: []string{"on", "off"}},
	}, flavors)
	spec.Type, spec.Regions, spec.MachineTypes = "given", []v1beta1.Region{{Name: "europe"}}, []v1beta1.MachineType{{Name: "x"}, {Name: "y"}}
	cloud := given.Linux(flavors...).With(given.Definitions, []provider.Request[given.WorkerConfig]{{
		Setting: "machine type x", PoolField: "machine.type", Capability: "given-trusted", Values: []string{"on"},
		Asks: func(p *provider.Pool, _ *given.WorkerConfig) bool { return p.MachineType == "x" },
	}})
	_, report := check.CloudProfile(cloud, &v1beta1.CloudProfile{Spec: *spec})
	got := given.Explained(report.Warnings)
	if strings.Count(got, "preference-order-differs") != 1 || !strings.Contains(got, "for machine type y the order of GEP-0033") {
		t.Errorf("%s\n%s", got, given.Explained(report.Errors))
	}
}

func TestSize(t *testing.T) {
	for length, want := range map[int]int{1_179_000: 0, 1_180_000: 1} {
		s := profileNamed(t, "plain")
		bundle := strings.Repeat("x", length)
		s.CABundle = &bundle
		if got := warnings(t, s); len(got) != want {
			t.Errorf("%d bytes: %v", length, got)
		}
	}
}

// A size near the storage limit is a warning; above the limit it is an error.
func TestSizeOfACloudProfile(t *testing.T) {
	const limit = 3 << 19
	for _, c := range []struct {
		size     int
		warnings string
	}{
		{limit/4*3 - 100, ""},
		{limit / 4 * 3, "the CloudProfile has 1152 KiB, which comes near the 1536 KiB that can be stored"},
		{limit - 1000, "the CloudProfile has 1535 KiB, which comes near the 1536 KiB that can be stored"},
		{limit + 2000, "the CloudProfile has 1537 KiB, which is above the 1536 KiB that can be stored"},
	} {
		profile := &v1beta1.CloudProfile{}
		profile.Spec.Type = "openstack"
		profile.Annotations = map[string]string{"a": ""}
		profile.Annotations["a"] = strings.Repeat("x", c.size-profile.Size())
		_, report := check.CloudProfile(openstack.Provider{}, profile)
		if got := aboutSize(report.Errors); got != "" {
			t.Errorf("%d bytes: error %q", c.size, got)
		}
		if got := aboutSize(report.Warnings); !strings.HasPrefix(got, c.warnings) || got != "" && c.warnings == "" {
			t.Errorf("%d bytes: warning %q", c.size, got)
		}
	}
}

func aboutSize(findings finding.List) string {
	for _, f := range findings {
		if f.Origin == "cloudprofile-size" {
			return f.Detail
		}
	}
	return ""
}
