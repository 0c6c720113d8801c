// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// Skipped is a folder, a file or a document that is not read, or of which nothing is made.
type Skipped struct {
	File string
	// Line is 0 if it is about all of the file or folder.
	Line   int
	Reason string
}

// String is FILE[:LINE]: REASON.
func (s Skipped) String() string {
	if s.Line == 0 {
		return s.File + ": " + s.Reason
	}
	return fmt.Sprintf("%s:%d: %s", s.File, s.Line, s.Reason)
}

// The reasons why something is skipped.
const (
	reasonChart         = "a Helm chart: its templates and values are no manifests, check what helm template renders"
	reasonKustomization = "a kustomization: its patches are no manifests, check what kustomize build makes of it"
	reasonTemplate      = "a template, with {{ }} in it: check what it renders to"
	reasonUnreadable    = "it cannot be read, and does not mention "
	reasonNoObject      = "no Kubernetes object: "
)

// Unread returns the values of an object that nobody asks for, as paths of keys below it; none if it is kept whole.
type Unread func(Identity) (paths [][]string)

// Found are the files of an argument, and what of a folder is left out.
type Found struct {
	Files   []string
	Skipped []Skipped
	// left are the files to leave out, by their clean paths.
	left   map[string]bool
	group  string // that of [Read] for a folder, empty for a file
	folder bool
}

// OfFolder returns what reads files as those of a folder, of which none is found yet.
func OfFolder(group string) Found { return Found{group: group, folder: true} }

// sort finds out which of the files of a folder are no manifests.
func (f *Found) sort() {
	f.left = map[string]bool{}
	for _, file := range f.Files {
		dir := filepath.Dir(file)
		switch filepath.Base(file) {
		case "Chart.yaml":
			f.Skipped = append(f.Skipped, Skipped{File: dir, Reason: reasonChart})
			f.leaveChart(dir)
		case "kustomization.yaml", "kustomization.yml":
			f.Skipped = append(f.Skipped, Skipped{File: file, Reason: reasonKustomization})
			f.left[filepath.Clean(file)] = true
			for _, patch := range patchesOf(file) {
				f.left[filepath.Join(dir, filepath.FromSlash(patch))] = true
			}
		}
	}
	f.Files = slices.DeleteFunc(f.Files, func(file string) bool { return f.left[filepath.Clean(file)] })
}

// leaveChart leaves out the files of a chart that are no manifests.
func (f *Found) leaveChart(dir string) {
	templates := filepath.Join(dir, "templates") + string(filepath.Separator)
	for _, file := range f.Files {
		path := filepath.Clean(file)
		own := filepath.Dir(path) == filepath.Clean(dir)
		name := filepath.Base(path)
		if strings.HasPrefix(path, templates) || own && (strings.HasPrefix(name, "Chart.") || strings.HasPrefix(name, "values")) {
			f.left[path] = true
		}
	}
}

// patchesOf returns the paths that a kustomization names for something else than resources. It is empty for one that
// cannot be read.
func patchesOf(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil || len(text) > maxDocument {
		return nil
	}
	type ofPath struct{ Path string }
	var k struct {
		Patches, Replacements                                []ofPath
		JSON                                                 []ofPath `yaml:"patchesJson6902"`
		Strategic                                            []string `yaml:"patchesStrategicMerge"`
		Transformers, Generators, Configurations, Validators []string
	}
	if contents, _ := decode(string(text)); len(contents) > 0 {
		_ = contents[0].Decode(&k) // what can be read of it
	}
	var paths []string
	for _, of := range slices.Concat(k.Patches, k.JSON, k.Replacements) {
		paths = append(paths, of.Path)
	}
	for _, path := range slices.Concat(k.Strategic, k.Transformers, k.Generators, k.Configurations, k.Validators) {
		if !strings.Contains(path, "\n") { // else it is the patch itself
			paths = append(paths, path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}

// ofAnObject matches keys of a document in block style that objects have, and ofAList that of Lists: what has no apiVersion or kind,
// but looks like an object, is worth saying.
var (
	ofAnObject = regexp.MustCompile(`(?m)^(metadata|spec)[ \t]*:`)
	ofAList    = regexp.MustCompile(`(?m)^items[ \t]*:`)
)

// leaveOut drops what a document of a folder has brought, if it is no manifest: the objects and problems from the given
// indices on.
func (s *source) leaveOut(c chunk, objects, problems int) {
	found := s.Problems[problems:]
	skip := func(reason string) {
		line := int(c.line) + breaks(c.text[:max(contentIn(c.text), 0)])
		s.Skipped = append(s.Skipped, Skipped{s.name, line, reason})
	}
	mentions := strings.Contains(strings.ReplaceAll(c.text, "\x00", ""), s.group) // in UTF-16, too
	if strings.Contains(c.text, "{{") && strings.Contains(c.text, "}}") && len(found) > 0 {
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
	if mentions || !strings.HasPrefix(foreign, reasonNoObject) || ofAnObject.MatchString(c.text) && !ofAList.MatchString(c.text) {
		skip(foreign)
	}
}
