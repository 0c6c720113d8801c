// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// notAmong says that the profile does not have a thing of this name in a place, and what it has there; or, if none is
// named, that one has to be.
func notAmong(rule string, at *field.Path, name string, has []string, thing, place string) finding.Finding {
	if name == "" {
		rule = validation.OriginSettingMissing
	}
	has = validation.Choices(has)
	switch {
	case len(has) == 0 && name == "":
		return finding.New(rule, field.ErrorTypeRequired, at, nil, fmt.Sprintf(
			"write the name of a %s; but the profile has none %s, ask its operator for one", thing, place))
	case len(has) == 0:
		return finding.New(rule, field.ErrorTypeNotSupported, at, name, fmt.Sprintf(
			"the profile has no %s %s, so not %s; ask its operator for one", thing, place, name))
	case name == "":
		return validation.NotAmong(rule, at, name, has, fmt.Sprintf("write the name of a %s", thing))
	}
	return validation.NotAmong(rule, at, name, has, fmt.Sprintf("the profile has no %s %s %s", thing, name, place))
}

// few joins names for a message, which gets no longer than this.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
