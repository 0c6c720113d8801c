// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

var (
	// poolVolume matches the paths of the volume sizes of a worker pool.
	poolVolume = regexp.MustCompile(`^spec\.provider\.workers\[\d+\]\.(volume|dataVolumes\[\d+\])\.size$`)
	// poolMachine matches the paths of fields that belong under a worker pool's machine, but are written beside it.
	poolMachine = regexp.MustCompile(`^spec\.provider\.workers\[\d+\]\.(image|type|architecture)$`)
	// gibibytes matches numbers that are volume sizes if the unit is missing.
	gibibytes = regexp.MustCompile(`^[1-9]\d{0,4}$`)
)

// inPool returns a decoder's error about a worker pool in the terms of Shoots, and the probable intention. better is nil for other errors.
func inPool(err *field.Error) (better *field.Error, meant *finding.Suggestion) {
	said := *err
	value, _ := err.BadValue.(string)
	switch {
	case err.Origin == strictjson.OriginUnknownField && poolMachine.MatchString(err.Field):
		said.Detail = fmt.Sprintf("unknown field %q; it belongs under machine", poolMachine.FindStringSubmatch(err.Field)[1])
	case err.Origin != strictjson.OriginFieldType || !poolVolume.MatchString(err.Field) || value == "":
		return nil, nil
	case gibibytes.MatchString(value):
		meant = finding.Suggest(finding.ReplaceValue, value, value+"Gi", "")
		said.Detail = "expected a quantity with a unit, got a number; write " + meant.With
	default:
		said.Detail = "expected a quantity with a unit; write one such as 20Gi"
	}
	return &said, meant
}
