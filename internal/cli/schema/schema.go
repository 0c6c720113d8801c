// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package schema has the command schema, which prints JSON Schemas of CloudProfiles, NamespacedCloudProfiles and Shoots, for editors and
// validators. Start reading at [Of]. hack/schemas makes definitions.json from the Go types of Gardener and the clouds. assemble.go combines
// these definitions, described.go makes the definitions for providers by description.
//
// A schema refuses nothing that lint accepts. It covers keys, types and lists of values, but no rule that compares two places.
package schema

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// Kinds returns the kinds that have a schema.
func Kinds() []string { return []string{"CloudProfile", "NamespacedCloudProfile", "Shoot"} }

// Command returns the command schema.
func Command(c *command.Call) *cobra.Command {
	var cloud, folder string
	var describe func(*command.Call) error
	cmd := &cobra.Command{
		Use:   "schema [KIND]",
		Short: "Print JSON Schemas of manifests, for editors and validators",
		Long: `Prints the JSON Schema of a kind: CloudProfile, NamespacedCloudProfile or Shoot, including the provider configs. Without KIND, it prints
one schema for all three, which looks at the kind of an object. A schema is for all providers, and looks at the type that an object
names; with --provider, it is for that type alone.

--all writes all schemas into a directory: all.json for all kinds, and a file for each kind where kubeconform looks for it,
core.gardener.cloud/cloudprofile_v1beta1.json. Each provider has a directory of the same files. It also prints a line: put that at the
top of a manifest, and an editor with yaml-language-server uses the schemas.

A schema finds misspelt keys, wrong types and wrong values while you type. It knows no rules that compare two places: lint checks these.`,
		Example: "  capkit schema CloudProfile --provider openstack > cloudprofile.json\n  capkit schema --all schemas",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return Kinds(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := describe(c); err != nil {
				return err
			}
			if err := check(c, args, cloud, folder, cmd.Flags().Changed); err != nil {
				return err
			}
			if cmd.Flags().Changed("all") {
				return writeAll(c, folder)
			}
			_, err := c.Stdout.Write(Of(command.ByType(c.Providers), cloud, kindOf(args)))
			return err
		},
	}
	cmd.Flags().StringVar(&cloud, "provider", "", "for manifests of this `TYPE` of provider alone")
	cmd.Flags().StringVar(&folder, "all", "", "write all schemas into this `DIR`, which is created if it is missing")
	describe = input.Described(cmd)
	command.Complete(cmd, "provider", types(command.ByType(c.Providers)))
	return cmd
}

// types returns the types of providers, in their order.
func types(providers []command.Provider) (types []string) {
	for _, p := range providers {
		types = append(types, p.Type())
	}
	return types
}

// kindOf returns the kind that the arguments name, in any letter case; "" for all kinds.
func kindOf(args []string) string {
	for _, kind := range Kinds() {
		if len(args) > 0 && strings.EqualFold(args[0], kind) {
			return kind
		}
	}
	return ""
}

// check returns an error that lists everything wrong with arguments and flags.
func check(c *command.Call, args []string, cloud, folder string, given func(flag string) bool) error {
	var errs []error
	switch {
	case len(args) > 1:
		errs = append(errs, fmt.Errorf("say one KIND, or none for all of them: %s", words.Or(Kinds())))
	case len(args) == 1 && kindOf(args) == "":
		errs = append(errs, fmt.Errorf("unknown kind %s: use %s%s", words.Quoted(args[0]), words.Or(Kinds()), words.DidYouMean(words.Choice(args[0], Kinds()))))
	case len(args) == 1 && given("all"):
		errs = append(errs, fmt.Errorf("--all writes the schemas of all kinds: leave out %s, or --all", args[0]))
	}
	if given("provider") && c.Providers[cloud] == nil {
		known := types(command.ByType(c.Providers))
		errs = append(errs, fmt.Errorf("unknown provider %s: use %s; --%s describes another one%s",
			words.Quoted(cloud), words.Or(known), command.ProviderFileFlag, words.DidYouMean(words.Choice(cloud, known))))
	}
	if given("all") {
		errs = append(errs, checkFolder(folder))
		if given("provider") {
			errs = append(errs, errors.New("--all writes the schemas of all providers: leave out --provider, or --all"))
		}
	}
	return errors.Join(errs...)
}

func checkFolder(folder string) error {
	if folder == "" {
		return errors.New("--all is empty: give it a value, or leave it out")
	}
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return fmt.Errorf("--all %s: this is a file: name a directory, or one that is to be made", folder)
	}
	return nil
}

// fileOf returns the path of a schema's file below the directory of --all, with slashes.
func fileOf(cloud, kind string) string {
	name := "all.json"
	if kind != "" {
		group, version, _ := strings.Cut(apiVersion, "/")
		name = path.Join(group, strings.ToLower(kind)+"_"+version+".json")
	}
	return path.Join(cloud, name)
}

// Files returns all schemas that --all writes for providers, by file path, with slashes.
func Files(providers []command.Provider) map[string][]byte {
	files := map[string][]byte{}
	for _, cloud := range append([]string{""}, types(providers)...) {
		for _, kind := range append([]string{""}, Kinds()...) {
			files[fileOf(cloud, kind)] = Of(providers, cloud, kind)
		}
	}
	return files
}

// writeAll writes the schemas into a folder, and prints how an editor uses them.
func writeAll(c *command.Call, folder string) error {
	files := Files(command.ByType(c.Providers))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // schemas are for everybody
			return err
		}
		if err := os.WriteFile(file, files[name], 0o644); err != nil { //nolint:gosec // the same
			return err
		}
	}
	fmt.Fprintf(c.Stderr, "wrote %s into %s; with this as its first line, editors check a manifest:\n", words.Count(len(files), "schema"), folder)
	fmt.Fprintf(c.Stdout, "# yaml-language-server: $schema=%s\n", filepath.ToSlash(filepath.Join(folder, fileOf("", ""))))
	return nil
}

// Of returns the schema of a kind for a provider type, as text with a final newline. If kind is "", it is for all [Kinds], and if cloud is
// "", for all providers. providers are all known providers, in the order of their types. If a provider's types are unknown, the schema
// allows any config. The same arguments give the same bytes.
func Of(providers []command.Provider, cloud, kind string) []byte {
	text, err := report.IndentedJSON(assemble(providers, cloud).schema(kind), "")
	if err != nil {
		panic(err) // cannot fail: it consists of maps, lists and strings
	}
	return append(text, '\n')
}
