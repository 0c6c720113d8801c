// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/words"
)

// reading is the state of a call of [Read].
type reading struct {
	name   string
	cloud  *cloud
	region string
	errs   []error
	result inventory.Region

	images                merged[inventory.Image]
	machineTypes          merged[inventory.MachineType]
	zones                 merged[inventory.Zone]
	volumeTypes           merged[inventory.VolumeType]
	networks              merged[inventory.Network]
	loadBalancerProviders merged[inventory.LoadBalancerProvider]

	// typeZones are the zones of machine types, by name.
	typeZones map[string][]string
	// zoneIDs are the names of AWS zones, by ID.
	zoneIDs map[string]string
	// definitions are image definitions in Azure's galleries, by ID in lower case.
	definitions map[string]*definition
	// md5 are the checksums in OpenStack's list of images, by image ID. They are used for images without a better checksum.
	md5 map[string]string
	// others are regions in the files that are not read.
	others map[string]bool
	// regionalDisks and zonalDisks report whether GCP's lists have disk types of these kinds.
	regionalDisks, zonalDisks bool
}

func newReading(name string, c *cloud, region string) *reading {
	return &reading{
		name: name, cloud: c, region: region, result: inventory.Region{Name: region},
		typeZones: map[string][]string{}, zoneIDs: map[string]string{}, definitions: map[string]*definition{}, md5: map[string]string{}, others: map[string]bool{},
		images:       merged[inventory.Image]{what: "image", key: func(i *inventory.Image) string { return i.ID }},
		machineTypes: merged[inventory.MachineType]{what: "machine type", key: func(m *inventory.MachineType) string { return m.Name }},
		zones:        merged[inventory.Zone]{what: "zone", key: func(z *inventory.Zone) string { return z.Name }},
		volumeTypes:  merged[inventory.VolumeType]{what: "volume type", key: func(v *inventory.VolumeType) string { return v.Name }},
		networks:     merged[inventory.Network]{what: "network"},
		loadBalancerProviders: merged[inventory.LoadBalancerProvider]{
			what: "load balancer provider", key: func(p *inventory.LoadBalancerProvider) string { return p.Name },
		},
	}
}

// stdinName is the name of standard input in messages.
const stdinName = "<stdin>"

// file reads a file, or standard input if path is "-".
func (r *reading) file(path string, stdin io.Reader) {
	name := path
	var text []byte
	var err error
	if path == "-" {
		name = stdinName
		if stdin == nil {
			stdin = strings.NewReader("")
		}
		text, err = io.ReadAll(stdin)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		r.errs = append(r.errs, err)
		return
	}
	f := &source{reading: r, name: name, text: inUTF8(text)}
	decoder := json.NewDecoder(bytes.NewReader(f.text))
	for some := false; ; some = true { // a file may have several values, for example from a loop of commands
		var value json.RawMessage
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) && some {
			return
		} else if err != nil {
			f.notJSON(err)
			return
		}
		f.value(value, int(decoder.InputOffset())-len(value))
	}
}

