// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/strictyaml"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// RuleInventory is the origin of errors in an inventory or a table of properties, except those from package strictjson.
const RuleInventory = "inventory"

// These are the names of a region's lists, as in [Region.Unread].
const (
	ListImages                = "images"
	ListMachineTypes          = "machineTypes"
	ListZones                 = "zones"
	ListVolumeTypes           = "volumeTypes"
	ListNetworks              = "networks"
	ListLoadBalancerProviders = "loadBalancerProviders"
	ListServerGroupPolicies   = "serverGroupPolicies"
)

// Lists returns the names of all lists of a region, in the order of its fields. The caller owns the slice.
func Lists() []string {
	return []string{
		ListImages, ListMachineTypes, ListZones, ListVolumeTypes, ListNetworks, ListLoadBalancerProviders, ListServerGroupPolicies,
	}
}

// Read reads an inventory from YAML or JSON. It returns all errors with their paths, and a nil inventory if there are any. For a file of
// another kind, it returns only that error. Lists that the inventory names as unread are nil, even if they are written.
func Read(text []byte) (*Inventory, finding.List) {
	inventory := &Inventory{}
	errs := decode(text, Kind, inventory)
	if len(errs) == 0 {
		errs = inventory.check()
	}
	if len(errs) > 0 {
		return nil, errs
	}
	for k := range inventory.Regions {
		r := &inventory.Regions[k]
		r.forgetUnread()
		r.orderUnread()
		for i := range r.Images {
			r.Images[i].Architecture = Architecture(r.Images[i].Architecture)
		}
		for i := range r.MachineTypes {
			r.MachineTypes[i].Architecture = Architecture(r.MachineTypes[i].Architecture)
		}
	}
	return inventory, nil
}

