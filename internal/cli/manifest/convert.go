// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
)

// converter converts the parser's nodes to values. Like kubectl it reads the members of a mapping in order, including merge keys, and the
// last value of a key wins. A node that cannot be converted becomes null, with a fault.
type converter struct {
	source  *source
	chunk   cut.Chunk
	faults  faults
	open    []*yaml.Node // the anchored nodes being read
	aliases int          // aliases being followed, nested
	aliased bool         // the document has aliases
	// items are the items that were cut out, by line, until they are taken from the memory.
	items  map[int]cut.Chunk
	memory *Memory
}

// value converts a document, an item of a list, or the value of a member, at a depth.
func (c *converter) value(n *yaml.Node, depth int, is role) *node {
	at := c.at(aliased(n)) // for an alias, the position of its anchor
	v := &node{at: at, content: at, json: "null"}
	if depth > maxDepth {
		c.note(tooDeep(at))
		return v
	}
	c.cost(len(","))
	c.note(c.follow(n, func(n *yaml.Node) { c.fill(v, n, depth, is) }))
	c.cost(len(v.json)) // a closing delimiter is as long as its opening
	return v
}

// fill sets a value from a node that is not an alias.
func (c *converter) fill(v *node, n *yaml.Node, depth int, is role) {
	switch n.Kind {
	case yaml.MappingNode:
		v.json = "{"
		c.members(v, n, depth+1)
		if n.Style&yaml.FlowStyle != 0 { // flow style has other separators
			is = valueOfMember
		}
		v.keepLast(is, c.note)
	case yaml.SequenceNode:
		v.json = "["
		for _, item := range n.Content {
			v.nodes = append(v.nodes, c.item(item, depth+1))
		}
	default:
		text, err := scalarJSON(n)
		if err != nil {
			c.note(&fault{at: v.at, rule: RuleSyntax, message: err.Error()})
			return
		}
		v.json = text
	}
	if len(c.open) == 0 {
		n.Content = nil // no alias refers to it, and the parser's nodes are large
	}
}

// item converts an item of a list at a depth.
func (c *converter) item(n *yaml.Node, depth int) *node {
	if own, found := c.items[n.Line]; found && n.Style == yaml.SingleQuotedStyle && n.Column == strings.Index(own.Text, "-")+len("- ")+1 {
		if v := c.memory.item(own, depth); v != nil {
			delete(c.items, n.Line)
			return v
		}
	}
	return c.value(n, depth, itemOfList)
}

// members adds the members of a mapping, at a depth, to an object.
func (c *converter) members(to *node, n *yaml.Node, depth int) {
	for pair := range slices.Chunk(n.Content, 2) {
		if pair[0].Kind == yaml.ScalarNode && pair[0].ShortTag() == "!!merge" {
			c.merge(to, pair[1], depth)
			continue
		}
		key, f := c.key(pair[0])
		c.cost(len(`"":`) + len(key))
		m := c.value(pair[1], depth, valueOfMember)
		if f != nil {
			c.note(f)
			continue
		}
		m.key, m.at = key, c.at(pair[0])
		to.nodes = append(to.nodes, m)
	}
}

func (c *converter) key(n *yaml.Node) (string, *fault) {
	target := aliased(n)
	if target.Kind != yaml.ScalarNode {
		return "", &fault{at: c.at(n), rule: RuleSyntax, message: "a list or mapping cannot be a key"}
	}
	key, err := keyText(target)
	if err != nil {
		return "", &fault{at: c.at(n), rule: RuleSyntax, message: err.Error()}
	}
	return key, nil
}

// merge adds the members of the mapping or list of mappings n. The first mapping takes precedence.
func (c *converter) merge(to *node, n *yaml.Node, depth int) {
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, source := range slices.Backward(sources) {
		if aliased(source).Kind != yaml.MappingNode {
			c.note(&fault{at: c.at(source), rule: RuleSyntax, message: "a merge key (<<) takes a mapping or a list of mappings"})
			return
		}
		for _, m := range c.value(source, depth-1, valueOfMember).nodes {
			c.source.spend(aliasCost)
			m.merged = true
			to.nodes = append(to.nodes, m)
		}
	}
}

