// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package providertest holds the laws that every [provider.Provider] must keep, for the tests of its author: Decode must read back what
// Encode writes. Start reading at [Laws]. [Configs] finds the provider configs in a folder of manifests. [RoundTrip] tries a single
// version, such as one that a property test or a fuzz target generates.
package providertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Laws checks a provider with provider configs. It writes each version of a config without errors in both formats, as [RoundTrip] does. The
// version's own format must be able to express it, unless a region is named outside its entry (imageselector.Regional.NamedAt): then Encode must
// refuse both formats, with a reason. Configs with errors must be read without a panic, and are otherwise ignored. The test fails at once
// if no version can be tried; for a [provider.ReferenceDeriver], one readable config is enough.
//
// Laws also checks that Decode returns the same at each call, also if it is called twice at a time, where go test -race finds more; that it
// refuses another API version, and unknown fields unless the provider is a [providerconfig.FieldIgnorer], and reads the rest; that its
// paths lead to images, versions, flavors and regions as written; that references survive a JSON round trip; that derived references are
// valid; that ValidateReference refuses the zero reference; and that [provider.Check] finds no mistakes.
//
// Findings, including those in configs with errors, must be distinct. Each must have a rule, with the severity that a
// [provider.RuleDescriber] gives it. Those of Decode and ValidateReference must be at or below their paths. So must those in the
// providerConfig of a worker pool: a config of its kind is tried as one. All methods that report findings, those of the validator among
// them, are also called for a profile without a provider config, a Shoot whose worker pool has nothing but a name, and a Secret without data.
func Laws[R any](t *testing.T, cloud provider.Provider[R], configs ...Config) {
	t.Helper()
	if err := provider.Check(cloud); err != nil {
		t.Error(err)
	}
	_, derives := provider.As[provider.ReferenceDeriver[R]](cloud)
	tried := false
	for i, config := range append(slices.Clip(configs), Config{From: "a profile without a config"}) {
		n, readable, err := tryConfig(cloud, config.JSON)
		if err != nil {
			name := config.From
			if name == "" {
				name = fmt.Sprintf("config %d", i)
			}
			t.Errorf("%s: %v\n%.2000s", name, err, config.JSON)
		}
		tried = tried || n > 0 || readable && derives
	}
	if !tried {
		t.Fatalf("none of %d configs has a version and can be read", len(configs))
	}
}

// Check returns the violations that [Laws] would report for one config; nil if there are none. It is meant for fuzz targets: configs with
// errors, or without versions, are welcome. An empty config stands for a profile without one.
func Check[R any](cloud provider.Provider[R], config []byte) error {
	_, _, err := tryConfig(cloud, config)
	return err
}

// tryConfig tries all versions in a config. It returns their number, whether the config is readable, and all violations.
func tryConfig[R any](cloud provider.Provider[R], config []byte) (tried int, readable bool, err error) {
	panicked := attempt(func() { tried, readable, err = tryVersions(cloud, config) })
	return tried, readable, errors.Join(err, panicked)
}

