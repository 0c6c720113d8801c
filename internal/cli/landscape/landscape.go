// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package landscape determines properties of the inputs' landscape on which answers depend: the version and feature gates of Gardener, and
// the admission components of capkit. They come from flags, settings or the cluster, or have defaults. It also keeps objects that only
// Gardener's admission reads. Start reading at [Landscape].
package landscape

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capkit/capkit/internal/cli/cluster"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/settings"
	"github.com/capkit/capkit/pkg/gardenerrules/releases"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/words"
)

// Landscape describes a landscape. The zero value has the defaults.
type Landscape struct {
	// Server is Gardener's API server.
	Server gardener.Server
	// Admission has the installed admission components.
	Admission Admission
}

// Flags are the flags that describe a landscape. The zero value is for commands without them, whose answers do not depend on it.
type Flags struct {
	set       *pflag.FlagSet
	webhook   string
	noWebhook bool // another name for one value of webhook
	version   string
	gates     []string // each as GATE=true
}

// names are the flags that settings complete.
var names = []string{"webhook", "gardener-version", "feature-gates"}

// Add adds the flags to a command.
func (flags *Flags) Add(cmd *cobra.Command) {
	command.ChoiceFlag(cmd, &flags.webhook, "webhook", "",
		"`WHAT` of capkit's admission component is installed, by default nothing, or what the cluster has", settings.Webhooks)
	flags.AddGardener(cmd)
}

// AddGardener adds only the flags about Gardener itself, for a command that does not depend on other components.
func (flags *Flags) AddGardener(cmd *cobra.Command) {
	f := cmd.Flags()
	flags.set = f
	f.StringVar(&flags.version, "gardener-version", "",
		"`VERSION` of the Gardener that runs in the landscape (default: as the cluster says, or "+releases.Newest.String()+")")
	f.StringSliceVar(&flags.gates, "feature-gates", nil,
		"feature gates of the gardener-apiserver of the landscape, as `GATE=true`, separated by commas")
	command.Complete(cmd, "gardener-version", nil)
	command.CompleteList(cmd, "feature-gates", gateCompletions())
}

// AddNoWebhook adds --no-webhook, another name for --webhook=validating.
func (flags *Flags) AddNoWebhook(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&flags.noWebhook, "no-webhook", false, "the same as --webhook=validating")
}

// given reports whether a flag was given.
func (flags *Flags) given(name string) bool { return flags.set != nil && flags.set.Changed(name) }

// Complete sets the flags that were not given, and others, to their values in the settings. The error is about values of the flags of a
// landscape.
func (flags *Flags) Complete(from map[string]string, others ...string) error {
	var errs []error
	switch {
	case flags.noWebhook && flags.given("webhook"):
		return errors.New("--webhook and --no-webhook: use only one of them")
	case flags.noWebhook:
		errs = append(errs, flags.set.Set("webhook", "validating"))
	}
	for _, name := range append(others, names...) {
		if value, said := from[name]; said && flags.set.Lookup(name) != nil && !flags.given(name) {
			errs = append(errs, flags.set.Set(name, value))
		}
	}
	if flags.given("webhook") && !slices.Contains(settings.Webhooks, flags.webhook) {
		errs = append(errs, fmt.Errorf("unknown --webhook %q: use %s", flags.webhook, words.Or(settings.Webhooks)))
	}
	if flags.given("gardener-version") && flags.version == "" {
		errs = append(errs, errors.New("--gardener-version is empty: give it a value, or leave it out"))
	}
	if flags.given("feature-gates") && len(flags.gates) == 0 {
		errs = append(errs, errors.New("--feature-gates is empty: give it a value, or leave it out"))
	}
	_, _, err := flags.server("")
	return errors.Join(append(errs, err)...)
}

// Said returns the landscape that the flags describe, with notes for the user. The error is about values of flags.
func (flags *Flags) Said() (l Landscape, notes []string, err error) { return flags.withVersion("") }

func (flags *Flags) withVersion(found string) (l Landscape, notes []string, err error) {
	server, note, err := flags.server(found)
	if note != "" {
		notes = append(notes, note)
	}
	return Landscape{server, flags.admission()}, notes, err
}

