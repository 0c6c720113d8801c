// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capkit/capkit/internal/cli/landscape"
	"github.com/capkit/capkit/internal/cli/settings"
)

// settingsFlags say which settings count.
type settingsFlags struct {
	// Settings are those that were read; empty before that, and without any.
	Settings *settings.Settings
	// Folder is the one whose settings count in place of those of the working directory, if it has any; empty for none.
	Folder string

	config   string
	noConfig bool
	// landscape is what flags say of it.
	landscape landscape.Flags
	flags     *pflag.FlagSet
}

// SettingsFlags adds the flags of a command that settings complete, and of what they say about a landscape.
func (flags *Flags) SettingsFlags(cmd *cobra.Command) {
	flags.configFlags(cmd)
	flags.landscape.Add(cmd)
}

func (flags *Flags) configFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&flags.config, "config", "", "`FILE` with settings (default: "+settings.File+" here or in a folder above)")
	f.BoolVar(&flags.noConfig, "no-config", false, "read no "+settings.File)
}

// NoWebhookFlag adds another name for --webhook=validating.
func (flags *Flags) NoWebhookFlag(cmd *cobra.Command) { flags.landscape.AddNoWebhook(cmd) }

// PreparedBySettings makes a command read the settings before it looks at its arguments.
func (flags *Flags) PreparedBySettings(cmd *cobra.Command) {
	flags.SettingsFlags(cmd)
	flags.prepare(cmd)
}

// PreparedForGardener makes a command read the settings first, without those about components beside Gardener.
func (flags *Flags) PreparedForGardener(cmd *cobra.Command) {
	flags.configFlags(cmd)
	flags.landscape.AddGardener(cmd)
	flags.prepare(cmd)
}

func (flags *Flags) prepare(cmd *cobra.Command) {
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if err := flags.ReadSettings(nil); err != nil {
			return err
		}
		return errors.Join(flags.Check(flags.Files(args)), flags.Complete("reserved-in-core"))
	}
}

// ReadSettings reads the settings. cannotDisable is that of [settings.Read]. The error says what is wrong with them, or with the flags
// that name them.
func (flags *Flags) ReadSettings(cannotDisable func(rule string) string) error {
	switch {
	case flags.Given("config") && flags.config == "":
		return errors.New("--config is empty: name a file, or use --no-config for none")
	case flags.Given("config") && flags.noConfig:
		return errors.New("--config and --no-config: use only one of them")
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

// Complete gives the flags about a landscape, and others, that were not given the values that the settings have for them. The error is about
// the former.
func (flags *Flags) Complete(others ...string) error {
	return flags.landscape.Complete(flags.Settings.Flags, others...)
}

// Files returns the FILE arguments or, if neither they nor flags name an input, those of the settings.
func (flags *Flags) Files(args []string) []string {
	if len(args) == 0 && !flags.Live() {
		return flags.Settings.Inputs
	}
	return args
}
