// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/landscape"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/settings"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// Options are the options of commands that lint: how to check, and which findings to report. Settings complete them.
type Options struct {
	*input.Flags
	FailOn, domain string
	reservedInCore bool

	// disable has comma-separated lists of rules. Disabled are the rules that the settings and the flags disable.
	disable  []string
	Disabled map[string]report.Suppression
}

// Add adds the flags to a command that already has the flags for its inputs. Completion offers the rules that can be disabled.
func (flags *Options) Add(cmd *cobra.Command, c *command.Call) {
	f := cmd.Flags()
	command.ChoiceFlag(cmd, &flags.FailOn, "fail-on", "error", "exit with 1 on findings of this `SEVERITY` or higher, or if anything was skipped", report.Severities())
	f.StringVar(&flags.domain, "domain", "", "`NAME` of the domain of the Shoots' credentials, which admission takes from their Secret")
	command.Complete(cmd, "domain", nil) // a name, and no file
	ReservedFlag(cmd, &flags.reservedInCore)
	f.StringArrayVar(&flags.disable, "disable", nil, "ignore findings of these `RULES`; may be repeated")
	if c.Completes {
		rules := Catalogue(c)
		command.CompleteList(cmd, "disable", Completions(rules, func(r finding.Rule) bool { return cannotDisable(r.Name, rules) != "" }))
	}
	flags.SettingsFlags(cmd)
}

// Prepare reads the settings and completes the flags with them. The error lists everything wrong with the flags and the FILE arguments;
// errors in the settings come alone.
func (flags *Options) Prepare(files []string, rules []finding.Rule) error {
	if err := flags.ReadSettings(func(rule string) string { return cannotDisable(rule, rules) }); err != nil {
		return err
	}
	return errors.Join(flags.Check(flags.Files(files)), flags.Complete("fail-on", "domain", "reserved-in-core"), flags.merge(rules))
}

// Settings returns a function that reads a settings file or, if file is empty, the settings for the working directory, as lint does. The
// function returns the path, notes about the landscape, and an error with everything wrong with the settings. The path is empty if there
// are none, or if they cannot be read.
func Settings(c *command.Call) func(file string) (path string, notes []string, err error) {
	return func(file string) (string, []string, error) {
		if file == "" {
			found, err := settings.Find("")
			if found == "" || err != nil {
				return "", nil, err
			}
			file = found
		}
		rules := Catalogue(c)
		s, err := settings.Read(file, func(rule string) string { return cannotDisable(rule, rules) })
		if unread := new(fs.PathError); errors.As(err, &unread) {
			return "", nil, err
		}
		if err != nil {
			return file, nil, err
		}
		var flags landscape.Flags
		flags.Add(&cobra.Command{})
		err = flags.Complete(s.Flags)
		_, notes, _ := flags.Said()
		return file, notes, err
	}
}

// merge combines the rules that settings and flags disable. The error lists everything wrong with the flags.
func (flags *Options) merge(rules []finding.Rule) error {
	flags.Disabled = map[string]report.Suppression{}
	for rule, reason := range flags.Settings.Disabled {
		flags.Disabled[rule] = report.Suppression{Kind: report.External, Justification: reason}
	}
	var errs []error
	for _, list := range flags.disable {
		for name := range strings.SplitSeq(list, ",") {
			errs = append(errs, flags.disableRule(strings.TrimSpace(name), rules))
		}
	}
	switch {
	case !slices.Contains(report.Severities(), flags.FailOn):
		errs = append(errs, fmt.Errorf("unknown --fail-on %q: use %s%s", flags.FailOn, words.Or(report.Severities()),
			words.DidYouMean(words.Choice(flags.FailOn, report.Severities()))))
	case flags.Given("domain") && flags.domain == "":
		errs = append(errs, errors.New("--domain is empty: name the domain, or leave the flag out if it is not known"))
	}
	return errors.Join(errs...)
}

// disableRule disables a rule for the flag. If settings disable it, too, their reason is kept.
func (flags *Options) disableRule(name string, rules []finding.Rule) error {
	if name == "" {
		return errors.New("--disable has an empty name: name a rule, or leave the flag out")
	}
	if message := cannotDisable(name, rules); message != "" {
		return errors.New("--disable: " + message)
	}
	if _, known := flags.Disabled[name]; !known {
		flags.Disabled[name] = report.Suppression{Kind: report.External, Justification: "--disable"}
	}
	return nil
}

// Counting returns the report options with the severity that fails the command.
func (flags *Options) Counting() report.Options {
	return report.Options{FailOn: finding.Severity(flags.FailOn)}
}

// End returns the error with which a command ends after it has written a report, or nil. If no finding is the reason, it prints the reason.
func (flags *Options) End(c *command.Call, found report.Report) error {
	options := flags.Counting()
	if !found.Fails(options) {
		return nil
	}
	if why := found.Unchecked(options); why != "" {
		report.Printf(c.Stderr, "%s\n", why)
	}
	return command.ErrWrong
}

// Load reads the inputs of a command that lints them.
func Load(ctx context.Context, c *command.Call, args []string, flags *Options) (*input.Given, error) {
	return flags.apply(input.Load(ctx, c, args, flags.Flags, true))
}

// Empty returns inputs without any object, like [input.Flags.Empty].
func (flags *Options) Empty(c *command.Call) (*input.Given, error) {
	return flags.apply(flags.Flags.Empty(c))
}

// apply sets the flags in the inputs. If err is not nil, it returns that instead.
func (flags *Options) apply(g *input.Given, err error) (*input.Given, error) {
	if err != nil {
		return nil, err
	}
	g.ReservedInCore = flags.reservedInCore
	if flags.domain != "" {
		g.Domain = &flags.domain
	}
	return g, nil
}

// Run runs [All] and suppresses silenced findings.
func Run(c *command.Call, g *input.Given, flags *Options, checking *command.Work) report.Report {
	return Counted(c, g, flags, All(g, checking), (*finding.Rule).InManifests)
}

// Counted returns a report with silenced findings suppressed. ran reports whether a rule was checked.
func Counted(c *command.Call, g *input.Given, flags *Options, found report.Report, ran func(*finding.Rule) bool) report.Report {
	Silence(g, &found, flags.Disabled, Catalogue(c), ran)
	g.NameStdin(found.Findings)
	return found
}

// ReservedFlag adds the flag --reserved-in-core, for commands that run Gardener's own validation.
func ReservedFlag(cmd *cobra.Command, reservedInCore *bool) {
	cmd.Flags().BoolVar(reservedInCore, "reserved-in-core", false,
		"check for a Gardener that accepts the reserved gardener- capabilities of GEP-0054 in machineCapabilities, "+
			"machine types and core flavors; v1.150 refuses them")
}

// PrintRules prints the number of findings of each rule, and the command that explains rules, if the output is for people.
func PrintRules(c *command.Call, found report.Report, format string) {
	counts := found.ByRule()
	switch {
	case len(counts) == 0 || format != "text" && format != "github":
	case len(counts) == 1:
		report.Printf(c.Stderr, "for details, run %s explain-rule %s\n", c.Name, counts[0].Rule)
	default:
		report.Printf(c.Stderr, "rules: %s; for details, run %s explain-rule RULE\n", countsOf(counts), c.Name)
	}
}