// ReadProperties is like [Read], for a table of properties.
func ReadProperties(text []byte) (*PropertyTable, finding.List) {
	table := &PropertyTable{}
	errs := decode(text, KindProperties, table)
	if len(errs) == 0 {
		errs = table.check()
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return table, nil
}

// documentMark matches the beginning or the end of a YAML document.
var documentMark = regexp.MustCompile(`(?m)^(---|\.\.\.)([ \t\r]|$)`)

// decode decodes a document of the given kind.
func decode(text []byte, kind string, into any) finding.List {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if len(trimmed) == 0 {
		return one(field.ErrorTypeRequired, nil, nil, "the file is empty")
	}
	if trimmed[0] != '{' || !json.Valid(text) {
		if line := secondDocument(text); line > 0 {
			return one(field.ErrorTypeInvalid, nil, nil, fmt.Sprintf("line %d: there is a second document: write one in a file", line))
		}
		if line := moreBehind(text); line > 0 {
			return one(field.ErrorTypeInvalid, nil, nil, fmt.Sprintf("line %d: there is more text after the end of the document: "+
				"write one document in a file", line))
		}
		converted, err := toJSON(text)
		if err != nil {
			if wrong := strictyaml.Check(string(text)); wrong != nil {
				return one(field.ErrorTypeInvalid, nil, nil, fmt.Sprintf("line %d: %s", 1+bytes.Count(text[:wrong.Offset], []byte("\n")), wrong.Message))
			}
			said := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
			return one(field.ErrorTypeInvalid, nil, nil, "not valid YAML: "+said)
		}
		text = converted
	}
	if wrong := otherKind(text, kind); wrong != nil {
		return wrong
	}
	return strictjson.Decode(text, into, nil)
}

// secondDocument returns the line where the second document of a text begins; 0 if there is none.
func secondDocument(text []byte) (line int) {
	for _, at := range documentMark.FindAllIndex(text, -1) {
		rest := text[at[1]:]
		if content := withoutComments(text[:at[0]]); len(content) > 0 && len(withoutComments(rest)) > 0 {
			return 1 + bytes.Count(text[:at[0]], []byte("\n"))
		}
	}
	return 0
}

// contentLine matches the first line that is neither empty nor a comment.
var contentLine = regexp.MustCompile(`(?m)^[ \t]*[^\s#].*$`)

// moreBehind returns the line where the text continues after the end of a document, which is a mapping in braces or one whose first line
// is indented; 0 if it does not. YAML decoders ignore the rest without an error. A mapping that begins with a letter extends to the end.
func moreBehind(text []byte) int {
	if line := contentLine.Find(text); len(line) > 0 && unicode.IsLetter(rune(line[0])) {
		return 0
	}
	reader, begun, more := strictyaml.Reader{}, false, (*strictyaml.Fault)(nil)
	if err := reader.Read(text, "", func(*yaml.Node) { begun = true }); begun && errors.As(err, &more) {
		return more.Line
	}
	return 0
}

// comments matches comments on lines of their own, and document marks.
var comments = regexp.MustCompile(`(?m)^\s*#.*$|^(---|\.\.\.)\s*$`)

func withoutComments(text []byte) []byte { return bytes.TrimSpace(comments.ReplaceAll(text, nil)) }

// otherKind returns errors in apiVersion and kind. Other errors would only follow from these.
func otherKind(text []byte, kind string) (errs finding.List) {
	var head struct {
		APIVersion any `json:"apiVersion"`
		Kind       any `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil // the strict decoder explains it better
	}
	check := func(name string, is any, want string) {
		at := field.NewPath(name)
		switch text, isText := is.(string); {
		case is == nil:
			errs = append(errs, one(field.ErrorTypeRequired, at, nil, fmt.Sprintf("write %s: %s", name, want))...)
		case !isText || text != want:
			errs = append(errs, one(field.ErrorTypeNotSupported, at, is, fmt.Sprintf("%s is %s, and not %s", name, words.Quoted(fmt.Sprint(is)), want))...)
		}
	}
	check("apiVersion", head.APIVersion, APIVersion)
	check("kind", head.Kind, kind)
	return errs
}

func one(kind field.ErrorType, at *field.Path, value any, detail string) finding.List {
	return finding.List{finding.New(RuleInventory, kind, at, value, detail)}
}

// checker collects errors in values.
type checker struct{ finding.List }

func (c *checker) required(at *field.Path, text, what string) {
	if strings.TrimSpace(text) == "" {
		c.List = append(c.List, one(field.ErrorTypeRequired, at, nil, what)...)
	}
}

// check returns the errors in the values of an inventory.
func (i *Inventory) check() finding.List {
	c := &checker{}
	c.required(field.NewPath("provider"), i.Provider, "write the provider type, as in spec.type of a CloudProfile")
	if i.Regions == nil {
		c.List = append(c.List, one(field.ErrorTypeRequired, field.NewPath("regions"), nil, "write the regions that were read; [] if there are none")...)
	}
	seen := map[string]int{}
	for k := range i.Regions {
		r, at := &i.Regions[k], field.NewPath("regions").Index(k)
		c.required(at.Child("name"), r.Name, "a region needs a name")
		if first, twice := seen[r.Name]; twice && r.Name != "" {
			c.List = append(c.List, one(field.ErrorTypeDuplicate, at.Child("name"), r.Name,
				fmt.Sprintf("region %s is in regions[%d] already: write it once", words.Quoted(r.Name), first))...)
		} else {
			seen[r.Name] = k
		}
		c.region(r, at)
	}
	return c.List
}

// Check returns the errors that [Read] would report about the region, with paths relative to it.
func (r *Region) Check() finding.List {
	c := &checker{}
	c.region(r, nil)
	return c.List
}

// region checks the values of a region.
func (c *checker) region(r *Region, at *field.Path) {
	for k, list := range r.Unread {
		at := at.Child("unread").Index(k)
		if !slices.Contains(Lists(), list) {
			c.List = append(c.List, one(field.ErrorTypeNotSupported, at, list, fmt.Sprintf("%s is not a list of a region: there are %s%s",
				words.Quoted(list), strings.Join(Lists(), ", "), words.DidYouMean(words.Closest(list, Lists()))))...)
		}
	}
	ids := map[string]int{}
	for k := range r.Images {
		image, at := &r.Images[k], at.Child(ListImages).Index(k)
		c.required(at.Child("id"), image.ID, "an image needs an ID")
		c.once(ids, at, k, "id", image.ID)
		c.size(at.Child("minDiskGiB"), image.MinDiskGiB)
	}
	for k := range r.MachineTypes {
		t, at := &r.MachineTypes[k], at.Child(ListMachineTypes).Index(k)
		c.size(at.Child("cpu"), t.CPU)
		c.size(at.Child("memoryMiB"), t.MemoryMiB)
		if ptr.Deref(t.MemoryMiB, 0) > mostMiB {
			c.List = append(c.List, one(field.ErrorTypeInvalid, at.Child("memoryMiB"), *t.MemoryMiB, "no machine has so much: write mebibytes")...)
		}
		c.size(at.Child("gpu"), t.GPU)
		c.size(at.Child("diskGiB"), t.DiskGiB)
	}
	named(c, at.Child(ListMachineTypes), r.MachineTypes, func(t *MachineType) string { return t.Name })
	named(c, at.Child(ListZones), r.Zones, func(z *Zone) string { return z.Name })
	named(c, at.Child(ListVolumeTypes), r.VolumeTypes, func(t *VolumeType) string { return t.Name })
	named(c, at.Child(ListLoadBalancerProviders), r.LoadBalancerProviders, func(p *LoadBalancerProvider) string { return p.Name })
}

// mostMiB is the largest number of mebibytes whose bytes fit into an int64.
const mostMiB = math.MaxInt64 >> 20

// size checks a number, which may be nil.
func (c *checker) size(at *field.Path, size *int64) {
	if size != nil && *size < 0 {
		c.List = append(c.List, one(field.ErrorTypeInvalid, at, *size, "it is negative: write how much there is, or leave it out if that is not known")...)
	}
}

// once checks that no item before item k of a list has the same identifier. name is the field of the identifier, and seen has the earlier
// ones.
func (c *checker) once(seen map[string]int, at *field.Path, k int, name, identifier string) {
	first, twice := seen[identifier]
	if !twice {
		seen[identifier] = k
	} else if identifier != "" {
		c.List = append(c.List, one(field.ErrorTypeDuplicate, at.Child(name), identifier,
			fmt.Sprintf("%s is in the list already, with index %d: write it once", words.Quoted(identifier), first))...)
	}
}

// named checks that each item of a list has a unique name. It is not for networks, which need no name, and several of which may have the
// same.
func named[T any](c *checker, at *field.Path, list []T, name func(*T) string) {
	seen := map[string]int{}
	for k := range list {
		c.required(at.Index(k).Child("name"), name(&list[k]), "it needs a name")
		c.once(seen, at.Index(k), k, "name", name(&list[k]))
	}
}

// Known reports whether the region has a list, which may be empty. A missing list does not allow any conclusion.
func (r *Region) Known(list string) bool {
	known, found := r.list(list)
	return found && !known.IsNil()
}

// Forget marks a list as unread, and removes it.
func (r *Region) Forget(name string) {
	r.Unread = append(r.Unread, name)
	r.forgetUnread()
}

// forgetUnread removes lists that are marked as unread, but present. They may be incomplete, so they do not allow any conclusion.
func (r *Region) forgetUnread() {
	for _, name := range r.Unread {
		if list, found := r.list(name); found {
			list.SetZero()
		}
	}
}

// list returns one of [Lists], and false if there is none of that name.
func (r *Region) list(name string) (list reflect.Value, found bool) {
	i := slices.Index(Lists(), name)
	if i < 0 {
		return reflect.Value{}, false
	}
	return reflect.ValueOf(r).Elem().Field(i + 2), true // after Name and Unread
}
