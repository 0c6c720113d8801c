// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/consistency"
)

// findingAt places an error of a rule in the manifest that it is about.
func findingAt(source *manifest.Object, severity consistency.Severity, rule string, err *field.Error) report.Finding {
	f := report.Finding{
		Severity: severity, Rule: rule, Type: err.Type, Field: err.Field, Message: message(rule, err),
		Object: object(source.Identity), File: source.File,
	}
	f.Line, f.Column = source.Position(err.Field)
	return f
}

// message is what the user reads: for rules of our own the detail, which says it all; for others what the API server
// would say.
func message(rule string, err *field.Error) string {
	if rule == RuleCore || err.Detail == "" {
		return err.ErrorBody()
	}
	return err.Detail
}

func object(id manifest.Identity) report.Object {
	return report.Object{APIVersion: id.APIVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}
