// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providertest_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
)

// odd is a provider with one mistake.
type odd struct {
	local.Provider
	before      func(raw *runtime.RawExtension)
	after       func(at *field.Path, config *provider.Config[local.Image], report *finding.Report)
	reference   func(ref local.Image) field.ErrorList
	worker      func(config *workerConfig, at *field.Path) field.ErrorList
	credentials field.ErrorList
}

type workerConfig struct {
	metav1.TypeMeta `json:",inline"`

	Mode *string `json:"mode,omitempty"`
}

func (o odd) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[local.Image], finding.Report) {
	if o.before != nil {
		o.before(raw)
	}
	config, report := o.Provider.Decode(raw, at)
	if o.after != nil {
		o.after(at, &config, &report)
	}
	return config, report
}

func (o odd) ValidateReference(ref local.Image, at *field.Path) field.ErrorList {
	if o.reference != nil {
		return o.reference(ref)
	}
	return o.Provider.ValidateReference(ref, at)
}

func (o odd) Workers() provider.Workers {
	if o.worker == nil {
		return provider.Workers{}
	}
	return provider.WorkersOf(provider.WorkerConfig[workerConfig]{Kind: kind.GroupVersion().WithKind("WorkerConfig"), Validate: o.worker})
}

func (o odd) ValidateCredentials(map[string][]byte, *field.Path) (string, field.ErrorList) {
	return "", o.credentials
}

// validator has the rules of an odd provider.
type validator struct {
	profile func(spec *v1beta1.CloudProfileSpec) finding.Report
	shoot   func(shoot *v1beta1.Shoot) finding.Report
}

func (v *validator) ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, _ *field.Path) (report finding.Report) {
	if v.profile != nil {
		return v.profile(spec)
	}
	return report
}

func (v *validator) ValidateShoot(question provider.ShootQuestion) (report finding.Report) {
	if v.shoot != nil {
		return v.shoot(question.Shoot)
	}
	return report
}

func validated(by *validator) odd {
	return odd{after: func(_ *field.Path, config *provider.Config[local.Image], _ *finding.Report) { config.Validator = by }}
}

