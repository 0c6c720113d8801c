// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package maintain implements the command maintenance, which shows the effects of Gardener's maintenance on Shoots,
// once or day by day. Package pkg/maintenance decides; this package puts the decisions into words.
package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

type maintenanceFlags struct {
	*input.Flags
	at, until, output string
	filter            input.Filter
}

// calendarFormat is the output format only for calendars.
const calendarFormat = "ics"

// Command returns the command maintenance.
func Command(c *command.Call) *cobra.Command {
	flags := &maintenanceFlags{}
	cmd := &cobra.Command{
		Use:   "maintenance FILE...",
		Short: "Show which image and Kubernetes versions the next maintenance will choose",
		Long: `Shows for each worker pool of the Shoots in the files which image version their next maintenance will choose. A pool is stuck if its
version can no longer be used and no replacement exists; if the API server refuses a version, the maintenance of the whole Shoot
fails. In both cases the exit status is 1. Kubernetes is listed if its version changes.

The result depends on whether capkit's admission component is installed, as set by --webhook or .capkit.yaml, or detected in the cluster:

  true        the webhook mutate-shoot keeps to versions that boot for the pool
  validating  a version that boots nothing is refused, and the maintenance of the Shoot fails
  false       Gardener alone, the default for files: a version that boots nothing is stored; the exit status is then 1

--until prints a calendar: each day is evaluated at its end in UTC, after the updates of the days before it. Days with changes are
listed, the worst change first. -o ics prints it as a calendar file.

Shoots that are being deleted are left out.`,
		Example: "  capkit maintenance shoot.yaml cloudprofile.yaml\n" +
			"  capkit maintenance --at 2027-01-31 shoot.yaml cloudprofile.yaml\n" +
			"  capkit maintenance --until +90d shoots/ cloudprofile.yaml\n" +
			"  capkit maintenance --until 2027-03-31 -A -o ics > maintenance.ics\n" +
			"  capkit maintenance --webhook=true shoot.yaml cloudprofile.yaml namespacedcloudprofile.yaml\n" +
			"  capkit maintenance -A cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return runMaintenance(cmd.Context(), c, args, flags) },
	}
	flags.Flags = input.NewFlags(cmd)
	flags.AllowEmptyFlag(cmd)
	flags.PreparedBySettings(cmd)
	cmd.Flags().StringVar(&flags.at, "at", "",
		"`TIME` of the maintenance, which decides which versions have expired: 2027-01-31, 2027-01-31T22:00:00Z or +7d (default now)")
	cmd.Flags().StringVar(&flags.until, "until", "", "list the changes of each day up to this `DATE`, in the same formats")
	for _, name := range []string{"at", "until"} {
		command.Complete(cmd, name, nil) // a time, and no file
	}
	flags.NoWebhookFlag(cmd)
	flags.filter.Flags(cmd)
	command.OutputFlag(cmd, &flags.output, slices.Sorted(slices.Values(append(slices.Clone(command.WithTables), calendarFormat))))
	return cmd
}

func runMaintenance(ctx context.Context, c *command.Call, args []string, flags *maintenanceFlags) error {
	from, until, err := flags.times(time.Now())
	if err != nil {
		return err
	}
	g, err := input.Load(ctx, c, args, flags.Flags, true)
	if err != nil {
		return err
	}
	if len(g.Shoots.All) == 0 {
		err = flags.Nothing(g, "Shoot")
	} else if err := flags.filter.Shoots(g); err != nil {
		return err
	}
	noteDeleted(g, &flags.filter)
	answer := &Maintained{Pools: []MaintainedPool{}, Kubernetes: []MaintainedKubernetes{}}
	maintaining := c.Terminal.Begin("asking about the maintenance of Shoots", len(g.Shoots.All))
	var days []Day
	if flags.until != "" {
		days = Calendar(g, &flags.filter, from, until, maintaining.Steps)
	} else {
		answer = maintainAll(g, &flags.filter, from, maintaining.Steps)
	}
	maintaining.End()
	if len(g.Findings) == 0 && err == nil {
		err = flags.filter.NoPool(g)
	}
	if err := input.PrintFindings(c, g, err); err != nil {
		return err
	}
	input.PrintNotes(c, g)
	wrong := slices.ContainsFunc(answer.Pools, MaintainedPool.wrong) || slices.ContainsFunc(answer.Kubernetes, MaintainedKubernetes.wrong)
	switch {
	case flags.until != "":
		wrong = slices.ContainsFunc(days, Day.wrong)
		err = printCalendar(c.Stdout, flags.output, g.Cluster+" "+strings.Join(g.ProfileNames(), " "), days, until, len(g.Findings) == 0)
	case command.IsTable(flags.output):
		err = command.PrintTable(c.Stdout, flags.output, maintainedColumns, slices.Values(answer.rows()))
	default:
		err = command.PrintAs(c.Stdout, flags.output, answer, answer.print)
	}
	if err == nil && (wrong || len(g.Findings) > 0) {
		err = command.ErrWrong
	}
	return err
}

