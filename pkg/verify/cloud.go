// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// Cloud is an index of the inventories of a cloud. It memoizes, and is not safe for concurrent use. [NewCloud] makes one.
type Cloud struct {
	described bool
	inventory.Description
	regions map[string]*region
	names   []string
}

// region is a region of a cloud.
type region struct {
	*inventory.Region
	// byID indexes the images by key. byName has the images of each name, in the order of the inventory.
	byID   map[string]*inventory.Image
	byName map[string][]*inventory.Image
	// forms are the forms of the image IDs.
	forms map[string]bool
	types map[string]*inventory.MachineType
	zones map[string]*inventory.Zone

	// spellIDs, spellNames and spellTypes correct the IDs and names of images, and the names of machine types.
	spellIDs, spellNames, spellTypes func() *words.Speller
}

// NewCloud indexes the regions of one cloud's inventories, which must have distinct names. cloud is its provider, or any other value if the
// provider is unknown: images are not checked then. The inventories are kept, and must not be modified afterwards. If properties is not
// nil, it replaces the provider's table.
func NewCloud(cloud any, properties []inventory.Property, inventories ...*inventory.Inventory) *Cloud {
	c := &Cloud{regions: map[string]*region{}}
	if describer, describes := provider.As[inventory.Describer](cloud); describes {
		c.described, c.Description = true, describer.DescribeInventories()
	}
	if properties != nil {
		c.Properties = properties
	}
	for _, i := range inventories {
		for k := range i.Regions {
			r := c.index(&i.Regions[k])
			c.regions[r.Name] = r
			c.names = append(c.names, r.Name)
		}
	}
	slices.Sort(c.names)
	return c
}

func (c *Cloud) index(of *inventory.Region) *region {
	r := &region{
		Region: of, byID: make(map[string]*inventory.Image, len(of.Images)), byName: map[string][]*inventory.Image{}, forms: map[string]bool{},
		types: make(map[string]*inventory.MachineType, len(of.MachineTypes)), zones: make(map[string]*inventory.Zone, len(of.Zones)),
	}
	for i := range of.Images {
		image := &of.Images[i]
		key, form := c.key(image.ID)
		if r.forms[form] = true; r.byID[key] == nil || image.ID < r.byID[key].ID {
			r.byID[key] = image
		}
		if image.Name != "" {
			r.byName[image.Name] = append(r.byName[image.Name], image)
		}
	}
	for i := range of.MachineTypes {
		r.types[of.MachineTypes[i].Name] = &of.MachineTypes[i]
	}
	for i := range of.Zones {
		r.zones[of.Zones[i].Name] = &of.Zones[i]
	}
	r.spellIDs = sync.OnceValue(func() *words.Speller {
		return words.NewSpeller(namesOf(of.Images, func(image *inventory.Image) string { return image.ID }))
	})
	r.spellNames = sync.OnceValue(func() *words.Speller { return words.NewSpeller(slices.Sorted(maps.Keys(r.byName))) })
	r.spellTypes = sync.OnceValue(func() *words.Speller {
		return words.NewSpeller(namesOf(of.MachineTypes, func(of *inventory.MachineType) string { return of.Name }))
	})
	return r
}

func (c *Cloud) key(id string) (key, form string) {
	if c.Key == nil {
		return id, ""
	}
	return c.Key(id)
}

// active reports whether an image can be booted. It is true if the status is unknown.
func (c *Cloud) active(image *inventory.Image) bool {
	status := strings.ToLower(cmp.Or(image.Status, "active"))
	return status == "active" || slices.Contains(c.Active, status)
}

// find returns the images of a reference in a region. If there are none, known reports whether the region certainly lacks the image.
func (c *Cloud) find(r *region, ref inventory.Ref) (images []*inventory.Image, known bool) {
	if ref.ID == "" {
		return r.byName[ref.Name], ref.Name != "" && (len(r.byName) > 0 || len(r.Images) == 0)
	}
	key, form := c.key(ref.ID)
	if image := r.byID[key]; image != nil {
		return []*inventory.Image{image}, true
	}
	return nil, r.forms[form] || len(r.Images) == 0 && (c.Foreign == "" || !strings.HasPrefix(form, c.Foreign))
}
