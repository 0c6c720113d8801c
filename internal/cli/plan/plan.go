// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
)

type planFlags struct {
	*input.Flags
	output, failOn, git, order string
	compare, reservedInCore    bool
	// filter selects Shoots and worker pools.
	filter input.Filter
}

// The values of plan's --fail-on.
const (
	failOnBreaking = "breaking"
	failOnChange   = "change"
)

// Command returns the command plan.
func Command(c *command.Call) *cobra.Command {
	flags := &planFlags{}
	cmd := &cobra.Command{
		Use:        "plan [OLD] NEW [FILE...]",
		SuggestFor: []string{"diff"},
		Short:      "Show how a profile update affects its users",
		Long: `Compares two versions of a CloudProfile or NamespacedCloudProfile, and shows the effects of the update from OLD to NEW: on each image
version on each machine type in each region, and on the worker pools of the Shoots in the files. A CloudProfile is also
checked with the NamespacedCloudProfiles that extend it; a NamespacedCloudProfile needs its parent among the files. Other
objects in OLD and NEW count as if they were among the files.

  refused      Gardener or admission would refuse the update
  locked       Gardener would reject all later updates of these Shoots
  no-machines  worker pools can no longer create machines
  kept         worker pools keep an image that the profile no longer has for them; new ones are refused
  maintenance  Gardener's maintenance would choose the version for worker pools that cannot boot it
  expires      an image version gets another expiration date, with the consequences for its users, or worker pools get
               stuck on the one that it has
  kubernetes   a Kubernetes version is new or gone, or has another expiration date or classification
  will-update  the next maintenance leaves worker pools with another version than before the update, or stuck
  other-image  another image is booted
  meaning      the registration of a reserved capability changes, so that flavors that leave it out
               support other values
  offer        the choices of owners of Shoots change
  new, gone    a combination boots now, and did not before; or no longer boots, and no worker pool among the
               inputs uses it

With a cluster, as with -A, NEW alone is enough: OLD, the Shoots and the NamespacedCloudProfiles are read from the cluster.
With --git, OLD is the version of NEW in a revision of its git repository.

All other fields that differ are counted and named. "Nothing changes" is printed for equal profiles only: the order of lists,
defaults, and fields that the API server writes itself do not count.

The exit status is 1 for a change of the first five kinds, if worker pools get stuck at an expiration date or in the next maintenance,
or if something in use can no longer be chosen, even if existing worker pools keep it; with --fail-on=change for any change.

Shoots that are being deleted are left out; a note names those that are locked, since their deletion does not end. With --shoot, --pool
and the like, other Shoots and worker pools are left out, too.

With --compare, OLD and NEW have two CloudProfiles, such as those of two landscapes. The output then shows their differences, not the
effects of an update, and the exit status is 0.`,
		Example: "  capkit plan cloudprofile.yaml cloudprofile-new.yaml shoots.yaml\n" +
			"  capkit plan -A cloudprofile-new.yaml\n" +
			"  capkit plan --git main cloudprofile.yaml shoots/\n" +
			"  capkit plan --git origin/main -o markdown --fail-on=change cloudprofile.yaml shoots/ > comment.md\n" +
			"  kubectl get cloudprofile openstack -o yaml | capkit plan - cloudprofile.yaml\n" +
			"  capkit plan --compare staging.yaml production.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return runPlan(c, cmd, args, flags) },
	}
	flags.add(cmd)
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if err := flags.ReadSettings(nil); err != nil {
			return err
		}
		return errors.Join(flags.check(args), flags.Complete("reserved-in-core"))
	}
	return cmd
}

// add adds the flags to the command.
func (f *planFlags) add(cmd *cobra.Command) {
	f.Flags = input.NewFlags(cmd)
	f.SettingsFlags(cmd)
	command.OutputFlag(cmd, &f.output, []string{"json", "markdown", "text", "yaml"})
	command.ChoiceFlag(cmd, &f.failOn, "fail-on", failOnBreaking, "`KIND` of change that makes the exit status 1", []string{failOnBreaking, failOnChange})
	command.OrderFlag(cmd, &f.order)
	cmd.Flags().StringVar(&f.git, "git", "",
		"compare NEW, without an OLD, with its content in this `REVISION` of its git repository")
	command.Complete(cmd, "git", nil) // a revision, and no file
	checks.ReservedFlag(cmd, &f.reservedInCore)
	f.filter.Flags(cmd)
	cmd.Flags().BoolVar(&f.compare, "compare", false,
		"compare two CloudProfiles with any names, such as those of two landscapes: this is not an update, and nothing breaks")
}

