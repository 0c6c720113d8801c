// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/pkg/words"
)

// How plan describes the effect of a registration on flavors that leave out the capability.

// meaningItems returns an item for each distinct effect of a registration, with the affected flavors.
func meaningItems(p *changes.Planned) []item {
	var items []item
	known := map[string]int{}
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Kind != changes.Meaning {
			continue
		}
		text := through(c.Profile) + meaningText(c, p.ComparedWith != "")
		at, found := known[text]
		if !found {
			at = len(items)
			known[text] = at
			items = append(items, item{text: text})
		}
		items[at].messages = append(items[at].messages, c.Image+"@"+c.Version+" "+c.FlavorText)
	}
	return items
}

// through names the only NamespacedCloudProfiles that see a change this way; it is empty for the one name "", of no such profile.
func through(profiles ...string) string {
	if profiles[0] == "" {
		return ""
	}
	return fmt.Sprintf("through %s %s: ", words.Plural(profiles, "NamespacedCloudProfile"), words.Few(profiles))
}

// meaningText describes the values that a flavor supports if it leaves out the capability.
func meaningText(c *changes.Change, compares bool) string {
	from, _ := c.From.([]string)
	to, _ := c.To.([]string)
	if compares {
		does := map[update.Aspect]string{
			update.IsNew: "is registered in NEW alone", update.IsGone: "is registered in OLD alone", update.Differs: "is registered in another way in NEW",
		}[c.Change]
		return fmt.Sprintf("%s %s: flavors that say nothing about it have %s in NEW, and %s in OLD", c.Capability, does, valuesText(to), valuesText(from))
	}
	does := map[update.Aspect]string{
		update.IsNew: "is registered", update.IsGone: "is not registered any more", update.Differs: "is registered in another way",
	}[c.Change]
	text := fmt.Sprintf("%s %s: flavors that say nothing about it had %s, and have %s now", c.Capability, does, valuesText(from), valuesText(to))
	if gained := without(to, from); len(gained) > 0 {
		text += "; worker pools that ask for " + strings.Join(gained, " or ") + " get them"
	}
	if lost := without(from, to); len(lost) > 0 {
		text += "; worker pools that ask for " + strings.Join(lost, " or ") + " do not get them any more"
	}
	return text
}

func without(values, others []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return slices.Contains(others, value) })
}

func valuesText(values []string) string {
	if len(values) == 0 {
		return "none of its values"
	}
	return "[" + strings.Join(values, ", ") + "]"
}
