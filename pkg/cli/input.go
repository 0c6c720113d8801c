// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/pkg/cli/cluster"
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/report"
)

// Where the objects of a garden come from: files, and the cluster that flags name.

// clusterFile stands where findings name a file, for an object that was read from the cluster.
const clusterFile = "<cluster>"

// inputs say where a command has its objects from, besides its arguments.
type inputs struct {
	cluster       cluster.Options
	allNamespaces bool
	allowEmpty    bool
	// whole keeps what is not read of objects, for a command that writes them.
	whole bool
	given func(flag string) bool
}

// unread says what is not kept of objects in files.
func (in *inputs) unread() manifest.Unread {
	if in.whole {
		return nil
	}
	return unread
}

// clusterFlags are those by which a command reads a cluster.
var clusterFlags = []string{"kubeconfig", "context", "namespace", "all-namespaces"}

// inputFlags adds the flags of a command that reads objects, and makes it refuse to run without any input.
func inputFlags(cmd *cobra.Command) *inputs {
	in := &inputs{given: cmd.Flags().Changed}
	f := cmd.Flags()
	f.StringVar(&in.cluster.Kubeconfig, "kubeconfig", "",
		"read objects from the cluster of this `FILE` (default: as kubectl, if another of these flags is given)")
	f.StringVar(&in.cluster.Context, "context", "", "read objects from the cluster of this context, by `NAME`")
	f.StringVarP(&in.cluster.Namespace, "namespace", "n", "", "read the objects of this namespace, by `NAME`, from the cluster")
	f.BoolVarP(&in.allNamespaces, "all-namespaces", "A", false, "read the objects of all namespaces from the cluster")
	for _, name := range []string{"context", "namespace"} {
		complete(cmd, name, nil) // a name, and no file
	}
	cmd.Args = func(_ *cobra.Command, args []string) error { return in.check(args) }
	return in
}

// allowEmptyFlag adds the flag of commands whose answer can be that there is nothing.
func (in *inputs) allowEmptyFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&in.allowEmpty, "allow-empty", false, "exit with 0 if there is nothing to check")
}

// live reports whether a cluster is read.
func (in *inputs) live() bool { return slices.ContainsFunc(clusterFlags, in.given) }

// check returns what is wrong with the flags and the FILE arguments of a command.
func (in *inputs) check(files []string) error {
	for _, name := range clusterFlags[:3] {
		value := map[string]string{
			"kubeconfig": in.cluster.Kubeconfig, "context": in.cluster.Context, "namespace": in.cluster.Namespace,
		}[name]
		if in.given(name) && value == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", name)
		}
	}
	switch {
	case in.allNamespaces && in.given("namespace"):
		return errors.New("--namespace and --all-namespaces: say one of them")
	case len(files) == 0 && !in.live():
		return errors.New("no FILE given: name files or directories, or - for standard input; or a cluster: " +
			"-A for all of it, -n for a namespace")
	}
	return nil
}

// load reads the inputs of a command, of the cluster Shoots if it asks for them. The error is about inputs that cannot be
// read at all; what is wrong in them becomes findings.
func (c *command) load(ctx context.Context, args []string, in *inputs, shoots bool) (*garden, error) {
	return c.loadFor(ctx, args, in, shoots, len(args) > 0)
}

// loadFor does so where files say whether there are any besides args.
func (c *command) loadFor(ctx context.Context, args []string, in *inputs, shoots, files bool) (*garden, error) {
	terminal := c.terminal
	if slices.Contains(args, "-") { // where somebody may be typing
		terminal = nil
	}
	reading := terminal.begin("reading", 0)
	defer reading.end()
	if !in.live() {
		return load(args, c.stdin, c.providers, "", in.unread())
	}
	options := in.cluster
	options.UserAgent = "capkit/" + thisVersion().Version
	options.Progress = reading.steps
	reader, err := cluster.Open(options)
	if err != nil {
		return nil, err
	}
	g, err := load(args, c.stdin, c.providers, reader.Namespace(), in.unread())
	if err != nil {
		return nil, err
	}
	wanted, checked := in.wanted(g, reader.Namespace(), files, shoots)
	objects, err := reader.Read(cmp.Or(ctx, context.Background()), wanted)
	if err != nil {
		return nil, err
	}
	g.cluster = reader.String()
	g.addCluster(objects, checked)
	return g, nil
}

