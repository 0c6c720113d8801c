// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package files

import (
	"encoding/json"
	"errors"

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

// Edited changes objects of a file, and returns its text and its objects then. The text is read again: it is an error, and not an
// [edit.Fault], if an object does not say then what it should, or if any other one says anything else than before. The memory is that of the
// file; it may be nil.
func Edited(name, text string, m *manifest.Memory, edits map[Place]Edit) (changed string, objects []*manifest.Object, err error) {
	if m == nil { // the text is read twice, with little between
		m = new(manifest.Memory)
	}
	was, skipped := manifest.Parse(name, text, m) // in a folder there may be what is no object
	says := make([]json.RawMessage, len(was))
	var changes []edit.Change
	for i, o := range was {
		place := PlaceOf(o)
		e, found := edits[place]
		if says[i] = e.Says; !found {
			says[i] = o.JSON
			continue
		}
		if e.Says == nil {
			if says[i], err = json.Marshal(edit.Result(edit.Decoded(o.JSON), e.Ops)); err != nil {
				return text, nil, err
			}
		}
		changes = append(changes, edit.Change{Line: place[0], Column: place[1], Ops: e.Ops})
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