// times returns the times in the flags. It fails if a flag is invalid or the calendar would end before it begins. A distance in --until
// counts from the time that --at names, and from now if that is a distance, too.
func (flags *maintenanceFlags) times(now time.Time) (from, until time.Time, err error) {
	if from, until = now, now; flags.Given("at") {
		if from, err = command.ParseTime("--at", flags.at, now); err != nil {
			return from, until, err
		}
		if !strings.HasPrefix(flags.at, "+") {
			now = from
		}
	}
	switch {
	case !flags.Given("until") && flags.output == calendarFormat:
		return from, until, errors.New("-o ics prints a calendar: name its last day with --until")
	case !flags.Given("until"):
		return from, until, nil
	}
	if until, err = command.ParseTime("--until", flags.until, now); err == nil && dayOf(until).Before(dayOf(from)) {
		err = fmt.Errorf("--until: %s is before the calendar begins, on %s", until.UTC().Format(time.DateOnly), from.UTC().Format(time.DateOnly))
	}
	return from, until, err
}

// noteDeleted adds a note about Shoots that are being deleted. The filter sees their worker pools: they exist, although nothing is said about
// them.
func noteDeleted(g *input.Given, filter *input.Filter) {
	n := 0
	for _, s := range g.Shoots.All {
		if s.Object != nil && s.Object.DeletionTimestamp != nil {
			n++
			for _, pool := range provider.PoolsOf(s.Object) {
				filter.Admits(&pool)
			}
		}
	}
	switch n {
	case 0:
	case 1:
		g.Notes = append(g.Notes, "1 Shoot is being deleted, and left out: Gardener does not maintain it")
	default:
		g.Notes = append(g.Notes, fmt.Sprintf("%d Shoots are being deleted, and left out: Gardener does not maintain them", n))
	}
}

// maintainAll returns the effects of the maintenance at a time on all Shoots.
func maintainAll(g *input.Given, filter *input.Filter, at time.Time, step func(int)) *Maintained {
	by := Maintainers(at)
	answer := &Maintained{Pools: []MaintainedPool{}, Kubernetes: []MaintainedKubernetes{}}
	for _, s := range g.Shoots.All {
		step(1)
		if s.Object == nil || s.Object.DeletionTimestamp == nil {
			Maintain(g, answer, s, filter, by)
		}
		s.Forget()
	}
	return answer
}

// Maintainer is the maintenance of Shoots with one profile.
type Maintainer struct {
	profile input.AnyProfile
	// spec is the profile's spec at the time of the maintenance.
	spec *v1beta1.CloudProfileSpec
	by   *maintenance.Maintainer
	// known memoizes why worker pools of a shape boot nothing; empty if they boot. sound records the shapes without other faults.
	known map[provider.Shape]string
	sound map[provider.Shape]bool
}

// Maintainers returns a function that memoizes one Maintainer for each profile, evaluated at a time.
func Maintainers(at time.Time) func(input.AnyProfile) *Maintainer {
	known := map[*v1beta1.CloudProfileSpec]*Maintainer{}
	return func(p input.AnyProfile) *Maintainer {
		return memo.Get(known, p.Spec(), func() *Maintainer {
			then := maintenance.At(p.Spec(), at)
			by := maintenance.NewMaintainer(gardenerlib.Library{}, then, p.Provider().Workers())
			return &Maintainer{p, then, by, map[provider.Shape]string{}, map[provider.Shape]bool{}}
		})
	}
}

// whyNot explains why a worker pool boots nothing.
func (m *Maintainer) whyNot(pool provider.Pool) string {
	shape := m.profile.Provider().Workers().ShapeOf(&pool)
	return memo.Get(m.known, shape, func() string { return resolve.WhyNot(m.profile, pool) })
}

