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

// Input is the result of Read.
type Input struct {
	// Objects and Problems have the order of the input; problems of one file are sorted by line and column.
	Objects  []*Object
	Problems []Problem
	// Skipped are contents of folders other than manifests that are worth a note, in the order of the input. Whole folders come first.
	Skipped []Skipped
	// Foreign counts the documents in folders that are not manifests, whether or not they are in Skipped.
	Foreign int
	// Marked are the documents with a [Mark] or a misspelling of it.
	Marked []Text
	// Empty are files without text that were named, and [Stdin] if that has none.
	Empty []string
}

func (in *Input) add(more Input) {
	in.Objects, in.Problems = append(in.Objects, more.Objects...), append(in.Problems, more.Problems...)
	in.Skipped, in.Foreign = append(in.Skipped, more.Skipped...), in.Foreign+more.Foreign
	in.Marked, in.Empty = append(in.Marked, more.Marked...), append(in.Empty, more.Empty...)
}

// The reasons for skipping a document.
const (
	reasonTemplate   = "a template, with {{ }} in it: check what it renders to"
	reasonUnreadable = "it cannot be read, and does not mention "
	reasonNoObject   = "no Kubernetes object: "
)

// Skipped is a folder, file or document that is not read, or that contributes no objects.
type Skipped = folder.Skipped

// Unread returns the values of an object that need not be kept, as paths of keys; none if it is kept whole.
type Unread func(Identity) (paths [][]string)

// Found are the files of an argument, and the skipped parts of a folder.
type Found struct {
	Files   []string
	Skipped []Skipped
	group   string // the group of [Read] for a folder, empty for a file
	folder  bool
}

// OfFolder returns a Found that reads files like those of a folder, but lists none.
func OfFolder(group string) Found { return Found{group: group, folder: true} }

// ofAnObject matches keys of objects in block style, and ofAList those of Lists. A document without apiVersion or kind that looks like an
// object is worth a note.
var (
	ofAnObject = regexp.MustCompile(`(?m)^(metadata|spec)[ \t]*:`)
	ofAList    = regexp.MustCompile(`(?m)^items[ \t]*:`)
)

// leaveOut drops the objects and problems of a document in a folder, from the given indices on, if it is not a manifest.
func (s *source) leaveOut(c cut.Chunk, objects, problems int) {
	found := s.Problems[problems:]
	skip := func(reason string) {
		line := int(c.Line) + cut.Breaks(c.Text[:max(cut.ContentIn(c.Text), 0)])
		s.Skipped = append(s.Skipped, Skipped{File: s.name, Line: line, Reason: reason})
	}
	mentions := strings.Contains(strings.ReplaceAll(c.Text, "\x00", ""), s.group) // also in UTF-16
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
