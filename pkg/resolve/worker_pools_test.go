// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// profileOfWorkerPools has versions with different worker capabilities: 10 has none, 9 trusted launch, 8 secure boot, 7 in-place updates
// as declared in core, 6 everything, but only in asia, and 5 everything except trusted launch.
func profileOfWorkerPools(t *testing.T) *profile.Profile[openstack.Image] {
	t.Helper()
	return given.Sound(t, given.ImagesOnly{}, given.File[v1beta1.CloudProfileSpec](t, "testdata/worker-pools.yaml"))
}

// askingOf decodes a pool, whose requests use the words of given.Asking.
func askingOf(c *cases.Case) provider.Pool {
	var pool struct{ MachineType, Image, Asks string }
	c.Decode("pool.yaml", &pool)
	return given.Asking(pool.MachineType, pool.Image, pool.Asks)
}

func TestResolvePoolsThatAsk(t *testing.T) {
	p := profileOfWorkerPools(t)
	cases.Run(t, "testdata/resolve-pool-that-asks.txtar", func(c *cases.Case) string {
		r := given.Answer(c.T(), p, askingOf(c))
		if len(r.Further) > 0 {
			c.T().Error(r.Further)
		}
		if r.Err == nil {
			return r.Decision.Reference.Name + r.Decision.Reference.ID
		}
		return cases.Fold(r.Err.Error.Error())
	})
}

// No image can satisfy a request for an unregistered capability. This is reported first, beside errors about the machine type.
func TestPoolsThatAskForWhatIsNotRegistered(t *testing.T) {
	cases.Run(t, "testdata/not-registered.txtar", func(c *cases.Case) string {
		s := given.File[v1beta1.CloudProfileSpec](c.T(), "testdata/pools.yaml")
		s.MachineCapabilities = nil
		c.Decode("capabilities.yaml", &s.MachineCapabilities)
		p, _ := profile.Compile(given.ImagesOnly{}, s, field.NewPath("spec"))
		r := resolve.Pool(p, askingOf(c))
		if len(r.Suggestions) > 0 || r.Decision.Chosen >= 0 {
			c.T().Errorf("suggestions %v, flavor %d", r.Suggestions, r.Decision.Chosen)
		}
		lines := []string{"reason: " + string(r.Reason)}
		for _, err := range append(finding.List{*r.Err}, r.Further...) {
			lines = append(lines, err.String())
		}
		return cases.Fold(lines...)
	})
}

// A wrong architecture is reported first. Alternatives that would not work are not suggested.
func TestAnotherArchitectureAndWhatIsNotRegistered(t *testing.T) {
	pool := given.Asking("arm", "gl@10.0.0", "trusted amd64")
	r := resolve.Pool(profileOfPools(t), pool)
	if r.Err == nil || r.Err.Origin != "pool-architecture-mismatch" || len(r.Further) != 1 || r.Further[0].Origin != "worker-capability-not-registered" {
		t.Error(r.Err, r.Further)
	}
	if len(r.Suggestions) > 0 || strings.Contains(r.Err.Detail, "would work") {
		t.Error(r.Suggestions, r.Err)
	}
}

// Errors in the providerConfig are reported beside the answer, which uses its readable part.
func TestPoolsWithAProviderConfigOfErrors(t *testing.T) {
	p := profileOfWorkerPools(t)
	cases.Run(t, "testdata/worker-configs.txtar", func(c *cases.Case) string {
		pool := given.Asking("any", "gl@9.0.0", "")
		pool.Config = &runtime.RawExtension{Raw: []byte(strings.TrimSuffix(c.Text("config.json"), "\n"))}
		r := given.Answer(c.T(), p, pool)
		return cases.Fold(append([]string{r.Reference.Name}, given.Plainly(r.Further)...)...)
	})
}

