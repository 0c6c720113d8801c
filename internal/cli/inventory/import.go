// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/inventory/printed"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/words"
)

// imports returns the command inventory import.
func imports(c *command.Call) *cobra.Command {
	var output, region string
	clouds := printed.Clouds()
	cmd := &cobra.Command{
		Use:   "import aws|azure|gcp|openstack --region REGION FILE...",
		Short: "Make an inventory from the JSON output of a cloud's own command",
		Long: `Reads the JSON output of a cloud's command about one region, and prints it as an inventory. Files are recognised by their content:

` + printed.Help() + `
Lists that are in no file are unknown, and verify concludes nothing from them. An empty list means that there is nothing. If an empty list
has no name itself, the name of the file tells its kind: images.json, flavors.json. A FILE may be - for standard input.`,
		Example: "  capkit inventory import aws --region eu-west-1 images.json types.json offerings.json > inventory.yaml\n" +
			"  capkit inventory import gcp --region europe-west1 images.json machine-types.json zones.json > inventory.yaml\n" +
			"  openstack image list --long -f json | capkit inventory import openstack --region europe -",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return clouds, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cloud, files, err := importArgs(args, clouds, region)
			if err != nil {
				return err
			}
			read, err := printed.Read(cloud, region, files, c.Stdin)
			if err != nil {
				return err
			}
			return write(c, output, cloud, time.Now(), func(yield func(inventory.Region, error) bool) { yield(read, nil) })
		},
	}
	cmd.Flags().StringVar(&region, "region", "", "`NAME` of the region that the files are about, as in the CloudProfile")
	command.Complete(cmd, "region", nil) // no files
	command.OutputFlag(cmd, &output, command.AnswerFormats)
	return cmd
}

// importArgs returns the cloud and the files that the arguments name. The error lists everything that is wrong with them.
func importArgs(args, clouds []string, region string) (cloud string, files []string, err error) {
	var errs []error
	switch {
	case len(args) == 0:
		errs = append(errs, fmt.Errorf("name a cloud, %s, and files", words.Or(clouds)))
	case !slices.Contains(clouds, args[0]):
		errs = append(errs, fmt.Errorf("unknown cloud %s: use %s%s", words.Quoted(args[0]), words.Or(clouds), words.DidYouMean(words.Choice(args[0], clouds))))
	case len(args) == 1:
		errs = append(errs, fmt.Errorf("name the files that the command of %s has written, or - for standard input", args[0]))
	}
	if strings.TrimSpace(region) == "" {
		errs = append(errs, errors.New("--region is missing: name the region that the files are about, as the CloudProfile does"))
	}
	if err := errors.Join(errs...); err != nil {
		return "", nil, err
	}
	if stdin := slices.Index(args, "-"); stdin >= 0 && slices.Contains(args[stdin+1:], "-") {
		return "", nil, errors.New("standard input, -, is named twice: it can be read once only")
	}
	return args[0], args[1:], nil
}
