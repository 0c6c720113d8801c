// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package inventory has the command inventory. It reads the contents of a cloud, or the output of the cloud's own command, and prints them
// in the format of pkg/inventory. Subpackage openstack reads an OpenStack, subpackage printed reads the output of other commands.
package inventory

import (
	"io"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/pkg/inventory"
)

// Command returns the command inventory.
func Command(c *command.Call) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inventory openstack|import",
		Short: "Record the contents of a cloud: images, machine types, zones, networks",
		Long: `Prints an inventory: the contents of a cloud, by region. "capkit verify" compares profiles with it, without credentials.

"inventory openstack" reads an OpenStack, with the credentials that every OpenStack client finds. "inventory import" reads the JSON output
of the commands of AWS, Azure, GCP and OpenStack. Neither changes anything in a cloud.`,
		Example: "  capkit inventory openstack --os-cloud production > inventory.yaml\n" +
			"  capkit inventory import aws --region eu-west-1 images.json > inventory.yaml",
		ValidArgsFunction: cobra.NoFileCompletions,

		Args: command.NoFiles("say what to read: inventory openstack, or inventory import"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(openStack(c), imports(c))
	return cmd
}

// formats maps the values of the flag -o to output formats. An inventory as text is YAML.
var formats = map[string]string{"text": "yaml", "yaml": "yaml", "json": "json"}

// write prints an inventory once it is complete, so that nobody mistakes a part for the whole. It collects the inventory in a file, because
// that may be large.
func write(c *command.Call, format, provider string, taken time.Time, regions iter.Seq2[inventory.Region, error]) (err error) {
	file, err := os.CreateTemp("", "capkit-inventory-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	defer func() { _ = file.Close() }()
	if err := inventory.Write(file, formats[format], provider, taken, regions); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(c.Stdout, file)
	return err
}
