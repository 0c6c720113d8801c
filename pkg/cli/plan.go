// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/plan"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/pkg/words"
)

type planFlags struct {
	*inputs
	output, failOn, git, order string
}

// What --fail-on of plan may be.
const (
	failOnBreaking = "breaking"
	failOnChange   = "change"
)

func (c *command) plan() *cobra.Command {
	flags := &planFlags{}
	cmd := &cobra.Command{
		Use:        "plan [OLD] NEW [FILE...]",
		SuggestFor: []string{"diff"},
		Short:      "Say what an update of a profile does to its users",
		Long: `Compares two versions of a CloudProfile or NamespacedCloudProfile, and says what the update from OLD to NEW does: to each image
version on each machine type in each region, and to the worker pools of the Shoots in the files. A CloudProfile is also
seen through the NamespacedCloudProfiles whose parent it is; a NamespacedCloudProfile needs its parent among the files. Other
objects in OLD and NEW count as if they were among the files.

  refused      Gardener or admission would refuse the update
  locked       no later update of these Shoots would pass Gardener
  no-machines  worker pools get no new machines any more
  maintenance  Gardener's maintenance would choose the version for worker pools that do not boot it
  other-image  another image is booted
  new, gone    a combination boots that did not before; or does not any more, and no worker pool among the
               inputs uses it

With a cluster, as with -A, NEW alone is enough: OLD is what the cluster has, whose Shoots and NamespacedCloudProfiles are
looked at. With --git OLD is what NEW has been in a revision of its git repository.

The exit status is 1 if there is anything of the first four kinds, with --fail-on=change if there is anything. Lists that are
merely ordered in another way change nothing.

Shoots that are being deleted are left out.`,
		Example: "  capkit plan cloudprofile.yaml cloudprofile-new.yaml shoots.yaml\n" +
			"  capkit plan -A cloudprofile-new.yaml\n" +
			"  capkit plan --git main cloudprofile.yaml shoots/\n" +
			"  capkit plan --git origin/main -o markdown --fail-on=change cloudprofile.yaml shoots/ > comment.md\n" +
			"  kubectl get cloudprofile openstack -o yaml | capkit plan - cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return c.runPlan(cmd, args, flags) },
	}
	flags.inputs = inputFlags(cmd)
	cmd.Args = func(_ *cobra.Command, args []string) error { return flags.check(args) }
	outputFlag(cmd, &flags.output, []string{"json", "markdown", "text", "yaml"})
	choiceFlag(cmd, &flags.failOn, "fail-on", failOnBreaking, "`KIND` of change that makes the exit status 1", []string{failOnBreaking, failOnChange})
	orderFlag(cmd, &flags.order)
	cmd.Flags().StringVar(&flags.git, "git", "",
		"compare NEW, without an OLD, with what it has been in this `REVISION` of its git repository")
	complete(cmd, "git", nil) // a revision, and no file
	return cmd
}

// check returns what is wrong with the flags and the arguments, whatever is in the files.
func (f *planFlags) check(args []string) error {
	standard := 0
	for _, arg := range args {
		if arg == "-" {
			standard++
		}
	}
	if err := f.inputs.check(append(args, "NEW")); err != nil { // what is wrong with the flags of the cluster
		return err
	}
	switch {
	case f.failOn != failOnBreaking && f.failOn != failOnChange:
		return fmt.Errorf("unknown --fail-on %q: use %s or %s", f.failOn, failOnBreaking, failOnChange)
	case f.given("git") && f.git == "":
		return errors.New("--git is empty: name a revision, or leave the flag out and give OLD and NEW")
	case f.given("git") && len(args) == 0:
		return errors.New("no NEW given: name the file that is compared with its earlier self")
	case f.live() && len(args) == 0:
		return errors.New("no NEW given: name the file with the CloudProfile or NamespacedCloudProfile as it is to become")
	case !f.given("git") && !f.live() && len(args) < 2:
		return errors.New("OLD and NEW are two files with the same CloudProfile or NamespacedCloudProfile, before and after the update: " +
			"name both; or compare a file with its earlier self, by --git, or with a cluster, by -A")
	case standard > 1:
		return errors.New("standard input is given twice, and can be read once")
	}
	return nil
}

// planned is what plan prints. Its JSON is an interface: a field once published keeps its name and meaning.
type planned struct {
	// Profile is the name of the one that is updated, [NAMESPACE/]NAME.
	Profile string        `json:"profile"`
	Changes []plan.Change `json:"changes"`
	Summary plan.Summary  `json:"summary"`

	kind string
	// withoutUsers is set if neither Shoots were given nor a cluster asked for them.
	withoutUsers bool
}