func tryVersions[R any](cloud provider.Provider[R], config []byte) (tried int, readable bool, err error) {
	if !providerconfig.HasContent(&runtime.RawExtension{Raw: config}) {
		return 0, false, tryNothing(cloud)
	}
	at, r := field.NewPath("config"), rulesOf(cloud)
	var meta metav1.TypeMeta
	unreadable := json.Unmarshal(config, &meta)
	if workers := cloud.Workers(); !workers.Kind().Empty() && meta.GroupVersionKind() == workers.Kind() {
		r.workerConfig(workers, config)
		return 0, false, errors.Join(r.errs...)
	}
	read, report, err := decodeTwice(cloud, config, at)
	if err != nil {
		return 0, false, err
	}
	r.report("the provider's Decode", report, at)
	eachReference(read.Images, func(ref R, at *field.Path) { r.fieldErrors("ValidateReference", cloud.ValidateReference(ref, at), at) })
	r.validator(read.Validator, report, at)
	errs := r.errs
	if len(report.Errors) > 0 {
		return 0, false, errors.Join(errs...)
	}
	if unreadable != nil {
		return 0, false, unreadable
	}
	errs = append(errs, checkStrict(cloud, config, read.Images, at),
		checkRead(config, read.Images, provider.PoliciesOf(cloud).MappedIn != "", at))
	for _, image := range read.Images {
		for _, version := range image.Versions {
			tried++
			name := image.Name + "@" + version.Version
			for _, format := range []provider.Format{provider.FormatLegacy, provider.FormatFlavors} {
				if err := tryVersion(cloud, meta.GroupVersionKind(), version, format); err != nil {
					errs = append(errs, fmt.Errorf("%s as %s: %w", name, format, err))
				}
			}
			if err := tryToDerive(cloud, image.Name, &version); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
	}
	return tried, true, errors.Join(errs...)
}

// tryVersion writes a version in a format and reads it back.
func tryVersion[R any](
	cloud provider.Provider[R], kind schema.GroupVersionKind, version imageselector.Version[R], format provider.Format,
) error {
	err := RoundTrip(cloud, kind, version, format)
	switch {
	case version.Scattered():
		switch {
		case err == nil:
			return errors.New("the provider's Encode does not refuse it, although a region is named elsewhere")
		case !Refused(err):
			return fmt.Errorf("the provider's Encode does not refuse it, although a region is named elsewhere: %w", err)
		case strings.TrimSpace(err.Error()) == "":
			return errors.New("the provider's Encode refuses it without a reason")
		}
		return nil
	case Refused(err) && version.Legacy != (format == provider.FormatLegacy): // a format may be unable to express a version of the other one
		return nil
	}
	return err
}

// tryToDerive derives references for the flavors of a version.
func tryToDerive[R any](cloud provider.Provider[R], image string, version *imageselector.Version[R]) error {
	deriver, derives := provider.As[provider.ReferenceDeriver[R]](cloud)
	if !derives {
		return nil
	}
	id := provider.ImageVersion{Image: image, Version: version.Version}
	for i := range version.Flavors {
		supported := version.Flavors[i].Capabilities
		ref, derived := deriver.DeriveReference(id, maps.Clone(supported))
		again, derivedAgain := deriver.DeriveReference(id, maps.Clone(supported))
		if diff := differences(ref, again); diff != "" || derived != derivedAgain {
			return fmt.Errorf("the provider's DeriveReference comes to two results for %v: %s", supported, diff)
		}
		if !derived {
			continue
		}
		if errs := cloud.ValidateReference(ref, field.NewPath("derived")); len(errs) > 0 {
			return fmt.Errorf("the provider's DeriveReference derives what its ValidateReference refuses: %w", errs.ToAggregate())
		}
	}
	return nil
}

// RoundTrip writes a version in a format, reads it back in a config of the given kind, and returns the differences; nil if there are none.
// Paths are ignored.
//
// In the version's own format (see [imageselector.Version.Legacy]), the flavors read must be the same, in the same order: capabilities with
// their values in order, implied capabilities, references and fallbacks. In the other format, the order and implied capabilities may be
// lost, and in the legacy format one flavor without capabilities may replace several that name one architecture each. Nothing else may be
// lost: Encode must return an error for anything the format cannot express. [Refused] distinguishes this error from a violation.
//
// Encode must return the same each time, and must not modify the version.
func RoundTrip[R any](
	cloud provider.Provider[R], kind schema.GroupVersionKind, version imageselector.Version[R], format provider.Format,
) error {
	before, err := json.Marshal(version)
	if err != nil {
		return fmt.Errorf("a reference that is not JSON: %w", err)
	}
	entries, err := encode(cloud, version, format)
	if after, _ := json.Marshal(version); !bytes.Equal(before, after) {
		return fmt.Errorf("the provider's Encode has changed the version from %s to %s", before, after)
	}
	if err != nil {
		return err
	}
	again, err := decode(cloud, kind, entries)
	if err != nil {
		return fmt.Errorf("it was written as %s: %w", entries, err)
	}
	if err := compare(version, again, format); err != nil {
		return fmt.Errorf("it was written as %s, and read again: %w", entries, err)
	}
	return nil
}

// Refused reports whether the error is one of a provider's Encode: the format cannot express the version. This is no violation if the
// version is synthetic, or was read in the other format.
func Refused(err error) bool {
	var refused refusal
	return errors.As(err, &refused)
}

// refusal is an error of Encode.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// encode writes a version twice, and compares the results.
func encode[R any](cloud provider.Provider[R], version imageselector.Version[R], format provider.Format) (json.RawMessage, error) {
	entries, err := cloud.Encode(version, format)
	again, errAgain := cloud.Encode(version, format)
	if said, then := fmt.Sprint(err), fmt.Sprint(errAgain); said != then {
		return nil, fmt.Errorf("the provider's Encode says %s, and then %s", said, then)
	}
	if err != nil {
		return nil, refusal{err}
	}
	if len(entries) == 0 {
		return nil, errors.New("the provider's Encode returns no entry")
	}
	first, err := json.Marshal(entries)
	if err != nil {
		return nil, fmt.Errorf("an entry that is not JSON: %w", err)
	}
	if second, _ := json.Marshal(again); !bytes.Equal(first, second) {
		return nil, fmt.Errorf("the provider's Encode returns %s, and then %s", first, second)
	}
	return first, nil
}

// decode reads the entries of one version.
func decode[R any](cloud provider.Provider[R], kind schema.GroupVersionKind, entries json.RawMessage) ([]imageselector.Version[R], error) {
	apiVersion, name := kind.ToAPIVersionAndKind()
	config, err := json.Marshal(map[string]any{
		"apiVersion": apiVersion, "kind": name, "machineImages": []any{map[string]any{"name": "image", "versions": entries}},
	})
	if err != nil {
		return nil, err
	}
	read, report := cloud.Decode(&runtime.RawExtension{Raw: config}, field.NewPath("written"))
	if len(report.Errors) > 0 {
		return nil, report.Errors.Errors().ToAggregate()
	}
	if len(read.Images) != 1 || read.Images[0].Name != "image" {
		return nil, fmt.Errorf("that is %d images, not one", len(read.Images))
	}
	return read.Images[0].Versions, nil
}

// compare returns the differences between a version and the versions read back.
func compare[R any](version imageselector.Version[R], again []imageselector.Version[R], format provider.Format) error {
	legacy := format == provider.FormatLegacy
	var flavors []imageselector.Flavor[R]
	for _, v := range again {
		if v.Version != version.Version {
			return fmt.Errorf("it is version %q, not %q", v.Version, version.Version)
		}
		if v.Legacy != legacy && len(version.Flavors) > 0 {
			return fmt.Errorf("it is in another format than %s", format)
		}
		if diff := differences(version.Undeclared, v.Undeclared); diff != "" && version.Legacy == legacy {
			return fmt.Errorf("what flavors support without declaring it: %s", diff)
		}
		flavors = append(flavors, v.Flavors...)
	}
	if version.Legacy == legacy {
		if diff := differences(version.Flavors, flavors); diff != "" {
			return errors.New(diff)
		}
		return nil
	}
	for i := range version.Flavors {
		if !slices.ContainsFunc(flavors, func(f imageselector.Flavor[R]) bool { return standsFor(&f, &version.Flavors[i], legacy) }) {
			return fmt.Errorf("flavor %d is lost: %s", i, differences(version.Flavors, flavors))
		}
	}
	for i := range flavors {
		if !slices.ContainsFunc(version.Flavors, func(f imageselector.Flavor[R]) bool { return standsFor(&flavors[i], &f, legacy) }) {
			return fmt.Errorf("flavor %d has come from nowhere: %s", i, differences(version.Flavors, flavors))
		}
	}
	return nil
}

// standsFor reports whether a flavor read from one format corresponds to one written in the other.
func standsFor[R any](read, written *imageselector.Flavor[R], legacy bool) bool {
	r, w := *read, *written
	if legacy && (len(r.Capabilities) == 0 && namesArchitecture(w.Capabilities) || len(w.Capabilities) == 0 && namesArchitecture(r.Capabilities)) {
		r.Capabilities, w.Capabilities = nil, nil
	}
	r.Implied, w.Implied = nil, nil
	return differences(r, w) == ""
}

// namesArchitecture reports whether the capabilities are a single architecture.
func namesArchitecture(capabilities v1beta1.Capabilities) bool {
	return len(capabilities) == 1 && len(capabilities[capability.Architecture]) == 1
}

// differences returns how two values differ, except in paths; empty if they do not. Empty values equal nil.
func differences(want, got any) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes((*field.Path)(nil)),
		cmp.Exporter(func(reflect.Type) bool { return true }))
}
