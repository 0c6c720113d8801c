// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ask

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
)

// allCapabilities is the output of the command capabilities: all that worker pools can request (semantics S3). Its
// JSON is an interface: a published field keeps its name and meaning.
type allCapabilities struct {
	// Reserved are the capabilities known in every profile.
	Reserved []workerCapability `json:"reserved"`
	// Providers are sorted by type. They include providers without capabilities of their own.
	Providers []providerCapabilities `json:"providers"`
}

// providerCapabilities are a provider's capabilities, which a profile must register.
type providerCapabilities struct {
	Type         string             `json:"type"`
	Capabilities []workerCapability `json:"capabilities"`
}

type workerCapability struct {
	capability.Definition
	// Formerly is the equivalent name in the first text of GEP-0054; absent if the name has not changed.
	Formerly    *formerly     `json:"formerly,omitempty"`
	RequestedBy []requestedBy `json:"requestedBy"`
}

type formerly struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// formerlyOf returns a capability's name and values in the first text of GEP-0054; nil if the name has not changed.
func formerlyOf(name string) *formerly {
	for _, first := range capability.FirstText() {
		if texts.Canonical(first.Name) == name {
			return &formerly{first.Name, first.Values}
		}
	}
	return nil
}

// requestedBy is a worker pool setting that requests values of a capability.
type requestedBy struct {
	Setting string   `json:"setting"`
	Values  []string `json:"values"`
	// Implied is true if a worker pool requests the values by leaving such settings out.
	Implied bool `json:"implied"`
	// Field is the Shoot's field; absent if the API of Gardener v1.150 has none.
	Field string `json:"field,omitempty"`
	// Flag is a flag of select and explain; absent for implied requests.
	Flag string `json:"flag,omitempty"`
	// Provider is the provider type whose worker pools request a reserved capability; absent if those of every provider do.
	Provider string `json:"provider,omitempty"`
	// OnlyIfOffered is true if the setting is ignored in profiles that do not register the capability.
	OnlyIfOffered bool `json:"onlyIfOffered,omitempty"`

	capability string
}

// workerPath is a placeholder path for any worker pool of a Shoot.
var workerPath = field.NewPath("spec", "provider", "workers[]")

// capabilitiesOf returns what the worker pools of the providers can request. The map's keys are provider types.
func capabilitiesOf(providers map[string]command.Provider) allCapabilities {
	all := allCapabilities{Providers: []providerCapabilities{}}
	reserved := reservedSettings()
	for _, provider := range command.ByType(providers) {
		settings := []requestedBy{}
		for _, s := range provider.Workers().Settings() {
			path := s.Because.String()
			settings = append(settings, requestedBy{
				capability: s.Capability, Setting: s.Setting, Values: s.Values, Flag: flagOf(path),
				Field: workerPath.Child(path).String(), Provider: provider.Type(), OnlyIfOffered: s.OnlyIfRegistered,
			})
		}
		reserved = append(reserved, settings...)
		for i := range settings {
			settings[i].Provider = "" // listed under the provider already
		}
		all.Providers = append(all.Providers, providerCapabilities{
			Type: provider.Type(), Capabilities: withSettings(provider.Workers().Definitions(), settings),
		})
	}
	all.Reserved = withSettings(capability.Reserved(), reserved)
	return all
}

// flagOf returns the flag of select and explain that corresponds to a worker pool setting; empty if there is none.
func flagOf(setting string) string {
	name, _, _ := strings.Cut(setting, ".")
	return map[string]string{"providerConfig": "--worker-config", "machine": "--machine-type", "volume": "--volume"}[name]
}

// reservedSettings finds the settings that request reserved capabilities with every provider, by trying each property of a worker pool.
func reservedSettings() []requestedBy {
	settings := []requestedBy{}
	try := func(flag string, worker capability.Worker) {
		for _, r := range worker.Requirements(workerPath) {
			by := requestedBy{capability: r.Capability, Setting: r.Setting, Values: r.Values, Implied: r.Implied}
			if r.Because != nil {
				by.Field = r.Because.String()
			}
			if !r.Implied {
				by.Flag = flag
			}
			known := func(o requestedBy) bool { return o.capability == by.capability && o.Setting == by.Setting }
			if !slices.ContainsFunc(settings, known) {
				settings = append(settings, by)
			}
		}
	}
	try("", capability.Worker{})
	try("--secure-boot", capability.Worker{SecureBoot: true})
	for _, strategy := range updateStrategies {
		try("--update-strategy", capability.Worker{UpdateStrategy: v1beta1.MachineUpdateStrategy(strategy)})
	}
	for _, gpu := range slices.Concat(gpuTypes, []string{"other"}) {
		try("--gpu", capability.Worker{GPU: &gpu})
	}
	return settings
}

