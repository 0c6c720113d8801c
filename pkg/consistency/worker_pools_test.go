// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack"
)

// workerPools is a profile whose versions differ in worker capabilities: 10 has none, 9 trusted launch, 8 secure boot, 7
// updates in place, as core says, 6 everything, but only in asia, and 5 everything but trusted launch.
const workerPools = `
machineCapabilities: [{name: architecture, values: [amd64]}, {name: openstack-trustedLaunch, values: [enabled, disabled]}]
type: openstack
regions: [{name: europe}, {name: asia}]
machineTypes:
- {name: any, capabilities: {architecture: [amd64]}}
- {name: untrusted, capabilities: {architecture: [amd64], openstack-trustedLaunch: [disabled]}}
- {name: trusted, capabilities: {architecture: [amd64], openstack-trustedLaunch: [enabled]}}
machineImages:
- name: gl
  versions:
  - {version: 10.0.0, capabilityFlavors: [{architecture: [amd64]}]}
  - {version: 9.0.0, capabilityFlavors: [{architecture: [amd64]}, {architecture: [amd64], openstack-trustedLaunch: [enabled]}]}
  - {version: 8.0.0, capabilityFlavors: [{architecture: [amd64]}]}
  - {version: 7.0.0, inPlaceUpdates: {supported: true}, capabilityFlavors: [{architecture: [amd64]}]}
  - {version: 6.0.0, capabilityFlavors: [{architecture: [amd64], openstack-trustedLaunch: [enabled]}]}
  - {version: 5.0.0, capabilityFlavors: [{architecture: [amd64]}]}
- name: plain
  versions: [{version: 1.0.0, capabilityFlavors: [{architecture: [amd64], openstack-trustedLaunch: [disabled]}]}]
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - {version: 10.0.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: gl-10}]}
    - version: 9.0.0
      capabilityFlavors: [{capabilities: {architecture: [amd64], openstack-trustedLaunch: [enabled]}, image: gl-9-trusted}, {capabilities: {architecture: [amd64]}, image: gl-9}]
    - version: 8.0.0
      capabilityFlavors: [{capabilities: {architecture: [amd64], gardener-bootType: [secure, standard]}, image: gl-8-secure}, {capabilities: {architecture: [amd64]}, image: gl-8}]
    - {version: 7.0.0, capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: gl-7}]}
    - version: 6.0.0
      capabilityFlavors:
      - capabilities: {architecture: [amd64], openstack-trustedLaunch: [enabled], gardener-bootType: [secure, standard], gardener-updateType: [inPlace, rolling], gardener-gpuSupport: [nvidia]}
        regions: [{name: asia, id: gl-6}]
    - version: 5.0.0
      capabilityFlavors: [{capabilities: {architecture: [amd64], gardener-bootType: [secure], gardener-updateType: [inPlace]}, image: gl-5}]
  - name: plain
    versions: [{version: 1.0.0, capabilityFlavors: [{capabilities: {architecture: [amd64], openstack-trustedLaunch: [disabled]}, image: plain-1}]}]
`

