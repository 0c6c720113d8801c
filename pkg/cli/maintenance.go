// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

type maintenanceFlags struct {
	*inputs
	at, output string
	noWebhook  bool
}

func (c *command) maintenance() *cobra.Command {
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
		RunE: func(cmd *cobra.Command, args []string) error { return c.runMaintenance(cmd.Context(), args, flags) },
	}
	flags.inputs = inputFlags(cmd)
	flags.allowEmptyFlag(cmd)
	cmd.Flags().StringVar(&flags.at, "at", "",
		"`TIME` of the maintenance, like 2027-01-31T00:00:00Z, by which versions may have expired (default now)")
	complete(cmd, "at", nil) // a time, and no file
	cmd.Flags().BoolVar(&flags.noWebhook, "no-webhook", false, "answer as without the webhook mutate-shoot")
	outputFlag(cmd, &flags.output, answerFormats)
	return cmd
}

// The actions of maintenance.
const (
	actionStays   = "stays"
	actionUpdated = "updated"
	actionForced  = "forced"
	actionStuck   = "stuck"
	actionFails   = "fails"
)

// maintained is what maintenance prints. Its JSON is an interface: a field once published keeps its name and meaning.
type maintained struct {
	Pools      []maintainedPool       `json:"pools"`
	Kubernetes []maintainedKubernetes `json:"kubernetes"`
}