// inUTF8 returns a file's content in UTF-8 without byte order mark. PowerShell writes UTF-16.
func inUTF8(text []byte) []byte {
	utf16le, found := bytes.CutPrefix(text, []byte("\xff\xfe"))
	if !found {
		return bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	units := make([]uint16, len(utf16le)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(utf16le[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// value reads the output of one command.
func (f *source) value(raw json.RawMessage, offset int) {
	switch {
	case raw[0] == '[':
		f.list(raw, offset, nil)
	case raw[0] == '{' && f.cloud.wrapped:
		f.wrapped(raw, offset)
	case raw[0] == '{':
		f.item(f.itemAt(raw, offset), nil)
	default:
		f.wrong(offset, "has a single value; this reads "+f.cloud.expected())
	}
}

// source is a file that is being read.
type source struct {
	*reading
	name string
	text []byte
}

// mostErrors is the maximum number of reported errors, because finding an error's line takes time proportional to the file.
const mostErrors = 100

// wrong reports an error at an offset of the file.
func (f *source) wrong(offset int, message string) {
	switch {
	case len(f.errs) > mostErrors:
		return
	case len(f.errs) == mostErrors:
		message = "is wrong as well, and perhaps more behind it: only the first errors are listed"
	}
	before := f.text[:min(offset, len(f.text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	f.errs = append(f.errs, fmt.Errorf("%s:%d:%d: %s", f.name, line, column, message))
}

func (f *source) notJSON(err error) {
	if len(bytes.TrimSpace(f.text)) == 0 {
		f.errs = append(f.errs, fmt.Errorf("%s: is empty; this reads %s", f.name, f.cloud.expected()))
		return
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		f.wrong(len(f.text), "ends too early: it is not the whole output of the command")
		return
	}
	var syntax *json.SyntaxError
	offset := 0
	if errors.As(err, &syntax) {
		offset = max(0, int(syntax.Offset)-1)
	}
	f.wrong(offset, fmt.Sprintf("is not JSON, %v: print it %s", err, f.cloud.asJSON))
}

// item is an object in a list.
type item struct {
	*source
	raw     json.RawMessage
	members map[string]json.RawMessage
	offset  int
}

// itemAt returns the object at an offset of the file. If the value is not an object, it reports an error and returns nil.
func (f *source) itemAt(raw json.RawMessage, offset int) *item {
	i := &item{source: f, raw: raw, offset: offset}
	if json.Unmarshal(raw, &i.members) != nil || i.members == nil {
		f.wrong(i.offset, "is not an object; this reads "+f.cloud.expected())
		return nil
	}
	return i
}

// list reads a list. If of is nil, each item determines its own kind.
func (f *source) list(raw json.RawMessage, offset int, of *kind) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('[') {
		f.wrong(offset, "is not a list")
		return
	}
	if !decoder.More() && of == nil {
		f.empty(offset)
		return
	}
	if of != nil && of.begin != nil {
		of.begin(f.reading)
	}
	for decoder.More() {
		var element json.RawMessage
		_ = decoder.Decode(&element) // the list is valid JSON
		f.item(f.itemAt(element, offset+int(decoder.InputOffset())-len(element)), of)
	}
}

// item converts an item. If of is nil, the item's members determine its kind.
func (f *source) item(i *item, of *kind) {
	if i == nil {
		return
	}
	if of == nil {
		if of = f.cloud.kindOf(i.members); of == nil {
			f.wrong(i.offset, elsewhere(f.reading.name, i.members)+"; this reads "+f.cloud.expected())
			return
		}
		if of.begin != nil {
			of.begin(f.reading)
		}
	}
	of.take(f.reading, i)
}

// empty handles an empty list, whose kind can only be guessed from the file's name.
func (f *source) empty(offset int) {
	base := strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(filepath.Base(f.name)))
	var hints []string
	for _, k := range f.cloud.kinds {
		if k.begin == nil || k.hint == "" {
			continue
		}
		if strings.Contains(base, k.hint) {
			k.begin(f.reading)
			return
		}
		hints = append(hints, k.hint)
	}
	instead := "leave it out"
	if len(hints) > 0 {
		instead = "give the file a name that has one of " + strings.Join(hints, ", ") + ", or " + instead
	}
	f.wrong(offset, "is an empty list, which does not say of what: "+instead)
}

// wrapped reads an object that has a list as a member.
func (f *source) wrapped(raw json.RawMessage, offset int) {
	top := f.itemAt(raw, offset)
	if top == nil {
		return
	}
	of := f.cloud.kindOf(top.members)
	if of == nil {
		f.wrong(top.offset, elsewhere(f.reading.name, top.members)+"; this reads "+f.cloud.expected())
		return
	}
	var next string
	if json.Unmarshal(top.members["NextToken"], &next) == nil && next != "" {
		f.wrong(top.at("NextToken"), "is not all that there is, since it has a NextToken: leave out --max-items and --no-paginate")
		return
	}
	f.list(top.members[of.has[0]], top.at(of.has[0]), of)
}

// at returns the offset of a member's value, or of the item if it has no such member. It ignores letter case.
func (i *item) at(member string) int {
	decoder := json.NewDecoder(bytes.NewReader(i.raw))
	_, _ = decoder.Token() // the item is valid JSON
	for decoder.More() {
		name, _ := decoder.Token()
		var value json.RawMessage
		_ = decoder.Decode(&value)
		if text, is := name.(string); is && strings.EqualFold(text, member) {
			return i.offset + int(decoder.InputOffset()) - len(value)
		}
	}
	return i.offset
}

// wrong reports an error at a member of the item, or at the item if it has no such member.
func (i *item) wrong(member, message string) {
	i.source.wrong(i.at(member), message)
}

// into decodes the item into value, and reports whether that succeeds. It reports values of a wrong type, and required members that are
// missing or empty.
func (i *item) into(value any, required ...string) bool {
	if err := json.Unmarshal(i.raw, value); err != nil {
		var wrong *json.UnmarshalTypeError
		if !errors.As(err, &wrong) {
			i.wrong("", err.Error())
			return false
		}
		member, _, _ := strings.Cut(wrong.Field, ".")
		i.wrong(member, fmt.Sprintf("%s is a %s, and should be a %s", words.Quoted(wrong.Field), wrong.Value, kindName(wrong)))
		return false
	}
	good := true
	for _, name := range required {
		if text := strings.TrimSpace(string(i.members[name])); text == "" || text == "null" || text == `""` {
			i.wrong(name, words.Quoted(name)+" is missing")
			good = false
		}
	}
	return good
}

// kindName returns the JSON name of the type that a value should have.
func kindName(err *json.UnmarshalTypeError) string {
	switch kind := err.Type.Kind().String(); {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"), strings.HasPrefix(kind, "float"):
		return "whole number"
	case kind == "slice":
		return "list"
	case kind == "struct", kind == "map":
		return "object"
	default:
		return kind
	}
}

// properties returns the item's members that are strings, numbers or booleans, by name, except the given ones.
func (i *item) properties(without ...string) map[string]string {
	found := map[string]string{}
	for name, raw := range i.members {
		if text, simple := scalar(raw); simple {
			found[name] = text
		}
	}
	for _, name := range without {
		delete(found, name)
	}
	return found
}

// scalar returns a JSON string, number or boolean as text; false for objects, lists and null.
func scalar(raw json.RawMessage) (string, bool) {
	text := strings.TrimSpace(string(raw))
	var value string
	switch {
	case text == "" || text == "null" || text[0] == '{' || text[0] == '[':
		return "", false
	case json.Unmarshal(raw, &value) == nil:
		return value, true
	}
	return text, true
}
