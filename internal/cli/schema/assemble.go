// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	_ "embed" // of the definitions
	"encoding/json"
	"maps"
	"strings"

	"github.com/capkit/capkit/internal/cli/command"
)

// apiVersion is the API version of all kinds.
const apiVersion = "core.gardener.cloud/v1beta1"

// draft is the version of JSON Schema: the newest that editors fully support.
const draft = "http://json-schema.org/draft-07/schema#"

const refPrefix = "#/definitions/"

//go:embed definitions.json
var definitions []byte

// object is a JSON object.
type object = map[string]any

// assembly assembles the schemas for all clouds, or for one.
type assembly struct {
	// definitions are the definitions of all types by name: "Shoot", "openstack.WorkerConfig".
	definitions map[string]object
	// clouds are provider types. one is set if a single one was requested.
	clouds []string
	one    bool
	// apiVersions are the API versions of the CloudProfileConfig, by cloud. A cloud with unknown types has none.
	apiVersions map[string][]any
}

// assemble returns the definitions for a cloud, or for all of them if it is "".
func assemble(providers []command.Provider, cloud string) *assembly {
	a := &assembly{clouds: types(providers), apiVersions: map[string][]any{}}
	if err := json.Unmarshal(definitions, &a.definitions); err != nil {
		panic(err) // hack/schemas has written something else
	}
	if cloud != "" {
		a.clouds, a.one = []string{cloud}, true
	}
	for _, p := range providers {
		a.describe(p)
	}
	for _, cloud := range a.clouds {
		if config := a.definitions[cloud+"."+profileConfig]; config != nil {
			a.apiVersions[cloud], _ = member(config, "properties", "apiVersion")["enum"].([]any)
		}
	}
	a.placeByType("CloudProfileSpec", map[string]string{"providerConfig": profileConfig})
	a.placeInNamespaced()
	a.placeByType("Provider", map[string]string{"infrastructureConfig": "InfrastructureConfig", "controlPlaneConfig": "ControlPlaneConfig", workers: "WorkerConfig"})
	return a
}

// profileConfig is the kind of the provider config in CloudProfiles.
const profileConfig = "CloudProfileConfig"

// workers is the field of a Shoot whose entries each have a provider config.
const workers = "workers"

// placeByType adds the configs of each cloud to an object with a provider type. fields maps the fields to the kinds of their configs.
func (a *assembly) placeByType(definition string, fields map[string]string) {
	into := a.definitions[definition]
	kind := member(into, "properties", "type")
	names := make([]any, 0, len(a.clouds))
	var cases []any
	for _, cloud := range a.clouds {
		names = append(names, cloud)
		configs := object{}
		for field, config := range fields {
			switch ref := a.ref(cloud, config); {
			case ref == nil:
			case field == workers:
				configs[field] = object{"items": object{"properties": object{"providerConfig": ref}}}
			default:
				configs[field] = ref
			}
		}
		if len(configs) > 0 {
			cases = append(cases, object{
				"if":   object{"properties": object{"type": object{"enum": []any{cloud}}}, "required": []any{"type"}},
				"then": object{"properties": configs},
			})
		}
	}
	if a.one {
		kind["enum"] = names
	} else {
		kind["examples"] = names
	}
	if len(cases) > 0 {
		into["allOf"] = cases
	}
}

// placeInNamespaced adds the configs to NamespacedCloudProfiles. They do not name a provider type, so the config's API version decides.
func (a *assembly) placeInNamespaced() {
	config := member(a.definitions["NamespacedCloudProfileSpec"], "properties", "providerConfig")
	var cases, all []any
	for _, cloud := range a.clouds {
		if versions := a.apiVersions[cloud]; len(versions) > 0 {
			all = append(all, versions...)
			cases = append(cases, object{
				"if":   object{"properties": object{"apiVersion": object{"enum": versions}}, "required": []any{"apiVersion"}},
				"then": a.ref(cloud, profileConfig),
			})
		}
	}
	switch {
	case len(cases) == 0:
	case a.one:
		config["$ref"] = a.ref(a.clouds[0], profileConfig)["$ref"]
	default:
		delete(config, "$ref") // keywords beside it are ignored
		text := []any{"string", "null"}
		config["properties"] = object{
			"apiVersion": object{"type": text, "examples": all}, "kind": object{"type": text, "examples": []any{profileConfig}},
		}
		config["allOf"] = cases
	}
}

// ref returns a reference to a cloud's type; nil if it is unknown.
func (a *assembly) ref(cloud, kind string) object {
	if name := cloud + "." + kind; a.definitions[name] != nil {
		return object{"$ref": refPrefix + name}
	}
	return nil
}

// schema returns the schema of a kind, or of all kinds if it is "".
func (a *assembly) schema(kind string) object {
	made, needed := object{}, map[string]object{}
	if kind != "" {
		maps.Copy(made, a.definitions[kind])
		made["type"] = "object"
	} else {
		made = byKind()
	}
	a.need(made, needed)
	made["$schema"], made["definitions"] = draft, needed
	made["title"] = "Gardener: " + strings.Join(Kinds(), ", ")
	if kind != "" {
		made["title"] = kind
	}
	if a.one {
		made["title"] = made["title"].(string) + ", provider " + a.clouds[0]
	}
	return made
}

// byKind returns a schema for objects of all kinds. It accepts objects of other kinds.
func byKind() object {
	cases, kinds := []any{}, []any{}
	for _, kind := range Kinds() {
		kinds = append(kinds, kind)
		is := object{"apiVersion": object{"enum": []any{apiVersion}}, "kind": object{"enum": []any{kind}}}
		cases = append(cases, object{
			"if":   object{"properties": is, "required": []any{"apiVersion", "kind"}},
			"then": object{"$ref": refPrefix + kind},
		})
	}
	return object{
		"allOf":      cases,
		"properties": object{"apiVersion": object{"examples": []any{apiVersion}}, "kind": object{"examples": kinds}},
	}
}

// need adds the definitions to which a part of a schema refers.
func (a *assembly) need(part any, needed map[string]object) {
	switch part := part.(type) {
	case []any:
		for _, each := range part {
			a.need(each, needed)
		}
	case object:
		for key, value := range part {
			name, _ := value.(string)
			if name = strings.TrimPrefix(name, refPrefix); key != "$ref" || needed[name] != nil {
				a.need(value, needed)
				continue
			}
			needed[name] = a.definitions[name]
			a.need(needed[name], needed)
		}
	}
}

// member returns the object below some keys of another one; nil if there is none.
func member(of object, keys ...string) object {
	for _, key := range keys {
		of, _ = of[key].(object)
	}
	return of
}
