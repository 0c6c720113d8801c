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
	"strconv"
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
}

// Maintenance returns the command maintenance.
func Maintenance(c *command.Call) *cobra.Command {
	flags := &maintenanceFlags{}
	cmd := &cobra.Command{
		Use:   "maintenance FILE...",
		Short: "Say what the next maintenance does to the images and the Kubernetes of Shoots",
		Long: `Says for each worker pool of the Shoots in the files what their next maintenance does to its image. A pool is stuck if its
version can no longer be used and no replacement exists; what the API server refuses makes the maintenance of the whole Shoot
fail. The exit status is 1 then. Kubernetes is mentioned where its version changes.

That depends on what of capkit's admission component is installed, which --webhook or .capkit.yaml says, or the cluster:

  true        the webhook mutate-shoot keeps to versions that boot for the pool
  validating  a version that boots nothing is refused, and the maintenance of the Shoot fails
  false       Gardener alone (the default for files): a version that boots nothing is stored, and the exit status is 1, too

Shoots that are being deleted are left out.`,
		Example: "  capkit maintenance shoot.yaml cloudprofile.yaml\n" +
			"  capkit maintenance --at 2027-01-31T00:00:00Z shoot.yaml cloudprofile.yaml\n" +
			"  capkit maintenance --webhook=true shoot.yaml cloudprofile.yaml namespacedcloudprofile.yaml\n" +
			"  capkit maintenance -A cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return runMaintenance(cmd.Context(), c, args, flags) },
	}
	flags.Flags = input.NewFlags(cmd)
	flags.AllowEmptyFlag(cmd)
	flags.PreparedBySettings(cmd)
	cmd.Flags().StringVar(&flags.at, "at", "",
		"`TIME` of the maintenance, like 2027-01-31T00:00:00Z, 2027-01-31 or +7d, by which versions may have expired (default now)")
	command.Complete(cmd, "at", nil) // a time, and no file
	flags.NoWebhookFlag(cmd)
	command.OutputFlag(cmd, &flags.output, command.AnswerFormats)
	return cmd
}

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
	From   string             `json:"from"`
	To     string             `json:"to"`
	Action maintenance.Action `json:"action"`
	// Core is the version that Gardener alone would pick; empty if that is the same as To.
	Core   string `json:"core,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Boots is false if nothing of capkit's is installed, so that Gardener stores To although the pool does not boot it. Nil otherwise.
	Boots *bool `json:"boots,omitempty"`
}

// Who is the Shoot and its worker pool, in words.
func (p *MaintainedPool) Who() string { return p.Shoot + ", worker pool " + p.Pool }

// MaintainedKubernetes is about a version of Kubernetes that changes: that of the control plane or, if Pool is not
// empty, that of a worker pool with a version of its own.
type MaintainedKubernetes struct {
	Shoot  string             `json:"shoot"`
	Pool   string             `json:"pool,omitempty"`
	From   string             `json:"from"`
	To     string             `json:"to"`
	Action maintenance.Action `json:"action"`
}

// Who is the Shoot, with the worker pool if it is about one, in words.
func (k *MaintainedKubernetes) Who() string {
	return strings.TrimSuffix(k.Shoot+", worker pool "+k.Pool, ", worker pool ")
}

// until returns how long it is until a time, which is written in full, as a day, whose beginning in UTC is meant, or as a number of days
// from now.
func until(at string) (time.Duration, error) {
	if days, found := strings.CutSuffix(at, "d"); found && strings.HasPrefix(days, "+") {
		if n, err := strconv.ParseUint(days[1:], 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if when, err := time.Parse(layout, at); err == nil {
			return time.Until(when), nil
		}
	}
	return 0, fmt.Errorf("--at %q is no time: write it like 2027-01-31T00:00:00Z, 2027-01-31 or +7d", at)
}

func runMaintenance(ctx context.Context, c *command.Call, args []string, flags *maintenanceFlags) error {
	var after time.Duration
	if flags.at != "" {
		var err error
		if after, err = until(flags.at); err != nil {
			return err
		}
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
			Maintain(g, &answer, s, later)
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
	wrong := func(p MaintainedPool) bool {
		return p.Action == maintenance.Stuck || p.Action == maintenance.Fails || p.Boots != nil
	}
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
	answer *Maintained, s *input.Source[v1beta1.Shoot], later func(input.AnyProfile) *Maintainer,
) {
	p := g.ProfileToAsk(s)
	if p == nil {
		return
	}
	if errs := gardener.ValidateKubernetesIn(s.Object, p.Spec()); len(errs) > 0 {
		g.AddErrors(s.Manifest, errs...)
		return
	}
	shoot, _ := g.StoredShoot(p, s.Object)
	m := &shootMaintenance{
		Maintainer: later(p), name: s.Name, shoot: shoot, pools: provider.PoolsOf(shoot), admission: g.Admission.Of(p.Spec().Type),
	}
	for _, pool := range m.pools {
		g.AddErrors(s.Manifest, m.further(pool)...)
		m.boots = append(m.boots, resolve.Boots(p, pool))
	}
	m.Outlook = m.by.Look(shoot, m.pools, m.boots, m.notBooting, m.admission)
	for i := range m.pools {
		answer.Pools = append(answer.Pools, m.pool(i))
	}
	answer.Kubernetes = append(answer.Kubernetes, m.kubernetes()...)
	if m.dependent {
		g.NoteAdmission()
	}
}

// shootMaintenance is the maintenance of one Shoot, which is as the API server has it.
type shootMaintenance struct {
	*Maintainer
	name  string
	shoot *v1beta1.Shoot
	pools []provider.Pool
	// boots reports what boots for each worker pool; nil if that cannot be told.
	boots []maintenance.Filter
	// admission is what is installed, and dependent is set once an answer would be another one with another admission.
	admission maintenance.Admission
	dependent bool

	*maintenance.Outlook
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
	from := m.pools[i].Version
	p := MaintainedPool{Shoot: m.name, Pool: m.pools[i].Name, Image: m.pools[i].Image, From: from}
	p.Action, p.To = m.Outlook.Image(i)
	core, lost := cmp.Or(m.Core.Images[i].Version, from), m.lost(i)
	cannot := cmp.Or(lost, from+" cannot be had any more by this pool")
	if m.admission == maintenance.GardenerAlone && m.boots[i] != nil && !m.boots[i](p.Image, p.To) {
		p.Boots = new(bool)
		m.dependent = m.dependent || p.To != from
	}
	switch {
	case p.Action == maintenance.Fails:
		p.Reason = m.rejection(i)
	case p.Action == maintenance.Forced:
		p.Reason = cannot
	case p.Action == maintenance.Stuck && lost != "" && i == m.Core.GivenUp: // what is lost is why it ends here
		p.Reason = cmp.Or(m.Rejections[i], m.givenUp())
	case p.Action == maintenance.Stuck:
		p.Reason = m.stuck(i, cannot)
		if lost != "" && m.Rejections[i] != "" {
			p.Reason += "; " + m.Rejections[i]
		}
	case p.Action == maintenance.Stays:
		p.Reason = m.stays(i)
	}
	if p.Boots != nil && p.To != from {
		p.Reason = strings.TrimPrefix(p.Reason+"; ", "; ") + m.notBooting(i, maintenance.Image{Name: p.Image, Version: p.To})
	}
	if core == p.To {
		return p
	}
	p.Core = core
	if p.Action == maintenance.Stays || p.Action == maintenance.Updated {
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
	case i >= m.Core.GivenUp:
		return m.givenUp() + "; " + lost
	case m.Core.Images[i].Version != "":
		return "nothing replaces it: " + lost + ", and " + m.unsuitable(i)
	case m.Written.Images[i].Err == nil && !maintenance.UpdatesImages(m.shoot):
		return "automatic updates of images are switched off, and " + lost
	}
	return "nothing replaces it: " + lost
}

// stays says why a worker pool keeps a version that is good.
func (m *shootMaintenance) stays(i int) string {
	switch {
	case i >= m.Core.GivenUp:
		return m.givenUp()
	case m.Written.Images[i].Err != nil:
		return fmt.Sprintf("Gardener finds nothing newer: %v", m.Written.Images[i].Err)
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
		m.pools[m.Core.GivenUp].Name, m.Core.Images[m.Core.GivenUp].Err)
}

// unsuitable says why a worker pool does not get what Gardener has picked.
func (m *shootMaintenance) unsuitable(i int) string {
	image := maintenance.Image{Name: m.pools[i].Image, Version: m.Core.Images[i].Version}
	if reason := m.notBooting(i, image); reason != "" {
		return reason
	}
	before, after := &m.shoot.Spec.Provider.Workers[i], &m.Core.Shoot.Spec.Provider.Workers[i]
	return fmt.Sprintf("Gardener refuses %s: %s", image,
		m.by.Refused(image, after, before, m.Core.Shoot.Spec.Kubernetes.Version))
}

// rejection says why the maintenance of the whole Shoot fails, to one of its worker pools.
func (m *shootMaintenance) rejection(i int) string {
	if m.Rejections[i] != "" {
		return m.Rejections[i]
	}
	return fmt.Sprintf("worker pool %s: %s", m.pools[m.Rejected].Name, m.Rejections[m.Rejected])
}

// kubernetes returns what becomes of the versions of Kubernetes, as far as they change.
func (m *shootMaintenance) kubernetes() []MaintainedKubernetes {
	var found []MaintainedKubernetes
	add := func(worker int, pool, from string) {
		if action, to := m.Kubernetes(worker); action == maintenance.Updated || action == maintenance.Forced {
			found = append(found, MaintainedKubernetes{m.name, pool, from, to, action})
		}
	}
	add(-1, "", m.shoot.Spec.Kubernetes.Version)
	for i, worker := range m.shoot.Spec.Provider.Workers {
		if worker.Kubernetes != nil && worker.Kubernetes.Version != nil {
			add(i, worker.Name, *worker.Kubernetes.Version)
		}
	}
	return found
}

// print writes the answer for people.
func (a Maintained) print(w io.Writer) {
	for _, p := range a.Pools {
		does := map[maintenance.Action]string{
			maintenance.Stays: "stays", maintenance.Updated: "is updated to " + p.To, maintenance.Forced: "is forced to " + p.To,
			maintenance.Stuck: "is stuck", maintenance.Fails: "stays, because the maintenance of the Shoot fails",
		}[p.Action]
		if p.Boots != nil && p.To != p.From {
			does += ", and boots nothing then"
		}
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