// maintainedPool is about the image of a worker pool.
type maintainedPool struct {
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

// maintainedKubernetes is about a version of Kubernetes that changes: that of the control plane or, if Pool is not
// empty, that of a worker pool with a version of its own.
type maintainedKubernetes struct {
	Shoot  string `json:"shoot"`
	Pool   string `json:"pool,omitempty"`
	From   string `json:"from"`
	To     string `json:"to"`
	Action string `json:"action"`
}

func (c *command) runMaintenance(ctx context.Context, args []string, flags *maintenanceFlags) error {
	var after time.Duration
	if flags.at != "" {
		at, err := time.Parse(time.RFC3339, flags.at)
		if err != nil {
			return fmt.Errorf("--at %q is no time: write it like 2027-01-31T00:00:00Z", flags.at)
		}
		after = time.Until(at)
	}
	g, err := c.load(ctx, args, flags.inputs, true)
	if err != nil {
		return err
	}
	if len(g.shoots.all) == 0 {
		err = flags.nothing(g, "Shoot")
	}
	later := maintainers(after)
	answer := maintained{Pools: []maintainedPool{}, Kubernetes: []maintainedKubernetes{}}
	maintaining := c.terminal.begin("asking about the maintenance of Shoots", len(g.shoots.all))
	for _, s := range g.shoots.all {
		maintaining.steps(1)
		if s.object == nil || s.object.DeletionTimestamp == nil {
			g.maintain(&answer, s, later, !flags.noWebhook)
		}
		s.forget()
	}
	maintaining.end()
	if err := c.printFindings(g, err); err != nil {
		return err
	}
	c.printNotes(g)
	if err := printAs(c.stdout, flags.output, answer, answer.print); err != nil {
		return err
	}
	wrong := func(p maintainedPool) bool { return p.Action == actionStuck || p.Action == actionFails }
	if len(g.findings) > 0 || slices.ContainsFunc(answer.Pools, wrong) {
		return errWrong
	}
	return nil
}

// maintainer is the maintenance of Shoots by one profile.
type maintainer struct {
	profile anyProfile
	// spec of the profile, as it is at the time.
	spec *v1beta1.CloudProfileSpec
	by   *maintenance.Maintainer
	// known says why worker pools of a shape boot nothing, empty if they do; and sound whether there is nothing else wrong
	// with them.
	known map[provider.Shape]string
	sound map[provider.Shape]bool
}

// maintainers returns a function that returns the maintenance by a profile as it is some time from now: one for each profile.
func maintainers(after time.Duration) func(anyProfile) *maintainer {
	known := map[*v1beta1.CloudProfileSpec]*maintainer{}
	return func(p anyProfile) *maintainer {
		if known[p.Spec()] == nil {
			later := maintenance.After(p.Spec(), after)
			by := maintenance.NewMaintainer(later, p.Provider().Workers())
			known[p.Spec()] = &maintainer{p, later, by, map[provider.Shape]string{}, map[provider.Shape]bool{}}
		}
		return known[p.Spec()]
	}
}

// whyNot says why a worker pool boots nothing.
func (m *maintainer) whyNot(pool provider.Pool) string {
	shape := m.profile.Provider().Workers().ShapeOf(&pool)
	reason, done := m.known[shape]
	if !done {
		reason = resolve.WhyNot(m.profile, pool)
		m.known[shape] = reason
	}
	return reason
}

// further returns what is wrong with a worker pool besides that it boots nothing.
func (m *maintainer) further(pool provider.Pool) field.ErrorList {
	shape := m.profile.Provider().Workers().ShapeOf(&pool)
	if m.sound[shape] {
		return nil
	}
	further := resolve.Pool(m.profile, pool).Further.Errors() // with the paths of this pool
	m.sound[shape] = len(further) == 0
	return further
}

// maintain adds what maintenance does to a Shoot at that time. What is wrong with the Shoot becomes findings.
func (g *garden) maintain(
	answer *maintained, s *source[v1beta1.Shoot], later func(anyProfile) *maintainer, webhook bool,
) {
	p := g.profileToAsk(s)
	if p == nil {
		return
	}
	if errs := gardener.ValidateKubernetesIn(s.object, p.Spec()); len(errs) > 0 {
		g.error(s.manifest, errs...)
		return
	}
	shoot := asStored(p, s.object)
	m := &shootMaintenance{maintainer: later(p), name: s.name, shoot: shoot}
	for i, pool := range provider.PoolsOf(shoot) {
		g.error(s.manifest, m.further(pool)...)
		m.boots = append(m.boots, resolve.Boots(p, pool))
		if worker := &shoot.Spec.Provider.Workers[i]; leavesImage(*worker) {
			m.fill(worker, m.boots[i], webhook)
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
	*maintainer
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

// fill sets the image of a worker where it is left to Gardener. It stays as it is if there is none.
func (m *shootMaintenance) fill(worker *v1beta1.Worker, boots maintenance.Filter, webhook bool) {
	if !webhook {
		boots = nil
	}
	image, err := filledImage(m.profile, worker, m.shoot.Spec.Kubernetes.Version, boots)
	if err == nil {
		setImage(worker, image)
	}
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
func (m *shootMaintenance) pool(i int) maintainedPool {
	from, outcome := m.pools[i].Version, m.written.Images[i]
	p := maintainedPool{
		Shoot: m.name, Pool: m.pools[i].Name, Image: m.pools[i].Image, From: from, To: cmp.Or(outcome.Version, from),
	}
	replaced := cmp.Or(m.core.Images[i].Version, from) != p.To
	lost := m.lost(i)
	switch {
	case m.rejected >= 0 && p.To != from:
		p.Action, p.To, p.Reason = actionFails, from, m.rejection(i)
		replaced = m.core.Images[i].Version != from
	case p.To != from && outcome.Forced:
		p.Action, p.Reason = actionForced, cmp.Or(lost, from+" cannot be had any more by this pool")
	case p.To != from:
		p.Action = actionUpdated
	case lost != "" && i == m.core.GivenUp: // what is lost is why it ends here
		p.Action, p.Reason = actionStuck, cmp.Or(m.rejections[i], m.givenUp())
	case lost != "":
		p.Action, p.Reason = actionStuck, m.stuck(i, lost)
		if m.rejections[i] != "" {
			p.Reason += "; " + m.rejections[i]
		}
	case m.rejected >= 0 && m.rejections[i] != "":
		p.Action, p.Reason = actionFails, m.rejection(i)
	case outcome.Err != nil && outcome.Forced:
		p.Action, p.Reason = actionStuck, m.stuck(i, from+" cannot be had any more by this pool")
	default:
		p.Action, p.Reason = actionStays, m.stays(i)
	}
	if replaced {
		p.Core = cmp.Or(m.core.Images[i].Version, from)
	}
	if replaced && (p.Action == actionStays || p.Action == actionUpdated) {
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
func (m *shootMaintenance) kubernetes() []maintainedKubernetes {
	if m.rejected >= 0 {
		return nil
	}
	var found []maintainedKubernetes
	add := func(pool, from string, outcome maintenance.Outcome) {
		if outcome.Version == "" {
			return
		}
		action := actionUpdated
		if outcome.Forced {
			action = actionForced
		}
		found = append(found, maintainedKubernetes{m.name, pool, from, outcome.Version, action})
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
func (a maintained) print(w io.Writer) {
	for _, p := range a.Pools {
		does := map[string]string{
			actionStays: "stays", actionUpdated: "is updated to " + p.To, actionForced: "is forced to " + p.To,
			actionStuck: "is stuck", actionFails: "stays, because the maintenance of the Shoot fails",
		}[p.Action]
		image := maintenance.Image{Name: p.Image, Version: p.From}
		report.Printf(w, "%s, worker pool %s: %s %s", p.Shoot, p.Pool, image, does)
		if p.Reason != "" {
			report.Printf(w, ": %s", p.Reason)
		}
		fmt.Fprintln(w)
	}
	for _, k := range a.Kubernetes {
		who, does := k.Shoot, "updated"
		if k.Pool != "" {
			who += ", worker pool " + k.Pool
		}
		if k.Action == actionForced {
			does = "forced"
		}
		report.Printf(w, "%s: Kubernetes %s is %s to %s\n", who, k.From, does, k.To)
	}
}
