// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// FieldIgnorer is a provider that ignores fields of its config which it does not know. They stay where they are, also in an entry that
// is written in another format.
type FieldIgnorer interface {
	// IgnoredFields returns the fields of an entry of a list of versions that Decode ignores, of an entry as encoding/json decodes it;
	// and the paths of those within its fields, in its regions or flavors, say. An entry with such cannot be written in another format.
	IgnoredFields(entry map[string]any) (fields map[string]any, within []string)
}

// LegacyKeeper is a provider whose config knows the legacy format only, or may.
type LegacyKeeper interface {
	// KeepsLegacy reports whether it does: then an entry stays as it is where core gets flavors.
	KeepsLegacy() bool
}

// Ignored returns the fields that a provider ignores of an entry, whose path in a config at the path at is given, and whether there are some
// within its fields. A nil provider ignores none.
func Ignored(ignorer FieldIgnorer, config *runtime.RawExtension, entry, at *field.Path) (fields map[string]any, within bool) {
	var value any
	if ignorer == nil || !HasContent(config) || json.Unmarshal(config.Raw, &value) != nil {
		return nil, false
	}
	for _, segment := range fieldpath.Of(entry)[len(fieldpath.Of(at)):] {
		switch of := value.(type) {
		case map[string]any:
			value = of[segment.Name]
		case []any:
			if segment.Index < 0 || segment.Index >= len(of) {
				return nil, false
			}
			value = of[segment.Index]
		}
	}
	written, _ := value.(map[string]any)
	fields, paths := ignorer.IgnoredFields(written)
	return fields, len(paths) > 0
}

// Keep gives an entry what a provider ignores of another one, in whose place it stands; nil if there is none yet. rewritten says that it is in another format. It
// returns what cannot stay, each as the end of a sentence. A nil provider ignores nothing.
func Keep(ignorer FieldIgnorer, into, from map[string]any, rewritten bool) (lost []string) {
	if ignorer == nil {
		return nil
	}
	fields, within := ignorer.IgnoredFields(from)
	if rewritten {
		for _, path := range within {
			lost = append(lost, fmt.Sprintf("cannot be written in the other format: that has no place for %s, a field that is not known here", path))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if into == nil {
			lost = append(lost, fmt.Sprintf("has %s, a field that is not known here, and stands before the entry that takes it in: move it behind that", name))
			continue
		}
		if other, there := into[name]; there && !reflect.DeepEqual(other, fields[name]) {
			lost = append(lost, fmt.Sprintf("has several entries that become one, with another %s each, a field that is not known here: make them equal", name))
			continue
		}
		into[name] = fields[name]
	}
	return lost
}