// further returns a worker pool's faults, except that it boots nothing.
func (m *Maintainer) further(pool provider.Pool) field.ErrorList {
	shape := m.profile.Provider().Workers().ShapeOf(&pool)
	if m.sound[shape] {
		return nil
	}
	further := resolve.Pool(m.profile, pool).Further.Errors() // with the paths of this pool
	m.sound[shape] = len(further) == 0
	return further
}

// Maintain adds the effects of maintenance on a Shoot's worker pools that the filter admits. Faults of the Shoot become findings.
func Maintain(
	g *input.Given, answer *Maintained, s *input.Source[v1beta1.Shoot], filter *input.Filter, by func(input.AnyProfile) *Maintainer,
) {
	p, shoot, fillings := stored(g, s)
	if p == nil {
		return
	}
	m := by(p).look(g, s.Name, shoot, fillings)
	for _, pool := range m.pools {
		g.AddErrors(s.Manifest, m.further(pool)...)
	}
	m.addTo(g, answer, filter)
}

// stored returns a Shoot as the API server stores it, with its profile and the filled-in images. The profile is nil
// if the Shoot cannot be evaluated; the reasons become findings.
func stored(g *input.Given, s *input.Source[v1beta1.Shoot]) (input.AnyProfile, *v1beta1.Shoot, []input.Filling) {
	p := g.ProfileToAsk(s)
	if p == nil {
		return nil, nil, nil
	}
	if errs := gardener.ValidateKubernetesIn(s.Object, p.Spec()); len(errs) > 0 {
		g.AddErrors(s.Manifest, errs...)
		return nil, nil, nil
	}
	shoot, fillings := g.StoredShoot(p, s.Object)
	return p, shoot, fillings
}

// look returns the effects of maintenance on a stored Shoot.
func (m *Maintainer) look(g *input.Given, name string, shoot *v1beta1.Shoot, fillings []input.Filling) *shootMaintenance {
	made := &shootMaintenance{Maintainer: m, server: &g.Server, name: name, shoot: shoot, fillings: fillings, pools: provider.PoolsOf(shoot)}
	for _, pool := range made.pools {
		made.boots = append(made.boots, resolve.Boots(m.profile, pool))
	}
	made.Outlook = m.by.Look(shoot, made.pools, made.boots, made.notBooting, g.Admission.Of(m.profile.Spec().Type))
	return made
}

// addTo adds the outcomes that the filter admits. A filter for worker pools excludes control planes. It adds a note
// if the result depends on an unknown admission setting.
func (m *shootMaintenance) addTo(g *input.Given, answer *Maintained, filter *input.Filter) {
	admitted := map[string]bool{"": !filter.OfPools()}
	for i := range m.pools {
		if filter.Admits(&m.pools[i]) {
			admitted[m.pools[i].Name] = true
			answer.Pools = append(answer.Pools, m.pool(i))
			if p := &answer.Pools[len(answer.Pools)-1]; p.Boots != nil && p.To != p.From {
				g.NoteAdmission()
			}
		}
	}
	for _, k := range m.kubernetes() {
		if admitted[k.Pool] {
			answer.Kubernetes = append(answer.Kubernetes, k)
		}
	}
}

// shootMaintenance is the maintenance of one Shoot, as the API server stores it.
type shootMaintenance struct {
	*Maintainer
	// server is the landscape's Gardener API server.
	server   *gardener.Server
	name     string
	shoot    *v1beta1.Shoot
	fillings []input.Filling
	pools    []provider.Pool
	// boots reports the images that each worker pool boots; nil if its provider config cannot be read.
	boots []maintenance.Filter

	*maintenance.Outlook
}

// notBooting explains why a worker pool does not boot an image; empty if it does.
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

