// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// checkFlags are those of the commands that lint: what is checked, and what of it counts. What they do not say, settings do.
type checkFlags struct {
	*inputs
	failOn, domain string
	reservedInCore bool

	config   string
	noConfig bool
	// disable has lists of rules, with commas between them.
	disable []string
	// settings are those of the file, and disabled the rules that do not count by it and by the flags.
	settings *lintSettings
	disabled map[string]report.Suppression
}

// add adds the flags to a command that has those of its inputs. The rules are those that can be disabled, and others.
func (flags *checkFlags) add(cmd *cobra.Command, rules []finding.Rule) {
	f := cmd.Flags()
	choiceFlag(cmd, &flags.failOn, "fail-on", "error", "least `SEVERITY` that makes the exit status 1", []string{"error", "warning"})
	f.StringVar(&flags.domain, "domain", "", "`NAME` of the domain of the Shoots' credentials, which admission takes from their Secret")
	complete(cmd, "domain", nil) // a name, and no file
	reservedFlag(cmd, &flags.reservedInCore)
	f.StringArrayVar(&flags.disable, "disable", nil, "let the findings of these `RULES` not count; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("disable", func(_ *cobra.Command, _ []string, written string) ([]string, cobra.ShellCompDirective) {
		return completeDisabled(written, rules), cobra.ShellCompDirectiveNoFileComp
	})
	f.StringVar(&flags.config, "config", "", "`FILE` with settings (default: "+settingsFile+" here or in a folder above)")
	f.BoolVar(&flags.noConfig, "no-config", false, "read no "+settingsFile)
}

// completeDisabled completes a list of rules, with what each means: by those that can be disabled and are not in it.
func completeDisabled(written string, rules []finding.Rule) []string {
	list := written[:strings.LastIndex(written, ",")+1]
	named := strings.Split(list, ",")
	var completions []string
	for _, rule := range rules {
		if cannotDisable(rule.Name, rules) == "" && !slices.Contains(named, rule.Name) {
			completions = append(completions, cobra.CompletionWithDesc(list+rule.Name, firstSentence(rule.Means)))
		}
	}
	return completions
}

// prepare reads the settings, completes the flags by them, and returns what is wrong with either, and with the FILE arguments.
func (flags *checkFlags) prepare(files []string, rules []finding.Rule) error {
	flags.settings = &lintSettings{}
	switch {
	case flags.given("config") && flags.config == "":
		return errors.New("--config is empty: name a file, or say --no-config for none")
	case flags.given("config") && flags.noConfig:
		return errors.New("--config and --no-config: say one of them")
	}
	file, err := flags.config, error(nil)
	if file == "" && !flags.noConfig {
		file, err = findSettings()
	}
	if err == nil && file != "" {
		flags.settings, err = readSettings(file, rules)
	}
	if err != nil {
		return err
	}
	return errors.Join(flags.check(flags.files(files)), flags.merge(rules))
}

// files returns the FILE arguments or, if neither they nor flags name an input, those of the settings.
func (flags *checkFlags) files(args []string) []string {
	if len(args) == 0 && !flags.live() {
		return flags.settings.inputs
	}
	return args
}

// merge makes of the flags what they and the settings say together: flags count, and what they disable counts as well.
func (flags *checkFlags) merge(rules []finding.Rule) error {
	s := flags.settings
	flags.disabled = map[string]report.Suppression{}
	maps.Copy(flags.disabled, s.disabled)
	var errs []error
	for _, list := range flags.disable {
		for name := range strings.SplitSeq(list, ",") {
			errs = append(errs, flags.disableRule(strings.TrimSpace(name), rules))
		}
	}
	if s.failOn != nil && !flags.given("fail-on") {
		flags.failOn = *s.failOn
	}
	if s.domain != nil && !flags.given("domain") {
		flags.domain = *s.domain
	}
	if !flags.given("reserved-in-core") {
		flags.reservedInCore = s.reservedInCore
	}
	switch {
	case flags.failOn != "error" && flags.failOn != "warning":
		errs = append(errs, fmt.Errorf("unknown --fail-on %q: use error or warning", flags.failOn))
	case flags.given("domain") && flags.domain == "":
		errs = append(errs, errors.New("--domain is empty: name the domain, or leave the flag out if it is not known"))
	}
	return errors.Join(errs...)
}

// disableRule disables a rule that the flag names. If settings do so as well, the reason that they give stays.
func (flags *checkFlags) disableRule(name string, rules []finding.Rule) error {
	if name == "" {
		return errors.New("--disable has an empty name: name a rule, or leave the flag out")
	}
	if message := cannotDisable(name, rules); message != "" {
		return errors.New("--disable: " + message)
	}
	if _, known := flags.disabled[name]; !known {
		flags.disabled[name] = report.Suppression{Kind: report.External, Justification: "--disable"}
	}
	return nil
}

// counting says which findings count.
func (flags *checkFlags) counting() report.Options {
	return report.Options{FailOn: finding.Severity(flags.failOn)}
}

// loadToLint reads the inputs of a command that lints them.
func (c *command) loadToLint(ctx context.Context, args []string, flags *checkFlags) (*garden, error) {
	files := flags.files(args)
	g, err := c.load(ctx, files, flags.inputs, true)
	switch {
	case err != nil && len(files) > len(args):
		return nil, fmt.Errorf("inputs of %s: %w", flags.settings.file, err)
	case err != nil:
		return nil, err
	}
	g.reservedInCore = flags.reservedInCore
	if flags.domain != "" {
		g.domain = &flags.domain
	}
	return g, nil
}

// lintAll is [lint] without what is silenced.
func (c *command) lintAll(g *garden, flags *checkFlags, checking *work) report.Report {
	found := lint(g, checking)
	g.silence(&found, flags.disabled, c.catalogue())
	return found
}
