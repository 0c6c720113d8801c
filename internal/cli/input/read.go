// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/internal/cli/cluster"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/settings"
	"github.com/capkit/capkit/pkg/capability"
)

// The sources of a garden's objects: files, and the cluster that flags name.

// ClusterFile is the file name in findings about an object of the cluster.
const ClusterFile = "<cluster>"

// Flags say where a command reads objects from, besides its arguments.
type Flags struct {
	cluster       cluster.Options
	allNamespaces bool
	stdin         string
	// providerFiles are the descriptions of providers.
	providerFiles []string
	AllowEmpty    bool
	// Whole keeps fields of objects that no check reads, for a command that writes objects.
	Whole bool
	// Apart are files and directories that the command reads separately, and skips among its inputs.
	Apart []string
	Given func(flag string) bool

	settingsFlags
}

// clusterFlags are the flags that make a command read a cluster.
var clusterFlags = []string{"kubeconfig", "context", "namespace", "all-namespaces"}

// NewFlags adds the flags of a command that reads objects. The command refuses to run without any input.
func NewFlags(cmd *cobra.Command) *Flags {
	flags := newFlags(cmd)
	set := cmd.Flags()
	set.StringVar(&flags.cluster.Kubeconfig, "kubeconfig", "",
		"read objects from the cluster of this `FILE` (default: that of kubectl, if --context, -n or -A is given)")
	set.StringVar(&flags.cluster.Context, "context", "", "read objects from the cluster of the context `NAME`")
	set.StringVarP(&flags.cluster.Namespace, "namespace", "n", "", "read the objects of the namespace `NAME` from the cluster")
	set.BoolVarP(&flags.allNamespaces, "all-namespaces", "A", false, "read the objects of all namespaces from the cluster")
	set.StringVar(&flags.stdin, "stdin-name", "", "use this `NAME` for standard input in findings")
	for _, name := range []string{"context", "namespace", "stdin-name"} {
		command.Complete(cmd, name, nil) // a name, and no file
	}
	cmd.Args = func(_ *cobra.Command, args []string) error { return flags.Check(args) }
	return flags
}

// newFlags adds the flag of all commands that know providers.
func newFlags(cmd *cobra.Command) *Flags {
	flags := &Flags{Given: cmd.Flags().Changed, settingsFlags: settingsFlags{Settings: &settings.Settings{}, flags: cmd.Flags()}}
	cmd.Flags().StringArrayVar(&flags.providerFiles, command.ProviderFileFlag, nil,
		"`FILE` with the description of a provider that the command does not know; may be repeated")
	return flags
}

// Described adds the flags of a command that reads no objects, but knows the providers that flags or settings describe. The returned
// function reads the settings and adds these providers.
func Described(cmd *cobra.Command) func(*command.Call) error {
	flags := newFlags(cmd)
	flags.configFlags(cmd)
	return func(c *command.Call) error {
		if err := flags.ReadSettings(nil); err != nil {
			return err
		}
		return flags.describe(c)
	}
}

// AllowEmptyFlag adds the flag of commands that may find nothing to check.
func (flags *Flags) AllowEmptyFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&flags.AllowEmpty, "allow-empty", false, "exit with 0 if there is nothing to check")
}

// Live reports whether a cluster is read.
func (flags *Flags) Live() bool { return slices.ContainsFunc(clusterFlags, flags.Given) }

// namesWanted are flags that must not be empty. They are empty in a script whose variable is not set.
var namesWanted = []string{
	"kubeconfig", "context", "namespace", "stdin-name", "shoot", "pool", "profile", "image", "version", "machine-type", "region", "architecture", "order",
	"at", "until",
}

// Order returns the value of the flag for the preference order, or nil if it is empty.
func Order(flag string) (*capability.Order, error) {
	if flag == "" {
		return nil, nil
	}
	order, err := capability.ParseOrder(flag)
	return &order, err
}

