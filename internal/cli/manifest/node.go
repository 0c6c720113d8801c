// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
)

// node is a value of a document.
type node struct {
	// key is the key of an object's member.
	key string
	// at is the position of the value, for a member that of its key; content is the position of its content.
	at, content cut.Place
	// json is the JSON of a scalar, or "{" for an object and "[" for a list.
	json  string
	nodes []*node
	// again is the fault if the mapping already has this key.
	again *fault
	// merged is set for a member from a merge key.
	merged bool
}

// fault is a reason why a document cannot be read.
type fault struct {
	at            cut.Place
	rule, message string
	// hidden is the preceding object whose keys are repeated; empty for other faults.
	hidden Identity
}

// faults are the faults of a document.
type faults []*fault

// add adds a fault, unless it is nil. It adds only one fault about size.
func (all *faults) add(f *fault) {
	tooLarge := func(f *fault) bool { return f.rule == RuleTooLarge }
	if f != nil && (!tooLarge(f) || !slices.ContainsFunc(*all, tooLarge)) {
		*all = append(*all, f)
	}
}

// role is the position of a mapping, which determines the separator that users forget between two of them.
type role int

const (
	valueOfMember role = iota
	wholeDocument
	itemOfList
)

// keepLast drops all but the last member with the same key. It passes the faults of repeated keys to note, except keys from merge keys,
// which may be overridden. If a whole document repeats both apiVersion and kind, there is one fault, about a missing line between two
// documents. If an item of a list repeats its first key and another one, the fault is about the missing dash of the next item.
func (n *node) keepLast(is role, note func(*fault)) {
	first := make(map[string]*node, len(n.nodes))
	var again []*node
	for _, m := range n.nodes {
		switch before := first[m.key]; {
		case m.merged:
		case before == nil:
			first[m.key] = m
		default:
			m.again = &fault{at: m.at, rule: RuleDuplicateKey,
				message: fmt.Sprintf("the key %s is already given in line %d; remove one of the two", quoteKey(m.key), before.at.Line)}
			again = append(again, m)
		}
	}
	given := func(key string) bool { return slices.ContainsFunc(again, func(m *node) bool { return m.key == key }) }
	if is == itemOfList && len(again) > 1 && again[0].key == n.nodes[0].key {
		note(&fault{at: again[0].at, rule: RuleSyntax, message: fmt.Sprintf(
			"not valid YAML: a second item of the list begins here without its dash; write - %s: with the dash below that of the item above",
			strings.Trim(quoteKey(again[0].key), `"`))})
		again = nil
	}
	if is == wholeDocument && given("apiVersion") && given("kind") {
		above := &node{json: "{", nodes: slices.Collect(maps.Values(first))}
		note(&fault{again[0].at, RuleDuplicateKey, "a second object begins here; write --- into a line of its own above it", above.identify()})
		again = nil
	}
	for _, m := range again {
		note(m.again)
	}
	if len(first) == len(n.nodes) {
		return
	}
	last := make(map[string]*node, len(n.nodes))
	for _, m := range n.nodes {
		last[m.key] = m
	}
	n.nodes = slices.DeleteFunc(n.nodes, func(m *node) bool { return last[m.key] != m })
}

// quoteKey quotes a key for a message, truncated if it is long.
func quoteKey(key string) string {
	const most = 60
	if runes := []rune(key); len(runes) > most {
		key = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", key)
}

// drop removes the value at a path of keys.
func (n *node) drop(path []string) {
	if len(path) > 1 {
		if m := n.member(path[0]); m != nil {
			m.drop(path[1:])
		}
		return
	}
	n.nodes = slices.DeleteFunc(n.nodes, func(m *node) bool { return n.json == "{" && m.key == path[0] })
}

// each calls a function for the value and all values in it, in the order of the JSON.
func (n *node) each(do func(*node)) {
	do(n)
	for _, m := range n.nodes {
		m.each(do)
	}
}

// appendTo appends the JSON of the value, without its key.
func (n *node) appendTo(out []byte) []byte {
	out = append(out, n.json...)
	for i, m := range n.nodes {
		if i > 0 {
			out = append(out, ',')
		}
		if n.json == "{" {
			out = append(appendString(out, m.key), ':')
		}
		out = m.appendTo(out)
	}
	switch n.json {
	case "{":
		out = append(out, '}')
	case "[":
		out = append(out, ']')
	}
	return out
}

// appendString appends s as JSON.
func appendString(out []byte, s string) []byte {
	out, _ = jsontext.AppendQuote(out, s) // invalid UTF-8 is replaced
	return out
}

// member returns a member of an object. It returns nil if there is none, or if n is nil or not an object.
func (n *node) member(key string) *node {
	if n == nil || n.json != "{" {
		return nil
	}
	i := slices.IndexFunc(n.nodes, func(m *node) bool { return m.key == key })
	if i < 0 {
		return nil
	}
	return n.nodes[i]
}

// text returns the value of a string, or "" for other values and nil.
func (n *node) text() string {
	if n == nil || n.json[0] != '"' {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, n.json) // it is valid
	return string(text)
}

func (n *node) identify() Identity {
	meta := n.member("metadata")
	return Identity{n.member("apiVersion").text(), n.member("kind").text(), meta.member("namespace").text(), meta.member("name").text()}
}

// items returns the items of a List, or of a typed list such as CloudProfileList.
func (n *node) items(who Identity) (items []*node, isList bool) {
	list := n.member("items")
	switch {
	case !strings.HasSuffix(who.Kind, "List"):
		return nil, false
	case list == nil:
		return nil, who.APIVersion == "v1" && who.Kind == "List"
	}
	return list.nodes, list.json == "[" || list.json == "null"
}

// misshapen returns the fault of a value that is not an object with apiVersion and kind, or nil.
func (n *node) misshapen() *fault {
	if n.json != "{" {
		what := "single value"
		if n.json == "[" {
			what = "list"
		}
		return &fault{at: n.at, rule: RuleNotAnObject, message: "this is a " + what + ", but a manifest is a mapping with apiVersion and kind"}
	}
	var missing []string
	for _, key := range []string{"apiVersion", "kind"} {
		field := n.member(key)
		if field != nil && field.json != "null" && field.json[0] != '"' {
			return &fault{at: field.content, rule: RuleNotAnObject, message: key + " is not a string"}
		}
		if field.text() == "" {
			missing = append(missing, key)
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return &fault{at: n.at, rule: RuleNotAnObject, message: missing[0] + " is missing"}
	}
	message := "apiVersion and kind are missing"
	if items := n.member("items"); items != nil && items.json == "[" {
		message += "; if it is a list of objects, add apiVersion: v1 and kind: List"
	}
	return &fault{at: n.at, rule: RuleNotAnObject, message: message}
}
