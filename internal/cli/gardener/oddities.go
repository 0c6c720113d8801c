// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The origins of findings about probable mistakes that Gardener accepts, if only in existing objects.
const (
	// RuleMemory is about machine types with almost no memory.
	RuleMemory = "machine-type-memory"
	// RuleProfileNameIgnored is about a profile name that Gardener ignores.
	RuleProfileNameIgnored = "cloudprofile-name-ignored"
)

// leastMemory is less than any machine's memory, in bytes. A smaller number without a unit probably means mebibytes, as in Nova, if it is
// at least leastMebibytes, and otherwise gibibytes.
const (
	leastMemory    = 1 << 20
	leastMebibytes = 1 << 10
)

// number matches a quantity without a unit.
var number = regexp.MustCompile(`^[1-9]\d*$`)

// TinyMemory warns about machine types in spec.machineTypes with less than a mebibyte of memory, which probably lack the unit.
func TinyMemory(types []v1beta1.MachineType) field.ErrorList {
	var warnings field.ErrorList
	for i := range types {
		memory := types[i].Memory
		if memory.Sign() <= 0 || memory.Value() >= leastMemory {
			continue
		}
		text := memory.String()
		says := fmt.Sprintf("memory %s is less than a mebibyte; write it with a unit, as in 8Gi", text)
		if number.MatchString(text) {
			unit := "Gi"
			if memory.Value() >= leastMebibytes {
				unit = "Mi"
			}
			says = fmt.Sprintf("memory without a unit is in bytes; append %s if that is meant", unit)
		}
		warnings = append(warnings, &field.Error{
			Type: field.ErrorTypeInvalid, Field: field.NewPath("spec", "machineTypes").Index(i).Child("memory").String(), BadValue: text,
			Origin: RuleMemory, Detail: "machine type " + types[i].Name + ": " + says,
		})
	}
	return warnings
}

// ProfileNameIgnored reports the deprecated field cloudProfileName beside cloudProfile, which wins. Gardener refuses a new Shoot with both.
// In an existing one, they may name the same profile.
func ProfileNameIgnored(shoot *v1beta1.Shoot) field.ErrorList {
	name, profile := shoot.Spec.CloudProfileName, shoot.Spec.CloudProfile
	if name == nil || *name == "" || profile == nil {
		return nil
	}
	kind := cmp.Or(profile.Kind, "CloudProfile")
	detail := fmt.Sprintf("cloudProfileName is %s, and cloudProfile names %s %s: Gardener uses cloudProfile, and refuses a new Shoot that has both; "+
		"remove cloudProfileName", *name, kind, profile.Name)
	if kind == "CloudProfile" && profile.Name == *name {
		if exists(shoot) { // the API server writes both
			return nil
		}
		detail = "cloudProfileName and cloudProfile are there, and Gardener refuses a new Shoot that has both; remove cloudProfileName, which is deprecated"
	}
	return field.ErrorList{{
		Type: field.ErrorTypeInvalid, Field: "spec.cloudProfileName", BadValue: *name, Origin: RuleProfileNameIgnored, Detail: detail,
	}}
}
