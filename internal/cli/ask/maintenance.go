// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ask

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

type maintenanceFlags struct {
	*input.Flags
	at, output string
	noWebhook  bool
}

// Maintenance returns the command maintenance.
func Maintenance(c *command.Call) *cobra.Command {
	flags := &maintenanceFlags{}
	cmd := &cobra.Command{
		Use:   "maintenance FILE...",
		Short: "Say what the next maintenance does to the images and the Kubernetes of Shoots",
		Long: `Says for each worker pool of the Shoots in the files what their next maintenance does to its image: with the
webhook mutate-shoot, which keeps to versions that boot for the pool, or without it. A pool whose version is no longer
good, and that nothing replaces, is stuck; what Gardener refuses makes the maintenance of the whole Shoot fail. The exit
status is 1 then. Kubernetes is mentioned where its version changes.

Shoots that are being deleted are left out.`,
		Example: "  capkit maintenance shoot.yaml cloudprofile.yaml\n" +
			"  capkit maintenance --at 2027-01-31T00:00:00Z shoot.yaml cloudprofile.yaml\n" +
			"  capkit maintenance --no-webhook shoot.yaml cloudprofile.yaml namespacedcloudprofile.yaml\n" +
			"  capkit maintenance -A cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return runMaintenance(cmd.Context(), c, args, flags) },
	}
	flags.Flags = input.NewFlags(cmd)
	flags.AllowEmptyFlag(cmd)
	cmd.Flags().StringVar(&flags.at, "at", "",
		"`TIME` of the maintenance, like 2027-01-31T00:00:00Z, by which versions may have expired (default now)")
	command.Complete(cmd, "at", nil) // a time, and no file
	cmd.Flags().BoolVar(&flags.noWebhook, "no-webhook", false, "answer as without the webhook mutate-shoot")
	command.OutputFlag(cmd, &flags.output, command.AnswerFormats)
	return cmd
}

// The actions of maintenance.
const (
	ActionStays   = "stays"
	ActionUpdated = "updated"
	ActionForced  = "forced"
	ActionStuck   = "stuck"
	ActionFails   = "fails"
)

// Maintained is what maintenance prints. Its JSON is an interface: a field once published keeps its name and meaning.
type Maintained struct {
	Pools      []MaintainedPool       `json:"pools"`
	Kubernetes []MaintainedKubernetes `json:"kubernetes"`
}

