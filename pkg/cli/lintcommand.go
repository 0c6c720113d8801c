// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/consistency"
)

// lintFlags are the flags of lint.
type lintFlags struct {
	output, failOn string
	// domain counts if it is given.
	domain string
	api    gardenerAPI
}

func (c *command) lint() *cobra.Command {
	var flags lintFlags
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Report everything that is wrong with CloudProfiles and the objects that use them",
		Long: `Reports what the API server and the admission webhooks would say about the objects in the files, with line and column.
Every rule has a section in docs/rules.md.

What a Shoot may have can depend on the domain of its credentials. Admission takes it from their Secret; --domain says it
here. Without the flag, what depends on it is reported as not checked.`,
		Example: "  capkit lint cloudprofile.yaml\n  capkit lint -o sarif manifests/ > capkit.sarif\n  capkit lint --domain demo shoot.yaml cloudprofile.yaml\n  capkit lint --reserved-in-core cloudprofile.yaml\n  kubectl get cloudprofiles -o yaml | capkit lint -",
		Args:    needFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			var domain *string
			if cmd.Flags().Changed("domain") {
				domain = &flags.domain
			}
			return c.runLint(args, flags, domain)
		},
	}
	outputFlag(cmd, &flags.output, report.Formats())
	choiceFlag(cmd, &flags.failOn, "fail-on", "error", "severity that makes the exit status 1", []string{"error", "warning"})
	cmd.Flags().StringVar(&flags.domain, "domain", "", "`NAME` of the domain of the Shoots' credentials, which admission takes from their Secret")
	complete(cmd, "domain", nil) // a name, and no file
	gardenerFlag(cmd, &flags.api)
	return cmd
}

// runLint checks files and prints the report. domain is nil if none is given.
func (c *command) runLint(args []string, flags lintFlags, domain *string) error {
	switch {
	case !slices.Contains(report.Formats(), flags.output):
		return unknownFormat(flags.output, report.Formats())
	case flags.failOn != "error" && flags.failOn != "warning":
		return fmt.Errorf("unknown --fail-on %q: use error or warning", flags.failOn)
	case domain != nil && *domain == "":
		return errors.New("--domain is empty: name the domain, or leave the flag out if it is not known")
	}
	g, err := load(args, c.stdin, c.providers)
	if err != nil {
		return err
	}
	g.gardener, g.domain = flags.api, domain
	found := lint(g)
	options := report.Options{FailOn: consistency.Severity(flags.failOn), Rules: c.rules(), Version: Version}
	if err := found.Write(c.stdout, flags.output, options); err != nil {
		return err
	}
	fmt.Fprintln(c.stderr, found.Summary)
	if found.Fails(options) {
		return errWrong
	}
	return nil
}

// rules returns the catalogue of the command's providers.
func (c *command) rules() []consistency.Rule {
	var providers []Provider
	for _, name := range sortedNames(c.providers) {
		providers = append(providers, c.providers[name])
	}
	return Rules(providers...)
}