// check returns the mistakes in the flags and arguments, without reading files.
func (f *planFlags) check(args []string) error {
	if err := f.Flags.Check(append(args, "NEW")); err != nil { // the cluster flags
		return err
	}
	stdin := slices.Index(args, "-")
	switch {
	case stdin >= 0 && slices.Contains(args[stdin+1:], "-"):
		return errors.New("standard input is given twice, and can be read once")
	case f.failOn != failOnBreaking && f.failOn != failOnChange:
		return fmt.Errorf("unknown --fail-on %q: use %s or %s", f.failOn, failOnBreaking, failOnChange)
	case f.compare:
		return f.checkComparison(args)
	case f.Given("git") && f.git == "":
		return errors.New("--git is empty: name a revision, or leave the flag out and give OLD and NEW")
	case f.Given("git") && len(args) == 0:
		return errors.New("no NEW given: name the file that is compared with its earlier self")
	case f.Live() && len(args) == 0:
		return errors.New("no NEW given: name the file with the CloudProfile or NamespacedCloudProfile as it is to become")
	case !f.Given("git") && !f.Live() && len(args) < 2:
		return errors.New("OLD and NEW are two files with the same CloudProfile or NamespacedCloudProfile, before and after the update: " +
			"name both; or compare a file with its earlier self, by --git, or with a cluster, by -A")
	}
	return nil
}

// checkComparison checks the arguments of --compare.
func (f *planFlags) checkComparison(args []string) error {
	switch {
	case f.Given("git") || f.Live():
		return errors.New("--compare compares two files: leave out --git and the flags for a cluster")
	case len(args) != 2:
		return errors.New("--compare takes two files, with a CloudProfile each")
	case f.filter.Said() != "":
		return fmt.Errorf("--compare looks at no Shoots: leave %s out", f.filter.Said())
	}
	return nil
}

func runPlan(c *command.Call, cmd *cobra.Command, args []string, flags *planFlags) error {
	order, err := input.Order(flags.order)
	if err != nil {
		return err
	}
	u, err := readUpdate(cmd.Context(), c, args, flags)
	if err != nil {
		return err
	}
	u.Before.Order, u.After.Order = order, order
	if err := flags.filter.Choose(u.Before); err != nil {
		return err
	}
	u.Filter, u.Before.ReservedInCore = flags.filter, flags.reservedInCore
	comparing := c.Terminal.Begin("comparing", 0)
	answer, err := u.Plan()
	comparing.End()
	if err := input.PrintFindings(c, u.Before, err); err != nil {
		return err
	}
	if said := flags.filter.Said(); said != "" {
		u.Before.Notes = append(u.Before.Notes, "only the worker pools that match "+said+
			" were checked: the update may be refused because of others, or break them")
	}
	input.PrintNotes(c, u.Before)
	answer.WithoutUsers = !flags.compare && len(u.Before.Shoots.All) == 0 && !flags.Given("namespace") && !flags.Given("all-namespaces")
	if flags.output == "markdown" {
		markdown(answer, c.Stdout)
	} else if err := command.PrintAs(c.Stdout, flags.output, answer, func(w io.Writer) { Print(answer, w) }); err != nil {
		return err
	}
	breaks := func(c changes.Change) bool { return flags.failOn == failOnChange || c.Breaks() }
	differs := flags.failOn == failOnChange && len(answer.Others)+len(answer.Rewritten) > 0
	if answer.ComparedWith != "" {
		return nil
	}
	if len(u.Before.Findings) > 0 || differs || slices.ContainsFunc(answer.Changes, breaks) {
		return command.ErrWrong
	}
	return nil
}
