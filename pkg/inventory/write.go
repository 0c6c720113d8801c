// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
)

// Sort sorts the lists of a region into the order of [Write], and removes duplicates. Lists are sorted by name, images by name and then by
// ID, and Unread in the order of [Lists]. Nil stays nil.
func (r *Region) Sort() {
	r.orderUnread()
	sort(&r.Images, func(a, b Image) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	for i := range r.MachineTypes {
		sort(&r.MachineTypes[i].Zones, cmp.Compare[string])
	}
	sort(&r.MachineTypes, func(a, b MachineType) int { return cmp.Compare(a.Name, b.Name) })
	sort(&r.Zones, func(a, b Zone) int { return cmp.Compare(a.Name, b.Name) })
	sort(&r.VolumeTypes, func(a, b VolumeType) int { return cmp.Compare(a.Name, b.Name) })
	sort(&r.Networks, func(a, b Network) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), ofBool(b.External)-ofBool(a.External), ofBool(b.Shared)-ofBool(a.Shared))
	})
	sort(&r.LoadBalancerProviders, func(a, b LoadBalancerProvider) int { return cmp.Compare(a.Name, b.Name) })
	sort(&r.ServerGroupPolicies, cmp.Compare[string])
}

func (r *Region) orderUnread() {
	lists := Lists()
	slices.SortFunc(r.Unread, func(a, b string) int { return cmp.Compare(slices.Index(lists, a), slices.Index(lists, b)) })
	r.Unread = slices.Compact(r.Unread)
}

func sort[T any](list *[]T, by func(a, b T) int) {
	slices.SortStableFunc(*list, by)
	once := (*list)[:0]
	for _, item := range *list {
		i := len(once) - 1
		for i >= 0 && by(once[i], item) == 0 && !reflect.DeepEqual(once[i], item) {
			i--
		}
		if i < 0 || by(once[i], item) != 0 {
			once = append(once, item)
		}
	}
	*list = once
}

// ofBool orders networks of the same name, external ones first, because they are the ones that are meant.
func ofBool(b *bool) int {
	switch {
	case b == nil:
		return 0
	case *b:
		return 1
	}
	return -1
}

// Formats are the formats of [Write].
var Formats = []string{"json", "yaml"}

// Write writes an inventory of regions in one of the [Formats], with one line for each item. It writes each region before it requests the
// next. The caller must sort the regions by name, and the lists of each with [Region.Sort].
func Write(w io.Writer, format, provider string, taken time.Time, regions iter.Seq2[Region, error]) error {
	out := bufio.NewWriter(w) // Flush returns its first error
	write := writers[format]
	if write.region == nil {
		return fmt.Errorf("an inventory has no format %q", format)
	}
	fmt.Fprintf(out, write.begin, APIVersion, Kind, write.scalar(provider), write.scalar(taken.UTC().Format(time.RFC3339)))
	between := write.first
	for region, err := range regions {
		if err != nil {
			return err
		}
		fmt.Fprint(out, between)
		if err := write.region(out, &region); err != nil {
			return err
		}
		between = write.next
	}
	if between == write.first {
		fmt.Fprint(out, write.none)
	}
	fmt.Fprint(out, write.end)
	return out.Flush()
}

// writers holds the parts of an inventory in each format.
var writers = map[string]struct {
	begin, first, next, none, end string
	scalar                        func(string) string
	region                        func(*bufio.Writer, *Region) error
}{
	"yaml": {"apiVersion: %s\nkind: %s\nprovider: %s\ntaken: %s\nregions:", "\n", "", " []\n", "", plain, yamlRegion},
	"json": {
		"{\n  \"apiVersion\": %q,\n  \"kind\": %q,\n  \"provider\": %s,\n  \"taken\": %s,\n  \"regions\": [", "\n", ",\n", "\n  ", "\n  ]\n}\n",
		quoted, jsonRegion,
	},
}

// list is a list of a region, with its items as JSON.
type list struct {
	name  string
	items []json.RawMessage
}

// lists returns the known lists of a region. Unread comes first if it is not empty.
func (r *Region) lists() (all []list, err error) {
	value := reflect.ValueOf(*r)
	for i := 1; i < value.NumField(); i++ { // the first field is the name
		items := value.Field(i)
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		if items.IsNil() || name == "unread" && items.Len() == 0 {
			continue
		}
		l := list{name: name}
		for j := range items.Len() {
			item, err := marshal(items.Index(j).Interface())
			if err != nil {
				return nil, err
			}
			l.items = append(l.items, item)
		}
		all = append(all, l)
	}
	return all, nil
}

