// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/inventory/openstack"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/words"
)

type openStackFlags struct {
	output, cloud string
	regions       []string
	timeout       time.Duration
}

// openStack returns the command inventory openstack.
func openStack(c *command.Call) *cobra.Command {
	flags := &openStackFlags{}
	cmd := &cobra.Command{
		Use:   "openstack",
		Short: "Read the contents of an OpenStack, with the credentials of clouds.yaml or OS_*",
		Long: `Reads the contents of an OpenStack, in all regions of its catalogue or those that you name, and prints them. It is read-only: it sends
GET, and the POST that requests a token from Keystone.

It finds the credentials where every OpenStack client finds them: in clouds.yaml and secure.yaml in the working directory,
~/.config/openstack or /etc/openstack, or in OS_AUTH_URL and the other OS_*. Passwords, tokens and application credentials work.

Lists that the role may not read, or whose service is missing or fails, are marked as unread, with the reason on standard error. The exit
status is then 0, or 2 if nothing at all could be read.`,
		Example: "  capkit inventory openstack > inventory.yaml\n" +
			"  capkit inventory openstack --os-cloud production --region europe,asia -o json > inventory.json",
		ValidArgsFunction: cobra.NoFileCompletions,

		Args: command.NoFiles("inventory openstack takes no arguments: use --os-cloud NAME for a cloud of clouds.yaml"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch given := cmd.Flags().Changed; {
			case given("os-cloud") && flags.cloud == "":
				return errors.New("--os-cloud is empty: give it a value, or leave it out")
			case given("region") && len(flags.regions) == 0:
				return errors.New("--region is empty: give it a value, or leave it out")
			}
			return runOpenStack(cmd.Context(), c, flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.cloud, "os-cloud", "", "`NAME` of the cloud in clouds.yaml; without the flag that of OS_CLOUD")
	f.StringSliceVar(&flags.regions, "region", nil, "regions to read, by `NAME,...`; without the flag all of the catalogue")
	f.DurationVar(&flags.timeout, "timeout", openstack.Timeout, "timeout of each request, as a `DURATION` like 1m; requests are tried "+
		"three times")
	for _, name := range []string{"os-cloud", "region", "timeout"} {
		command.Complete(cmd, name, nil) // no files
	}
	command.OutputFlag(cmd, &flags.output, command.AnswerFormats)
	return cmd
}

func runOpenStack(ctx context.Context, c *command.Call, flags *openStackFlags) error {
	if flags.timeout <= 0 {
		return fmt.Errorf("invalid --timeout %v: use a duration like 30s", flags.timeout)
	}
	cloud, err := openstack.Find(flags.cloud, os.Getenv)
	if err != nil {
		return err
	}
	taken := time.Now()
	session, err := openstack.Connect(ctx, cloud, openstack.Options{Timeout: flags.timeout})
	if err != nil {
		return err
	}
	regions, err := session.Regions(flags.regions)
	if err != nil {
		return err
	}
	var unread []openstack.Unread
	something := false
	work := c.Terminal.Begin("reading regions", len(regions))
	err = write(c, flags.output, "openstack", taken, func(yield func(inventory.Region, error) bool) {
		for result, err := range session.Read(ctx, regions, func() { work.Steps(1) }) {
			unread = append(unread, result.Unread...)
			something = something || len(result.Region.Unread) < len(inventory.Lists())
			if !yield(result.Region, err) {
				return
			}
		}
		work.End()
		work = nil
		for _, u := range unread {
			report.Printf(c.Stderr, "note: region %s: %s could not be read: %s\n", u.Region, words.And(u.Lists), u.Why)
		}
		if !something {
			yield(inventory.Region{}, errNothing)
		}
	})
	work.End()
	return err
}

var errNothing = errors.New("nothing could be read of any region")
