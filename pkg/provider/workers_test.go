// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
)

// raw converts YAML to a config.
func raw(t *testing.T, text string) *runtime.RawExtension {
	t.Helper()
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: converted}
}

func TestCheckProvider(t *testing.T) {
	cases.Run(t, "testdata/workers.txtar", func(c *cases.Case) string {
		var defined []capability.Definition
		c.Decode("definitions.yaml", &defined)
		var written []struct {
			Setting, Field, PoolField, Capability string
			Values                                []string
			OnlyIfOffered, Panics                 bool
		}
		c.Decode("rules.yaml", &written)
		var asking []provider.Request[given.WorkerConfig]
		for _, r := range written {
			asks := func(_ *provider.Pool, c *given.WorkerConfig) bool { return r.Panics && *c.Nested }
			asking = append(asking, provider.Request[given.WorkerConfig]{
				Setting: r.Setting, Field: r.Field, PoolField: r.PoolField, Capability: r.Capability, Values: r.Values,
				OnlyIfOffered: r.OnlyIfOffered, Asks: asks,
			})
		}
		if err := provider.Check(given.Cloud{Settings: given.WorkersWith(defined, asking)}); err != nil {
			return cases.Fold(strings.Split(err.Error(), "\n")...)
		}
		return ""
	})
}

func TestCheckProviderWithoutAKind(t *testing.T) {
	err := provider.Check(given.Cloud{Settings: provider.WorkersOf(provider.WorkerConfig[given.WorkerConfig]{
		Kind: schema.GroupVersionKind{Kind: "WorkerConfig"}, Capabilities: given.Definitions, Requests: given.Requests,
	})})
	if err == nil || err.Error() != "provider given: the kind of the WorkerConfig has no version, or no kind" {
		t.Error(err)
	}
}

type named struct {
	given.Cloud
	name string
}

func (n named) Type() string { return n.name }

func TestCheckRollingUpdate(t *testing.T) {
	constant := func(*given.WorkerConfig) string { return "" }
	err := provider.Check(given.Cloud{Settings: provider.WorkersOf(provider.WorkerConfig[given.WorkerConfig]{
		Kind:          given.WorkerKind,
		RollingUpdate: []provider.Trigger[given.WorkerConfig]{{"disk", constant}, {"trusted", constant}, {"disc", constant}, {"disk", constant}},
	})})
	const want = `provider given: RollingUpdate has the Field "disc", which does not exist in the providerConfig: unknown field "disc"; did you mean "disk"?
provider given: RollingUpdate has the Field "disk" twice`
	if err == nil || err.Error() != want {
		t.Error(err)
	}
}

