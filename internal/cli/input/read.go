// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

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

	"github.com/capkit/capkit/internal/cli/cluster"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
)

// Where the objects of a garden come from: files, and the cluster that flags name.

// ClusterFile stands where findings name a file, for an object that was read from the cluster.
const ClusterFile = "<cluster>"

// Flags say where a command has its objects from, besides its arguments.
type Flags struct {
	cluster       cluster.Options
	allNamespaces bool
	AllowEmpty    bool
	// Whole keeps what is not read of objects, for a command that writes them.
	Whole bool
	Given func(flag string) bool
}

// unread says what is not kept of objects in files.
func (in *Flags) unread() manifest.Unread {
	if in.Whole {
		return nil
	}
	return Unread
}

// clusterFlags are those by which a command reads a cluster.
var clusterFlags = []string{"kubeconfig", "context", "namespace", "all-namespaces"}

// NewFlags adds the flags of a command that reads objects, and makes it refuse to run without any input.
func NewFlags(cmd *cobra.Command) *Flags {
	in := &Flags{Given: cmd.Flags().Changed}
	f := cmd.Flags()
	f.StringVar(&in.cluster.Kubeconfig, "kubeconfig", "",
		"read objects from the cluster of this `FILE` (default: as kubectl, if another of these flags is given)")
	f.StringVar(&in.cluster.Context, "context", "", "read objects from the cluster of this context, by `NAME`")
	f.StringVarP(&in.cluster.Namespace, "namespace", "n", "", "read the objects of this namespace, by `NAME`, from the cluster")
	f.BoolVarP(&in.allNamespaces, "all-namespaces", "A", false, "read the objects of all namespaces from the cluster")
	for _, name := range []string{"context", "namespace"} {
		command.Complete(cmd, name, nil) // a name, and no file
	}
	cmd.Args = func(_ *cobra.Command, args []string) error { return in.Check(args) }
	return in
}

// AllowEmptyFlag adds the flag of commands whose answer can be that there is nothing.
func (in *Flags) AllowEmptyFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&in.AllowEmpty, "allow-empty", false, "exit with 0 if there is nothing to check")
}

// Live reports whether a cluster is read.
func (in *Flags) Live() bool { return slices.ContainsFunc(clusterFlags, in.Given) }

// Check returns what is wrong with the flags and the FILE arguments of a command.
func (in *Flags) Check(files []string) error {
	for _, name := range clusterFlags[:3] {
		value := map[string]string{
			"kubeconfig": in.cluster.Kubeconfig, "context": in.cluster.Context, "namespace": in.cluster.Namespace,
		}[name]
		if in.Given(name) && value == "" {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", name)
		}
	}
	switch {
	case in.allNamespaces && in.Given("namespace"):
		return errors.New("--namespace and --all-namespaces: say one of them")
	case len(files) == 0 && !in.Live():
		return errors.New("no FILE given: name files or directories, or - for standard input; or a cluster: " +
			"-A for all of it, -n for a namespace")
	}
	return nil
}

// Load reads the inputs of a command, of the cluster Shoots if it asks for them. The error is about inputs that cannot be
// read at all; what is wrong in them becomes findings.
func Load(ctx context.Context, c *command.Call, args []string, in *Flags, shoots bool) (*Given, error) {
	return LoadFor(ctx, c, args, in, shoots, len(args) > 0)
}

// LoadFor does so where files say whether there are any besides args.
func LoadFor(ctx context.Context, c *command.Call, args []string, in *Flags, shoots, files bool) (*Given, error) {
	terminal := c.Terminal
	if slices.Contains(args, "-") { // where somebody may be typing
		terminal = nil
	}
	reading := terminal.Begin("reading", 0)
	defer reading.End()
	if !in.Live() {
		return Files(args, c.Stdin, c.Providers, "", in.unread())
	}
	options := in.cluster
	options.UserAgent = "capkit/" + c.Versions().Version
	options.Progress = reading.Steps
	reader, err := cluster.Open(options)
	if err != nil {
		return nil, err
	}
	g, err := Files(args, c.Stdin, c.Providers, reader.Namespace(), in.unread())
	if err != nil {
		return nil, err
	}
	wanted, checked := in.wanted(g, reader.Namespace(), files, shoots)
	objects, err := reader.Read(cmp.Or(ctx, context.Background()), wanted)
	if err != nil {
		return nil, err
	}
	g.Cluster = reader.String()
	g.addCluster(objects, checked)
	return g, nil
}

