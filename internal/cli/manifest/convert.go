// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// converter writes the parser's nodes as JSON. Like kubectl it reads the members of a mapping in order, a merge key
// among them; the last value of a key wins. What cannot be converted becomes null and a fault.
type converter struct {
	*writer
	source *source
	chunk  chunk
	open   []*yaml.Node // the anchored nodes being written
	// aliases counts those that are being followed, one within the other; start is where the outermost began to write.
	aliases, start int
	aliased        bool // the document has aliases
	tooLarge       bool // there is a fault about the size
}

// value writes the document, or an item of a list, which is at the given depth.
func (c *converter) value(n *yaml.Node, depth int) {
	i := c.begin(c.place(n))
	c.content(n, depth)
	c.end(i)
}

// content writes a node at the given depth. What it is of has begun.
func (c *converter) content(n *yaml.Node, depth int) {
	if depth > maxDepth {
		c.fail(tooDeep(c.place(n)))
		return
	}
	target, f := c.enter(n)
	if f != nil {
		c.fail(f)
		return
	}
	switch target.Kind {
	case yaml.MappingNode:
		c.json = append(c.json, '{')
		c.members(target, depth+1)
		c.json = append(c.json, '}')
	case yaml.SequenceNode:
		c.json = append(c.json, '[')
		for _, item := range target.Content {
			c.value(item, depth+1)
		}
		c.json = append(c.json, ']')
	default:
		data, err := meaning(target)
		if err == nil {
			c.json, err = appendScalar(c.json, data)
		}
		if err != nil {
			c.fail(&fault{c.place(target), RuleSyntax, err.Error()})
		}
	}
	c.leave(n)
	if len(c.open) == 0 && target.Anchor == "" {
		target.Content = nil // nobody asks for it again, and the parser's nodes are large
	}
}

func (c *converter) members(n *yaml.Node, depth int) {
	keyLines := map[string]int{}
	for pair := range slices.Chunk(n.Content, 2) {
		keyNode, valueNode := pair[0], pair[1]
		if keyNode.Kind == yaml.ScalarNode && keyNode.ShortTag() == "!!merge" {
			c.repeats = true
			c.merge(valueNode, depth)
			continue
		}
		key, f := c.key(keyNode)
		others := keyLines
		if f != nil { // something has to be there
			others = map[string]int{}
		}
		i, again := c.beginMember(key, c.keyPlace(keyNode), others)
		if f = cmp.Or(f, again); f != nil {
			c.note(f)
		}
		c.content(valueNode, depth)
		c.endMember(i, key, c.place(valueNode))
	}
}

func (c *converter) key(n *yaml.Node) (string, *fault) {
	target := n
	if n.Kind == yaml.AliasNode {
		target = n.Alias
	}
	if target.Kind != yaml.ScalarNode {
		return "", &fault{c.keyPlace(n), RuleSyntax, "a list or mapping cannot be a key"}
	}
	data, err := meaning(target)
	if err == nil {
		key, ok := keyText(data)
		if ok {
			return key, nil
		}
		err = errors.New("this value cannot be a key; put it in quotes")
	}
	return "", &fault{c.keyPlace(n), RuleSyntax, err.Error()}
}

// merge writes the members of the mapping or list of mappings n, of which the first has the last word.
func (c *converter) merge(n *yaml.Node, depth int) {
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, source := range slices.Backward(sources) {
		target, f := c.enter(source)
		if f == nil {
			if target.Kind == yaml.MappingNode {
				c.members(target, depth)
			} else {
				f = &fault{c.keyPlace(source), RuleSyntax, "a merge key (<<) takes a mapping or a list of mappings"}
			}
			c.leave(source)
		}
		if f != nil {
			c.note(f)
			return
		}
	}
}

// enter returns the node that n stands for: itself, or what it is an alias of. Unless there is a fault, leave follows.
func (c *converter) enter(n *yaml.Node) (*yaml.Node, *fault) {
	target := n
	if n.Kind == yaml.AliasNode {
		target = n.Alias
		if slices.Contains(c.open, target) {
			return nil, &fault{c.keyPlace(n), RuleSyntax, "an alias (*name) refers to a value that contains it"}
		}
		if c.aliases == 0 {
			c.start = len(c.json)
		}
		if c.aliased = true; !c.source.spend(aliasCost) || len(c.json)-c.start > c.source.expanded {
			return nil, &fault{c.keyPlace(n), RuleTooLarge, expandsTooFar}
		}
		c.aliases++
	}
	if target.Anchor != "" {
		c.open = append(c.open, target)
	}
	return target, nil
}

func (c *converter) leave(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		if c.aliases--; c.aliases == 0 {
			c.source.spend(len(c.json) - c.start)
		}
		n = n.Alias
	}
	if n.Anchor != "" {
		c.open = c.open[:len(c.open)-1]
	}
}

func (c *converter) fail(f *fault) {
	c.note(f)
	c.json = append(c.json, "null"...)
}

// note takes down a fault: what aliases lead to only where it is written, and one about the size only once.
func (c *converter) note(f *fault) {
	if f.rule == RuleTooLarge && !c.tooLarge || f.rule != RuleTooLarge && c.aliases == 0 {
		c.faults = append(c.faults, f)
		c.tooLarge = c.tooLarge || f.rule == RuleTooLarge
	}
}

// place returns where the content of a node was written: that of an alias where its anchor is.
func (c *converter) place(n *yaml.Node) place {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return c.keyPlace(n)
}

// keyPlace returns where a node itself was written.
func (c *converter) keyPlace(n *yaml.Node) place { return c.chunk.place(n.Line, n.Column) }

// expandsTooFar is the message of a document with aliases that becomes too large by them.
var expandsTooFar = fmt.Sprintf("the aliases (*name) expand to more than %d MiB; write fewer aliases within aliases", maxExpanded>>20)

func tooDeep(at place) *fault {
	return &fault{at, RuleTooLarge, fmt.Sprintf("lists and mappings are nested more than %d deep", maxDepth)}
}

// booleans are the plain scalars that are booleans in YAML 1.1, each in three spellings.
var booleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"true": true, "True": true, "TRUE": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
	"false": false, "False": false, "FALSE": false,
}

// meaning returns what a scalar means in YAML 1.1, as kubectl reads it: nil, a bool, int, int64, uint64, float64 or
// string. A timestamp is a string.
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

// appendScalar appends the JSON of what meaning returned.
func appendScalar(out []byte, data any) ([]byte, error) {
	if text, ok := data.(string); ok {
		return appendString(out, text), nil
	}
	text, err := json.Marshal(data)
	if err != nil {
		return out, errors.New("JSON has no such number; put it in quotes if it is text")
	}
	return append(out, text...), nil
}

// keyText returns the JSON key for what meaning returned, and whether it can be a key.
func keyText(data any) (string, bool) {
	switch data := data.(type) {
	case string:
		return data, true
	case bool, int, int64:
		return fmt.Sprint(data), true
	case float64:
		text := strconv.FormatFloat(data, 'g', -1, 32)
		if special, ok := map[string]string{"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}[text]; ok {
			return special, true
		}
		return text, true
	}
	return "", false
}
