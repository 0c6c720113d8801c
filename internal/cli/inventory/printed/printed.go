// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package printed reads what the commands of clouds print as JSON into an inventory of one region. Start at [Read]. Each cloud has a
// file of its own, with a table of what its command prints; reading.go goes through the files, merge.go puts together what several say.
package printed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
)

// cloud is one whose command is known.
type cloud struct {
	// asJSON is what makes its command print JSON.
	asJSON string
	// wrapped says that a list is a member of an object, which has the name of its kind, as AWS has it.
	wrapped bool
	kinds   []kind
	// finish puts together what is in several files.
	finish func(*reading)
}

// kind is something that a command prints a list of.
type kind struct {
	// command prints it.
	command string
	// has are members that all items of this kind have, and that tell them from others; for a cloud that wraps its lists, the member
	// that is the list.
	has []string
	// hint is what the name of a file has that is an empty list of it.
	hint string
	// begin says that there is a list of it, perhaps an empty one; nil if that says nothing by itself.
	begin func(*reading)
	// take reads one item.
	take func(*reading, *item)
}

var known = map[string]cloud{"aws": aws, "azure": azure, "gcp": gcp, "openstack": openStack}

// Clouds returns the types of the clouds whose commands are known, sorted.
func Clouds() []string { return slices.Sorted(maps.Keys(known)) }

// Help returns a text, line by line, of what is read of each cloud.
func Help() string {
	var b strings.Builder
	for _, name := range Clouds() {
		fmt.Fprintf(&b, "  %s (%s)\n", name, known[name].asJSON)
		for _, k := range known[name].kinds {
			fmt.Fprintf(&b, "    %s\n", k.command)
		}
	}
	return b.String()
}

// Read reads files of a region of one of the [Clouds]; "-" is stdin. The error has all that is wrong, each with its file and line.
func Read(name, region string, files []string, stdin io.Reader) (inventory.Region, error) {
	c := known[name]
	r := newReading(name, &c, region)
	for _, file := range files {
		r.file(file, stdin)
	}
	if len(r.errs) == 0 {
		c.finish(r)
	}
	r.result.Images = r.images.all()
	r.result.MachineTypes = r.machineTypes.all()
	r.result.Zones = r.zones.all()
	r.result.VolumeTypes = r.volumeTypes.all()
	r.result.Networks = r.networks.all()
	r.result.LoadBalancerProviders = r.loadBalancerProviders.all()
	r.result.Sort()
	for _, f := range r.result.Check() {
		r.errs = append(r.errs, fmt.Errorf("no inventory can have this: %s: %s", f.Field, f.Detail))
	}
	return r.result, errors.Join(r.errs...)
}

// kindOf returns the kind that members are of; nil if it is none.
func (c *cloud) kindOf(members map[string]json.RawMessage) *kind {
	for i, k := range c.kinds {
		if !slices.ContainsFunc(k.has, func(name string) bool { _, found := members[name]; return !found }) {
			return &c.kinds[i]
		}
	}
	return nil
}

// expected says what would be read.
func (c *cloud) expected() string {
	var commands []string
	for _, k := range c.kinds {
		commands = append(commands, k.command)
	}
	return "what one of these prints, " + c.asJSON + ": " + strings.Join(commands, ", ")
}

// elsewhere says of something that is not known of which other cloud it is, if it is of one.
func elsewhere(name string, members map[string]json.RawMessage) string {
	for _, other := range Clouds() {
		c := known[other]
		if k := c.kindOf(members); other != name && k != nil {
			return fmt.Sprintf("has what %s prints, which is of %s", k.command, other)
		}
	}
	return "is nothing that is known"
}
