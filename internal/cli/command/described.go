// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/provider"
)

// ProviderFileFlag is the flag that names descriptions of providers.
const ProviderFileFlag = "provider-file"

// Describe adds the providers of descriptions to those of a call; who names the files is what the error says of one that cannot be
// read. The error says all that is wrong with the descriptions.
func (c *Call) Describe(files []string, who string) error {
	if c.described == nil {
		c.described = map[string]bool{}
	}
	var errs []error
	for _, file := range files {
		if file == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", ProviderFileFlag)
		}
		place, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		if c.described[place] { // for another landscape
			continue
		}
		c.described[place] = true
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", who, err))
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
