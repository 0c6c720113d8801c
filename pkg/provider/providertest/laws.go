// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package providertest holds the laws that every [provider.Provider] keeps, for the tests of its author: what Encode
// writes Decode reads as the same. Start reading at [Laws]; [Configs] finds the provider configs in a folder of
// manifests, and [RoundTrip] tries a single version, which a property test or a fuzz target makes up.
package providertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/provider"
)

// Laws checks a provider with provider configs, which are JSON. Each version in a config that can be read without
// errors is written in both formats, as [RoundTrip] does; its own format must be able to say it. Configs with errors
// have to be read without a panic, and count for nothing else. The test fails at once if there is no version that can
// be tried.
//
// It checks besides that Decode comes to the same at each call and that [provider.Check] finds nothing wrong.
func Laws[R any](t *testing.T, cloud provider.Provider[R], configs ...[]byte) {
	t.Helper()
	if err := provider.Check(cloud); err != nil {
		t.Error(err)
	}
	tried := 0
	for i, config := range configs {
		n, err := tryConfig(cloud, config)
		if err != nil {
			t.Errorf("config %d: %v\n%.2000s", i, err, config)
		}
		tried += n
	}
	if tried == 0 {
		t.Fatalf("none of %d configs has a version and can be read", len(configs))
	}
}

// Check returns what is wrong with a provider that reads a config and writes its versions, as [Laws] finds it; nil if
// nothing is. Fuzz targets call it: a config with errors, or without versions, is as good as any other.
func Check[R any](cloud provider.Provider[R], config []byte) error {
	_, err := tryConfig(cloud, config)
	return err
}

// tryConfig tries all versions in a config and returns how many there are, with all that is wrong.
func tryConfig[R any](cloud provider.Provider[R], config []byte) (tried int, err error) {
	at := field.NewPath("config")
	read, report := cloud.Decode(&runtime.RawExtension{Raw: config}, at)
	again, _ := cloud.Decode(&runtime.RawExtension{Raw: bytes.Clone(config)}, at)
	if diff := differences(read.Images, again.Images); diff != "" {
		return 0, fmt.Errorf("it is read in two ways: %s", diff)
	}
	if len(report.Errors) > 0 {
		return 0, nil
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(config, &meta); err != nil {
		return 0, err
	}
	var errs []error
	for _, image := range read.Images {
		for _, version := range image.Versions {
			tried++
			for _, format := range []provider.Format{provider.FormatLegacy, provider.FormatFlavors} {
				err := RoundTrip(cloud, meta.GroupVersionKind(), version, format)
				// a format may have no words for what was read in the other one
				if err != nil && (!Refused(err) || version.Legacy == (format == provider.FormatLegacy)) {
					errs = append(errs, fmt.Errorf("%s@%s as %s: %w", image.Name, version.Version, format, err))
				}
			}
		}
	}
	return tried, errors.Join(errs...)
}
