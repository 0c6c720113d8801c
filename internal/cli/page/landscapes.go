// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/internal/cli/report"
)

// Several landscapes side by side. Each is reported like in a run of its own, one after the other. Only the data for the comparison is in
// memory together.

// landscape is a value of --landscape.
type landscape struct {
	name string
	// file contains its objects. If it is empty, they are in the cluster of a context of the kubeconfig.
	file, context string
}

// ofContext is the prefix of a context's name, for a landscape that is a cluster.
const ofContext = "context:"

// parseLandscapes parses the values of --landscape.
func parseLandscapes(values []string) (all []landscape, err error) {
	names, stdin := map[string]bool{}, 0
	for _, value := range values {
		name, file, found := strings.Cut(value, "=")
		name = strings.TrimSpace(name)
		context, isCluster := strings.CutPrefix(file, ofContext)
		switch {
		case !found:
			return nil, fmt.Errorf("--landscape %q: write NAME=PATH, as in dev=landscapes/dev, or NAME=%sNAME for a cluster", value, ofContext)
		case name == "":
			return nil, fmt.Errorf("--landscape %q: the name is empty: write NAME=PATH", value)
		case file == "", isCluster && context == "":
			return nil, fmt.Errorf("--landscape %q: the source of %s is missing: write NAME=PATH, or NAME=%sNAME for a cluster", value, name, ofContext)
		case names[name]:
			return nil, fmt.Errorf("--landscape: two landscapes are named %s: give each a different name", name)
		}
		names[name] = true
		if isCluster {
			file = ""
		}
		if file == "-" {
			stdin++
		}
		all = append(all, landscape{name, file, context})
	}
	if stdin > 1 {
		return nil, errors.New("--landscape: standard input is given twice, and can be read once")
	}
	return all, nil
}

// checkLandscapes returns an error about the flags and FILE arguments of a command with --landscape.
func (flags *reportFlags) checkLandscapes(files []string) error {
	all, err := parseLandscapes(flags.landscapes)
	if err != nil {
		return err
	}
	for _, name := range []string{"all-namespaces", "namespace", "context"} {
		if flags.Given(name) {
			return fmt.Errorf("--landscape and --%s: use only one of them; a landscape may be the cluster of a context: --landscape NAME=%sNAME", name, ofContext)
		}
	}
	isCluster := func(l landscape) bool { return l.file == "" }
	switch {
	case len(files) > 0:
		return fmt.Errorf("--landscape and FILE: use only one of them; %s belongs to no landscape: write --landscape NAME=%s", files[0], command.InShell(files[0]))
	case flags.Given("kubeconfig") && !slices.ContainsFunc(all, isCluster):
		return fmt.Errorf("--kubeconfig goes with a landscape that is a cluster: --landscape NAME=%sNAME", ofContext)
	}
	flags.all = all
	for _, l := range all {
		files = append(files, l.file)
	}
	return flags.Check(files) // what is wrong with the other flags
}

// of returns the flags and FILE arguments of a run for one landscape: the given ones, completed by the landscape's settings.
func (flags *reportFlags) of(c *command.Call, cmd *cobra.Command, l landscape) (*reportFlags, []string, error) {
	run := &cobra.Command{Use: cmd.Use}
	own := newFlags(c, run)
	var errs []error
	set := func(name, value string) { errs = append(errs, run.Flags().Set(name, value)) }
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case f.Name == "landscape", f.Name == "kubeconfig" && l.file != "", f.Name == "stdin-name" && l.file != "-":
		case isList:
			for _, value := range list.GetSlice() {
				set(f.Name, value)
			}
		default:
			set(f.Name, f.Value.String())
		}
	})
	var files []string
	if l.file != "" {
		files, own.Folder = []string{l.file}, l.file
	} else {
		set("context", l.context)
		set("all-namespaces", "true")
	}
	return own, files, errors.Join(append(errs, own.Prepare(files, checks.Catalogue(c)))...)
}

// reportedLandscapes is the JSON output of report for several landscapes, which is an interface.
type reportedLandscapes struct {
	Landscapes []reportedLandscape `json:"landscapes"`
	// Comparison has an element for each profile.
	Comparison []html.Compared `json:"comparison"`
}

// reportedLandscape is the part of the output about one landscape.
type reportedLandscape struct {
	Name     string            `json:"name"`
	Overview html.Overview     `json:"overview"`
	Profiles []reportedProfile `json:"profiles"`
}

