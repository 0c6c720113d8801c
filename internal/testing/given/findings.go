// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/resolve"
)

// Plainly renders findings as type, field and rule.
func Plainly(list finding.List) []string {
	var lines []string
	for _, err := range list {
		lines = append(lines, strings.TrimPrefix(string(err.Type), "FieldValue")+" "+err.Field+" "+err.Origin)
	}
	return lines
}

// Brief renders findings like Plainly, with short paths for the first image.
func Brief(list finding.List) []string {
	lines := Plainly(list)
	for i, line := range lines {
		lines[i] = strings.NewReplacer("spec.providerConfig.machineImages[0].versions", "provider", "spec.machineImages[0].versions", "core").Replace(line)
	}
	return lines
}

// Explained renders findings as type, field, rule and message.
func Explained(list finding.List) string {
	lines := Plainly(list)
	for i := range lines {
		lines[i] += ": " + list[i].Detail
	}
	return cases.Fold(lines...)
}

// Catalogue is a set of rule names.
type Catalogue map[string]bool

// Rules are the rules of compiled profiles and of answers for worker pools.
var Rules = CatalogueOf(providerconfig.Rules(), profile.Rules(), resolve.Rules(), openstack.Provider{}.Rules())

// CatalogueOf returns the names of rules.
func CatalogueOf(rules ...[]finding.Rule) Catalogue {
	names := Catalogue{}
	for _, rule := range slices.Concat(rules...) {
		names[rule.Name] = true
	}
	return names
}

// Check checks that findings have rules in the catalogue, are sorted, and have proper messages.
func (c Catalogue) Check(t Fatal, list finding.List) {
	for i, err := range list {
		if !c[err.Origin] {
			t.Fatalf("%v: rule %q is not in the catalogue", err, err.Origin)
		}
		if i > 0 && fieldpath.Compare(list[i-1].Field, err.Field) > 0 {
			t.Fatalf("%s stands before %s", list[i-1].Field, err.Field)
		}
		if err.Detail == "" || strings.Contains(err.Detail, "map[") {
			t.Fatalf("not for a reader: %q", err.Detail)
		}
	}
}
