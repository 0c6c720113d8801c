// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
	"github.com/capkit/capkit/internal/strictyaml"
)

func (s *source) parseYAML(c cut.Chunk) {
	if wrong := strictyaml.Unreadable(c.Text); wrong != nil {
		s.fault(syntaxFault(c, wrong), Identity{})
		return
	}
	if s.parseItems(c) {
		return
	}
	nodes, err := strictyaml.Documents(c.Text)
	for _, n := range nodes {
		conv := converter{source: s, chunk: c}
		value := conv.value(n, 1, wholeDocument)
		s.take(value, conv.faults, conv.aliased)
	}
	if err != nil {
		s.searched -= len(c.Text)
		s.fault(syntaxFault(c, strictyaml.Explain(c.Text, err, s.searched >= 0)), Identity{})
	}
}

// syntaxFault returns the fault for an error in the syntax of a document.
func syntaxFault(c cut.Chunk, wrong *strictyaml.Syntax) *fault {
	at := c.Place
	at.Advance(c.Text[:wrong.Offset])
	if strings.Contains(wrong.Message, "exceeded max depth") {
		return tooDeep(at)
	}
	return &fault{at: at, rule: RuleSyntax, message: wrong.Message}
}
