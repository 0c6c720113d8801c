// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package generate_test

import (
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
)

func TestOpenStack(t *testing.T) {
	for _, size := range []int{25 << 10, 250 << 10, 1 << 20} {
		spec := generate.OpenStack(size)
		if _, report := profile.Compile(openstack.Provider{}, spec, field.NewPath("spec")); len(report.Errors) > 0 {
			t.Errorf("%d bytes: not sound, %d errors: %v …", size, len(report.Errors), report.Errors[0])
		}
		if got := len(spec.ProviderConfig.Raw); got < size || got > size+size/3 {
			t.Errorf("%d bytes, asked for about %d", got, size)
		}
		if !reflect.DeepEqual(spec, generate.OpenStack(size)) {
			t.Errorf("%d bytes: not the same every time", size)
		}
	}
}

func TestComplete(t *testing.T) {
	for _, size := range []int{250 << 10, 1 << 20} {
		object := generate.Complete(size)
		if _, report := check.CloudProfile(openstack.Provider{}, object); len(report.Errors)+len(report.Warnings) > 0 {
			t.Errorf("%d bytes: %d errors and warnings: %v …", size, len(report.Errors)+len(report.Warnings), slices.Concat(report.Errors, report.Warnings)[0])
		}
		if got := object.Size(); got > size+size/3 || !reflect.DeepEqual(object, generate.Complete(size)) {
			t.Errorf("%d bytes, asked for about %d, or not the same every time", got, size)
		}
	}
}