// A pool without a manifest has relative paths.
func TestPathsWithoutAManifest(t *testing.T) {
	p := profileOfWorkerPools(t)
	for wish, want := range map[string]string{"trusted": "trustedLaunch", "secure": "machine.type", "inPlace": "machine.type"} {
		pool := given.Asking("any", "gl@10.0.0", wish)
		pool.Path = nil
		if r := resolve.Pool(p, pool); r.Err == nil || r.Err.Field != want {
			t.Errorf("%s: %v", wish, r.Err)
		}
	}
}

// The local provider has no worker capabilities, so its WorkerConfig is not read.
func TestAProviderWithoutWorkerCapabilities(t *testing.T) {
	s := given.CoreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}, []v1beta1.Capabilities{{}})
	s.MachineTypes = []v1beta1.MachineType{{Name: "m"}}
	p, _ := profile.Compile(given.Linux(v1beta1.Capabilities{}), s, field.NewPath("spec"))
	r := resolve.Pool(p, provider.Pool{MachineType: "m", Image: "linux", Version: "1", Config: &runtime.RawExtension{Raw: []byte("{")}})
	if r.Err != nil || len(r.Further) > 0 || len(r.Requirements) != 2 {
		t.Error(r.Err, r.Further, r.Requirements)
	}
}

// Two requests for the same capability must be satisfied by one value.
func TestTwoSettingsOfOneCapability(t *testing.T) {
	disk := func(values ...string) v1beta1.Capabilities { return v1beta1.Capabilities{"given-disk": values} }
	flavors := []v1beta1.Capabilities{disk("slow"), disk("fast"), disk("fast", "slow")}
	cloud := given.Linux(flavors...).With(given.Definitions, append([]provider.Request[given.WorkerConfig]{
		{
			Setting: "trusted: true, which is slow", Field: "trusted", Capability: "given-disk", Values: []string{"slow"},
			Asks: func(_ *provider.Pool, c *given.WorkerConfig) bool { return c.Trusted },
		},
	}, given.Requests[1:]...))
	s := given.CoreSpec([]v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64"}}, {Name: "given-disk", Values: []string{"fast", "slow"}},
	}, flavors)
	s.MachineTypes = []v1beta1.MachineType{{Name: "m"}}
	p := given.Sound(t, cloud, s)
	for config, want := range map[string]string{
		"": "2", `, "trusted": true`: "2", `, "disk": "fast"`: "2", `, "disk": "any"`: "2",
		`, "disk": "any", "trusted": true`: "2", `, "disk": "fast", "trusted": true`: "",
	} {
		raw := &runtime.RawExtension{Raw: []byte(`{"apiVersion": "given/v1", "kind": "WorkerConfig"` + config + "}")}
		r := resolve.Pool(p, provider.Pool{Name: "w", MachineType: "m", Image: "linux", Version: "1", Config: raw})
		if r.Decision.Reference != want || (r.Err == nil) != (want != "") || len(r.Further) > 0 {
			t.Errorf("%s: %q, %v", config, r.Decision.Reference, r.Err)
		}
		if want == "" && (r.Err.Origin != "worker-request-unmet" || r.Err.Field != "trusted" ||
			!strings.Contains(r.Err.Detail, "the worker pool asks for []")) {
			t.Error(r.Err)
		}
	}
}