// wanted says what is read of a cluster whose namespace is the one that is meant if none is named; and of which of its
// objects it is asked what is wrong with them, not only what they mean for others: those of a namespace, or all. Without
// -n and -A, files are the question, and the cluster has the profiles that they refer to.
func (in *inputs) wanted(g *garden, namespace string, files, shoots bool) (w cluster.Wanted, checked func(string) bool) {
	if in.allNamespaces {
		all := []string{v1.NamespaceAll}
		w.NamespacedCloudProfiles = all
		if shoots {
			w.Shoots = all
		}
		return w, func(string) bool { return true }
	}
	of := map[string]bool{}
	for _, s := range g.shoots.all {
		if s.object != nil {
			of[s.object.Namespace] = true
		}
	}
	delete(of, "")
	asked := in.given("namespace") || !files
	if asked {
		of[namespace] = true
		if shoots {
			w.Shoots = []string{namespace}
		}
	}
	w.NamespacedCloudProfiles = slices.Sorted(maps.Keys(of))
	return w, func(other string) bool { return asked && other == namespace }
}

// addCluster takes in the objects of a cluster, but for those that a file stands for. checked reports whether the objects
// of a namespace are to be checked themselves; those without one have "".
func (g *garden) addCluster(objects *cluster.Objects, checked func(namespace string) bool) {
	for _, o := range objects.CloudProfiles {
		addLive(g, &g.profiles, o, "CloudProfile", "", o.Name, checked(""))
	}
	for _, o := range objects.NamespacedCloudProfiles {
		addLive(g, &g.namespaced, o, "NamespacedCloudProfile", o.Namespace, o.Name, checked(o.Namespace))
	}
	for _, o := range objects.Shoots {
		addLive(g, &g.shoots, o, "Shoot", o.Namespace, o.Name, true)
	}
}

// addLive adds an object of the cluster to others, unless there is one of its name.
func addLive[T any](g *garden, others *objects[T], object *T, kind, namespace, name string, checked bool) {
	s := &source[T]{name: name, object: object, live: true, aside: !checked}
	if kind != "CloudProfile" {
		s.name = namespace + "/" + name
	}
	if others.byName[s.name] != nil {
		return
	}
	s.manifest = manifest.Unwritten(clusterFile, manifest.Identity{
		APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: kind, Namespace: namespace, Name: name,
	})
	if checked {
		g.summary.Objects++
	}
	others.put(s)
}

// put adds a source whose name is new.
func (o *objects[T]) put(s *source[T]) {
	if o.byName == nil {
		o.byName = map[string]*source[T]{}
	}
	o.byName[s.name] = s
	o.all = append(o.all, s)
}

// emptyInputs says which inputs are empty, to be put behind what is not among them.
func (g *garden) emptyInputs() string {
	text := ""
	for _, name := range g.empty {
		if name == manifest.Stdin {
			text += "; standard input is empty, perhaps because the command before the pipe failed"
			continue
		}
		text += "; " + name + " is empty"
	}
	return text
}

// nothing is the error of a command that has found nothing to work on, unless it may.
func (in *inputs) nothing(g *garden, what string) error {
	if in.allowEmpty {
		return nil
	}
	text := "no " + what + " among the inputs"
	if g.cluster != "" {
		text += ", which have what is in " + g.cluster
	}
	if g.summary.Skipped > 0 {
		text += fmt.Sprintf("; %s skipped", report.Count(g.summary.Skipped, "document"))
	}
	errs := []error{errors.New(text + g.emptyInputs() + ": with --allow-empty that is no error")}
	for _, s := range g.skipped[:min(len(g.skipped), mostSkipped)] {
		errs = append(errs, fmt.Errorf("skipped: %s", s))
	}
	return errors.Join(errs...)
}
