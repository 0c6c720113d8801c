// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/capkit/capkit/internal/cli/manifest/folder"
	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/provider"
)

// ProviderFileFlag is the flag for descriptions of providers.
const ProviderFileFlag = "provider-file"

// Describe adds the providers in description files to the call. A description replaces a built-in one of the same type. who is the source
// of the file names, for errors about unreadable files. The error contains all faults of the descriptions.
func (c *Call) Describe(files []string, who string) error {
	if c.described == nil {
		c.described = map[string]description{}
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
		if _, done := c.described[place]; done { // for another landscape
			continue
		}
		c.described[place] = description{}
		text, err := folder.ReadFile(filepath.Clean(file))
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", who, err))
			continue
		}
		settled := c.settled()
		cloud, err := described.Read(file, text, settled)
		if err != nil {
			errs = append(errs, err)
			name := described.TypeOf(text) // a second description of it is another error
			if _, is := settled[name]; !is {
				c.described[place] = description{file, name}
			}
			continue
		}
		c.described[place], c.Providers[cloud.Type()] = description{file, cloud.Type()}, provider.Untyped(cloud)
	}
	return errors.Join(errs...)
}

// description is a file that describes a provider type. The type is empty if it is unknown.
type description struct{ file, providerType string }

// settled returns the types that must not be described: those of providers without a description, and those of earlier files with the file.
func (c *Call) settled() map[string]string {
	types := map[string]string{}
	for name, cloud := range c.Providers {
		if _, isDescribed := provider.As[provider.Provider[described.Reference]](cloud); !isDescribed {
			types[name] = ""
		}
	}
	for _, earlier := range c.described {
		types[earlier.providerType] = earlier.file
	}
	return types
}
