// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventories

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/verify"
)

// Flags are the flags of a command that verifies profiles against inventories.
type Flags struct {
	files, properties []string
	strict            bool
	at                string
	// parsed are the files, read on first use; a command may verify several times, and standard input and pipes can be read once.
	parsed *files
	// now is the time for expiration dates and ages: the value of --at, or else the time at which the command runs.
	now time.Time
}

// Add adds the flags.
func (flags *Flags) Add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&flags.files, "inventory", nil,
		"verify the profiles by the inventory of their cloud in this `FILE`; may be repeated, for the files of several regions or clouds")
	f.BoolVar(&flags.strict, "strict", false, "report gaps in the inventories for regions of the profiles as errors")
	f.StringArrayVar(&flags.properties, "properties", nil,
		"use the table of image properties in this `FILE` instead of the cloud's; may be repeated, for several clouds")
}

// AddAt adds the flag --at.
func (flags *Flags) AddAt(cmd *cobra.Command) {
	cmd.Flags().StringVar(&flags.at, "at", "", "`TIME` for expiration dates and the ages of inventories (default: now)")
	command.Complete(cmd, "at", nil)
}

// Given reports whether an inventory was given.
func (flags *Flags) Given() bool { return len(flags.files) > 0 }

// Prepare parses --at, and returns an error that lists everything wrong with the flags. files are the FILE arguments.
func (flags *Flags) Prepare(files []string) (err error) {
	flags.now = time.Now()
	if flags.at != "" {
		flags.now, err = command.ParseTime("--at", flags.at, flags.now)
	}
	switch {
	case slices.Contains(flags.files, "") || slices.Contains(flags.properties, ""):
		err = errors.Join(err, errors.New("--inventory or --properties is empty: name a file, or leave the flag out"))
	case !flags.Given() && (flags.strict || len(flags.properties) > 0):
		err = errors.Join(err, errors.New("--strict and --properties go with --inventory"))
	case slices.Contains(flags.properties, stdin):
		err = errors.Join(err, errors.New("--properties names a file, and not standard input"))
	case slices.Contains(flags.files, stdin) && slices.Contains(files, stdin):
		err = errors.Join(err, errors.New("standard input is either a FILE or an inventory: name a file for one of them"))
	}
	return err
}

// stdin is the argument that stands for standard input.
const stdin = "-"

// Finds reports whether verify checks a rule.
func Finds(r *finding.Rule) bool { return r.Command == verify.Command }