// runLandscapes reports on the landscapes of the flags. A single one is reported as if it were the only input.
func runLandscapes(ctx context.Context, c *command.Call, cmd *cobra.Command, flags *reportFlags) error {
	if len(flags.all) == 1 {
		own, files, err := flags.of(c, cmd, flags.all[0])
		if err != nil {
			return err
		}
		return runReport(ctx, c, files, own)
	}
	flags.compares = true
	if err := flags.check(c); err != nil {
		return err
	}
	s := sideBySide{page: html.Landscapes{Version: c.Versions().Version, Made: flags.made}}
	var errs []error
	var wrong error
	for _, l := range flags.all {
		own, files, err := flags.of(c, cmd, l)
		if err == nil {
			own.byOrder, own.made, own.compares = flags.byOrder, flags.made, true
			err = s.look(ctx, c, l.name, files, own)
		}
		if errors.Is(err, command.ErrWrong) {
			report.Printf(c.Stderr, "landscape %s: %s\n", l.name, nothingWritten)
			wrong = err
		} else if err != nil {
			errs = append(errs, ofLandscape(l.name, err))
		}
	}
	if err := cmp.Or(errors.Join(errs...), wrong, s.nobody()); err != nil {
		return err
	}
	var text bytes.Buffer
	err := s.write(&text, flags.output == "json")
	if err == nil {
		_, err = text.WriteTo(c.Stdout)
	}
	if err != nil {
		return err
	}
	return s.end(c)
}

// ofLandscape adds the landscape to each line of an error.
func ofLandscape(name string, err error) error {
	joined, several := err.(interface{ Unwrap() []error })
	if !several {
		return fmt.Errorf("landscape %s: %w", name, err)
	}
	var errs []error
	for _, single := range joined.Unwrap() {
		errs = append(errs, ofLandscape(name, single))
	}
	return errors.Join(errs...)
}

// sideBySide collects the results for several landscapes.
type sideBySide struct {
	page html.Landscapes
	comparison
	looked []*looked
	flags  []*reportFlags
}

// look examines a landscape and keeps its results. The error says why there are none.
func (s *sideBySide) look(ctx context.Context, c *command.Call, name string, files []string, flags *reportFlags) error {
	l, err := look(ctx, c, files, flags)
	if err != nil {
		return err
	}
	s.page.Filter = cmp.Or(s.page.Filter, l.page.Filter)
	at := html.Landscape{Name: name, Source: l.page.Source}
	gaps := seekGaps(&l.page)
	if flags.output == "json" {
		for i := range l.page.Profiles {
			for range l.page.Profiles[i].Requests[0].Answers { // each is counted
			}
		}
	} else if at.Page, err = html.Pack(&l.page); err != nil {
		return err
	}
	at.Overview = overviewOf(l, gaps)
	s.add(name, l, gaps)
	l.forget()
	s.page.Landscapes = append(s.page.Landscapes, at)
	s.looked, s.flags = append(s.looked, l), append(s.flags, flags)
	return nil
}

// nobody returns an error if the flags select no worker pool in any landscape.
func (s *sideBySide) nobody() error {
	var errs []error
	for i, l := range s.looked {
		if l.nobody != nil {
			errs = append(errs, ofLandscape(s.page.Landscapes[i].Name, l.nobody))
		}
	}
	if len(errs) < len(s.looked) {
		return nil
	}
	return errors.Join(errs...)
}

// write writes the page, or its JSON.
func (s *sideBySide) write(w *bytes.Buffer, asJSON bool) error {
	s.page.Profiles = s.compared()
	if !asJSON {
		return html.WriteLandscapes(w, &s.page)
	}
	answer := reportedLandscapes{Landscapes: []reportedLandscape{}, Comparison: s.page.Profiles}
	for i, l := range s.looked {
		at := &s.page.Landscapes[i]
		answer.Landscapes = append(answer.Landscapes, reportedLandscape{at.Name, at.Overview, l.cells})
	}
	return report.JSON(w, answer)
}

// end prints the notes and findings of each landscape. The error determines how the command ends.
func (s *sideBySide) end(c *command.Call) error {
	var worst error
	for i, l := range s.looked {
		report.Printf(c.Stderr, "landscape %s:\n", s.page.Landscapes[i].Name)
		if err := l.end(c, s.flags[i]); err != nil {
			worst = err
		}
	}
	return worst
}

// forget releases the data that is not needed to end the command.
func (l *looked) forget() {
	l.page = html.Report{}
	l.profiles = nil
	g := l.given
	g.Profiles, g.Namespaced, g.Shoots = input.Objects[v1beta1.CloudProfile]{}, input.Objects[v1beta1.NamespacedCloudProfile]{}, input.Objects[v1beta1.Shoot]{}
	g.Findings, g.Marked, g.Began = nil, nil, nil
}
