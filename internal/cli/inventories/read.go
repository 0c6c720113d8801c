// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventories

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/manifest/folder"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// files has the parsed files: the inventories and tables of properties by provider type, and the inventories' file names. Inventories are
// in the given order.
type files struct {
	inventories map[string][]*inventory.Inventory
	names       map[*inventory.Inventory]string
	properties  map[string][]inventory.Property
}

// read reads the files of the flags, once. The error lists everything that is wrong with each of them.
func (flags *Flags) read(c *command.Call) (*files, error) {
	if flags.parsed != nil {
		return flags.parsed, nil
	}
	read := &files{map[string][]*inventory.Inventory{}, map[*inventory.Inventory]string{}, map[string][]inventory.Property{}}
	var errs []error
	for _, file := range flags.files {
		i, err := readFile(c, file, inventory.Read)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		read.inventories[i.Provider] = append(read.inventories[i.Provider], i)
		read.names[i] = nameOf(file)
	}
	of := map[string]string{}
	for _, file := range flags.properties {
		table, err := readFile(c, file, inventory.ReadProperties)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if first := of[table.Provider]; first != "" {
			errs = append(errs, fmt.Errorf("%s: provider %s has a table already, in %s: give one for each provider", file, table.Provider, first))
		}
		of[table.Provider] = file
		read.properties[table.Provider] = append([]inventory.Property{}, table.Properties...) // not nil, also if it is empty
	}
	if err := errors.Join(append(errs, read.twice()...)...); err != nil {
		return nil, err
	}
	flags.parsed = read
	return read, nil
}

func nameOf(file string) string {
	if file == stdin {
		return manifest.Stdin
	}
	return file
}

// readFile reads a file. The error lists everything that is wrong with it, with lines.
func readFile[T any](c *command.Call, file string, read func([]byte) (*T, finding.List)) (*T, error) {
	var text []byte
	var err error
	if file == stdin {
		text, err = folder.Read(c.Stdin, nameOf(file))
	} else {
		text, err = folder.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	value, wrong := read(text)
	if len(wrong) == 0 {
		return value, nil
	}
	objects := manifest.Parse(nameOf(file), string(text), nil).Objects
	var errs []error
	for _, f := range wrong {
		place := nameOf(file)
		if len(objects) == 1 && f.Field != "" {
			if line, column := objects[0].Position(f.Field); line > 0 {
				place = fmt.Sprintf("%s:%d:%d", place, line, column)
			}
			place += ": " + f.Field
		}
		errs = append(errs, fmt.Errorf("%s: %s", place, input.Message(f.Error)))
	}
	return nil, errors.Join(errs...)
}

// twice returns an error for each region that two inventories of a provider have.
func (f *files) twice() (errs []error) {
	for _, of := range slices.Sorted(maps.Keys(f.inventories)) {
		first := map[string]*inventory.Inventory{}
		for _, i := range f.inventories[of] {
			for k := range i.Regions {
				name := i.Regions[k].Name
				if other := first[name]; other != nil {
					errs = append(errs, fmt.Errorf("%s: region %s of %s is in %s already: give one inventory for each region",
						f.names[i], words.Quoted(name), of, f.names[other]))
					continue
				}
				first[name] = i
			}
		}
	}
	return errs
}

// unneeded returns an error for each inventory or table whose provider has no profile.
func (f *files) unneeded(profiles map[string]bool, known map[string]command.Provider) (errs []error) {
	types := slices.Sorted(maps.Keys(profiles))
	meant := slices.DeleteFunc(slices.Clone(types), func(of string) bool { return known[of] == nil })
	for _, of := range slices.Sorted(maps.Keys(f.inventories)) {
		if profiles[of] {
			continue
		}
		for _, i := range f.inventories[of] {
			errs = append(errs, fmt.Errorf("%s: the inventory is of provider %s, and the %s of %s%s", f.names[i], words.Quoted(of),
				words.Plural(types, "profile"), words.And(types), words.DidYouMean(words.Slip(of, meant))))
		}
	}
	for _, of := range slices.Sorted(maps.Keys(f.properties)) {
		if !profiles[of] {
			errs = append(errs, fmt.Errorf("the table of properties is of provider %s, and the %s of %s", words.Quoted(of),
				words.Plural(types, "profile"), words.And(types)))
		}
	}
	return errs
}

// age returns notes about inventories without a date, older than a year, or, without --at, from the future.
func (flags *Flags) age(f *files) (notes []string) {
	for _, of := range slices.Sorted(maps.Keys(f.inventories)) {
		for _, i := range f.inventories[of] {
			const day, year = 24, 365
			switch days := int(flags.now.Sub(i.Taken).Hours()) / day; {
			case i.Taken.IsZero():
				notes = append(notes, fmt.Sprintf("%s does not say when it was taken", f.names[i]))
			case days > year:
				notes = append(notes, fmt.Sprintf("%s is %d days old, taken on %s: take a new one, for clouds change", f.names[i], days, i.Taken.Format("2006-01-02")))
			case flags.now.Before(i.Taken) && flags.at == "":
				notes = append(notes, fmt.Sprintf("%s was taken in the future, on %s", f.names[i], i.Taken.Format("2006-01-02")))
			}
		}
	}
	return notes
}

// haveImages reports whether an inventory of a provider has images.
func (f *files) haveImages(of string) bool {
	return slices.ContainsFunc(f.inventories[of], func(i *inventory.Inventory) bool {
		return slices.ContainsFunc(i.Regions, func(r inventory.Region) bool { return len(r.Images) > 0 })
	})
}

// withoutTable returns an error for each table of a provider without an [inventory.Describer], whose images are not verified.
func (f *files) withoutTable(providers map[string]command.Provider) (errs []error) {
	var known []string
	for _, p := range command.ByType(providers) {
		if _, describes := provider.As[inventory.Describer](p); describes {
			known = append(known, p.Type())
		}
	}
	for _, of := range slices.Sorted(maps.Keys(f.properties)) {
		if !slices.Contains(known, of) {
			errs = append(errs, fmt.Errorf("--properties: nothing is known of images of provider %s, so there are no properties of them: there are tables for %s",
				words.Quoted(of), strings.Join(known, ", ")))
		}
	}
	return errs
}