// What an author leaves out, or what has no effect, is named.
func TestCheckWorkerConfig(t *testing.T) {
	type config = provider.WorkerConfig[given.WorkerConfig]
	asks := func(*provider.Pool, *given.WorkerConfig) bool { return false }
	const noKind = "the WorkerConfig has no Kind, so no providerConfig is read: set it, or remove Validate, KnownUpTo and RollingUpdate"
	for want, c := range map[string]config{
		"":     {},
		noKind: {Validate: func(*given.WorkerConfig, *field.Path) field.ErrorList { return nil }},
		`the entry "disk" of RollingUpdate has no Value`: {
			Kind: given.WorkerKind, RollingUpdate: []provider.Trigger[given.WorkerConfig]{{Field: "disk"}},
		},
		`the request "x" has no Asks`: {Requests: []provider.Request[given.WorkerConfig]{
			{Setting: "x", PoolField: "volume", Capability: capability.BootType, Values: []string{"secure"}},
		}},
		`the request "x" has a Field and a PoolField; with the latter, Asks gets an empty config: remove one, or make two requests`: {
			Kind: given.WorkerKind, Requests: []provider.Request[given.WorkerConfig]{
				{Setting: "x", Field: "disk", PoolField: "volume", Capability: capability.BootType, Values: []string{"secure"}, Asks: asks},
			},
		},
	} {
		err := provider.Check(given.Cloud{Settings: provider.WorkersOf(c)})
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != "provider given: "+want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	for _, c := range []config{{KnownUpTo: "v1"}, {RollingUpdate: []provider.Trigger[given.WorkerConfig]{{Field: "disk"}}}} {
		if err := provider.Check(given.Cloud{Settings: provider.WorkersOf(c)}); err == nil || !strings.Contains(err.Error(), noKind) {
			t.Error(err)
		}
	}
}

func TestCheckProviderWithoutNames(t *testing.T) {
	rolling := provider.WorkersOf(provider.WorkerConfig[given.WorkerConfig]{
		Kind:          schema.GroupVersionKind{Group: "given", Version: "v1", Kind: "WorkerConfig"},
		RollingUpdate: []provider.Trigger[given.WorkerConfig]{{Value: func(*given.WorkerConfig) string { return "" }}},
	})
	for name, want := range map[string]string{
		"":         `provider : the type "" does not fit into Gardener's label`,
		"my cloud": `provider my cloud: the type "my cloud" does not fit into Gardener's label`,
		"given":    "provider given: an entry of RollingUpdate has no Field",
	} {
		if err := provider.Check(named{given.Cloud{Settings: rolling}, name}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func settingsOf(w provider.Workers) []string {
	var settings []string
	for _, s := range w.Settings() {
		settings = append(settings, fmt.Sprintf("%s at %s asks for %s %v", s.Setting, s.Because, s.Capability, s.Values))
	}
	return settings
}

func TestWorkers(t *testing.T) {
	workers := given.WorkersWith(given.Definitions, given.Requests)
	if diff := cmp.Diff(given.Definitions, workers.Definitions()); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"trusted: true at providerConfig.trusted asks for given-trusted [on]",
		"disk: fast at providerConfig.disk asks for given-disk [fast]",
		"disk: any at providerConfig.disk asks for given-disk [slow fast]",
	}
	if diff := cmp.Diff(want, settingsOf(workers)); diff != "" {
		t.Error(diff)
	}
	workers.Definitions()[0].Name, workers.Settings()[0].Setting = "changed", "changed"
	if workers.Definitions()[0].Name != "given-trusted" || workers.Settings()[0].Setting != "trusted: true" {
		t.Error("what is returned is the caller's")
	}
	var none provider.Workers
	requirements, report := none.Requirements(provider.Pool{Config: &runtime.RawExtension{Raw: []byte("{")}})
	if len(none.Definitions())+len(none.Settings())+len(requirements)+len(report.Errors) > 0 {
		t.Error("the zero Workers look at nothing")
	}
}

func TestRequirementsOfAConfig(t *testing.T) {
	const (
		head    = `{"apiVersion": "given/v1", "kind": "WorkerConfig"`
		trusted = "trusted: true at w.providerConfig.trusted"
	)
	text := func(raw string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(raw)} }
	workers := given.WorkersWith(given.Definitions, given.Requests)
	for name, tc := range map[string]struct {
		raw  *runtime.RawExtension
		want []string
		errs []string
	}{
		"nil":           {nil, nil, nil},
		"empty":         {&runtime.RawExtension{}, nil, nil},
		"white space":   {text(" \n"), nil, nil},
		"null":          {text(" null "), nil, nil},
		"nothing asked": {text(head + "}"), nil, nil},
		"one":           {text(head + `, "trusted": true}`), []string{trusted}, nil},
		"both, in the rules' order": {
			text(head + `, "disk": "any", "trusted": true}`), []string{trusted, "disk: any at w.providerConfig.disk"}, nil,
		},
		"an unknown field beside it": {
			text(head + `, "trusted": true, "x": {}}`), []string{trusted}, []string{"Forbidden w.providerConfig.x unknown-field"},
		},
		"a wrong type beside it": {
			text(head + `, "trusted": true, "disk": 5}`), []string{trusted}, []string{"Invalid w.providerConfig.disk field-type"},
		},
		"a wrong type": {text(head + `, "trusted": "true"}`), nil, []string{"Invalid w.providerConfig.trusted field-type"}},
		"of another kind": {
			text(`{"apiVersion": "given/v1", "kind": "Config", "trusted": true}`), []string{trusted},
			[]string{"NotSupported w.providerConfig.kind provider-config-kind"},
		},
		"of no kind": {text(`{}`), nil, []string{
			"Required w.providerConfig.apiVersion provider-config-kind", "Required w.providerConfig.kind provider-config-kind",
		}},
		"no object": {text(`[]`), nil, []string{"Invalid w.providerConfig field-type"}},
		"no JSON":   {text(head + `, "trusted": tru`), nil, []string{"Invalid w.providerConfig syntax"}},
	} {
		t.Run(name, func(t *testing.T) {
			requirements, report := workers.Requirements(provider.Pool{Config: tc.raw, Path: field.NewPath("w")})
			var got []string
			for _, q := range requirements {
				got = append(got, q.Setting+" at "+q.Because.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.errs, given.Plainly(report.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A config that can be decoded is also validated by the provider.
func TestChecksOfAConfig(t *testing.T) {
	workers := provider.WorkersOf(provider.WorkerConfig[given.WorkerConfig]{
		Kind: given.WorkerKind, Capabilities: given.Definitions, Requests: given.Requests, Validate: func(c *given.WorkerConfig, at *field.Path) field.ErrorList {
			if c.Disk == "" || c.Disk == "fast" || c.Disk == "any" {
				return nil
			}
			return field.ErrorList{field.NotSupported(at.Child("disk"), c.Disk, []string{"any", "fast"}).WithOrigin("disk-unknown")}
		},
	})
	for raw, want := range map[string][]string{
		`"disk": "fast"`:                 nil,
		`"disk": "FAST"`:                 {"NotSupported c.providerConfig.disk disk-unknown"},
		`"disk": "FAST", "disc": "fast"`: {"Forbidden c.providerConfig.disc unknown-field"},
	} {
		config := &runtime.RawExtension{Raw: []byte(`{"apiVersion": "given/v1", "kind": "WorkerConfig", ` + raw + `}`)}
		_, report := workers.Requirements(provider.Pool{Config: config, Path: field.NewPath("c")})
		if diff := cmp.Diff(want, given.Plainly(report.Errors)); diff != "" {
			t.Error(raw, diff)
		}
	}
}

// A config of another program may have fields newer than the known ones. Other errors remain errors, and the known fields apply.
func TestUnknownFieldsOfAnother(t *testing.T) {
	config := provider.WorkerConfig[given.WorkerConfig]{
		Kind: given.WorkerKind, KnownUpTo: "provider-given v1.2", Capabilities: given.Definitions, Requests: given.Requests,
		Validate: func(c *given.WorkerConfig, at *field.Path) field.ErrorList {
			if c.Disk == "FAST" {
				return field.ErrorList{field.NotSupported(at.Child("disk"), c.Disk, []string{"any", "fast"}).WithOrigin("disk-unknown")}
			}
			return nil
		},
	}
	workers := provider.WorkersOf(config)
	if got := workers.KnownUpTo(); got != "provider-given v1.2" {
		t.Error(got)
	}
	const later = "; if a version after provider-given v1.2 has this field, keep it: it is not known here yet"
	for name, tc := range map[string]struct {
		raw              string
		asks             int
		errors, warnings []string
		detail           string
	}{
		"none": {`"trusted": true`, 1, nil, nil, ""},
		"one": {
			`"trusted": true, "burst": {"trusted": false}`, 1, nil, []string{"Forbidden c.providerConfig.burst unknown-worker-field"},
			`unknown field "burst"; known fields: apiVersion, disk, kind, nested, trusted` + later,
		},
		"misspelt, beside a value that nothing knows": {
			`"trustd": true, "disk": "FAST"`, 0, []string{"NotSupported c.providerConfig.disk disk-unknown"},
			[]string{"Forbidden c.providerConfig.trustd unknown-worker-field"}, `unknown field "trustd"; did you mean "trusted"?` + later[1:],
		},
		"beside what cannot be read": {
			`"burst": 1, "disk": 5, "trusted": true, "trusted": true`, 1,
			[]string{"Invalid c.providerConfig.disk field-type", "Duplicate c.providerConfig.trusted duplicate-key"},
			[]string{"Forbidden c.providerConfig.burst unknown-worker-field"}, `unknown field "burst"; known fields: apiVersion, disk, kind, nested, trusted` + later,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool := provider.Pool{Path: field.NewPath("c"), Config: &runtime.RawExtension{
				Raw: []byte(`{"apiVersion": "given/v1", "kind": "WorkerConfig", ` + tc.raw + `}`),
			}}
			requirements, report := workers.Requirements(pool)
			if len(requirements) != tc.asks {
				t.Error(requirements)
			}
			if diff := cmp.Diff(tc.errors, given.Plainly(report.Errors)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.warnings, given.Plainly(report.Warnings)); diff != "" {
				t.Error(diff)
			}
			if tc.detail != "" && report.Warnings[0].Detail != tc.detail {
				t.Error(report.Warnings[0].Detail)
			}
		})
	}
}

// Beyond the limit of listed problems, an unlisted one may be an error, so the finding about the limit is not a warning.
func TestUnknownFieldsThatAreNotListed(t *testing.T) {
	workers := provider.WorkersOf(provider.WorkerConfig[given.WorkerConfig]{Kind: given.WorkerKind, KnownUpTo: "provider-given v1.2"})
	var b strings.Builder
	b.WriteString(`{"apiVersion": "given/v1", "kind": "WorkerConfig"`)
	for i := range 9000 {
		fmt.Fprintf(&b, `, "x%d": 1`, i)
	}
	b.WriteString(`, "disk": 5}`)
	_, report := workers.Requirements(provider.Pool{Path: field.NewPath("c"), Config: &runtime.RawExtension{Raw: []byte(b.String())}})
	if len(report.Warnings) < 1000 || len(report.Errors) != 1 || !strings.Contains(report.Errors[0].Detail, "not listed") {
		t.Error(len(report.Warnings), report.Errors)
	}
}

var rolling = provider.WorkersOf(provider.WorkerConfig[given.WorkerConfig]{
	Kind: given.WorkerKind, Capabilities: given.Definitions, Requests: given.Requests,
	RollingUpdate: []provider.Trigger[given.WorkerConfig]{
		{Field: "disk", Value: func(c *given.WorkerConfig) string { return c.Disk }},
		{Field: "trusted", Value: func(c *given.WorkerConfig) string { return map[bool]string{true: "on", false: ""}[c.Trusted] }},
	},
})

func TestRolling(t *testing.T) {
	const header = "{apiVersion: given/v1, kind: WorkerConfig"
	for name, tc := range map[string]struct{ config, disk, trusted string }{
		"no config":             {"null", "", ""},
		"nothing of it":         {header + "}", "", ""},
		"one":                   {header + ", disk: fast}", "fast", ""},
		"both":                  {header + ", disk: fast, trusted: true}", "fast", "on"},
		"what could be read":    {header + ", disk: fast, trusted: 5}", "fast", ""},
		"whatever else is said": {header + ", unknown: 1, nested: true, disk: slow}", "slow", ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := []provider.Rolling{{Field: "disk", Value: tc.disk}, {Field: "trusted", Value: tc.trusted}}
			if diff := cmp.Diff(want, rolling.Rolling(provider.Pool{Config: raw(t, tc.config)})); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := rolling.Rolling(provider.Pool{}); len(got) != 2 || got[0].Value != "" {
		t.Error(got)
	}
	if got := (local.Provider{}).Workers().Rolling(provider.Pool{}); got != nil {
		t.Error("a provider without triggers:", got)
	}
	if diff := cmp.Diff(settingsOf(given.WorkersWith(given.Definitions, given.Requests)), settingsOf(rolling)); diff != "" {
		t.Error("what workers ask for has changed:", diff)
	}
}

// A request is implied if an empty config makes it too, but not if it follows from the pool itself.
func TestWhatIsImplied(t *testing.T) {
	workers := given.WorkersWith([]capability.Definition{
		{Name: "given-trusted", Values: []string{"on"}}, {Name: "given-disk", Values: []string{"fast", "slow"}},
	}, []provider.Request[given.WorkerConfig]{
		{Setting: "trusted: true", Field: "trusted", Capability: "given-trusted", Values: []string{"on"},
			Asks: func(_ *provider.Pool, c *given.WorkerConfig) bool { return c.Trusted }},
		{Setting: "no fast disk", Field: "disk", Capability: "given-disk", Values: []string{"slow"},
			Asks: func(_ *provider.Pool, c *given.WorkerConfig) bool { return c.Disk != "fast" }},
		{Setting: "machine type x", PoolField: "machine.type", Capability: "given-disk", Values: []string{"fast"},
			Asks: func(p *provider.Pool, _ *given.WorkerConfig) bool { return p.MachineType == "x" }},
	})
	asked := func(pool provider.Pool) []string {
		requirements, report := workers.Requirements(pool)
		if len(report.Errors) > 0 {
			t.Error(report.Errors)
		}
		var got []string
		for _, q := range requirements {
			got = append(got, fmt.Sprintf("%s %v because of %s at %s, implied %t", q.Capability, q.Values, q.Setting, q.Because, q.Implied))
		}
		return got
	}
	config := raw(t, "{apiVersion: given/v1, kind: WorkerConfig, trusted: true}")
	for name, tc := range map[string]struct {
		pool provider.Pool
		want []string
	}{
		"nothing": {provider.Pool{Path: field.NewPath("w")}, []string{
			"given-disk [slow] because of no fast disk at w.providerConfig.disk, implied true",
		}},
		"all": {provider.Pool{Path: field.NewPath("w"), MachineType: "x", Config: config}, []string{
			"given-trusted [on] because of trusted: true at w.providerConfig.trusted, implied false",
			"given-disk [slow] because of no fast disk at w.providerConfig.disk, implied true",
			"given-disk [fast] because of machine type x at w.machine.type, implied false",
		}},
		"a document of its own": {provider.Pool{MachineType: "x", Config: config}, []string{
			"given-trusted [on] because of trusted: true at trusted, implied false",
			"given-disk [slow] because of no fast disk at disk, implied true",
			"given-disk [fast] because of machine type x at <nil>, implied false",
		}},
	} {
		if diff := cmp.Diff(tc.want, asked(tc.pool)); diff != "" {
			t.Error(name, diff)
		}
	}
	x, y := provider.Pool{MachineType: "x", Config: config}, provider.Pool{MachineType: "y", Config: config}
	if !workers.Follows(&x) || workers.Follows(&y) || given.WorkersWith(given.Definitions, given.Requests).Follows(&x) {
		t.Error("of machine type x something follows, with these requests, whatever the providerConfig says")
	}
	for i, s := range workers.Settings() {
		if provider.FollowsFromPool(s) != (i == 2) {
			t.Errorf("%s: %s", s.Setting, s.Because)
		}
	}
}

// A pool's shape depends on exactly the fields that decide its image.
func TestShapeOf(t *testing.T) {
	only := provider.WorkersOf(provider.WorkerConfig[metav1.TypeMeta]{})
	looking := provider.WorkersOf(provider.WorkerConfig[metav1.TypeMeta]{
		Requests: []provider.Request[metav1.TypeMeta]{
			{PoolField: "volume", Asks: func(p *provider.Pool, _ *metav1.TypeMeta) bool { return p.Volume != nil }},
			{PoolField: "dataVolumes", Asks: func(p *provider.Pool, _ *metav1.TypeMeta) bool { return len(p.DataVolumes) > 0 }},
		},
	})
	for name, tc := range map[string]struct {
		change              func(*provider.Pool)
		shape, shapeLooking bool // whether the shape differs
	}{
		"nothing":      {func(*provider.Pool) {}, false, false},
		"path":         {func(p *provider.Pool) { p.Path = field.NewPath("other") }, false, false},
		"name":         {func(p *provider.Pool) { p.Name = "other" }, false, false},
		"volume size":  {func(p *provider.Pool) { p.Volume.VolumeSize = "1Gi" }, false, false},
		"volume":       {func(p *provider.Pool) { p.Volume = nil }, false, true},
		"data volume":  {func(p *provider.Pool) { p.DataVolumes = []v1beta1.DataVolume{{Name: "data"}} }, false, true},
		"machine type": {func(p *provider.Pool) { p.MachineType = "other" }, true, true},
		"image":        {func(p *provider.Pool) { p.Image = "other" }, true, true},
		"version":      {func(p *provider.Pool) { p.Version = "other" }, true, true},
		"architecture": {func(p *provider.Pool) { p.Architecture = "arm64" }, true, true},
		"region":       {func(p *provider.Pool) { p.Region = "other" }, true, true},
		"strategy":     {func(p *provider.Pool) { p.Worker.UpdateStrategy = v1beta1.AutoInPlaceUpdate }, true, true},
		"config":       {func(p *provider.Pool) { p.Config = &runtime.RawExtension{Raw: []byte("{}")} }, true, true},
	} {
		pool := func() *provider.Pool {
			return &provider.Pool{Name: "pool", Volume: &v1beta1.Volume{VolumeSize: "50Gi"}, Config: &runtime.RawExtension{Raw: []byte("null")}}
		}
		other := pool()
		tc.change(other)
		for workers, want := range map[*provider.Workers]bool{&only: tc.shape, &looking: tc.shapeLooking} {
			if got := workers.ShapeOf(pool()) != workers.ShapeOf(other); got != want {
				t.Errorf("%s makes another shape: %v, with %d requests of the pool", name, got, len(workers.Settings()))
			}
		}
	}
}

func TestPoolsOf(t *testing.T) {
	version, architecture, strategy := "1.0.0", "arm64", v1beta1.AutoInPlaceUpdate
	shoot := &v1beta1.Shoot{Spec: v1beta1.ShootSpec{Region: "r", Provider: v1beta1.Provider{Workers: []v1beta1.Worker{
		{Name: "w", UpdateStrategy: &strategy, Machine: v1beta1.Machine{
			Type: "m", Architecture: &architecture, Image: &v1beta1.ShootMachineImage{Name: "gl", Version: &version},
		}},
		{Name: "x", Kubernetes: &v1beta1.WorkerKubernetes{Version: new("1.32.5")}, CRI: &v1beta1.CRI{Name: "containerd"}},
	}}, Kubernetes: v1beta1.Kubernetes{Version: "1.33.2"}}}
	at := field.NewPath("spec", "provider", "workers")
	want := []provider.Pool{
		{
			Name: "w", MachineType: "m", Image: "gl", Version: "1.0.0", Architecture: "arm64", Region: "r", Path: at.Index(0),
			Worker: capability.Worker{UpdateStrategy: strategy}, Kubelet: "1.33.2",
		},
		{Name: "x", Region: "r", Path: at.Index(1), Kubelet: "1.32.5", CRI: &v1beta1.CRI{Name: "containerd"}},
	}
	if got := provider.PoolsOf(shoot); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := provider.PoolsOf(&v1beta1.Shoot{}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