// Check returns an error about the flags and FILE arguments of a command.
func (flags *Flags) Check(files []string) error {
	var empty []error
	for _, name := range namesWanted {
		if f := flags.flags.Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			empty = append(empty, fmt.Errorf("--%s is empty: give it a value, or leave it out", name))
		}
	}
	switch {
	case len(empty) > 0:
		return errors.Join(empty...)
	case flags.allNamespaces && flags.Given("namespace"):
		return errors.New("--namespace and --all-namespaces: use only one of them")
	case flags.Given("stdin-name") && !slices.Contains(files, "-"):
		return errors.New("--stdin-name names standard input, which is not read: add - to the FILE arguments, or leave the flag out")
	case len(files) == 0 && !flags.Live():
		return errors.New("no FILE given: name files or directories, or - for standard input; or a cluster: " +
			"-A for all of it, -n for a namespace")
	}
	return nil
}

// Load reads the inputs of a command. It reads Shoots of the cluster only if shoots is true. The error is about inputs that cannot be
// read at all; errors in their contents become findings.
func Load(ctx context.Context, c *command.Call, args []string, flags *Flags, shoots bool) (*Given, error) {
	files := flags.Files(args)
	g, err := LoadFor(ctx, c, files, flags, shoots, len(files) > 0)
	if err != nil && len(files) > len(args) {
		return nil, fmt.Errorf("inputs of %s: %w", flags.Settings.File, err)
	}
	return g, err
}

// LoadFor reads the inputs of a command like [Load]. files reports whether the user has named any, in args or elsewhere.
func LoadFor(ctx context.Context, c *command.Call, args []string, flags *Flags, shoots, files bool) (*Given, error) {
	if err := flags.describe(c); err != nil {
		return nil, err
	}
	terminal := c.Terminal
	if slices.Contains(args, "-") { // a person may be typing there
		terminal = nil
	}
	reading := terminal.Begin("reading", 0)
	defer reading.End()
	var reader *cluster.Reader
	namespace := ""
	if flags.Live() {
		options := flags.cluster
		options.UserAgent, options.Progress = "capkit/"+c.Versions().Version, reading.Steps
		var err error
		if reader, err = cluster.Open(options); err != nil {
			return nil, err
		}
		namespace = reader.Namespace()
	}
	unread := Unread
	if flags.Whole {
		unread = nil
	}
	in, err := Files(args, c.Stdin, c.Providers, namespace, unread, flags.Apart...)
	if err != nil {
		return nil, err
	}
	in.stdin, in.asLint = flags.stdin, flags.asLint(c)
	if reader == nil {
		in.Landscape, in.Notes, err = flags.landscape.Said()
		return in, err
	}
	wanted, checked := flags.wanted(in, namespace, files, shoots)
	objects, err := reader.Read(ctx, wanted)
	if err != nil {
		return nil, err
	}
	in.Cluster = reader.String()
	if in.Landscape, in.Notes, err = flags.landscape.Find(ctx, reader); err != nil {
		return nil, err
	}
	if name := withLifecycle(objects); name != "" {
		if note := flags.landscape.SeenOn(&in.Landscape, "VersionClassificationLifecycle", name+" of the cluster has a lifecycle"); note != "" {
			in.Notes = append(in.Notes, note)
		}
	}
	addLive(in, &in.Profiles, "CloudProfile", objects.CloudProfiles, checked)
	addLive(in, &in.Namespaced, "NamespacedCloudProfile", objects.NamespacedCloudProfiles, checked)
	addLive(in, &in.Shoots, "Shoot", objects.Shoots, checked)
	return in, nil
}

// describe adds the providers that flags or settings describe.
func (flags *Flags) describe(c *command.Call) error {
	if flags.Given(command.ProviderFileFlag) {
		return c.Describe(flags.providerFiles, "--"+command.ProviderFileFlag)
	}
	return c.Describe(flags.Settings.ProviderFiles, "providerFiles of "+flags.Settings.File)
}

// Empty returns inputs without objects, for a caller that adds files one by one.
func (flags *Flags) Empty(c *command.Call) (in *Given, err error) {
	if err := flags.describe(c); err != nil {
		return nil, err
	}
	in = &Given{Providers: c.Providers}
	in.Landscape, in.Notes, err = flags.landscape.Said()
	return in, err
}

