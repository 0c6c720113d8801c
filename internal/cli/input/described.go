// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/provider"
)

// providerFileFlag is the flag that names descriptions of providers.
const providerFileFlag = "provider-file"

// providerFilesFlag adds the flag.
func (flags *Flags) providerFilesFlag(set *pflag.FlagSet) {
	set.StringArrayVar(&flags.providerFiles, providerFileFlag, nil,
		"`FILE` with the description of a provider that the command does not know; may be repeated")
}

// describe adds the providers of the descriptions that the flags name, or else the settings, to those of a call. The error says all that is
// wrong with the descriptions.
func (flags *Flags) describe(c *command.Call) error {
	files := flags.providerFiles
	if !flags.Given(providerFileFlag) {
		files = flags.Settings.ProviderFiles
	}
	if c.Described == nil {
		c.Described = map[string]bool{}
	}
	var errs []error
	for _, file := range files {
		if file == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", providerFileFlag)
		}
		place, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		if c.Described[place] { // for another landscape
			continue
		}
		c.Described[place] = true
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		cloud, err := described.Read(file, text, slices.Sorted(maps.Keys(c.Providers))...)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c.Providers[cloud.Type()] = provider.Untyped(cloud)
	}
	return errors.Join(errs...)
}