func profileOfWorkerPools(t *testing.T) *consistency.Profile[openstack.Image] {
	t.Helper()
	p, report := consistency.Compile(imagesOnly{}, parse(t, workerPools), field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	return p
}

// asking makes a pool in europe from what it asks for: secure, inPlace, gpu, trusted.
func asking(machine, image, wishes string) consistency.Pool {
	pool := consistency.Pool{Name: "w", MachineType: machine, Region: "europe", Path: field.NewPath("spec", "provider", "workers").Index(2)}
	pool.Image, pool.Version = cutImage(image)
	for i, wish := range []string{"secure", "inPlace", "gpu", "trusted"} {
		if strings.Contains(wishes, wish) {
			features[i].wanted(&pool)
		}
	}
	if strings.Contains(wishes, "asia") {
		pool.Region = "asia"
	}
	return pool
}

func TestResolvePoolsThatAsk(t *testing.T) {
	const (
		worker  = "spec.provider.workers[2]."
		boot    = worker + `machine.type: Invalid value: worker pool w: secure boot asks for gardener-bootType [secure]`
		launch  = worker + `providerConfig.trustedLaunch: Invalid value: worker pool w: trustedLaunch.enabled: true asks for openstack-trustedLaunch [enabled]`
		update  = worker + `updateStrategy: Invalid value: worker pool w: update strategy AutoInPlaceUpdate asks for gardener-updateType [inPlace]`
		rolling = worker + `updateStrategy: Invalid value: worker pool w: it asks for gardener-updateType [rolling], as it says nothing else (no update in place)`
		plain   = worker + `machine.type: Invalid value: worker pool w: it asks for gardener-bootType [standard], as it says nothing else (no secure boot)`
		of      = ", and no flavor of gl@"
		on      = " that fits machine type any in region europe supports that: {architecture: [amd64]} does not declare "
		five    = " that fits machine type any in region europe supports that: {architecture: [amd64], gardener-bootType: [secure], gardener-updateType: [inPlace]} has "
		noTrust = "openstack-trustedLaunch, so it has [disabled], the worker pool asks for [enabled]"
	)
	p := profileOfWorkerPools(t)
	for name, tc := range map[string]struct {
		pool consistency.Pool
		want string
	}{
		"nothing":             {asking("any", "gl@10.0.0", ""), "gl-10"},
		"nothing of many":     {asking("any", "gl@9.0.0", ""), "gl-9"},
		"nothing of secure":   {asking("any", "gl@8.0.0", ""), "gl-8"},
		"trusted launch":      {asking("any", "gl@9.0.0", "trusted"), "gl-9-trusted"},
		"secure boot":         {asking("any", "gl@8.0.0", "secure"), "gl-8-secure"},
		"in place":            {asking("any", "gl@7.0.0", "inPlace"), "gl-7"},
		"rolling, all alike":  {asking("any", "gl@7.0.0", ""), "gl-7"},
		"everything":          {asking("any", "gl@6.0.0", "secure inPlace gpu trusted asia"), "gl-6"},
		"secure and in place": {asking("any", "gl@5.0.0", "secure inPlace"), "gl-5"},

		"trusted launch that is not there": {asking("any", "gl@10.0.0", "trusted"), launch + of + "10.0.0" + on + noTrust + "; would work: version 9.0.0"},
		"secure boot that is not there":    {asking("any", "gl@10.0.0", "secure"), boot + of + "10.0.0" + on + "gardener-bootType, so it has [standard], the worker pool asks for [secure]; would work: version 8.0.0"},
		"in place that is not there":       {asking("any", "gl@10.0.0", "inPlace"), update + of + "10.0.0" + on + "gardener-updateType, so it has [rolling], the worker pool asks for [inPlace]; would work: version 7.0.0"},
		"a machine type that lacks it":     {asking("untrusted", "gl@9.0.0", "trusted"), launch + ", and machine type untrusted has [disabled]; would work: machine type any, machine type trusted"},
		"both, of which one would do":      {asking("any", "gl@8.0.0", "secure trusted"), launch + of + "8.0.0 that fits machine type any in region europe supports that together with secure boot: {architecture: [amd64], gardener-bootType: [secure, standard]} does not declare " + noTrust + "; {architecture: [amd64]} does not declare " + noTrust},
		"both, of which the other would do": {asking("any", "gl@9.0.0", "secure trusted"), boot + of + "9.0.0 that fits machine type any in region europe supports that together with trustedLaunch.enabled: true: " +
			"{architecture: [amd64], openstack-trustedLaunch: [enabled]} does not declare gardener-bootType, so it has [standard], the worker pool asks for [secure]; {architecture: [amd64]} does not declare " + noTrust},
		"both, of which none would do":           {asking("any", "gl@10.0.0", "inPlace trusted"), update + of + "10.0.0" + strings.Replace(on, "that:", "that together with trustedLaunch.enabled: true:", 1) + noTrust},
		"what the pool leaves unsaid":            {asking("any", "gl@5.0.0", "secure"), rolling + of + "5.0.0" + strings.Replace(five, "that:", "that together with secure boot:", 1) + "gardener-updateType [inPlace], the worker pool asks for [rolling]; would work: version 8.0.0"},
		"what the pool leaves unsaid, otherwise": {asking("any", "gl@5.0.0", "inPlace"), plain + of + "5.0.0" + strings.Replace(five, "that:", "that together with update strategy AutoInPlaceUpdate:", 1) + "gardener-bootType [secure], the worker pool asks for [standard]; would work: version 7.0.0"},
		"all that the pool leaves unsaid":        {asking("any", "gl@5.0.0", ""), plain + of + "5.0.0" + five + "gardener-bootType [secure], the worker pool asks for [standard]; would work: version 10.0.0, image plain@1.0.0, version 9.0.0"},
		"in another region": {asking("any", "gl@6.0.0", "trusted"), worker + `machine.type: Invalid value: "any": worker pool w: no image fits machine type any with gl@6.0.0 in region europe: ` +
			"{architecture: [amd64], openstack-trustedLaunch: [enabled], gardener-bootType: [secure, standard], gardener-updateType: [inPlace, rolling], gardener-gpuSupport: [nvidia]} has no image in region europe, only in asia; would work: version 9.0.0"},
		"another machine type, whatever is asked": {asking("untrusted", "gl@6.0.0", "secure asia"), strings.ReplaceAll(worker, "w.", "w.") + `machine.type: Invalid value: "untrusted": worker pool w: no image fits machine type untrusted with gl@6.0.0 in region asia: ` +
			"{architecture: [amd64], openstack-trustedLaunch: [enabled], gardener-bootType: [secure, standard], gardener-updateType: [inPlace, rolling], gardener-gpuSupport: [nvidia]} has openstack-trustedLaunch [enabled], the machine type [disabled]; " +
			"would work: version 8.0.0, machine type any, machine type trusted"},
		"an unknown version": {asking("any", "gl@1.0.0", "trusted"), worker + `machine.image.version: Unsupported value: "1.0.0": worker pool w: image gl has no version 1.0.0 in the profile; would work: version 9.0.0`},
		"an unknown type":    {asking("huge", "gl@9.0.0", "trusted"), worker + `machine.type: Unsupported value: "huge": worker pool w: machine type huge is not in the profile; would work: machine type any, machine type trusted`},
		"no image":           {asking("any", "", "secure"), worker + `machine.image: Unsupported value: "": worker pool w: no image is named, so Gardener chooses one when the Shoot is admitted; would work: image gl@8.0.0`},
	} {
		t.Run(name, func(t *testing.T) {
			r := p.ResolvePool(tc.pool)
			got := r.Decision.Reference.Name + r.Decision.Reference.ID
			if r.Err != nil {
				got = r.Err.Error()
				checkFindings(t, field.ErrorList{r.Err})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(r.Further) > 0 {
				t.Error(diff, r.Further)
			}
		})
	}
}

// config is a WorkerConfig with the given rest.
func config(rest string) *runtime.RawExtension {
	return &runtime.RawExtension{Raw: []byte(strings.TrimSuffix(trustedLaunch, "}") + rest + "}")}
}

// What nobody registered no image can ever meet. That is said before anything else, and beside what is wrong with the
// machine type.
func TestPoolsThatAskForWhatIsNotRegistered(t *testing.T) {
	const (
		at      = "spec.provider.workers[2].providerConfig.trustedLaunch"
		text    = at + `: Unsupported value: worker pool w: trustedLaunch.enabled: true asks for openstack-trustedLaunch [enabled], which the profile `
		repair  = "; the operator has to register it in spec.machineCapabilities, with the values [enabled, disabled], and to declare it on the flavors of images that support it; until then leave the setting out"
		without = text + "does not register" + repair
	)
	registered := func(vocabulary string) *consistency.Profile[openstack.Image] {
		p, _ := consistency.Compile(imagesOnly{}, parse(t, strings.Replace(pools, hypervisors, vocabulary, 1)), field.NewPath("spec"))
		return p
	}
	of := func(machine, image, wishes string) consistency.Pool { return asking(machine, image, wishes) }
	for name, tc := range map[string]struct {
		vocabulary string
		pool       consistency.Pool
		reason     string
		want       []string
	}{
		"not registered":                  {hypervisors, of("virt", "gl@10.0.0", "trusted"), "unregistered-capability", []string{without}},
		"and secure boot":                 {hypervisors, of("virt", "gl@10.0.0", "trusted secure"), "unregistered-capability", []string{without}},
		"and no image named":              {hypervisors, of("virt", "", "trusted"), "unregistered-capability", []string{without}},
		"registered with less":            {hypervisors + "- {name: openstack-trustedLaunch, values: [disabled]}\n", of("virt", "gl@10.0.0", "trusted"), "unregistered-capability", []string{text + "registers with [disabled] only" + repair}},
		"and the machine type is unknown": {hypervisors, of("huge", "gl@10.0.0", "trusted"), "unknown-machine-type", []string{`spec.provider.workers[2].machine.type: Unsupported value: "huge": worker pool w: machine type huge is not in the profile`, without}},
		"reserved, registered with less": {hypervisors + "- {name: gardener-updateType, values: [rolling]}\n", of("virt", "gl@10.0.0", "inPlace"), "unregistered-capability", []string{
			`spec.provider.workers[2].updateStrategy: Unsupported value: worker pool w: update strategy AutoInPlaceUpdate asks for gardener-updateType [inPlace], which the profile registers with [rolling] only; ` +
				"the operator has to register it in spec.machineCapabilities, with the values [inPlace, rolling], and to declare it on the flavors of images that support it; until then leave the setting out"}},
		"several": {hypervisors + "- {name: gardener-updateType, values: [rolling]}\n", of("virt", "gl@10.0.0", "inPlace trusted"), "unregistered-capability", []string{
			`spec.provider.workers[2].updateStrategy: Unsupported value: worker pool w: update strategy AutoInPlaceUpdate asks for gardener-updateType [inPlace], which the profile registers with [rolling] only; ` +
				"the operator has to register it in spec.machineCapabilities, with the values [inPlace, rolling], and to declare it on the flavors of images that support it; until then leave the setting out", without}},
		"in legacy mode": {legacy, of("virt", "gl@10.0.0", "trusted"), "unregistered-capability", []string{without}},
	} {
		t.Run(name, func(t *testing.T) {
			r := registered(tc.vocabulary).ResolvePool(tc.pool)
			var got []string
			for _, err := range append(field.ErrorList{r.Err}, r.Further...) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if string(r.Reason) != tc.reason || r.Open || len(r.Suggestions) > 0 || r.Decision.Chosen >= 0 {
				t.Errorf("reason %q, open %t, suggestions %v, flavor %d", r.Reason, r.Open, r.Suggestions, r.Decision.Chosen)
			}
		})
	}
}

// An architecture that the machine type does not have counts first. Nothing is suggested that would not work.
func TestAnotherArchitectureAndWhatIsNotRegistered(t *testing.T) {
	pool := asking("arm", "gl@10.0.0", "trusted")
	pool.Architecture = "amd64"
	r := profileOfPools(t).ResolvePool(pool)
	if r.Err == nil || r.Err.Origin != consistency.RuleArchitecture || len(r.Further) != 1 || r.Further[0].Origin != consistency.RuleRequestUnregistered {
		t.Error(r.Err, r.Further)
	}
	if len(r.Suggestions) > 0 || strings.Contains(r.Err.Detail, consistency.WouldWork) {
		t.Error(r.Suggestions, r.Err)
	}
}

// What is wrong with the providerConfig itself is said beside the answer, and counts as far as it can be read.
func TestPoolsWithAProviderConfigOfErrors(t *testing.T) {
	p := profileOfWorkerPools(t)
	for name, tc := range map[string]struct {
		config *runtime.RawExtension
		image  string
		want   []string
	}{
		"sound":                  {config(""), "gl-9-trusted", nil},
		"more that is sound":     {config(`, "serverGroup": {"policy": "anti-affinity"}`), "gl-9-trusted", nil},
		"an unknown field":       {config(`, "serverGroups": {}`), "gl-9-trusted", []string{"Forbidden spec.provider.workers[2].providerConfig.serverGroups unknown-field"}},
		"an unknown field in it": {config(`, "trustedLaunch": {"enable": true}`), "gl-9-trusted", []string{"Duplicate spec.provider.workers[2].providerConfig.trustedLaunch duplicate-key", "Forbidden spec.provider.workers[2].providerConfig.trustedLaunch.enable unknown-field"}},
		"nothing in it":          {&runtime.RawExtension{Raw: []byte(" ")}, "gl-9", nil},
		"another kind":           {&runtime.RawExtension{Raw: []byte(strings.Replace(trustedLaunch, "WorkerConfig", "Worker", 1))}, "gl-9-trusted", []string{"NotSupported spec.provider.workers[2].providerConfig.kind provider-config-kind"}},
		"no JSON":                {&runtime.RawExtension{Raw: []byte("{")}, "gl-9", []string{"Invalid spec.provider.workers[2].providerConfig syntax"}},
	} {
		t.Run(name, func(t *testing.T) {
			pool := asking("any", "gl@9.0.0", "")
			pool.Config = tc.config
			r := p.ResolvePool(pool)
			if r.Err != nil || r.Decision.Reference.Name != tc.image {
				t.Errorf("%+v, %v", r.Decision.Reference, r.Err)
			}
			if diff := cmp.Diff(tc.want, plainly(r.Further)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A pool that stands in no manifest has paths of its own.
func TestPathsWithoutAManifest(t *testing.T) {
	p := profileOfWorkerPools(t)
	for wish, want := range map[string]string{"trusted": "trustedLaunch", "secure": "machine.type", "inPlace": "machine.type"} {
		pool := asking("any", "gl@10.0.0", wish)
		pool.Path = nil
		if r := p.ResolvePool(pool); r.Err == nil || r.Err.Field != want {
			t.Errorf("%s: %v", wish, r.Err)
		}
	}
}

// The local provider has no worker capabilities, so nobody looks at its WorkerConfig.
func TestAProviderWithoutWorkerCapabilities(t *testing.T) {
	s := coreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}, []v1beta1.Capabilities{{}})
	s.MachineTypes = []v1beta1.MachineType{{Name: "m"}}
	p, _ := consistency.Compile(given{{}}, s, field.NewPath("spec"))
	r := p.ResolvePool(consistency.Pool{MachineType: "m", Image: "linux", Version: "1", Config: &runtime.RawExtension{Raw: []byte("{")}})
	if r.Err != nil || len(r.Further) > 0 || len(r.Requirements) != 2 {
		t.Error(r.Err, r.Further, r.Requirements)
	}
}

// Two settings that ask for values of one capability have to be met by one value.
func TestTwoSettingsOfOneCapability(t *testing.T) {
	fast, slow, either := v1beta1.Capabilities{"given-disk": {"fast"}}, v1beta1.Capabilities{"given-disk": {"slow"}}, v1beta1.Capabilities{"given-disk": {"fast", "slow"}}
	provider := workingWith(slow, fast, either)
	provider.workers = consistency.WorkersOf(workerKind, definitions, append(capability.Rules[workerConfig]{
		{Setting: "trusted: true, which is slow", Field: "trusted", Capability: "given-disk", Values: []string{"slow"}, Asks: func(c *workerConfig) bool { return c.Trusted }},
	}, rules[1:]...))
	s := coreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, {Name: "given-disk", Values: []string{"fast", "slow"}}}, provider.given)
	s.MachineTypes = []v1beta1.MachineType{{Name: "m"}}
	p, report := consistency.Compile(provider, s, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	for config, want := range map[string]string{
		"": "2", `, "trusted": true`: "2", `, "disk": "fast"`: "2", `, "disk": "any"`: "2", `, "disk": "any", "trusted": true`: "2", `, "disk": "fast", "trusted": true`: "",
	} {
		r := p.ResolvePool(consistency.Pool{Name: "w", MachineType: "m", Image: "linux", Version: "1", Config: &runtime.RawExtension{Raw: []byte(`{"apiVersion": "given/v1", "kind": "WorkerConfig"` + config + "}")}})
		if r.Decision.Reference != want || (r.Err == nil) != (want != "") || len(r.Further) > 0 {
			t.Errorf("%s: %q, %v", config, r.Decision.Reference, r.Err)
		}
		if want == "" && (r.Err.Origin != consistency.RuleRequestUnmet || r.Err.Field != "trusted" || !strings.Contains(r.Err.Detail, "the worker pool asks for []")) {
			t.Error(r.Err)
		}
	}
}

// A feature that must stay off unless it is asked for has a rule for off, which a worker without a config follows as well.
func TestARuleForOff(t *testing.T) {
	trustedOff := append(capability.Rules[workerConfig]{
		{Setting: "no trusted: true", Field: "trusted", Capability: "given-trusted", Values: []string{"off"}, Asks: func(c *workerConfig) bool { return !c.Trusted }},
	}, rules[:1]...)
	on, off := v1beta1.Capabilities{"given-trusted": {"on"}}, v1beta1.Capabilities{"given-trusted": {"off"}}
	amd64 := v1beta1.CapabilityDefinition{Name: "architecture", Values: []string{"amd64"}}
	const (
		wants = `{"apiVersion": "given/v1", "kind": "WorkerConfig", "trusted": true}`
		empty = `{"apiVersion": "given/v1", "kind": "WorkerConfig"}`
		unmet = consistency.RuleRequestUnmet
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
		"off, which is not registered":   {[]string{"on"}, []v1beta1.Capabilities{{}}, "", "", consistency.RuleRequestUnregistered},
		"off, of what is not registered": {nil, []v1beta1.Capabilities{{}}, "", "0", ""},
		"on, of what is not registered":  {nil, []v1beta1.Capabilities{{}}, wants, "", consistency.RuleRequestUnregistered},
	} {
		t.Run(name, func(t *testing.T) {
			s := coreSpec([]v1beta1.CapabilityDefinition{amd64}, tc.flavors)
			if tc.registered != nil {
				s.MachineCapabilities = append(s.MachineCapabilities, v1beta1.CapabilityDefinition{Name: "given-trusted", Values: tc.registered})
			}
			s.MachineTypes = []v1beta1.MachineType{{Name: "m"}}
			p, report := consistency.Compile(working{tc.flavors, consistency.WorkersOf(workerKind, definitions, trustedOff)}, s, field.NewPath("spec"))
			if warned := len(report.Warnings) == 1 && report.Warnings[0].Origin == consistency.RuleWorkerValueUnasked; len(report.Errors) > 0 || warned != (len(tc.registered) == 1) {
				t.Error(report)
			}
			pool := consistency.Pool{MachineType: "m", Image: "linux", Version: "1", Path: field.NewPath("w")}
			if tc.config != "" {
				pool.Config = &runtime.RawExtension{Raw: []byte(tc.config)}
			}
			r := p.ResolvePool(pool)
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

// In legacy mode nothing is declared, so that only what core says about updates in place can be asked for.
func TestLegacyProfilesThatAreAsked(t *testing.T) {
	for _, supported := range []bool{false, true} {
		s := spec(t, legacy, "  - {version: \"1\", architectures: [amd64, arm64]}\n", "- {version: \"1\", regions: [{name: europe, id: x}, {name: europe, id: z, architecture: arm64}]}\n")
		s.MachineTypes = []v1beta1.MachineType{{Name: "m", Architecture: new("arm64")}}
		s.MachineImages[0].Versions[0].InPlaceUpdates = &v1beta1.InPlaceUpdates{Supported: supported}
		p, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
		if len(report.Errors) > 0 {
			t.Fatal(report.Errors)
		}
		inPlace := ""
		if !supported {
			inPlace = consistency.RuleRequestUnmet
		}
		for wishes, want := range map[string]string{"": "", "inPlace": inPlace, "secure": consistency.RuleRequestUnmet, "gpu": consistency.RuleRequestUnmet, "trusted": consistency.RuleRequestUnregistered} {
			r := p.ResolvePool(asking("m", "gl@1", wishes))
			got := ""
			if r.Err != nil {
				got = r.Err.Origin
			}
			if got != want || got == "" && r.Decision.Reference.ID != "z" {
				t.Errorf("supported %t, %q: %+v, %v", supported, wishes, r.Decision.Reference, r.Err)
			}
		}
	}
}

// The Shoot's own words: the update strategy and the providerConfig of a worker.
func TestShootsThatAsk(t *testing.T) {
	const (
		config  = "providerConfig: {apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: WorkerConfig, trustedLaunch: {enabled: true}"
		workers = "spec.provider.workers[0]."
	)
	worker := func(version, more string) string {
		return "{region: europe, provider: {workers: [{name: w, machine: {type: any, image: {name: gl, version: " + version + "}}, " + more + "}]}}"
	}
	for name, tc := range map[string]struct {
		shoot string
		want  []string
	}{
		"in place, supported":                         {worker("7.0.0", "updateStrategy: ManualInPlaceUpdate"), nil},
		"in place, not supported":                     {worker("8.0.0", "updateStrategy: ManualInPlaceUpdate"), []string{"Invalid " + workers + "updateStrategy worker-request-unmet"}},
		"trusted launch, supported":                   {worker("9.0.0", config+"}"), nil},
		"trusted launch, not":                         {worker("8.0.0", config+"}"), []string{"Invalid " + workers + "providerConfig.trustedLaunch worker-request-unmet"}},
		"trusted launch, and a field that is unknown": {worker("8.0.0", config+", a: b}"), []string{"Forbidden " + workers + "providerConfig.a unknown-field", "Invalid " + workers + "providerConfig.trustedLaunch worker-request-unmet"}},
		"a field that is unknown, and no image named": {
			"{region: europe, provider: {workers: [{name: w, machine: {type: any}, " + config + ", a: b}}]}}", []string{"Forbidden " + workers + "providerConfig.a unknown-field"},
		},
		"another region": {"{region: mars, provider: {workers: [{name: w, machine: {type: any}, " + config + ", a: b}}]}}", []string{"Forbidden spec.provider.workers[0].providerConfig.a unknown-field", "NotSupported spec.region unknown-region"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := profileOfWorkerPools(t).CheckShoot(shoot(t, tc.shoot), nil)
			checkFindings(t, report.Errors)
			if diff := cmp.Diff(tc.want, plainly(report.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
