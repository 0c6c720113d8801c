// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// Fault is a reason why a file cannot be changed as requested.
type Fault struct {
	// Line and Column are the position of the obstacle, counted from 1.
	Line, Column int
	// Message describes the obstacle and a remedy.
	Message string
}

// Error returns the message with its line.
func (f *Fault) Error() string { return fmt.Sprintf("line %d: %s", f.Line, f.Message) }

// refuse ends the work with a fault at a node.
func refuse(n *yaml.Node, message string) {
	panic(&Fault{Line: n.Line, Column: n.Column, Message: message})
}

// refuseShared refuses changes in a value that is used elsewhere as well.
func (e *editor) refuseShared(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		refuse(n, "an alias (*"+n.Value+") stands for what has to change; write the value here instead")
	case e.aliased[n]:
		refuse(n, "what has to change is used by an alias (*"+n.Anchor+") as well; write the value there instead of the alias")
	}
}

// refuseTagged refuses to replace a value in block style that has a tag.
func refuseTagged(n *yaml.Node) {
	if inBlocks(n) && n.Style&yaml.TaggedStyle != 0 {
		refuse(n, "a value with a tag ("+n.Tag+") has to become another one; remove the tag")
	}
}

// refuseAnchors refuses to remove aliases, or anchors that are in use, from a value, except in parts that move.
func (e *editor) refuseAnchors(it *item) {
	if it.kept {
		return
	}
	e.refuseShared(it.value)
	for _, child := range e.innerOf(it) {
		e.refuseAnchors(child)
	}
}

// refuseAbsent refuses to change a value that is absent, or that a mapping gets from a merge key.
func refuseAbsent(it *item, step fieldpath.Segment) {
	if it.value.Kind != yaml.MappingNode {
		refuse(it.value, "what has to change is not here")
	}
	for _, m := range it.inner {
		if m.key.ShortTag() == "!!merge" {
			refuse(m.key, "the member "+step.Name+", which has to change, comes from a merge key (<<); write it here instead")
		}
	}
	refuse(it.value, "the member "+step.Name+", which has to change, is not here")
}

// refuseExplicit refuses to change a member whose key is marked by a question mark.
func (e *editor) refuseExplicit(it *item) {
	if e.isExplicit(it) {
		refuse(it.key, "a key behind a question mark has to change; write it as "+it.key.Value+": with its value")
	}
}

// refuseComment refuses to rewrite text that contains a comment.
func (e *editor) refuseComment(from, to int) {
	for line := e.lineOf(from); e.begins[line] < to; line++ {
		column, there := e.comments[line]
		if at := e.begins[line] + column; there && at >= from && at < to {
			panic(&Fault{Line: line + 1, Column: 1 + column, Message: "the brackets around this comment have to change; move the comment out of them"})
		}
	}
}
