// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
	"github.com/capkit/capkit/internal/cli/manifest/folder"
)

// Input is what Read finds.
type Input struct {
	// Objects and Problems come in the order of the input; problems of one file by line and column.
	Objects  []*Object
	Problems []Problem
	// Skipped are what folders have beside manifests, as far as it is worth saying so: in the order of the input, what is
	// about a whole folder first.
	Skipped []Skipped
	// Foreign counts the documents in folders that are no objects of any kind, whether or not they are among Skipped.
	Foreign int
	// Marked are the documents with a [Mark] in their text, or with what is written instead.
	Marked []Text
	// Empty are the files that were named and have no text, and [Stdin] if that has none.
	Empty []string
}

func (in *Input) add(more Input) {
	in.Objects, in.Problems = append(in.Objects, more.Objects...), append(in.Problems, more.Problems...)
	in.Skipped, in.Foreign = append(in.Skipped, more.Skipped...), in.Foreign+more.Foreign
	in.Marked, in.Empty = append(in.Marked, more.Marked...), append(in.Empty, more.Empty...)
}

// The reasons why something is skipped.
const (
	reasonTemplate   = "a template, with {{ }} in it: check what it renders to"
	reasonUnreadable = "it cannot be read, and does not mention "
	reasonNoObject   = "no Kubernetes object: "
)

// Skipped is a folder, a file or a document that is not read, or of which nothing is made.
type Skipped = folder.Skipped

// Unread returns the values of an object that nobody asks for, as paths of keys below it; none if it is kept whole.
type Unread func(Identity) (paths [][]string)

// Found are the files of an argument, and what of a folder is left out.
type Found struct {
	Files   []string
	Skipped []Skipped
	group   string // that of [Read] for a folder, empty for a file
	folder  bool
}

// OfFolder returns what reads files as those of a folder, of which none is found yet.
func OfFolder(group string) Found { return Found{group: group, folder: true} }

// ofAnObject matches keys of a document in block style that objects have, and ofAList that of Lists: what has no apiVersion or kind,
// but looks like an object, is worth saying.
var (
	ofAnObject = regexp.MustCompile(`(?m)^(metadata|spec)[ \t]*:`)
	ofAList    = regexp.MustCompile(`(?m)^items[ \t]*:`)
)

// leaveOut drops what a document of a folder has brought, if it is no manifest: the objects and problems from the given
// indices on.
func (s *source) leaveOut(c cut.Chunk, objects, problems int) {
	found := s.Problems[problems:]
	skip := func(reason string) {
		line := int(c.Line) + cut.Breaks(c.Text[:max(cut.ContentIn(c.Text), 0)])
		s.Skipped = append(s.Skipped, Skipped{File: s.name, Line: line, Reason: reason})
	}
	mentions := strings.Contains(strings.ReplaceAll(c.Text, "\x00", ""), s.group) // in UTF-16, too
	if strings.Contains(c.Text, "{{") && strings.Contains(c.Text, "}}") && len(found) > 0 {
		s.Objects, s.Problems = s.Objects[:objects], s.Problems[:problems]
		s.Foreign++
		skip(reasonTemplate)
		return
	}
	kept := found[:0]
	foreign := ""
	for _, p := range found {
		switch {
		case p.Rule == RuleNotAnObject && !strings.Contains(p.APIVersion, s.group):
			foreign = cmp.Or(foreign, reasonNoObject+p.Message)
		case !mentions:
			foreign = cmp.Or(foreign, reasonUnreadable+s.group+": "+p.Message)
		default:
			kept = append(kept, p)
		}
	}
	s.Problems = s.Problems[:problems+len(kept)]
	if foreign == "" {
		return
	}
	s.Foreign++
	if mentions || !strings.HasPrefix(foreign, reasonNoObject) || ofAnObject.MatchString(c.Text) && !ofAList.MatchString(c.Text) {
		skip(foreign)
	}
}