func (c *command) runPlan(cmd *cobra.Command, args []string, flags *planFlags) error {
	order, err := capability.ParseOrder(flags.order)
	if err != nil {
		return err
	}
	u, err := c.readUpdate(cmd.Context(), args, flags)
	if err != nil {
		return err
	}
	u.order = order
	comparing := c.terminal.begin("comparing", 0)
	answer, err := u.plan()
	comparing.end()
	if err := c.printFindings(u.before, err); err != nil {
		return err
	}
	c.printNotes(u.before)
	answer.withoutUsers = len(u.before.shoots.all) == 0 && !flags.given("namespace") && !flags.given("all-namespaces")
	if flags.output == "markdown" {
		answer.markdown(c.stdout)
	} else if err := printAs(c.stdout, flags.output, answer, func(w io.Writer) { answer.print(w) }); err != nil {
		return err
	}
	breaks := func(c plan.Change) bool { return flags.failOn == failOnChange || c.Kind.Breaks() }
	if len(u.before.findings) > 0 || slices.ContainsFunc(answer.Changes, breaks) {
		return errWrong
	}
	return nil
}

// profileUpdate is that of a CloudProfile or, if this is nil, of a NamespacedCloudProfile, in two gardens that differ in nothing
// else. Only the notes and findings of the one before are shown.
type profileUpdate struct {
	kind, name    string
	before, after *garden
	// order is the preference order by which worker pools get their images.
	order      capability.Order
	profile    *change[v1beta1.CloudProfile]
	namespaced *change[v1beta1.NamespacedCloudProfile]
	// renamed is as Formerly of an [update.View], of the profiles before and after; nil if no version has had another name.
	renamed func(before, after anyProfile) func(resolve.Combination) (version string, counts bool)
}

// change is an object before and after its update.
type change[T any] struct{ old, updated *source[T] }

// view is a profile before and after the update, under the name of a NamespacedCloudProfile, with the Shoots that use it.
func (u *profileUpdate) view(name string, before, after anyProfile, shoots []plan.Shoot) update.View[any] {
	v := update.View[any]{Name: name, Before: before, After: after, Users: plan.UsersOf(shoots), Order: u.order, All: true}
	if u.renamed != nil {
		v.Formerly = u.renamed(before, after)
	}
	return v
}

// plan returns what the update does. The error says why that cannot be told.
func (u *profileUpdate) plan() (*planned, error) {
	of := u.ofProfile
	if u.profile == nil {
		of = u.ofNamespaced
	}
	views, refused, err := of()
	if err != nil {
		return nil, err
	}
	found, unread := plan.Of(views...)
	for _, pool := range unread {
		u.findUnread(&views[pool.View], pool)
	}
	changes := append([]plan.Change{}, slices.Concat(refused, found)...)
	plan.Sort(changes)
	return &planned{Profile: u.name, Changes: changes, Summary: plan.Summarize(changes), kind: u.kind}, nil
}

// ofProfile returns the views of an update of a CloudProfile, and what is refused about it. There are no views if that is all there
// is to say.
func (u *profileUpdate) ofProfile() ([]update.View[any], []plan.Change, error) {
	old, updated := u.profile.old, u.profile.updated
	u.findUnknown()
	children := u.children()
	if old.object.Spec.Type != updated.object.Spec.Type {
		refused, err := u.retyped(children)
		return nil, refused, err
	}
	was, fault := u.before.compile(old, "spec.type")
	is, also := u.after.compile(updated, "spec.type")
	if fault = errorOf(fault, also); fault != nil {
		return nil, nil, fmt.Errorf("CloudProfile %s: %s", u.name, fault.Detail)
	}
	all := u.shoots("CloudProfile", u.name, was)
	views := []update.View[any]{u.view("", was, is, all)}
	var objects []*v1beta1.NamespacedCloudProfile
	for _, child := range children {
		was, fault := u.before.compileNamespaced(child, "spec.providerConfig")
		is, also := u.after.compileNamespaced(u.after.namespaced.byName[child.name], "spec.providerConfig")
		if fault = errorOf(fault, also); fault != nil {
			u.before.error(child.manifest, fault)
			continue
		}
		shoots := u.shoots("NamespacedCloudProfile", child.name, was)
		views, objects = append(views, u.view(child.name, was, is, shoots)), append(objects, child.object)
		all = slices.Concat(all, shoots)
	}
	u.noteRegions(is, all)
	stored, storedOld := u.after.stored(updated), u.before.stored(old)
	refused := byGardener(withHints(stored, gardener.ValidateUpdate(stored, storedOld)))
	_, report := check.CloudProfileUpdate(was, stored, storedOld)
	refused = append(refused, byAdmission(report)...)
	refused = append(refused, inUse(plan.InUse(stored, storedOld, objects, all))...)
	return views, refused, nil
}

