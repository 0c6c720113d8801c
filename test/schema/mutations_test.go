// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/internal/cli/schema"
)

// place is a value in a manifest that can be replaced or removed.
type place struct {
	path  string
	value any
	set   func(value any)
	unset func() // nil for entries of lists
}

// places returns all values of a manifest, each before its members.
func places(m manifest) (found []place) {
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				at := strings.TrimPrefix(path+"."+key, ".")
				found = append(found, place{at, value[key], func(v any) { value[key] = v }, func() { delete(value, key) }})
				walk(at, value[key])
			}
		case []any:
			for i := range value {
				at := fmt.Sprint(path, ".", i)
				found = append(found, place{at, value[i], func(v any) { value[i] = v }, nil})
				walk(at, value[i])
			}
		}
	}
	walk("", m)
	return found
}

func clone(m manifest) (cloned manifest) {
	text, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(text, &cloned)
	}
	if err != nil {
		panic(err)
	}
	return cloned
}

// freely matches places where any key and any text is valid.
var freely = regexp.MustCompile(`^(status|metadata\.(labels|annotations|managedFields|name|namespace))`)

// mutations maps the names of mistakes to functions that change a value. done is false if the mistake does not apply there.
var mutations = map[string]func(p place) (done bool){
	"misspelt": func(p place) bool {
		object, is := p.value.(map[string]any)
		if is {
			object["mispelt"] = "x"
		}
		return is
	},
	"type": func(p place) bool {
		switch p.value.(type) {
		case string:
			p.set([]any{"x"})
		case []any, map[string]any:
			p.set("x")
		default:
			p.set(map[string]any{})
		}
		return true
	},
	"text": func(p place) bool {
		_, is := p.value.(string)
		if is {
			p.set("no-such-Value")
		}
		return is
	},
	"number": func(p place) bool {
		_, is := p.value.(string)
		if is {
			p.set(7)
		}
		return is
	},
	"quoted": func(p place) bool {
		_, isText := p.value.(string)
		_, isList := p.value.([]any)
		_, isObject := p.value.(map[string]any)
		if !isText && !isList && !isObject {
			p.set(fmt.Sprint(p.value))
			return true
		}
		return false
	},
	"null": func(p place) bool { p.set(nil); return true },
	"empty": func(p place) bool {
		if _, is := p.value.(string); is {
			p.set("")
			return true
		}
		return false
	},
	"left out": func(p place) bool {
		if p.unset != nil {
			p.unset()
		}
		return p.unset != nil
	},
}

var index = regexp.MustCompile(`\.\d+`)

// Every mistake is made in every field of the examples. lint reports whatever the schema reports. The schema reports the unknown keys and
// wrong types that lint reports. Each demand of the schema is broken by some mistake.
func TestMistakes(t *testing.T) {
	all := compiled(t, "", "")
	done, found, agreed := map[string]bool{}, map[string]int{}, map[string]bool{}
	examples := manifests(t, "example", "test/schema/testdata")
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		if strings.HasPrefix(name, "example/broken/") {
			continue
		}
		original := examples[name]
		for i, p := range places(original) {
			for what := range mutations {
				id := fmt.Sprint(what, original["kind"], ofCloud(original, p.path), index.ReplaceAllString(p.path, ".0"))
				if freely.MatchString(p.path) || done[id] {
					continue
				}
				done[id] = true
				changed := clone(original)
				if mutations[what](places(changed)[i]) {
					said := compare(t, name+", "+what+" at "+p.path, all, changed, profilesOf(examples, name))
					found[what] += min(len(said), 1)
					for _, demand := range said {
						agreed[demand] = true
					}
				}
			}
		}
	}
	for what := range mutations {
		if what != "empty" && found[what] < 10 {
			t.Errorf("of mistakes %q only %d were found: nothing is tested", what, found[what])
		}
	}
	for _, demand := range demands(t) {
		// lint skips documents that are not an object because these fields are missing.
		if !agreed[demand] && !strings.HasSuffix(demand, "requires apiVersion") && !strings.HasSuffix(demand, "requires kind") {
			t.Errorf("no mistake shows that lint agrees: %s", demand)
		}
	}
}

// demands returns the demands in a schema's definitions besides keys and types: "Worker requires name", "CRIName has an enum",
// "Machine/properties/architecture has an enum".
func demands(t *testing.T) (all []string) {
	t.Helper()
	var parsed struct {
		Definitions map[string]struct {
			Enum       []any    `json:"enum"`
			Required   []string `json:"required"`
			Properties map[string]struct {
				Enum  []any `json:"enum"`
				Items struct {
					Enum []any `json:"enum"`
				} `json:"items"`
			} `json:"properties"`
		} `json:"definitions"`
	}
	if err := json.Unmarshal(schema.Of(clouds.All(), "", ""), &parsed); err != nil {
		t.Fatal(err)
	}
	for name, definition := range parsed.Definitions {
		if definition.Enum != nil {
			all = append(all, name+" has an enum")
		}
		for _, field := range definition.Required {
			all = append(all, name+" requires "+field)
		}
		for field, property := range definition.Properties {
			at := name + "/properties/" + field
			switch {
			case field == "apiVersion", field == "kind" && slices.Contains(definition.Required, field): // it would be another kind of object
			case property.Enum != nil:
				all = append(all, at+" has an enum")
			case property.Items.Enum != nil:
				all = append(all, at+"/items has an enum")
			}
		}
	}
	slices.Sort(all)
	return all
}

// ofCloud returns the provider type of an object, if the value at a path depends on it.
func ofCloud(m manifest, path string) string {
	if !strings.Contains(path, "Config") {
		return ""
	}
	return fmt.Sprint(member(m, "spec", "type"), member(m, "spec", "provider", "type"), member(m, "spec", "providerConfig", "apiVersion"))
}