// wanted selects the objects to read from a cluster. namespace is the cluster's default namespace. checked reports whether objects of a
// namespace are checked themselves, and not only read for references. With -n these are the objects of that namespace, with -A all.
// Without both, files are checked, and the cluster provides the profiles that they refer to.
func (flags *Flags) wanted(in *Given, namespace string, files, shoots bool) (w cluster.Wanted, checked func(string) bool) {
	if flags.allNamespaces {
		all := []string{metav1.NamespaceAll}
		w.NamespacedCloudProfiles = all
		if shoots {
			w.Shoots = all
		}
		return w, func(string) bool { return true }
	}
	of := map[string]bool{}
	for _, s := range in.Shoots.All {
		if s.Object != nil {
			of[s.Object.Namespace] = true
		}
	}
	delete(of, "")
	asked := flags.Given("namespace") || !files
	if asked {
		of[namespace] = true
		if shoots {
			w.Shoots = []string{namespace}
		}
	}
	w.NamespacedCloudProfiles = slices.Sorted(maps.Keys(of))
	return w, func(other string) bool { return asked && other == namespace }
}

// withLifecycle returns kind and name of the first CloudProfile with a version that has a lifecycle, or "".
func withLifecycle(objects *cluster.Objects) string {
	has := func(v v1beta1.ExpirableVersion) bool { return len(v.Lifecycle) > 0 }
	for _, p := range objects.CloudProfiles {
		if slices.ContainsFunc(p.Spec.Kubernetes.Versions, has) || slices.ContainsFunc(p.Spec.MachineImages, func(image v1beta1.MachineImage) bool {
			return slices.ContainsFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool { return has(v.ExpirableVersion) })
		}) {
			return "CloudProfile " + p.Name
		}
	}
	return ""
}

// addLive adds objects of the cluster to others, except those whose names exist already.
func addLive[T any, P interface {
	*T
	metav1.Object
}](in *Given, others *Objects[T], kind string, objects []P, checked func(namespace string) bool) {
	for _, o := range objects {
		who := manifest.Identity{
			APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(),
		}
		s := &Source[T]{Name: nameOf(who), Object: o, Live: true, Aside: !checked(who.Namespace), Manifest: manifest.Unwritten(ClusterFile, who)}
		if others.ByName[s.Name] != nil {
			continue
		}
		if !s.Aside {
			in.Summary.Objects++
		}
		others.put(s)
	}
}

// EmptyInputs returns the end of an error message that names the empty inputs.
func (in *Given) EmptyInputs() string {
	text := ""
	for _, name := range in.empty {
		if name == manifest.Stdin {
			text += "; standard input is empty, perhaps because the command before the pipe failed"
			continue
		}
		text += "; " + name + " is empty"
	}
	return text
}

// Nothing returns the error of a command that has found nothing to work on, unless --allow-empty permits that.
func (flags *Flags) Nothing(in *Given, what string) error {
	if flags.AllowEmpty {
		return nil
	}
	text := "no " + what + " among the inputs"
	if in.Cluster != "" {
		text += " and in " + in.Cluster
	}
	if in.Summary.Skipped > 0 {
		text += fmt.Sprintf("; %s skipped", report.Count(in.Summary.Skipped, "document"))
	}
	errs := []error{errors.New(text + in.EmptyInputs() + ": to allow this, use --allow-empty")}
	for _, line := range in.notRead() {
		errs = append(errs, errors.New(line))
	}
	return errors.Join(errs...)
}

// Words returns flags as they were given: those with the names, or all. Those whose value is from the settings are left out.
func (flags *Flags) Words(names ...string) []string {
	return command.Words(flags.flags, flags.Settings.Flags, names)
}

// Judging returns the flags of a command that judges profiles in the same way, and those for the same cluster if it is live.
func (flags *Flags) Judging(live bool) []string {
	words := flags.Words("config", "no-config", command.ProviderFileFlag, "webhook", "gardener-version", "feature-gates")
	if flags.Folder != "" && !flags.Given("config") && flags.Settings.File != "" {
		words = append(words, "--config="+flags.Settings.File)
	}
	if live {
		words = append(words, flags.Words(clusterFlags...)...)
	}
	return words
}

// asLint returns the words of a lint with the same flags.
func (flags *Flags) asLint(c *command.Call) command.AsLint {
	return command.AsLint{Name: c.Name, Flags: append(flags.Judging(false), flags.Words("reserved-in-core")...), Cluster: flags.Words("kubeconfig", "context")}
}
