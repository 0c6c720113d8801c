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

// Place is where an object begins in its file: line and column, counted from 1.
type Place [2]int

// PlaceOf returns that of an object.
func PlaceOf(o *manifest.Object) Place {
	line, column := o.Position("")
	return Place{line, column}
}

// Edit is what changes of an object.
type Edit struct {
	Ops []edit.Op
	// Says is what the object says then, as JSON; nil for what the operations make of it.
	Says json.RawMessage
}

// Edited changes objects of a file, and returns its text and its objects then. It is an [edit.Fault] if the text does not have one of these
// objects, since the file has changed after they were read. The text is read again: it is an error, and no Fault, if an object does not say
// then what it should, or if any other one says anything else than before. The memory is that of the file; it may be nil.
func Edited(name, text string, m *manifest.Memory, edits map[*manifest.Object]Edit) (changed string, objects []*manifest.Object, err error) {
	if m == nil { // the text is read twice, with little between
		m = new(manifest.Memory)
	}
	was, skipped := manifest.Parse(name, text, m) // in a folder there may be what is no object
	at := map[Place]*manifest.Object{}
	for o := range edits {
		at[PlaceOf(o)] = o
	}
	says := make([]json.RawMessage, len(was))
	var changes []edit.Change
	for i, o := range was {
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
				return text, nil, err
			}
		}
		changes = append(changes, edit.Change{Line: place[0], Column: place[1], Ops: e.Ops})
	}
	if len(at) > 0 {
		first := slices.MinFunc(slices.Collect(maps.Keys(at)), func(a, b Place) int { return slices.Compare(a[:], b[:]) })
		return text, nil, &edit.Fault{Line: first[0], Column: first[1], Message: "what begins here has changed meanwhile: run the command again"}
	}
	if changed, err = edit.Apply(text, changes); err != nil {
		return text, nil, err
	}
	objects, problems := manifest.Parse(name, changed, m)
	good := len(objects) == len(was) && len(problems) <= len(skipped)
	for i := 0; good && i < len(was); i++ {
		good = manifest.SameJSON(says[i], objects[i].JSON)
	}
	if !good {
		return text, nil, errors.New("the text would say something else than it should")
	}
	return changed, objects, nil
}