func withSettings(definitions []capability.Definition, settings []requestedBy) []workerCapability {
	all := []workerCapability{}
	for _, d := range definitions {
		others := func(by requestedBy) bool { return by.capability != d.Name }
		all = append(all, workerCapability{d, formerlyOf(d.Name), slices.DeleteFunc(slices.Clone(settings), others)})
	}
	return all
}

// gpuTypes are the GPU types that request GPU support.
var gpuTypes = capability.GPUTypes()

// Capabilities returns the command capabilities.
func Capabilities(c *command.Call) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "capabilities",
		Short: "List what worker pools can ask of an image or a machine type, and with which settings",
		Long: `Lists the worker capabilities: those that are reserved for Gardener and known in every profile, and those of each provider,
which a profile has to register before worker pools can ask for them. For each it shows the values, best first, the value of
images that do not declare it, and the settings of a worker pool that ask for a value.`,
		ValidArgsFunction: cobra.NoFileCompletions,

		Example: "  capkit capabilities\n  capkit capabilities -o json",
		Args:    command.NoFiles("capabilities takes no arguments: it lists what the command knows, whatever is in files"),
		RunE: func(*cobra.Command, []string) error {
			all := capabilitiesOf(c.Providers)
			return command.PrintAs(c.Stdout, output, all, func(w io.Writer) { printCapabilities(w, all) })
		},
	}
	command.OutputFlag(cmd, &output, command.AnswerFormats)
	return cmd
}

func printCapabilities(w io.Writer, all allCapabilities) {
	fmt.Fprintln(w, "Reserved for Gardener, and known in every profile. Values are best first.")
	printWorkerCapabilities(w, all.Reserved)
	for _, p := range all.Providers {
		if len(p.Capabilities) == 0 {
			fmt.Fprintf(w, "\nProvider %s: its worker pools ask for nothing else.\n", p.Type)
			continue
		}
		fmt.Fprintf(w, "\nProvider %s: known in profiles whose spec.machineCapabilities registers them.\n", p.Type)
		printWorkerCapabilities(w, p.Capabilities)
	}
}

func printWorkerCapabilities(w io.Writer, capabilities []workerCapability) {
	for _, c := range capabilities {
		who := "an image that does not declare it "
		if c.MachineTypesOnly {
			who = "asked of machine types only: an image or machine type that does not declare it "
		}
		fmt.Fprintf(w, "\n%s: [%s]\n  %s%s\n", c.Name, strings.Join(c.Values, ", "), who, undeclared(&c))
		if c.Formerly != nil {
			fmt.Fprintf(w, "  or all values, if the profile registers the capability; its name was once %s: [%s]\n", c.Formerly.Name, strings.Join(c.Formerly.Values, ", "))
		}
		table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		for _, value := range c.Values {
			asked := false
			for _, by := range c.RequestedBy {
				if slices.Contains(by.Values, value) {
					asked = true
					fmt.Fprintf(table, "  %s\t%s\t%s\n", value, by.Setting, by.where())
				}
			}
			if !asked {
				fmt.Fprintf(table, "  %s\tnothing asks for it\n", value)
			}
		}
		_ = table.Flush() // like all text output, ignoring write errors
	}
}

// undeclared describes what an image supports if it does not declare a capability.
func undeclared(c *workerCapability) string {
	switch {
	case c.MachineTypesOnly:
		return "has all values"
	case c.Undeclared == "":
		return "fits no worker pool that asks for it"
	case c.Name == capability.UpdateType: // semantics S3
		return fmt.Sprintf("has %s, and %s as well if its version in core has inPlaceUpdates.supported: true",
			c.Undeclared, capability.UpdateTypeInPlace)
	}
	return "has " + c.Undeclared
}

func (by *requestedBy) where() string {
	where := strings.Trim(by.Field+", "+by.Flag, ", ")
	switch {
	case by.OnlyIfOffered:
		return where + "; " + by.Provider + " only, where flavors declare it"
	case by.Provider != "":
		return where + "; " + by.Provider + " only"
	case by.Implied:
		return "unless something else is asked for"
	case by.Field == "":
		return where + "; the Shoot API of Gardener v1.150 has no such field yet"
	}
	return where
}
