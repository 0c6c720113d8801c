// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// specs are the specs of [GardenKinds], in the same order.
var specs = []any{v1beta1.CloudProfileSpec{}, v1beta1.NamespacedCloudProfileSpec{}, v1beta1.ShootSpec{}}

// inSpec matches the path of a field of a spec.
var inSpec = regexp.MustCompile(`^spec\.(\w+)$`)

// otherKind returns one error for an object that has the spec of another kind, in place of the errors about unknown fields. It is nil
// unless several fields are unknown, and the other kind has all of them.
func otherKind(o *manifest.Object, errs finding.List) *field.Error {
	var unknown []string
	for _, err := range errs {
		if found := inSpec.FindStringSubmatch(err.Field); found != nil && err.Origin == strictjson.OriginUnknownField {
			unknown = append(unknown, found[1])
		}
	}
	if len(unknown) < 2 {
		return nil
	}
	for i, kind := range GardenKinds {
		if kind != o.Kind && hasFields(specs[i], unknown) {
			return Problem(RuleObjectKind, field.ErrorTypeInvalid, "kind", o.Kind,
				"the spec is that of a %s (%s), and not of a %s; correct the kind", kind, words.Few(unknown), o.Kind)
		}
	}
	return nil
}

// hasFields reports whether a spec has all fields with these names.
func hasFields(spec any, names []string) bool {
	known := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(spec)) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name] = true
	}
	for _, name := range names {
		if !known[name] {
			return false
		}
	}
	return true
}
