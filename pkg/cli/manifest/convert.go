// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"

	"go.yaml.in/yaml/v3"
)

// converter turns the parser's nodes into values. Like kubectl it reads the members of a mapping in order, a merge key
// among them, and lets the last value of a key win.
type converter struct {
	line    int  // added to the parser's lines
	merged  *int // how many more members merge keys may bring
	faults  []*fault
	aliased bool // the document has aliases
	done    map[*yaml.Node]*value
	open    []*yaml.Node // the anchored nodes being converted
}

// convert never returns nil; what cannot be converted is null and a fault.
func (c *converter) convert(n *yaml.Node) *value {
	if n.Kind == yaml.AliasNode {
		c.aliased = true
		return c.anchored(n.Alias, n)
	}
	if n.Anchor != "" {
		return c.anchored(n, n)
	}
	return c.content(n)
}

// anchored converts a node with an anchor, once, for all its aliases. from is where it is asked for.
func (c *converter) anchored(n, from *yaml.Node) *value {
	if v := c.done[n]; v != nil {
		return v
	}
	for _, outer := range c.open {
		if outer == n {
			return c.fail(from, RuleSyntax, "an alias (*name) refers to a value that contains it")
		}
	}
	c.open = append(c.open, n)
	v := c.content(n)
	c.open = c.open[:len(c.open)-1]
	c.done[n] = v
	return v
}

func (c *converter) content(n *yaml.Node) *value {
	v := &value{at: c.place(n)}
	switch n.Kind {
	case yaml.MappingNode:
		v.kind, v.members = kindObject, c.members(n)
	case yaml.SequenceNode:
		v.kind, v.items = kindList, make([]*value, 0, len(n.Content))
		for _, item := range n.Content {
			v.items = append(v.items, c.convert(item))
		}
	default:
		data, err := resolve(n)
		if err == nil {
			v.text, err = encodeScalar(data)
		}
		if err != nil {
			return c.fail(n, RuleSyntax, err.Error())
		}
	}
	n.Content = nil // no node is converted twice, and the parser's are large
	return v
}

func (c *converter) members(n *yaml.Node) []member {
	m := &mapping{members: make([]member, 0, len(n.Content)/2)}
	for i := 0; i+1 < len(n.Content); i += 2 {
		keyNode, valueNode := n.Content[i], n.Content[i+1]
		if keyNode.Kind == yaml.ScalarNode && keyNode.ShortTag() == "!!merge" {
			c.merge(m, valueNode)
			continue
		}
		key, ok := c.key(keyNode)
		v := c.convert(valueNode)
		if !ok {
			continue
		}
		if f := m.putOwn(member{key: key, at: c.place(keyNode), value: v}); f != nil {
			c.faults = append(c.faults, f)
		}
	}
	return m.members
}

// key returns the JSON key for a key node.
func (c *converter) key(n *yaml.Node) (string, bool) {
	target := n
	if n.Kind == yaml.AliasNode {
		c.aliased = true
		target = n.Alias
	}
	if target.Kind != yaml.ScalarNode {
		c.fail(n, RuleSyntax, "a list or mapping cannot be a key")
		return "", false
	}
	data, err := resolve(target)
	if err == nil {
		key, ok := keyText(data)
		if ok {
			return key, true
		}
		err = errors.New("this value cannot be a key; put it in quotes")
	}
	c.fail(n, RuleSyntax, err.Error())
	return "", false
}

// merge brings in the members of the mapping or list of mappings n, of which the first has the last word.
func (c *converter) merge(m *mapping, n *yaml.Node) {
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for i := len(sources) - 1; i >= 0; i-- {
		target := sources[i]
		if target.Kind == yaml.AliasNode {
			target = target.Alias
		}
		if target.Kind != yaml.MappingNode {
			c.fail(sources[i], RuleSyntax, "a merge key (<<) takes a mapping or a list of mappings")
			return
		}
		v := c.convert(sources[i])
		if *c.merged -= 1 + len(v.members); *c.merged < 0 {
			if last := len(c.faults) - 1; last < 0 || c.faults[last].rule != RuleTooLarge {
				c.fail(sources[i], RuleTooLarge, "the merge keys (<<) bring in too many members")
			}
			return
		}
		for _, add := range v.members {
			m.put(add)
		}
	}
}

// fail notes a fault at the node and returns null in its place.
func (c *converter) fail(n *yaml.Node, rule, message string) *value {
	c.faults = append(c.faults, &fault{c.place(n), rule, message})
	return &value{at: c.place(n), text: "null"}
}

func (c *converter) place(n *yaml.Node) place { return place{c.line + n.Line, n.Column} }