// marshal encodes a value without HTML escapes.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(text.Bytes()), err
}

func yamlRegion(out *bufio.Writer, r *Region) error {
	lists, err := r.lists()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "- name: %s\n", plain(r.Name))
	for _, l := range lists {
		fmt.Fprintf(out, "  %s:", l.name)
		before, after := "\n  - ", "\n"
		if len(l.items) == 0 || l.items[0][0] == '"' { // names are on one line
			fmt.Fprint(out, " [")
			before, after = "", "]\n"
		}
		for i, item := range l.items {
			fmt.Fprint(out, before)
			if i > 0 && before == "" {
				fmt.Fprint(out, ", ")
			}
			if err := flow(out, json.NewDecoder(bytes.NewReader(item))); err != nil {
				return err
			}
		}
		fmt.Fprint(out, after)
	}
	return nil
}

// flow writes the next JSON value of a decoder in YAML's flow style.
func flow(out *bufio.Writer, from *json.Decoder) error {
	from.UseNumber()
	token, err := from.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return flowOf(out, from, t)
	case string:
		fmt.Fprint(out, plain(t))
	default:
		fmt.Fprint(out, t) // a number, true or false: nothing in an inventory is null
	}
	return nil
}

// longKey is the maximal length of a key without a question mark in front. YAML allows 1024 characters.
const longKey = 1000

// key writes the next JSON value of a decoder, a string, as a key.
func key(out *bufio.Writer, from *json.Decoder) error {
	token, err := from.Token()
	if err != nil {
		return err
	}
	text := plain(fmt.Sprint(token))
	if len(text) > longKey {
		fmt.Fprint(out, "? ")
	}
	fmt.Fprint(out, text, ": ")
	return nil
}

// flowOf writes the rest of a list or an object after its first token.
func flowOf(out *bufio.Writer, from *json.Decoder, begin json.Delim) error {
	fmt.Fprint(out, begin.String())
	for first := true; from.More(); first = false {
		if !first {
			fmt.Fprint(out, ", ")
		}
		if begin == '{' {
			if err := key(out, from); err != nil {
				return err
			}
		}
		if err := flow(out, from); err != nil {
			return err
		}
	}
	end, err := from.Token()
	fmt.Fprint(out, end)
	return err
}

// safe matches texts that every YAML reader, including this one, treats as a string. Numbers and dates begin with a digit. reserved matches
// words that some readers treat as true, false or null.
var (
	safe     = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./+-]*$`)
	reserved = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null)$`)
)

// plain returns a text as a YAML scalar, without quotes if that is safe.
func plain(text string) string {
	if safe.MatchString(text) && !reserved.MatchString(text) {
		return text
	}
	encoded, _ := marshal(text) // its escapes are valid in YAML
	var b strings.Builder
	for _, r := range string(encoded) {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return strings.ReplaceAll(b.String(), ofRunners, `\u0023`+ofRunners[1:])
}

// ofRunners is a prefix that some CI runners treat as a command, anywhere in a line.
const ofRunners = "##["

// quoted returns a text as a JSON string.
func quoted(text string) string {
	encoded, _ := marshal(text) // encoding a string cannot fail
	return string(printable(encoded))
}

// printable escapes unprintable characters in JSON, where they occur only in strings.
func printable(encoded []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(encoded) {
		switch high, low := utf16.EncodeRune(r); {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return bytes.ReplaceAll(b.Bytes(), []byte(ofRunners), []byte(`\u0023`+ofRunners[1:]))
}

func jsonRegion(out *bufio.Writer, r *Region) error {
	lists, err := r.lists()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "    {\n      \"name\": %s", quoted(r.Name))
	for _, l := range lists {
		fmt.Fprintf(out, ",\n      %q: [", l.name)
		for i, item := range l.items {
			fmt.Fprint(out, []string{"\n        ", ",\n        "}[min(i, 1)])
			_, _ = out.Write(printable(item))
		}
		if len(l.items) > 0 {
			fmt.Fprint(out, "\n      ")
		}
		fmt.Fprint(out, "]")
	}
	fmt.Fprint(out, "\n    }")
	return nil
}
