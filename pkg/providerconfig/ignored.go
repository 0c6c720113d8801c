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

// FieldIgnorer is a provider that ignores unknown fields of its config. They are kept, even in an entry that is rewritten in another
// format.
type FieldIgnorer interface {
	// IgnoredFields returns the ignored fields of an entry in a list of versions, which is decoded by encoding/json, and the paths of
	// ignored fields further below, such as in its regions or flavors. An entry with the latter cannot be rewritten in another format.
	IgnoredFields(entry map[string]any) (fields map[string]any, within []string)
}

// LegacyKeeper is a provider whose config may know the legacy format only.
type LegacyKeeper interface {
	// KeepsLegacy reports whether it does. Entries then keep the legacy format when core gets flavors.
	KeepsLegacy() bool
}

// Ignored returns the fields that a provider ignores in an entry, and whether there are further ones below its fields. entry is the entry's
// path, and at that of the config. A nil provider ignores none.
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

// Keep copies the fields that a provider ignores in the entry from into the entry that replaces it; into is nil if there is none yet.
// rewritten is set if the formats differ. Keep returns the fields that would be lost, each as the end of a sentence. A nil provider ignores
// none.
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
