// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/maintenance"
)

// The output of maintenance, and its text.

// Maintained is the output of maintenance. Its JSON is an interface: a published field keeps its name and meaning.
type Maintained struct {
	Pools      []MaintainedPool       `json:"pools"`
	Kubernetes []MaintainedKubernetes `json:"kubernetes"`
}

// MaintainedPool is the outcome for a worker pool's image.
type MaintainedPool struct {
	// Shoot is NAMESPACE/NAME.
	Shoot string `json:"shoot"`
	Pool  string `json:"pool"`
	Image string `json:"image"`
	// From is the pool's version or, if the pool leaves it to Gardener, the version it gets when it is created.
	From   string             `json:"from"`
	To     string             `json:"to"`
	Action maintenance.Action `json:"action"`
	// Core is the version that Gardener alone would choose; empty if it equals To.
	Core   string `json:"core,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Boots is false if Gardener stores To although the pool cannot boot it, because no capkit component is installed. Nil otherwise.
	Boots *bool `json:"boots,omitempty"`

	// Cell has the pool's machine type and its region, which Reason may name.
	Cell [2]string `json:"-"`
}

// Who names the Shoot and its worker pool.
func (p *MaintainedPool) Who() string { return p.Shoot + ", worker pool " + p.Pool }

// MaintainedKubernetes is the outcome for a Kubernetes version that changes or is stuck. It belongs to the control
// plane or, if Pool is not empty, to a worker pool with its own version.
type MaintainedKubernetes struct {
	Shoot  string             `json:"shoot"`
	Pool   string             `json:"pool,omitempty"`
	From   string             `json:"from"`
	To     string             `json:"to"`
	Action maintenance.Action `json:"action"`
	// Reason explains why the version cannot be used if Gardener does not run it or the profile lacks it; empty otherwise.
	Reason string `json:"reason,omitempty"`
}

// Who names the Shoot, and the worker pool if Pool is set.
func (k *MaintainedKubernetes) Who() string {
	return strings.TrimSuffix(k.Shoot+", worker pool "+k.Pool, ", worker pool ")
}

// wrong reports whether the user should prevent the pool's outcome.
func (p MaintainedPool) wrong() bool {
	return p.Action == maintenance.Stuck || p.Action == maintenance.Fails || p.Boots != nil
}

// wrong reports whether the user should prevent the version's outcome.
func (k MaintainedKubernetes) wrong() bool {
	return k.Action == maintenance.Stuck || k.Action == maintenance.Fails
}

// String describes the pool's outcome.
func (p MaintainedPool) String() string { return p.Who() + ": " + p.says() }

// does describes what happens to the pool's version.
func (p MaintainedPool) does() string {
	does := map[maintenance.Action]string{
		maintenance.Stays: "stays", maintenance.Updated: "is updated to " + p.To, maintenance.Forced: "is forced to " + p.To,
		maintenance.Stuck: "is stuck", maintenance.Fails: "stays, because the maintenance of the Shoot fails",
	}[p.Action]
	if p.Boots != nil && p.To != p.From {
		does += ", and boots nothing then"
	}
	return does
}

// says describes the outcome without the Shoot and the pool.
func (p MaintainedPool) says() string {
	image := maintenance.Image{Name: p.Image, Version: p.From}.String()
	switch {
	case p.Image == "":
		image = "no image named,"
	case p.From == "":
		image = p.Image + ", no version named,"
	}
	text := image + " " + p.does()
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// String describes the version's outcome.
func (k MaintainedKubernetes) String() string { return k.Who() + ": " + k.says() }

// says describes the outcome without the Shoot and the pool.
func (k MaintainedKubernetes) says() string { return "Kubernetes " + k.Does() }

// Does describes the outcome without the Shoot.
func (k MaintainedKubernetes) Does() string {
	switch k.Action {
	case maintenance.Stuck:
		return k.From + " is stuck: " + cmp.Or(k.Reason, "it has expired") + ", and nothing replaces it"
	case maintenance.Fails:
		return k.From + " fails: " + k.Reason
	}
	return fmt.Sprintf("%s is %s to %s", k.From, k.Action, k.To)
}

// maintainedColumns are the column names of maintenance's table.
var maintainedColumns = []string{"shoot", "pool", "image", "from", "to", "action", "why"}

// row returns the pool's outcome as a table row.
func (p MaintainedPool) row() []string {
	return []string{p.Shoot, p.Pool, p.Image, p.From, p.To, string(p.Action), p.Reason}
}

// row returns the version's outcome as a table row.
func (k MaintainedKubernetes) row() []string {
	return []string{k.Shoot, k.Pool, "Kubernetes", k.From, k.To, string(k.Action), k.Reason}
}

// rows returns the answer as table rows.
func (a *Maintained) rows() (rows [][]string) {
	for _, p := range a.Pools {
		rows = append(rows, p.row())
	}
	for _, k := range a.Kubernetes {
		rows = append(rows, k.row())
	}
	return rows
}

// print writes the answer as text: first what the user should prevent, the worst first. If entries share lines, it first counts them.
func (a *Maintained) print(w io.Writer) {
	entries := make([]Entry, 0, len(a.Pools)+len(a.Kubernetes))
	for i := range a.Pools {
		entries = append(entries, &a.Pools[i])
	}
	for i := range a.Kubernetes {
		entries = append(entries, &a.Kubernetes[i])
	}
	rank := func(e Entry) int {
		if e.wrong() {
			return e.severity()
		}
		return len(severities)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return rank(a) - rank(b) })
	lines := linesOf(entries)
	if len(lines) < len(entries) {
		report.Printf(w, "%s\n", summary(entries))
	}
	for _, line := range lines {
		report.Printf(w, "%s\n", line)
	}
}
