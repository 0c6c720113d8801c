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

// settingsFlags select the settings.
type settingsFlags struct {
	// Settings are the settings read; empty before that, and if there are none.
	Settings *settings.Settings
	// Folder is searched for settings instead of the working directory, if it is not empty.
	Folder string

	config   string
	noConfig bool
	// landscape are the flags about the landscape.
	landscape landscape.Flags
	flags     *pflag.FlagSet
}

// SettingsFlags adds the flags that select settings, and those about the landscape, which settings complete.
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

// PreparedBySettings makes a command read the settings before it checks its arguments.
func (flags *Flags) PreparedBySettings(cmd *cobra.Command) {
	flags.SettingsFlags(cmd)
	flags.prepare(cmd)
}

// PreparedForGardener makes a command read the settings before it checks its arguments. It adds no flags about components beside Gardener.
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

// ReadSettings reads the settings. cannotDisable is passed to [settings.Read]. The error is about the settings, or about the flags that
// select them.
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

// Complete sets flags that were not given to their values in the settings: those about the landscape, and others. The error is about the
// landscape.
func (flags *Flags) Complete(others ...string) error {
	return flags.landscape.Complete(flags.Settings.Flags, others...)
}

// Files returns the FILE arguments. If there are none, and no flag names a cluster, it returns the inputs of the settings.
func (flags *Flags) Files(args []string) []string {
	if len(args) == 0 && !flags.Live() {
		return flags.Settings.Inputs
	}
	return args
}