// Find returns the landscape that the flags describe, completed by the cluster. If something cannot be found, it assumes the default, and
// adds a note. The error is about values of flags.
func (flags *Flags) Find(ctx context.Context, reader *cluster.Reader) (l Landscape, notes []string, err error) {
	if flags.set == nil {
		return Landscape{}, nil, nil
	}
	found := ""
	if flags.version == "" {
		if found, err = reader.GardenerVersion(ctx); err == nil {
			_, _, err = releases.Of(found)
		}
		if err != nil {
			notes = append(notes, fmt.Sprintf("Gardener is assumed to be %s: %v; if it is another version, use --gardener-version", releases.Newest, err))
			found = ""
		}
	}
	l, more, err := flags.withVersion(found)
	notes = append(notes, more...)
	if !l.Admission.Said {
		webhooks, missing := reader.Mutating(ctx)
		if missing != nil {
			note := "capkit's admission component is assumed not to be installed: " + missing.Error()
			if flags.set.Lookup("webhook") != nil {
				note += "; if it is, use --webhook=true"
			}
			notes = append(notes, note)
		} else {
			l.Admission = installed(webhooks)
		}
	}
	return l, notes, err
}

// SeenOn enables a feature gate of a landscape that an object of the cluster shows to be on, unless a flag sets it. It returns a note about
// that; empty if nothing changes.
func (flags *Flags) SeenOn(l *Landscape, gate, because string) (note string) {
	said := slices.ContainsFunc(flags.gates, func(entry string) bool { return strings.HasPrefix(entry, gate+"=") })
	if flags.set == nil || said || l.Server.Enabled(gate) {
		return ""
	}
	l.Server = l.Server.With(gate)
	return fmt.Sprintf("Gardener's feature gate %s is assumed to be on, because %s; if it is not, use --feature-gates %s=false", gate, because, gate)
}

// server returns the API server of the flag's version, else of the found version, else of the newest one. If the rules of the version are
// unknown, note names the release whose rules apply; otherwise it is empty.
func (flags *Flags) server(found string) (server gardener.Server, note string, err error) {
	gates, err := flags.featureGates()
	release, version := releases.Newest, cmp.Or(flags.version, found)
	if version != "" {
		known, near, invalid := releases.Of(version)
		if release = known; invalid != nil {
			err = errors.Join(fmt.Errorf("--gardener-version: %w", invalid), err)
		}
		const judged = "Gardener %s is %s than the %s one that is known; it is judged by the rules of %s"
		switch near {
		case releases.TooNew:
			note = fmt.Sprintf(judged, version, "newer", "newest", release)
		case releases.TooOld:
			note = fmt.Sprintf(judged, version, "older", "oldest", release)
		}
	}
	if err != nil {
		return gardener.Server{}, "", err
	}
	if server, err = gardener.NewServer(release, gates); err != nil {
		err = fmt.Errorf("--feature-gates: %w", err)
	}
	return server, note, err
}

// featureGates returns the feature gates of the flag.
func (flags *Flags) featureGates() (map[string]bool, error) {
	gates := map[string]bool{}
	for _, entry := range flags.gates {
		name, value, _ := strings.Cut(entry, "=")
		if value != "true" && value != "false" {
			return nil, fmt.Errorf("--feature-gates: %s: write %s=true or %[2]s=false", words.Quoted(entry), words.Printable(cmp.Or(name, "GATE")))
		}
		gates[name] = value == "true"
	}
	return gates, nil
}

// gateCompletions returns the shell completions of --feature-gates.
func gateCompletions() (completions []string) {
	for _, name := range slices.Sorted(maps.Keys(releases.Newest.FeatureGates())) {
		completions = append(completions, name+"=true", name+"=false")
	}
	return completions
}

// admission returns the admission components that the flags describe.
func (flags *Flags) admission() Admission {
	if !flags.given("webhook") {
		return Admission{}
	}
	return Admission{Said: true, all: map[string]maintenance.Admission{
		"false": maintenance.GardenerAlone, "validating": maintenance.Validates, "true": maintenance.Corrects,
	}[flags.webhook]}
}