// MaintainedPool is about the image of a worker pool.
type MaintainedPool struct {
	// Shoot as NAMESPACE/NAME.
	Shoot string `json:"shoot"`
	Pool  string `json:"pool"`
	Image string `json:"image"`
	// From is the version that the pool has or, if it leaves that to Gardener, gets when it is created.
	From   string `json:"from"`
	To     string `json:"to"`
	Action string `json:"action"`
	// Core is the version that Gardener alone would pick; empty if that is the same as To.
	Core   string `json:"core,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Who is the Shoot and its worker pool, in words.
func (p *MaintainedPool) Who() string { return p.Shoot + ", worker pool " + p.Pool }

// MaintainedKubernetes is about a version of Kubernetes that changes: that of the control plane or, if Pool is not
// empty, that of a worker pool with a version of its own.
type MaintainedKubernetes struct {
	Shoot  string `json:"shoot"`
	Pool   string `json:"pool,omitempty"`
	From   string `json:"from"`
	To     string `json:"to"`
	Action string `json:"action"`
}

// Who is the Shoot, with the worker pool if it is about one, in words.
func (k *MaintainedKubernetes) Who() string {
	return strings.TrimSuffix(k.Shoot+", worker pool "+k.Pool, ", worker pool ")
}

func runMaintenance(ctx context.Context, c *command.Call, args []string, flags *maintenanceFlags) error {
	var after time.Duration
	if flags.at != "" {
		at, err := time.Parse(time.RFC3339, flags.at)
		if err != nil {
			return fmt.Errorf("--at %q is no time: write it like 2027-01-31T00:00:00Z", flags.at)
		}
		after = time.Until(at)
	}
	g, err := input.Load(ctx, c, args, flags.Flags, true)
	if err != nil {
		return err
	}
	if len(g.Shoots.All) == 0 {
		err = flags.Nothing(g, "Shoot")
	}
	later := Maintainers(after)
	answer := Maintained{Pools: []MaintainedPool{}, Kubernetes: []MaintainedKubernetes{}}
	maintaining := c.Terminal.Begin("asking about the maintenance of Shoots", len(g.Shoots.All))
	for _, s := range g.Shoots.All {
		maintaining.Steps(1)
		if s.Object == nil || s.Object.DeletionTimestamp == nil {
			Maintain(g, &answer, s, later, !flags.noWebhook)
		}
		s.Forget()
	}
	maintaining.End()
	if err := input.PrintFindings(c, g, err); err != nil {
		return err
	}
	input.PrintNotes(c, g)
	if err := command.PrintAs(c.Stdout, flags.output, answer, answer.print); err != nil {
		return err
	}
	wrong := func(p MaintainedPool) bool { return p.Action == ActionStuck || p.Action == ActionFails }
	if len(g.Findings) > 0 || slices.ContainsFunc(answer.Pools, wrong) {
		return command.ErrWrong
	}
	return nil
}

// Maintainer is the maintenance of Shoots by one profile.
type Maintainer struct {
	profile input.AnyProfile
	// spec of the profile, as it is at the time.
	spec *v1beta1.CloudProfileSpec
	by   *maintenance.Maintainer
	// known says why worker pools of a shape boot nothing, empty if they do; and sound whether there is nothing else wrong
	// with them.
	known map[provider.Shape]string
	sound map[provider.Shape]bool
}

// Maintainers returns a function that returns the maintenance by a profile as it is some time from now: one for each profile.
func Maintainers(after time.Duration) func(input.AnyProfile) *Maintainer {
	known := map[*v1beta1.CloudProfileSpec]*Maintainer{}
	return func(p input.AnyProfile) *Maintainer {
		return memo.Get(known, p.Spec(), func() *Maintainer {
			later := maintenance.After(p.Spec(), after)
			by := maintenance.NewMaintainer(later, p.Provider().Workers())
			return &Maintainer{p, later, by, map[provider.Shape]string{}, map[provider.Shape]bool{}}
		})
	}
}

// whyNot says why a worker pool boots nothing.
func (m *Maintainer) whyNot(pool provider.Pool) string {
	shape := m.profile.Provider().Workers().ShapeOf(&pool)
	return memo.Get(m.known, shape, func() string { return resolve.WhyNot(m.profile, pool) })
}

// further returns what is wrong with a worker pool besides that it boots nothing.
func (m *Maintainer) further(pool provider.Pool) field.ErrorList {
	shape := m.profile.Provider().Workers().ShapeOf(&pool)
	if m.sound[shape] {
		return nil
	}
	further := resolve.Pool(m.profile, pool).Further.Errors() // with the paths of this pool
	m.sound[shape] = len(further) == 0
	return further
}

// Maintain adds what maintenance does to a Shoot at that time. What is wrong with the Shoot becomes findings.
func Maintain(g *input.Given,
	answer *Maintained, s *input.Source[v1beta1.Shoot], later func(input.AnyProfile) *Maintainer, webhook bool,
) {
	p := g.ProfileToAsk(s)
	if p == nil {
		return
	}
	if errs := gardener.ValidateKubernetesIn(s.Object, p.Spec()); len(errs) > 0 {
		g.AddErrors(s.Manifest, errs...)
		return
	}
	shoot := input.AsStored(p, s.Object)
	m := &shootMaintenance{Maintainer: later(p), name: s.Name, shoot: shoot}
	for i, pool := range provider.PoolsOf(shoot) {
		g.AddErrors(s.Manifest, m.further(pool)...)
		m.boots = append(m.boots, resolve.Boots(p, pool))
		worker, boots := &shoot.Spec.Provider.Workers[i], maintenance.Filter(nil)
		if !input.LeavesImage(*worker) {
			continue
		}
		if webhook {
			boots = m.boots[i]
		}
		if image, err := input.FilledImage(p, worker, shoot.Spec.Kubernetes.Version, boots); err == nil {
			input.SetImage(worker, image)
		}
	}
	m.pools = provider.PoolsOf(shoot)
	m.run(webhook)
	for i := range m.pools {
		answer.Pools = append(answer.Pools, m.pool(i))
	}
	answer.Kubernetes = append(answer.Kubernetes, m.kubernetes()...)
}

// shootMaintenance is the maintenance of one Shoot, which is as the API server has it.
type shootMaintenance struct {
	*Maintainer
	name  string
	shoot *v1beta1.Shoot
	pools []provider.Pool
	// boots reports what boots for each worker pool; nil if that cannot be told.
	boots []func(image, version string) bool

	// core is what Gardener's controller makes of the Shoot, and written what is made of that before it is validated.
	core, written maintenance.Maintained
	// rejections say why the API server does not take it, for each worker pool; rejected is the first of them that
	// does.
	rejections []string
	rejected   int
}

// run does the maintenance.
func (m *shootMaintenance) run(webhook bool) {
	m.core = m.by.Maintain(m.shoot)
	m.written = m.core
	m.written.Shoot, m.written.Images = m.core.Shoot.DeepCopy(), slices.Clone(m.core.Images)
	for i := range m.pools {
		if !webhook || m.boots[i] == nil || m.core.Images[i].Version == "" {
			continue
		}
		outcome, replaced := m.by.Replace(m.shoot, m.core.Shoot,
			&m.shoot.Spec.Provider.Workers[i], &m.core.Shoot.Spec.Provider.Workers[i], &m.pools[i], m.boots[i])
		if replaced {
			m.written.Images[i] = outcome
			version := cmp.Or(outcome.Version, m.pools[i].Version)
			m.written.Shoot.Spec.Provider.Workers[i].Machine.Image.Version = &version
		}
	}
	m.rejections = m.by.Rejections(m.shoot, m.written.Shoot, m.notBooting)
	m.rejected = slices.IndexFunc(m.rejections, func(reason string) bool { return reason != "" })
}

// notBooting says why a worker pool does not boot an image; empty if it does.
func (m *shootMaintenance) notBooting(worker int, image maintenance.Image) string {
	pool := m.pools[worker]
	pool.Image, pool.Version = image.Name, image.Version
	switch boots := m.boots[worker]; {
	case boots == nil:
		return "the providerConfig of the worker pool cannot be read, so that it is not known what it boots"
	case boots(image.Name, image.Version):
		return ""
	}
	return image.Version + " boots nothing for this pool: " + m.whyNot(pool)
}

// pool returns what becomes of the image of a worker pool.
func (m *shootMaintenance) pool(i int) MaintainedPool {
	from, outcome := m.pools[i].Version, m.written.Images[i]
	p := MaintainedPool{
		Shoot: m.name, Pool: m.pools[i].Name, Image: m.pools[i].Image, From: from, To: cmp.Or(outcome.Version, from),
	}
	replaced := cmp.Or(m.core.Images[i].Version, from) != p.To
	lost := m.lost(i)
	switch {
	case m.rejected >= 0 && p.To != from:
		p.Action, p.To, p.Reason = ActionFails, from, m.rejection(i)
		replaced = m.core.Images[i].Version != from
	case p.To != from && outcome.Forced:
		p.Action, p.Reason = ActionForced, cmp.Or(lost, from+" cannot be had any more by this pool")
	case p.To != from:
		p.Action = ActionUpdated
	case lost != "" && i == m.core.GivenUp: // what is lost is why it ends here
		p.Action, p.Reason = ActionStuck, cmp.Or(m.rejections[i], m.givenUp())
	case lost != "":
		p.Action, p.Reason = ActionStuck, m.stuck(i, lost)
		if m.rejections[i] != "" {
			p.Reason += "; " + m.rejections[i]
		}
	case m.rejected >= 0 && m.rejections[i] != "":
		p.Action, p.Reason = ActionFails, m.rejection(i)
	case outcome.Err != nil && outcome.Forced:
		p.Action, p.Reason = ActionStuck, m.stuck(i, from+" cannot be had any more by this pool")
	default:
		p.Action, p.Reason = ActionStays, m.stays(i)
	}
	if replaced {
		p.Core = cmp.Or(m.core.Images[i].Version, from)
	}
	if replaced && (p.Action == ActionStays || p.Action == ActionUpdated) {
		p.Reason = m.unsuitable(i)
	}
	return p
}

// lost says why the version of a worker pool is no longer good; empty if it is.
func (m *shootMaintenance) lost(i int) string {
	image := maintenance.Image{Name: m.pools[i].Image, Version: m.pools[i].Version}
	if reason := m.by.Gone(image); reason != "" {
		return reason
	}
	if m.boots[i] == nil {
		return ""
	}
	return m.notBooting(i, image)
}

// stuck says why a worker pool gets no other version, beside why its own is lost.
func (m *shootMaintenance) stuck(i int, lost string) string {
	switch {
	case i >= m.core.GivenUp:
		return m.givenUp() + "; " + lost
	case m.core.Images[i].Version != "":
		return "nothing replaces it: " + lost + ", and " + m.unsuitable(i)
	case m.written.Images[i].Err == nil && !maintenance.UpdatesImages(m.shoot):
		return "automatic updates of images are switched off, and " + lost
	}
	return "nothing replaces it: " + lost
}

// stays says why a worker pool keeps a version that is good.
func (m *shootMaintenance) stays(i int) string {
	switch {
	case i >= m.core.GivenUp:
		return m.givenUp()
	case m.written.Images[i].Err != nil:
		return fmt.Sprintf("Gardener finds nothing newer: %v", m.written.Images[i].Err)
	case !maintenance.UpdatesImages(m.shoot):
		return "automatic updates of images are switched off"
	}
	strategy := v1beta1.UpdateStrategyMajor // by default
	for _, image := range m.spec.MachineImages {
		if image.Name == m.pools[i].Image && image.UpdateStrategy != nil {
			strategy = *image.UpdateStrategy
		}
	}
	return fmt.Sprintf("there is nothing newer that update strategy %s allows", strategy)
}

// givenUp says which worker pool ends the maintenance of images.
func (m *shootMaintenance) givenUp() string {
	return fmt.Sprintf("Gardener updates no image from worker pool %s on: %v",
		m.pools[m.core.GivenUp].Name, m.core.Images[m.core.GivenUp].Err)
}

// unsuitable says why a worker pool does not get what Gardener has picked.
func (m *shootMaintenance) unsuitable(i int) string {
	image := maintenance.Image{Name: m.pools[i].Image, Version: m.core.Images[i].Version}
	if reason := m.notBooting(i, image); reason != "" {
		return reason
	}
	before, after := &m.shoot.Spec.Provider.Workers[i], &m.core.Shoot.Spec.Provider.Workers[i]
	return fmt.Sprintf("Gardener refuses %s: %s", image,
		m.by.Refused(image, after, before, m.core.Shoot.Spec.Kubernetes.Version))
}

// rejection says why the maintenance of the whole Shoot fails, to one of its worker pools.
func (m *shootMaintenance) rejection(i int) string {
	if m.rejections[i] != "" {
		return m.rejections[i]
	}
	return fmt.Sprintf("worker pool %s: %s", m.pools[m.rejected].Name, m.rejections[m.rejected])
}

// kubernetes returns what becomes of the versions of Kubernetes, as far as they change.
func (m *shootMaintenance) kubernetes() []MaintainedKubernetes {
	if m.rejected >= 0 {
		return nil
	}
	var found []MaintainedKubernetes
	add := func(pool, from string, outcome maintenance.Outcome) {
		if outcome.Version == "" {
			return
		}
		action := ActionUpdated
		if outcome.Forced {
			action = ActionForced
		}
		found = append(found, MaintainedKubernetes{m.name, pool, from, outcome.Version, action})
	}
	add("", m.shoot.Spec.Kubernetes.Version, m.core.Kubernetes)
	for i, worker := range m.shoot.Spec.Provider.Workers {
		if worker.Kubernetes != nil && worker.Kubernetes.Version != nil {
			add(worker.Name, *worker.Kubernetes.Version, m.core.Kubelets[i])
		}
	}
	return found
}

// print writes the answer for people.
func (a Maintained) print(w io.Writer) {
	for _, p := range a.Pools {
		does := map[string]string{
			ActionStays: "stays", ActionUpdated: "is updated to " + p.To, ActionForced: "is forced to " + p.To,
			ActionStuck: "is stuck", ActionFails: "stays, because the maintenance of the Shoot fails",
		}[p.Action]
		image := maintenance.Image{Name: p.Image, Version: p.From}
		report.Printf(w, "%s: %s %s", p.Who(), image, does)
		if p.Reason != "" {
			report.Printf(w, ": %s", p.Reason)
		}
		fmt.Fprintln(w)
	}
	for _, k := range a.Kubernetes {
		report.Printf(w, "%s: Kubernetes %s is %s to %s\n", k.Who(), k.From, k.Action, k.To)
	}
}
