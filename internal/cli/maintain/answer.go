// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintain

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/maintenance"
)

// What maintenance prints, and how people read it.

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

// MaintainedKubernetes is about a version of Kubernetes that changes, or is stuck: that of the control plane or, if Pool is not
// empty, that of a worker pool with a version of its own.
type MaintainedKubernetes struct {
	Shoot  string             `json:"shoot"`
	Pool   string             `json:"pool,omitempty"`
	From   string             `json:"from"`
	To     string             `json:"to"`
	Action maintenance.Action `json:"action"`
	// Reason why the version can not be used, where Gardener does not run it, or the profile does not have it; empty otherwise.
	Reason string `json:"reason,omitempty"`
}

// Who is the Shoot, with the worker pool if it is about one, in words.
func (k *MaintainedKubernetes) Who() string {
	return strings.TrimSuffix(k.Shoot+", worker pool "+k.Pool, ", worker pool ")
}

// wrong reports whether what becomes of the pool is to be prevented.
func (p MaintainedPool) wrong() bool {
	return p.Action == maintenance.Stuck || p.Action == maintenance.Fails || p.Boots != nil
}

// wrong reports whether what becomes of the version is to be prevented.
func (k MaintainedKubernetes) wrong() bool {
	return k.Action == maintenance.Stuck || k.Action == maintenance.Fails
}

// String says what becomes of the pool.
func (p MaintainedPool) String() string {
	does := map[maintenance.Action]string{
		maintenance.Stays: "stays", maintenance.Updated: "is updated to " + p.To, maintenance.Forced: "is forced to " + p.To,
		maintenance.Stuck: "is stuck", maintenance.Fails: "stays, because the maintenance of the Shoot fails",
	}[p.Action]
	if p.Boots != nil && p.To != p.From {
		does += ", and boots nothing then"
	}
	image := maintenance.Image{Name: p.Image, Version: p.From}.String()
	switch {
	case p.Image == "":
		image = "no image named,"
	case p.From == "":
		image = p.Image + ", no version named,"
	}
	text := fmt.Sprintf("%s: %s %s", p.Who(), image, does)
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// String says what becomes of the version.
func (k MaintainedKubernetes) String() string { return k.Who() + ": Kubernetes " + k.Does() }

// Does says it without the Shoot.
func (k MaintainedKubernetes) Does() string {
	switch k.Action {
	case maintenance.Stuck:
		return k.From + " is stuck: " + cmp.Or(k.Reason, "it has expired") + ", and nothing replaces it"
	case maintenance.Fails:
		return k.From + " fails: " + k.Reason
	}
	return fmt.Sprintf("%s is %s to %s", k.From, k.Action, k.To)
}

// maintainedColumns are those of maintenance as a table.
var maintainedColumns = []string{"shoot", "pool", "image", "from", "to", "action", "why"}

// row returns what becomes of the pool as a row of a table.
func (p MaintainedPool) row() []string {
	return []string{p.Shoot, p.Pool, p.Image, p.From, p.To, string(p.Action), p.Reason}
}

// row returns what becomes of the version as a row of a table.
func (k MaintainedKubernetes) row() []string {
	return []string{k.Shoot, k.Pool, "Kubernetes", k.From, k.To, string(k.Action), k.Reason}
}

// rows returns the answer as rows of a table.
func (a *Maintained) rows() (rows [][]string) {
	for _, p := range a.Pools {
		rows = append(rows, p.row())
	}
	for _, k := range a.Kubernetes {
		rows = append(rows, k.row())
	}
	return rows
}

// print writes the answer for people.
func (a *Maintained) print(w io.Writer) {
	for _, p := range a.Pools {
		report.Printf(w, "%s\n", p)
	}
	for _, k := range a.Kubernetes {
		report.Printf(w, "%s\n", k)
	}
}