// wanted says what is read of a cluster whose namespace is the one that is meant if none is named; and of which of its
// objects it is asked what is wrong with them, not only what they mean for others: those of a namespace, or all. Without
// -n and -A, files are the question, and the cluster has the profiles that they refer to.
func (in *Flags) wanted(g *Given, namespace string, files, shoots bool) (w cluster.Wanted, checked func(string) bool) {
	if in.allNamespaces {
		all := []string{v1.NamespaceAll}
		w.NamespacedCloudProfiles = all
		if shoots {
			w.Shoots = all
		}
		return w, func(string) bool { return true }
	}
	of := map[string]bool{}
	for _, s := range g.Shoots.All {
		if s.Object != nil {
			of[s.Object.Namespace] = true
		}
	}
	delete(of, "")
	asked := in.Given("namespace") || !files
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
func (g *Given) addCluster(objects *cluster.Objects, checked func(namespace string) bool) {
	for _, o := range objects.CloudProfiles {
		addLive(g, &g.Profiles, o, "CloudProfile", "", o.Name, checked(""))
	}
	for _, o := range objects.NamespacedCloudProfiles {
		addLive(g, &g.Namespaced, o, "NamespacedCloudProfile", o.Namespace, o.Name, checked(o.Namespace))
	}
	for _, o := range objects.Shoots {
		addLive(g, &g.Shoots, o, "Shoot", o.Namespace, o.Name, true)
	}
}

// addLive adds an object of the cluster to others, unless there is one of its name.
func addLive[T any](g *Given, others *Objects[T], object *T, kind, namespace, name string, checked bool) {
	s := &Source[T]{Name: name, Object: object, Live: true, Aside: !checked}
	if kind != "CloudProfile" {
		s.Name = namespace + "/" + name
	}
	if others.ByName[s.Name] != nil {
		return
	}
	s.Manifest = manifest.Unwritten(ClusterFile, manifest.Identity{
		APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: kind, Namespace: namespace, Name: name,
	})
	if checked {
		g.Summary.Objects++
	}
	others.put(s)
}

// EmptyInputs says which inputs are empty, to be put behind what is not among them.
func (g *Given) EmptyInputs() string {
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

// Nothing is the error of a command that has found nothing to work on, unless it may.
func (in *Flags) Nothing(g *Given, what string) error {
	if in.AllowEmpty {
		return nil
	}
	text := "no " + what + " among the inputs"
	if g.Cluster != "" {
		text += ", which have what is in " + g.Cluster
	}
	if g.Summary.Skipped > 0 {
		text += fmt.Sprintf("; %s skipped", report.Count(g.Summary.Skipped, "document"))
	}
	errs := []error{errors.New(text + g.EmptyInputs() + ": with --allow-empty that is no error")}
	for _, s := range g.skipped[:min(len(g.skipped), mostSkipped)] {
		errs = append(errs, fmt.Errorf("skipped: %s", s))
	}
	return errors.Join(errs...)
}

// ClusterWords returns the flags that name a cluster, as they were given.
func (in *Flags) ClusterWords() []string {
	var words []string
	for _, flag := range []struct{ name, value string }{
		{"kubeconfig", in.cluster.Kubeconfig}, {"context", in.cluster.Context}, {"namespace", in.cluster.Namespace},
	} {
		if in.Given(flag.name) {
			words = append(words, "--"+flag.name, flag.value)
		}
	}
	if in.allNamespaces {
		words = append(words, "-A")
	}
	return words
}
