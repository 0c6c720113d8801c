// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/version/verflag"

	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// NewCommandDescribed returns the command of a component for any described cloud. It is one program for all of them, and flags select the
// cloud: --provider-type names one of [described.BuiltIn], or --provider-file a file with a description. With both, the file must
// describe that type. The remaining flags and the behavior are those of [NewCommandBeside] for the cloud. Everything that the component
// owns is called gardener-extension-admission-capkit-TYPE.
//
// known lists provider types that must not be described, because they have components of their own. Types with a built-in description are
// always allowed: the file replaces it. A faulty description ends the command before it serves anything. The error lists all faults, each
// as FILE:LINE:COLUMN: MESSAGE.
func NewCommandDescribed(known ...string) *cobra.Command {
	const name = "gardener-extension-admission-capkit"
	return &cobra.Command{
		Use:   name,
		Short: "Admission webhooks beside those of a Gardener extension, for a cloud by description",
		// The other flags name the cloud, which has to be known first.
		DisableFlagParsing: true,
		SilenceUsage:       true,
		SilenceErrors:      true,
		RunE: func(cmd *cobra.Command, args []string) error {
			which := &cloudOptions{known: known}
			first := pflag.NewFlagSet(name, pflag.ContinueOnError)
			first.ParseErrorsAllowlist.UnknownFlags = true // the cloud's own command rejects them
			which.addFlags(first)
			verflag.AddFlags(first)
			help := first.BoolP("help", "h", false, "Print this, and with a cloud all flags of its component")
			if err := first.Parse(args); err != nil {
				return err
			}
			if *help && which.providerType == "" && which.file == "" {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s.\n\nUsage:\n  %s {--provider-type TYPE | --provider-file FILE} [flags]\n\nFlags:\n%s",
					cmd.Short, name, first.FlagUsages())
				return err
			}
			verflag.PrintAndExitIfRequested()
			cloud, err := which.cloud()
			if err != nil {
				return err
			}
			served := NewCommandBeside(cloud)
			which.addFlags(served.Flags())
			served.SetArgs(args)
			served.SetOut(cmd.OutOrStdout())
			served.SetErr(cmd.ErrOrStderr())
			return served.ExecuteContext(cmd.Context())
		},
	}
}

// cloudOptions select the cloud of a component.
type cloudOptions struct {
	providerType, file string
	known              []string
}

func (o *cloudOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.providerType, "provider-type", "", "The provider type of a cloud whose description is built in: "+words.Or(builtIn())+".")
	flags.StringVar(&o.file, "provider-file", "", "A file with the description of another cloud, or with one in place of a built-in description. The provider type may be left out.")
}

// builtIn returns the provider types with built-in descriptions.
func builtIn() []string {
	var types []string
	for _, cloud := range described.BuiltIn() {
		types = append(types, cloud.Type())
	}
	return types
}

// cloud returns the selected cloud.
func (o *cloudOptions) cloud() (provider.Provider[described.Reference], error) {
	if o.file != "" {
		return o.read()
	}
	if o.providerType == "" {
		return nil, errors.New("no cloud is named: give --provider-type one of " + strings.Join(builtIn(), ", ") + ", or --provider-file a description")
	}
	for _, cloud := range described.BuiltIn() {
		if cloud.Type() == o.providerType {
			return cloud, nil
		}
	}
	would := words.DidYouMean(words.Closest(o.providerType, builtIn()))
	if would == "" {
		would = "; there are " + strings.Join(builtIn(), ", ") + ", and --provider-file takes a description of another cloud"
	}
	return nil, fmt.Errorf("--provider-type: no description of %s is built in%s", words.Quoted(o.providerType), would)
}

// read reads the description from the file.
func (o *cloudOptions) read() (provider.Provider[described.Reference], error) {
	text, err := os.ReadFile(filepath.Clean(o.file))
	if err != nil {
		return nil, fmt.Errorf("--provider-file: %w", err)
	}
	known := map[string]string{}
	for _, providerType := range o.known {
		if described.Text(providerType) == "" {
			known[providerType] = ""
		}
	}
	cloud, err := described.Read(o.file, text, known)
	if err != nil {
		return nil, err
	}
	if o.providerType != "" && cloud.Type() != o.providerType {
		return nil, fmt.Errorf("%s describes the type %s, and --provider-type is %s: correct one of the two", o.file, cloud.Type(), words.Quoted(o.providerType))
	}
	return cloud, nil
}