// Users write profiles without a config, Shoots without one, and images without a reference.
func TestLawsFindWhatNothingBreaks(t *testing.T) {
	for want, cloud := range map[string]odd{
		"": validated(&validator{}),
		"the provider panics: runtime error: invalid memory address": {before: func(raw *runtime.RawExtension) { _ = raw.Raw }},
		"Decode accepts a profile without a config": {after: func(_ *field.Path, _ *provider.Config[local.Image], report *finding.Report) {
			report.Errors = nil
		}},
		"ValidateReference accepts the zero reference": {reference: func(local.Image) field.ErrorList { return nil }},
		"the provider panics: runtime error: index out of range": {reference: func(ref local.Image) field.ErrorList {
			_ = ref.Image[0]
			return nil
		}},
		"the provider panics: runtime error: invalid memory": {worker: func(config *workerConfig, _ *field.Path) field.ErrorList {
			_ = *config.Mode
			return nil
		}},
		"the error at pool.providerConfig.mode has no rule": {worker: func(_ *workerConfig, at *field.Path) field.ErrorList {
			return field.ErrorList{field.Required(at.Child("mode"), "")}
		}},
		"Validate of the WorkerConfig reports at mode, which is not at or below pool.providerConfig": {
			worker: func(*workerConfig, *field.Path) field.ErrorList {
				return field.ErrorList{field.Required(field.NewPath("mode"), "").WithOrigin("local-mode")}
			},
		},
		"ValidateCredentials returns nil among its errors": {credentials: field.ErrorList{nil}},
	} {
		err := providertest.Check(cloud, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestLawsFindMistakesInFindings(t *testing.T) {
	decodes := func(findings ...finding.Finding) odd {
		return odd{after: func(_ *field.Path, _ *provider.Config[local.Image], report *finding.Report) {
			report.Warnings = append(report.Warnings, findings...)
		}}
	}
	at := field.NewPath("config", "kind")
	for want, cloud := range map[string]odd{
		"": decodes(finding.New("local-a", field.ErrorTypeInvalid, at, 1, "a"), finding.New("local-a", field.ErrorTypeInvalid, at, 1, "b")),
		"Decode reports the same twice at config.kind: a": decodes(
			finding.New("local-a", field.ErrorTypeInvalid, at, 1, "a"), finding.New("local-a", field.ErrorTypeInvalid, at, 1, "a")),
		"Decode reports at kind, which is not at or below config": decodes(finding.New("local-a", field.ErrorTypeInvalid, field.NewPath("kind"), 1, "a")),
		"the provider panics: runtime error: invalid memory":      validated(nil),
		"ValidateCloudProfile of the Validator returns error 0 without a field.Error": validated(&validator{
			profile: func(*v1beta1.CloudProfileSpec) finding.Report { return finding.Report{Errors: finding.List{{}}} },
		}),
		"the warning at spec has no rule": validated(&validator{shoot: func(*v1beta1.Shoot) finding.Report {
			return finding.Report{Warnings: finding.Of(field.ErrorList{field.Invalid(field.NewPath("spec"), "", "")})}
		}}),
		"the provider panics: runtime error": validated(&validator{shoot: func(shoot *v1beta1.Shoot) finding.Report {
			_ = shoot.Spec.Provider.InfrastructureConfig.Raw
			return finding.Report{}
		}}),
	} {
		err := providertest.Check(cloud, []byte(config))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestLawsFindLaxDecoding(t *testing.T) {
	lax := func(old, instead string) odd {
		return odd{before: func(raw *runtime.RawExtension) { raw.Raw = bytes.ReplaceAll(raw.Raw, []byte(old), []byte(instead)) }}
	}
	for want, cloud := range map[string]odd{
		"Decode accepts a config of another apiVersion": lax("providertest/v1", kind.GroupVersion().String()),
		"Decode accepts a config with an unknown field": lax(`,"providertest":"providertest/v1"`, ""),
		"Decode reads other images of a config with an unknown field; return all that is readable": {
			after: func(_ *field.Path, config *provider.Config[local.Image], report *finding.Report) {
				if len(report.Errors) > 0 {
					config.Images = nil
				}
			},
		},
		"the provider panics: no\ngoroutine": {before: func(*runtime.RawExtension) { panic("no") }},
	} {
		if err := providertest.Check(cloud, []byte(config)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// A sample of a WorkerConfig is tried as that of a worker pool.
func TestLawsOfWorkerConfigs(t *testing.T) {
	cloud := odd{worker: func(config *workerConfig, at *field.Path) field.ErrorList {
		if config.Mode == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(at.Child("mode"), *config.Mode, "no")}
	}}
	sample := `{"apiVersion": "` + kind.GroupVersion().String() + `", "kind": "WorkerConfig", "mode": "x"}`
	if err := providertest.Check(cloud, []byte(sample)); err == nil || err.Error() != "the error at pool.providerConfig.mode has no rule: set its Origin" {
		t.Error(err)
	}
	if err := providertest.Check(cloud, nil); err != nil {
		t.Error(err)
	}
}

// Webhooks decode many configs at a time.
func TestDecodeAtTheSameTime(t *testing.T) {
	var calls atomic.Int32
	both := make(chan struct{})
	cloud := odd{before: func(*runtime.RawExtension) {
		if calls.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
		case <-time.After(10 * time.Second):
			panic("alone")
		}
	}}
	if err := providertest.Check(cloud, []byte(config)); err != nil {
		t.Error(err)
	}
}

// failing records why a test fails.
type failing struct {
	testing.TB
	why any
}

func (*failing) Helper()                {}
func (f *failing) Fatal(reasons ...any) { f.why = reasons[0] }

// Authors write the wrong API version.
func TestConfigsOfNoKind(t *testing.T) {
	f, folder := &failing{}, t.TempDir()
	providertest.Configs(f, kind, folder)
	if want := folder + " has no CloudProfileConfig of local.provider.extensions.gardener.cloud/v1alpha1"; fmt.Sprint(f.why) != want {
		t.Error(f.why)
	}
}

// pointed is a reference whose IsZero has a pointer as receiver.
type pointed struct{ ID string }

func (p *pointed) IsZero() bool { return p.ID == "" }

// pointing is a provider with such references.
type pointing struct{ provider.Provider[pointed] }

func (pointing) Type() string              { return "pointing" }
func (pointing) Workers() provider.Workers { return provider.Workers{} }
func (pointing) Decode(raw *runtime.RawExtension, at *field.Path) (config provider.Config[pointed], report finding.Report) {
	_, report = local.Provider{}.Decode(raw, at)
	return config, report
}

func (pointing) ValidateReference(_ pointed, at *field.Path) field.ErrorList {
	return field.ErrorList{field.Required(at, "").WithOrigin("pointing-id")}
}

func TestLawsFindAnIsZeroOfAPointer(t *testing.T) {
	err := providertest.Check(pointing{}, nil)
	if err == nil || err.Error() != "IsZero of providertest_test.pointed is never called: give it a receiver that is no pointer" {
		t.Error(err)
	}
}