// A feature that must be off unless requested has a request for off, which also applies to a worker without a config.
func TestARuleForOff(t *testing.T) {
	trustedOff := append([]provider.Request[given.WorkerConfig]{{
		Setting: "no trusted: true", Field: "trusted", Capability: "given-trusted", Values: []string{"off"},
		Asks: func(_ *provider.Pool, c *given.WorkerConfig) bool { return !c.Trusted },
	}}, given.Requests[:1]...)
	on, off := v1beta1.Capabilities{"given-trusted": {"on"}}, v1beta1.Capabilities{"given-trusted": {"off"}}
	amd64 := v1beta1.CapabilityDefinition{Name: "architecture", Values: []string{"amd64"}}
	const (
		wants = `{"apiVersion": "given/v1", "kind": "WorkerConfig", "trusted": true}`
		empty = `{"apiVersion": "given/v1", "kind": "WorkerConfig"}`
		unmet = "worker-request-unmet"
	)
	for name, tc := range map[string]struct {
		registered []string
		flavors    []v1beta1.Capabilities
		config     string
		want       string
		err        string
	}{
		"on, of both":                    {[]string{"on", "off"}, []v1beta1.Capabilities{{}, on}, wants, "1", ""},
		"off, of both":                   {[]string{"on", "off"}, []v1beta1.Capabilities{on, {}}, empty, "1", ""},
		"off without a config":           {[]string{"on", "off"}, []v1beta1.Capabilities{on, {}}, "", "1", ""},
		"off with a config of null":      {[]string{"on", "off"}, []v1beta1.Capabilities{on, off}, "null", "1", ""},
		"off, and it is on everywhere":   {[]string{"on", "off"}, []v1beta1.Capabilities{on}, "", "", unmet},
		"off, which is not registered":   {[]string{"on"}, []v1beta1.Capabilities{{}}, "", "", "worker-capability-not-registered"},
		"off, of what is not registered": {nil, []v1beta1.Capabilities{{}}, "", "0", ""},
		"on, of what is not registered":  {nil, []v1beta1.Capabilities{{}}, wants, "", "worker-capability-not-registered"},
	} {
		t.Run(name, func(t *testing.T) {
			s := given.CoreSpec([]v1beta1.CapabilityDefinition{amd64}, tc.flavors)
			if tc.registered != nil {
				s.MachineCapabilities = append(s.MachineCapabilities, v1beta1.CapabilityDefinition{Name: "given-trusted", Values: tc.registered})
			}
			s.MachineTypes = []v1beta1.MachineType{{Name: "m"}}
			p, report := check.CloudProfile(given.Linux(tc.flavors...).With(given.Definitions, trustedOff), &v1beta1.CloudProfile{Spec: *s})
			warned := slices.ContainsFunc(report.Warnings, func(f finding.Finding) bool { return f.Origin == "worker-capability-value-unasked" })
			if len(report.Errors) > 0 || warned != (len(tc.registered) == 1) {
				t.Error(report)
			}
			pool := provider.Pool{MachineType: "m", Image: "linux", Version: "1", Path: field.NewPath("w")}
			if tc.config != "" {
				pool.Config = &runtime.RawExtension{Raw: []byte(tc.config)}
			}
			r := resolve.Explain(p, pool)
			got := ""
			if r.Err != nil {
				got = r.Err.Origin
			}
			if r.Decision.Reference != tc.want || got != tc.err || len(r.Further) > 0 {
				t.Errorf("%q, %v", r.Decision.Reference, r.Err)
			}
			if asked := r.Requirements[len(r.Requirements)-1]; asked.Implied == (tc.config == wants) || asked.Because.String() != "w.providerConfig.trusted" {
				t.Errorf("%+v", asked)
			}
		})
	}
}

// An ignored request, whose capability is not registered, excludes nothing, so errors do not name it.
func TestIgnoredRequestsAreNotNamed(t *testing.T) {
	definitions := slices.Clone(given.Definitions)
	definitions[1].OnlyIfRegistered = true // given-disk
	defs := []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64"}}, {Name: "given-trusted", Values: []string{"on", "off"}},
	}
	flavor := v1beta1.Capabilities{"architecture": {"amd64"}}
	spec := given.CoreSpec(defs, []v1beta1.Capabilities{flavor})
	spec.MachineTypes = []v1beta1.MachineType{{Name: "m"}}
	p, _ := profile.Compile(given.Linux(flavor).With(definitions, given.Requests), spec, field.NewPath("spec"))
	config := []byte(`{"apiVersion": "given/v1", "kind": "WorkerConfig", "trusted": true, "disk": "fast"}`)
	r := resolve.Pool(p, provider.Pool{MachineType: "m", Image: "linux", Version: "1", Config: &runtime.RawExtension{Raw: config}})
	if len(r.Ignored) != 1 || r.Err == nil || !strings.Contains(r.Err.Detail, "trusted: true asks") || strings.Contains(r.Err.Detail, "together") {
		t.Errorf("%v %v", r.Ignored, r.Err)
	}
}
