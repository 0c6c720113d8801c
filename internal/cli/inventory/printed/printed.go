// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package printed converts the JSON output of the clouds' own commands to an inventory of one region. Start at [Read]. Each cloud has a
// file with a table of its commands. reading.go reads the files, merge.go merges their contents.
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

// cloud is a cloud whose command is supported.
type cloud struct {
	// asJSON is the command's option for JSON output.
	asJSON string
	// wrapped reports whether lists are members of an object, named after their kind, as in AWS.
	wrapped bool
	kinds   []kind
	// finish combines the contents of several files.
	finish func(*reading)
}

// kind is a kind of list that a command prints.
type kind struct {
	// command prints the list.
	command string
	// has are members that all items of this kind have, and that distinguish them from other kinds. If the cloud wraps its lists, it is the
	// member with the list.
	has []string
	// hint is a part of the name of files with an empty list of this kind.
	hint string
	// begin records that a list of this kind exists, even if it is empty; nil if the list's existence has no meaning.
	begin func(*reading)
	// take converts one item.
	take func(*reading, *item)
}

var known = map[string]cloud{"aws": aws, "azure": azure, "gcp": gcp, "openstack": openStack}

// Clouds returns the types of the supported clouds, sorted.
func Clouds() []string { return slices.Sorted(maps.Keys(known)) }

// Help returns the supported commands of each cloud, one per line.
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

// Read reads the files of a region of one of the [Clouds]; "-" is stdin. The error lists everything that is wrong, but only the first 100
// mistakes in files, with file and line.
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

// kindOf returns the kind of an object with these members; nil if it is unknown.
func (c *cloud) kindOf(members map[string]json.RawMessage) *kind {
	for i, k := range c.kinds {
		if !slices.ContainsFunc(k.has, func(name string) bool { _, found := members[name]; return !found }) {
			return &c.kinds[i]
		}
	}
	return nil
}

// expected describes the supported input.
func (c *cloud) expected() string {
	var commands []string
	for _, k := range c.kinds {
		commands = append(commands, k.command)
	}
	return "what one of these prints, " + c.asJSON + ": " + strings.Join(commands, ", ")
}

// elsewhere explains an unknown object. It names another cloud if the object is known there.
func elsewhere(name string, members map[string]json.RawMessage) string {
	for _, other := range Clouds() {
		c := known[other]
		if k := c.kindOf(members); other != name && k != nil {
			return fmt.Sprintf("has what %s prints, which is of %s", k.command, other)
		}
	}
	return "is nothing that is known"
}
