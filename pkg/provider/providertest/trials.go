// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// attempt calls a function, and returns a panic in it as an error.
func attempt(call func()) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the provider panics: %v\n%s", reason, debug.Stack())
		}
	}()
	call()
	return nil
}

// decodeTwice decodes a config at the path at, twice at the same time.
func decodeTwice[R any](cloud provider.Provider[R], config []byte, at *field.Path) (provider.Config[R], finding.Report, error) {
	var read [2]provider.Config[R]
	var reports [2]finding.Report
	var panics [2]error
	var both sync.WaitGroup
	for i := range read {
		both.Go(func() {
			panics[i] = attempt(func() { read[i], reports[i] = cloud.Decode(&runtime.RawExtension{Raw: bytes.Clone(config)}, at) })
		})
	}
	both.Wait()
	for _, err := range panics {
		if err != nil {
			return read[0], reports[0], err
		}
	}
	if diff := differences(read[0].Images, read[1].Images); diff != "" {
		return read[0], reports[0], fmt.Errorf("it is read in two ways: %s", diff)
	}
	return read[0], reports[0], nil
}

// tryNothing tries a provider with profiles, Shoots and Secrets that have nothing which it reads.
func tryNothing[R any](cloud provider.Provider[R]) error {
	at, r := field.NewPath("config"), rulesOf(cloud)
	_, derives := provider.As[provider.ReferenceDeriver[R]](cloud)
	for _, raw := range []*runtime.RawExtension{nil, {}, {Raw: []byte("null")}} {
		read, report := cloud.Decode(raw, at)
		r.report("the provider's Decode", report, at)
		if len(report.Errors) == 0 && !derives {
			r.wrong("the provider's Decode accepts a profile without a config: decode it with providerconfig.Decode")
		}
		r.validator(read.Validator, report, at)
	}
	var zero R
	type isZero = interface{ IsZero() bool }
	_, ofValue := any(zero).(isZero)
	if _, ofPointer := any(&zero).(isZero); ofPointer && !ofValue {
		r.wrong("IsZero of %T is never called: give it a receiver that is no pointer", zero)
	}
	errs := cloud.ValidateReference(zero, at)
	r.fieldErrors("ValidateReference", errs, at)
	if len(errs) == 0 {
		r.wrong("ValidateReference accepts the zero reference, which is never booted: return providerconfig.ReferenceMissing")
	}
	if kind := cloud.Workers().Kind(); !kind.Empty() {
		meta := metav1.TypeMeta{}
		meta.SetGroupVersionKind(kind)
		raw, err := json.Marshal(meta)
		r.errs = append(r.errs, err)
		r.workerConfig(cloud.Workers(), raw)
	}
	if updates, has := provider.As[provider.ShootUpdateValidator](cloud); has {
		r.report("the provider's ValidateShootUpdate", updates.ValidateShootUpdate(bareShoot(), bareShoot()), nil)
	}
	if settings, has := provider.As[provider.SettingsOwner](cloud); has {
		r.list("the provider's OwnSettings", finding.SeverityError, settings.OwnSettings(bareShoot()), nil)
	}
	if credentials, has := provider.As[provider.CredentialsValidator](cloud); has {
		_, errs := credentials.ValidateCredentials(nil, at)
		r.fieldErrors("the provider's ValidateCredentials", errs, at)
	}
	if dns, has := provider.As[provider.DNSCredentialsValidator](cloud); has {
		r.fieldErrors("the provider's ValidateDNSCredentials", dns.ValidateDNSCredentials(nil, at), at)
	}
	return errors.Join(r.errs...)
}

// bareShoot returns a Shoot whose only worker pool has no more than a name.
func bareShoot() *v1beta1.Shoot {
	shoot := &v1beta1.Shoot{}
	shoot.Spec.Provider.Workers = []v1beta1.Worker{{Name: "pool"}}
	return shoot
}

// validator tries the validator of a config, which is called unless nothing of the config could be read.
func (r *rules) validator(v provider.Validator, decoding finding.Report, at *field.Path) {
	blank := slices.ContainsFunc(decoding.Errors, func(f finding.Finding) bool { return f.Error == nil })
	if v == nil || blank || providerconfig.UnreadIn(decoding.Errors, at).Covers(at) {
		return
	}
	spec := &v1beta1.CloudProfileSpec{}
	r.report("ValidateCloudProfile of the Validator", v.ValidateCloudProfile(spec, at), nil)
	r.report("ValidateShoot of the Validator", v.ValidateShoot(provider.ShootQuestion{Shoot: bareShoot(), Profile: spec}), nil)
}

// workerConfig tries the providerConfig of a worker pool.
func (r *rules) workerConfig(workers provider.Workers, raw []byte) {
	pool := provider.Pool{Config: &runtime.RawExtension{Raw: raw}, Path: field.NewPath("pool")}
	_, report := workers.Requirements(pool)
	workers.Rolling(pool)
	r.report("Validate of the WorkerConfig", report, pool.ConfigPath())
}

// checkStrict checks that a config is refused if it has another API version, or a field that it cannot have, in spite of which the rest is
// read.
func checkStrict[R any](cloud provider.Provider[R], config []byte, images []imageselector.Image[R], at *field.Path) error {
	var written map[string]json.RawMessage
	if err := json.Unmarshal(config, &written); err != nil {
		return err
	}
	_, ignores := provider.As[providerconfig.FieldIgnorer](cloud)
	var errs []error
	for _, changed := range []struct{ what, name string }{{"of another apiVersion", "apiVersion"}, {"with an unknown field", "providertest"}} {
		other := maps.Clone(written)
		other[changed.name] = json.RawMessage(`"providertest/v1"`)
		raw, err := json.Marshal(other)
		if err != nil {
			return err
		}
		read, report := cloud.Decode(&runtime.RawExtension{Raw: raw}, at)
		if diff := differences(images, read.Images); diff != "" && changed.name == "providertest" {
			errs = append(errs, fmt.Errorf("the provider's Decode reads other images of a config %s; return all that is readable: %s", changed.what, diff))
		}
		if len(report.Errors) == 0 && (!ignores || changed.name != "providertest") {
			errs = append(errs, fmt.Errorf("the provider's Decode accepts a config %s: decode it with providerconfig.Decode", changed.what))
		}
	}
	return errors.Join(errs...)
}