// ofNamespaced does so for a NamespacedCloudProfile.
func (u *profileUpdate) ofNamespaced() ([]update.View[any], []plan.Change, error) {
	old, updated := u.namespaced.old, u.namespaced.updated
	parent, reference := u.before.parentOf(updated), updated.object.Spec.Parent
	switch {
	case parent == nil:
		return nil, nil, fmt.Errorf("CloudProfile %s, the parent of NamespacedCloudProfile %s, is not among the inputs: "+
			"give its manifest as well", words.Quoted(reference.Name), u.name)
	case parent.object == nil:
		return nil, nil, fmt.Errorf("CloudProfile %s, the parent of NamespacedCloudProfile %s, cannot be read", reference.Name, u.name)
	}
	above, fault := u.before.compile(parent, "spec.type")
	if fault != nil {
		return nil, nil, fmt.Errorf("CloudProfile %s: %s", reference.Name, fault.Detail)
	}
	inGarden := u.before.stored(parent)
	stored, storedOld := u.after.storedNamespaced(updated, inGarden), u.before.storedNamespaced(old, inGarden)
	was, fault := u.before.compileNamespaced(old, "")
	is, also := u.after.compileNamespaced(updated, "")
	if fault = errorOf(fault, also); fault != nil {
		return nil, nil, fmt.Errorf("NamespacedCloudProfile %s: %s", u.name, fault.Detail)
	}
	_, report := check.NamespacedCloudProfileUpdate(above, stored, storedOld)
	own := append(report.Errors.Errors(), report.Warnings.Errors()...)
	refused := byGardener(withHints(stored, gardener.ValidateNamespacedUpdate(stored, storedOld, inGarden,
		func(err *field.Error) bool { return repeats(err, own) })))
	shoots := u.shoots("NamespacedCloudProfile", u.name, was)
	refused = append(refused, byAdmission(report)...)
	refused = append(refused, inUse(plan.InUseNamespaced(stored, storedOld, inGarden, shoots))...)
	return []update.View[any]{u.view("", was, is, shoots)}, refused, nil
}

func errorOf(errs ...*field.Error) *field.Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// retyped returns what refuses an update that gives the CloudProfile another type: those who use it. With another type there
// is nothing else to compare, which the error says if nobody uses it.
func (u *profileUpdate) retyped(children []*source[v1beta1.NamespacedCloudProfile]) ([]plan.Change, error) {
	old, updated := u.profile.old.object, u.profile.updated.object
	var users []string
	for s := range u.remaining() {
		if kind, name, _ := profileNameOf(s.object); kind == "CloudProfile" && name == u.name {
			users = append(users, "Shoot "+s.name)
		}
	}
	for _, child := range children {
		users = append(users, "NamespacedCloudProfile "+child.name)
	}
	if len(users) > 0 {
		return []plan.Change{refusal(check.TypeInUse(updated, old, users).Error)}, nil
	}
	return nil, fmt.Errorf("CloudProfile %s has type %s in OLD and %s in NEW, whose images have nothing in common to compare: "+
		"give NEW the type of OLD", u.name, words.Quoted(old.Spec.Type), words.Quoted(updated.Spec.Type))
}

// findUnread makes findings of what is wrong with the providerConfig of a worker pool.
func (u *profileUpdate) findUnread(v *update.View[any], unread update.Pool) {
	user := &v.Users[unread.User]
	u.before.error(u.before.shoots.byName[user.Name()].manifest, resolve.Pool(v.Before, user.Pools[unread.Index]).Further.Errors()...)
}

// byGardener makes changes of what Gardener's validation refuses.
func byGardener(errs field.ErrorList) []plan.Change {
	var changes []plan.Change
	for _, err := range errs {
		changes = append(changes, refusal(err))
	}
	return changes
}

// byAdmission makes changes of the errors of a report.
func byAdmission(report finding.Report) []plan.Change { return byGardener(report.Errors.Errors()) }

func refusal(err *field.Error) plan.Change {
	return plan.Change{
		Kind: plan.Refused, Rule: err.Origin, Field: err.Field, Message: message(err), Pools: []plan.Pool{},
	}
}

// inUse says of changes that it is Gardener which refuses them.
func inUse(changes []plan.Change) []plan.Change {
	for i := range changes {
		changes[i].Rule = gardener.RuleCore
	}
	return changes
}
