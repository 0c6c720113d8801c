// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"reflect"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/pkg/provider"
)

// configTyper is a provider by description, which describes a part of its config.
type configTyper interface {
	// ConfigType returns a struct with the known fields; ConfigVersions returns the API versions.
	ConfigType() reflect.Type
	ConfigVersions() []string
}

// describe adds the config of a provider by description. It allows fields that the description does not name.
func (a *assembly) describe(p command.Provider) {
	cloud, is := provider.As[configTyper](p)
	if !is {
		return
	}
	config := a.ofType(cloud.ConfigType())
	versions := []any{}
	for _, version := range cloud.ConfigVersions() {
		versions = append(versions, version)
	}
	fields := member(config, "properties")
	fields["apiVersion"] = object{"type": "string", "enum": versions}
	fields["kind"] = object{"type": "string", "enum": []any{profileConfig}}
	config["required"] = []any{"apiVersion", "kind"}
	config["description"] = "The provider config of " + p.Type() + ". What its description does not name may be there, too, and is not checked."
	a.definitions[p.Type()+"."+profileConfig] = config
}

// ofType returns the schema of a type that consists of structs, lists, maps, strings, and pointers to the name of an architecture.
func (a *assembly) ofType(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		architecture := a.ofType(t.Elem())
		architecture["enum"] = member(a.definitions["Machine"], "properties", "architecture")["enum"]
		return architecture
	case reflect.Slice:
		return object{"type": []any{"array", "null"}, "items": a.ofType(t.Elem())}
	case reflect.Map:
		return object{"type": []any{"object", "null"}, "additionalProperties": a.ofType(t.Elem())}
	case reflect.Struct:
		fields := object{}
		for i := range t.NumField() {
			fields[t.Field(i).Tag.Get("json")] = a.ofType(t.Field(i).Type)
		}
		return object{"type": []any{"object", "null"}, "properties": fields}
	default:
		return object{"type": []any{"string", "null"}}
	}
}
