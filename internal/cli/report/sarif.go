// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// sarifLog writes all findings as a SARIF 2.1.0 log, for code scanning. It lists only rules with findings. If the command
// fails without a failing finding, a notification says why.
func sarifLog(w io.Writer, r *Report, options *Options) error {
	catalogue := map[string]finding.Rule{}
	for _, rule := range options.Rules {
		catalogue[rule.Name] = rule
	}
	run := sarif.NewRunWithInformationURI("capkit", "https://github.com/capkit/capkit")
	run.Tool.Driver.WithVersion(options.Version)
	if _, err := semver.StrictNewVersion(options.Version); err == nil {
		run.Tool.Driver.WithSemanticVersion(options.Version)
	}
	places := newPlaces()
	for _, f := range r.Findings {
		rule := run.AddRule(f.Rule)
		if entry, found := catalogue[f.Rule]; found {
			rule.WithShortDescription(sarif.NewMultiformatMessageString().WithText(entry.Means)).
				WithHelp(sarif.NewMultiformatMessageString().WithText(entry.Repair)).
				WithHelpURI(HelpURI(f.Rule))
		}
		result := run.CreateResultForRule(f.Rule).
			WithLevel(string(f.Severity)).
			WithMessage(sarif.NewTextMessage(words.Printable(f.Message))).
			WithPartialFingerprints(map[string]string{"capkit/v1": fingerprint(f)}).
			AddLocation(location(f, places.of(f.File)))
		for _, s := range f.Suppressions {
			suppression := sarif.NewSuppression().WithKind(s.Kind)
			if s.Justification != "" {
				suppression.WithJustification(words.Printable(s.Justification))
			}
			result.AddSuppression(suppression)
		}
	}
	if why := r.Unchecked(*options); why != "" {
		run.AddInvocation(sarif.NewInvocation().WithExecutionSuccessful(true).WithExitCode(1).AddToolExecutionNotification(
			sarif.NewNotification().WithLevel("error").WithMessage(sarif.NewTextMessage(why))))
	}
	log := sarif.NewReport()
	log.AddRun(run)
	var text bytes.Buffer
	if err := log.PrettyWrite(&text); err != nil {
		return err
	}
	_, err := w.Write(escapedJSON(text.Bytes()))
	return err
}

// HelpURI returns the URL of a rule's section in the documentation.
func HelpURI(rule string) string {
	return "https://github.com/capkit/capkit/blob/main/docs/rules.md#" + rule
}

func location(f Finding, file string) *sarif.Location {
	place := sarif.NewPhysicalLocation().
		WithArtifactLocation(sarif.NewSimpleArtifactLocation((&url.URL{Path: file}).String()))
	if f.Line > 0 {
		place.WithRegion(sarif.NewRegion().WithStartLine(f.Line).WithStartColumn(f.Column))
	}
	l := sarif.NewLocationWithPhysicalLocation(place)
	if f.Field == "" {
		return l
	}
	return l.WithLogicalLocations([]*sarif.LogicalLocation{
		sarif.NewLogicalLocation().WithFullyQualifiedName(words.Printable(f.where())),
	})
}

// fingerprint identifies a finding across versions of a file: by its rule, object, field and message, not by its line.
func fingerprint(f Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.Object.String(), f.Field, f.Message}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