// pool returns the outcome for a worker pool's image.
func (m *shootMaintenance) pool(i int) MaintainedPool {
	from := m.pools[i].Version
	p := MaintainedPool{
		Shoot: m.name, Pool: m.pools[i].Name, Image: m.pools[i].Image, From: from,
		Cell: [2]string{m.pools[i].MachineType, m.pools[i].Region},
	}
	p.Action, p.To = m.Outlook.Image(i)
	if about := m.fillings[i].About(); m.fillings[i].Err != nil { // Gardener would refuse the Shoot
		p.Reason = strings.TrimPrefix(about, "; ")
		return p
	}
	core, lost := cmp.Or(m.Core.Images[i].Version, from), m.lost(i)
	cannot := cmp.Or(lost, from+" is no longer available to this pool")
	if m.BootsNothing(i) {
		p.Boots = new(bool)
	}
	switch {
	case p.Action == maintenance.Fails:
		p.Reason = m.rejection(i)
	case p.Action == maintenance.Forced:
		p.Reason = cannot
	case p.Action == maintenance.Stuck && lost != "" && i == m.Core.GivenUp: // the loss explains why image maintenance ends here
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

// lost explains why the worker pool can no longer use its version; empty if it can.
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

// stuck explains why a worker pool gets no other version. lost is the reason for losing its own.
func (m *shootMaintenance) stuck(i int, lost string) string {
	switch {
	case i >= m.Core.GivenUp:
		return m.givenUp() + "; " + lost
	case m.Core.Images[i].Version != "":
		return "nothing replaces it: " + lost + ", and " + m.unsuitable(i)
	case m.Written.Images[i].Err == nil && !maintenance.UpdatesImages(m.shoot):
		return "automatic updates of images are switched off, and " + lost
	}
	if not := m.by.PassedOver(m.shoot, i); not != "" {
		lost += "; " + not
	}
	return "nothing replaces it: " + lost
}

// stays explains why a worker pool keeps a valid version.
func (m *shootMaintenance) stays(i int) string {
	switch {
	case i >= m.Core.GivenUp:
		return m.givenUp()
	case m.Written.Images[i].Err != nil:
		return fmt.Sprintf("Gardener finds nothing newer: %v", m.Written.Images[i].Err)
	case !maintenance.UpdatesImages(m.shoot):
		return "automatic updates of images are switched off"
	}
	if not := m.by.PassedOver(m.shoot, i); not != "" {
		return not
	}
	strategy := v1beta1.UpdateStrategyMajor // by default
	for _, image := range m.spec.MachineImages {
		if image.Name == m.pools[i].Image && image.UpdateStrategy != nil {
			strategy = *image.UpdateStrategy
		}
	}
	return fmt.Sprintf("there is nothing newer that update strategy %s allows", strategy)
}

// givenUp names the worker pool at which Gardener stops updating images.
func (m *shootMaintenance) givenUp() string {
	return fmt.Sprintf("Gardener updates no image from worker pool %s on: %v",
		m.pools[m.Core.GivenUp].Name, m.Core.Images[m.Core.GivenUp].Err)
}

// unsuitable explains why a worker pool does not get Gardener's choice.
func (m *shootMaintenance) unsuitable(i int) string {
	image := maintenance.Image{Name: m.pools[i].Image, Version: m.Core.Images[i].Version}
	if reason := m.notBooting(i, image); reason != "" {
		return reason
	}
	before, after := &m.shoot.Spec.Provider.Workers[i], &m.Core.Shoot.Spec.Provider.Workers[i]
	return fmt.Sprintf("Gardener refuses %s: %s", image,
		m.by.Refused(image, after, before, m.Core.Shoot.Spec.Kubernetes.Version))
}

// rejection explains to a worker pool why the maintenance of the whole Shoot fails.
func (m *shootMaintenance) rejection(i int) string {
	if m.Rejections[i] != "" {
		return m.Rejections[i]
	}
	return fmt.Sprintf("worker pool %s: %s", m.pools[m.Rejected].Name, m.Rejections[m.Rejected])
}

// kubernetes returns the outcomes for Kubernetes versions that change or are stuck.
func (m *shootMaintenance) kubernetes() []MaintainedKubernetes {
	var found []MaintainedKubernetes
	offered := func(version string) bool {
		return slices.ContainsFunc(m.spec.Kubernetes.Versions, func(v v1beta1.ExpirableVersion) bool { return v.Version == version })
	}
	add := func(worker int, pool, from string) {
		switch action, to := m.Kubernetes(worker); action {
		case maintenance.Updated, maintenance.Forced, maintenance.Stuck:
			k := MaintainedKubernetes{Shoot: m.name, Pool: pool, From: from, To: cmp.Or(to, from), Action: action}
			switch {
			case action == maintenance.Stuck && !offered(from):
				k.Reason = "the profile does not have it"
			case action != maintenance.Stuck && !m.server.Release.RunsKubernetes(k.To):
				k.Action = maintenance.Fails
				k.Reason = fmt.Sprintf("maintenance writes version %s, which Gardener %s does not run (it runs %s): the Shoot is not reconciled then",
					k.To, m.server.Release, m.server.KubernetesRange())
			}
			found = append(found, k)
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
