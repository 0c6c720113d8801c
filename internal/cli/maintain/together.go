// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/words"
)

// The text of many entries: what happens to many worker pools or Shoots is one line.

// alike is the largest number of entries of a kind that are written one by one.
const alike = 3

// kind identifies what happens to the pool, whatever its machine type and its region. If the pool keeps its version, or boots nothing, it
// does not matter which version that is.
func (p MaintainedPool) kind() string {
	names, from := []string{p.Cell[0], "*", p.Cell[1], "*"}, p.From
	if p.Action == maintenance.Stays || p.Action == maintenance.Fails || p.Boots != nil {
		names, from = append(names, from, "*"), ""
	}
	return fmt.Sprintf("%q %q %q %q", p.Image, from, p.does(), strings.NewReplacer(names...).Replace(p.Reason))
}

// kind identifies what happens to the version, which is that of a control plane or that of a worker pool.
func (k MaintainedKubernetes) kind() string {
	return fmt.Sprintf("Kubernetes %t %s", k.Pool == "", k.Does())
}

// linesOf describes entries in their order, in one line each. Entries of one kind share the line of the first one, unless they are few.
func linesOf(entries []Entry) []string {
	same := map[string][]Entry{}
	for _, e := range entries {
		same[e.kind()] = append(same[e.kind()], e)
	}
	var lines []string
	for _, e := range entries {
		switch all := same[e.kind()]; {
		case len(all) <= alike:
			lines = append(lines, e.String())
		case e == all[0]:
			lines = append(lines, together(all))
		}
	}
	return lines
}

// together describes several entries of one kind in one line. If their reasons differ in names, it has that of the first one.
func together(all []Entry) string {
	var shoots []string
	first, example := all[0], ""
	for _, e := range all {
		shoots = append(shoots, e.row()[0])
		if e.says() != first.says() {
			example = ", such as " + first.Who()
		}
	}
	slices.Sort(shoots)
	shoots = slices.Compact(shoots)
	who := words.Plural(shoots, "Shoot") + " " + words.Few(shoots)
	if first.row()[1] != "" {
		who = words.Count(len(all), "worker pool") + " of " + who
	}
	return who + example + ": " + first.says()
}
