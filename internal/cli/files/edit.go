// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package files

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/manifest"
)

// Place is the position of an object in its file: line and column, counted from 1.
type Place [2]int

// PlaceOf returns an object's position.
func PlaceOf(o *manifest.Object) Place {
	line, column := o.Position("")
	return Place{line, column}
}

// Compare orders positions in a file.
func (p Place) Compare(other Place) int { return slices.Compare(p[:], other[:]) }

// Edit is the change of an object.
type Edit struct {
	Ops []edit.Op
	// Says is the object's new content as JSON; nil for the result of the operations.
	Says json.RawMessage
}

// Edited changes objects of a file, and returns the new text with its objects. The error is an [edit.Fault] if the text lacks one of the
// objects, because the file has changed since they were read. Edited parses the new text, and returns another error if an object does not
// have its new content, or if any other object has changed. m is the file's memory; it may be nil.
func Edited(name, text string, m *manifest.Memory, edits map[*manifest.Object]Edit) (changed string, now manifest.Input, err error) {
	if m == nil { // the text is read twice, with little between
		m = new(manifest.Memory)
	}
	was := manifest.Parse(name, text, m)
	at := map[Place]*manifest.Object{}
	for o := range edits {
		at[PlaceOf(o)] = o
	}
	says := make([]json.RawMessage, len(was.Objects))
	var changes []edit.Change
	for i, o := range was.Objects {
		place := PlaceOf(o)
		of := at[place]
		if of == nil || !manifest.SameJSON(of.JSON, o.JSON) {
			says[i] = o.JSON
			continue
		}
		delete(at, place)
		e := edits[of]
		says[i] = e.Says
		if e.Says == nil {
			if says[i], err = json.Marshal(edit.Result(edit.Decoded(o.JSON), e.Ops)); err != nil {
				return text, now, err
			}
		}
		changes = append(changes, edit.Change{Line: place[0], Column: place[1], Ops: e.Ops})
	}
	if len(at) > 0 {
		first := slices.MinFunc(slices.Collect(maps.Keys(at)), Place.Compare)
		return text, now, &edit.Fault{Line: first[0], Column: first[1], Message: "what begins here has changed meanwhile: run the command again"}
	}
	if changed, err = edit.Apply(text, changes); err != nil {
		return text, now, err
	}
	now = manifest.Parse(name, changed, m)
	good := slices.EqualFunc(says, now.Objects, func(says json.RawMessage, o *manifest.Object) bool { return manifest.SameJSON(says, o.JSON) })
	if !good || len(now.Problems) > len(was.Problems) { // the files of a folder may have problems before
		return text, manifest.Input{}, errors.New("the text would mean something other than it should")
	}
	return changed, now, nil
}
