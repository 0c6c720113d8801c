// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/settings"
	"github.com/capkit/capkit/pkg/words"
)

// settingsFlags say which settings count.
type settingsFlags struct {
	// Settings are those that were read; empty before that, and without any.
	Settings *settings.Settings
	// Folder is the one whose settings count in place of those of the working directory, if it has any; empty for none.
	Folder string

	config   string
	noConfig bool
	webhook  string
	// noWebhook is another name for one value of webhook.
	noWebhook bool
	flags     *pflag.FlagSet
}

// SettingsFlags adds the flags of a command that settings complete, and of what they say about a landscape.
func (flags *Flags) SettingsFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&flags.config, "config", "", "`FILE` with settings (default: "+settings.File+" here or in a folder above)")
	f.BoolVar(&flags.noConfig, "no-config", false, "read no "+settings.File)
	command.ChoiceFlag(cmd, &flags.webhook, "webhook", "",
		"`WHAT` of capkit's admission component is installed; without the flag nothing, or what the cluster has", settings.Webhooks)
}

// NoWebhookFlag adds another name for --webhook=validating.
func (flags *Flags) NoWebhookFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&flags.noWebhook, "no-webhook", false, "the same as --webhook=validating")
}

// PreparedBySettings makes a command read the settings before it looks at its arguments.
func (flags *Flags) PreparedBySettings(cmd *cobra.Command) {
	flags.SettingsFlags(cmd)
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if err := flags.ReadSettings(nil); err != nil {
			return err
		}
		return errors.Join(flags.Check(flags.Files(args)), flags.Complete())
	}
}

// ReadSettings reads the settings. cannotDisable is that of [settings.Read]. The error says what is wrong with them, or with the flags
// that name them.
func (flags *Flags) ReadSettings(cannotDisable func(rule string) string) error {
	switch {
	case flags.Given("config") && flags.config == "":
		return errors.New("--config is empty: name a file, or say --no-config for none")
	case flags.Given("config") && flags.noConfig:
		return errors.New("--config and --no-config: say one of them")
	}
	file, err := flags.config, error(nil)
	if file == "" && !flags.noConfig {
		file, err = settings.Find(flags.Folder)
	}
	if err == nil && file != "" {
		flags.Settings, err = settings.Read(file, cannotDisable)
	}
	return err
}

// Complete gives --webhook, and others, that were not given the values that the settings have for them. The error is about --webhook.
func (flags *Flags) Complete(others ...string) error {
	var errs []error
	switch {
	case flags.noWebhook && flags.Given("webhook"):
		return errors.New("--webhook and --no-webhook: say one of them")
	case flags.noWebhook:
		errs = append(errs, flags.flags.Set("webhook", "validating"))
	}
	for _, name := range append(others, "webhook") {
		if value, said := flags.Settings.Flags[name]; said && !flags.Given(name) {
			errs = append(errs, flags.flags.Set(name, value))
		}
	}
	if flags.Given("webhook") && !slices.Contains(settings.Webhooks, flags.webhook) {
		errs = append(errs, fmt.Errorf("unknown --webhook %q: use %s", flags.webhook, words.Or(settings.Webhooks)))
	}
	return errors.Join(errs...)
}

// Files returns the FILE arguments or, if neither they nor flags name an input, those of the settings.
func (flags *Flags) Files(args []string) []string {
	if len(args) == 0 && !flags.Live() {
		return flags.Settings.Inputs
	}
	return args
}