// aliased returns the target of an alias, or n itself.
func aliased(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// follow calls a function with the target of n, unless there is a fault.
func (c *converter) follow(n *yaml.Node, do func(*yaml.Node)) *fault {
	target := aliased(n)
	if n != target {
		if slices.Contains(c.open, target) {
			return &fault{at: c.at(n), rule: RuleSyntax, message: "an alias (*name) refers to a value that contains it"}
		}
		if c.aliased = true; !c.source.spend(aliasCost) {
			return &fault{at: c.at(n), rule: RuleTooLarge, message: expandsTooFar}
		}
		c.aliases++
		defer func() { c.aliases-- }()
	}
	if target.Anchor != "" {
		c.open = append(c.open, target)
		defer func() { c.open = c.open[:len(c.open)-1] }()
	}
	do(target)
	return nil
}

// cost charges bytes of JSON to the budget if they come from aliases.
func (c *converter) cost(bytes int) {
	if c.aliases > 0 {
		c.source.spend(bytes)
	}
}

// note records a fault, unless it is nil. Faults in the target of an alias are only recorded where it is written, except those about
// size.
func (c *converter) note(f *fault) {
	if c.aliases == 0 || f != nil && f.rule == RuleTooLarge {
		c.faults.add(f)
	}
}

// at returns the position of the node itself.
func (c *converter) at(n *yaml.Node) cut.Place { return c.chunk.At(n.Line, n.Column) }

// expandsTooFar is the message for a document whose aliases expand too far.
var expandsTooFar = fmt.Sprintf("the aliases (*name) expand to more than %d MiB; write fewer aliases within aliases", maxExpanded>>20)

func tooDeep(at cut.Place) *fault {
	return &fault{at: at, rule: RuleTooLarge, message: fmt.Sprintf("lists and mappings are nested more than %d deep", maxDepth)}
}

// booleans are the plain scalars that are booleans in YAML 1.1.
var booleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"true": true, "True": true, "TRUE": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
	"false": false, "False": false, "FALSE": false,
}

// meaning returns the value of a scalar in YAML 1.1, as kubectl reads it: nil, a bool, int, int64, uint64, float64 or string. A timestamp
// is a string.
func meaning(n *yaml.Node) (any, error) {
	tag, tagged := n.ShortTag(), n.Style&yaml.TaggedStyle != 0
	if b, found := booleans[n.Value]; found && (n.Style == 0 || tagged && tag == "!!bool") {
		return b, nil
	}
	if !tagged && (n.Style != 0 || tag == "!!str" || tag == "!!timestamp") {
		return n.Value, nil
	}
	var data any
	if err := n.Decode(&data); err != nil {
		if tag == "!!binary" {
			return nil, errors.New("the value is not base64, as its tag !!binary says")
		}
		return nil, fmt.Errorf("the value is not what its tag %s says", tag)
	}
	if tag == "!!timestamp" {
		return n.Value, nil
	}
	return data, nil
}

// scalarJSON returns the JSON of a scalar.
func scalarJSON(n *yaml.Node) (string, error) {
	data, err := meaning(n)
	if err != nil {
		return "", err
	}
	if text, ok := data.(string); ok {
		return string(appendString(nil, text)), nil
	}
	text, err := json.Marshal(data)
	if err != nil {
		return "", errors.New("JSON has no such number; put it in quotes if it is text")
	}
	return string(text), nil
}

var noNumbers = strings.NewReplacer("+Inf", ".inf", "-Inf", "-.inf", "NaN", ".nan")

// keyText returns the JSON key for a scalar.
func keyText(n *yaml.Node) (string, error) {
	data, err := meaning(n)
	if err != nil {
		return "", err
	}
	switch data := data.(type) {
	case string:
		return data, nil
	case bool, int, int64:
		return fmt.Sprint(data), nil
	case float64:
		return noNumbers.Replace(strconv.FormatFloat(data, 'g', -1, 32)), nil
	}
	return "", errors.New("this value cannot be a key; put it in quotes")
}
