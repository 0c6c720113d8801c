// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/constant"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
)

// schema is the subset of JSON Schema that is used here.
type schema struct {
	Ref                  string             `json:"$ref,omitempty"`
	Description          string             `json:"description,omitempty"`
	Type                 []string           `json:"type,omitempty"`
	Format               string             `json:"format,omitempty"`
	Pattern              string             `json:"pattern,omitempty"`
	PatternErrorMessage  string             `json:"patternErrorMessage,omitempty"`
	Enum                 []any              `json:"enum,omitempty"`
	Examples             []any              `json:"examples,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Properties           map[string]*schema `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"`
}

// definitions returns all types, by name.
func (s *schemas) definitions() (map[string]*schema, error) {
	definitions := map[string]*schema{}
	var errs []error
	for id, props := range s.parser.Schemata {
		name, err := s.name(id)
		if err == nil {
			definitions[name], err = s.definition(id, &props)
		}
		errs = append(errs, err)
	}
	return definitions, errors.Join(errs...)
}

// definition returns the schema of a type.
func (s *schemas) definition(id crd.TypeIdent, props *apiextensionsv1.JSONSchemaProps) (*schema, error) {
	name, err := s.name(id)
	if err != nil {
		return nil, err
	}
	if made, special := specials[name]; special {
		return &made, nil
	}
	made, err := s.convert(id, props)
	if err != nil {
		return nil, err
	}
	if values := valuesOf(id); len(values) > 0 && slices.Contains(made.Type, "string") {
		if open[name] {
			made.Examples = values
		} else {
			made.Enum = slices.Concat(values, []any{nil})
		}
	}
	if apiVersion, isObject := s.apiVersions[id]; isObject {
		made.Properties["apiVersion"].is(apiVersion)
		made.Properties["kind"].is(id.Name)
		made.Required = append([]string{"apiVersion", "kind"}, made.Required...)
	}
	return made, nil
}

func (s *schema) is(value string) {
	s.Type, s.Enum = []string{"string"}, []any{value}
}

// convert returns the schema of a part of a type.
func (s *schemas) convert(of crd.TypeIdent, props *apiextensionsv1.JSONSchemaProps) (*schema, error) {
	made := &schema{Description: folded(props.Description), Format: props.Format, Pattern: props.Pattern}
	switch {
	case props.Ref != nil:
		id, err := referred(of, *props.Ref)
		if err != nil {
			return nil, err
		}
		name, err := s.name(id)
		made.Ref = "#/definitions/" + name
		return made, err
	case props.Type == "":
		return made, nil // anything is allowed
	}
	made.Type = []string{props.Type, "null"}
	var errs []error
	if props.Items != nil {
		items, err := s.convert(of, props.Items.Schema)
		made.Items = items
		errs = append(errs, err)
	}
	if strings.HasPrefix(made.Format, "int") { // not a JSON Schema format
		made.Format = ""
	}
	if props.Type == "object" {
		errs = append(errs, s.object(made, of, props))
	}
	return made, errors.Join(errs...)
}

// object adds the fields of an object, including those of embedded objects.
func (s *schemas) object(made *schema, of crd.TypeIdent, props *apiextensionsv1.JSONSchemaProps) error {
	if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
		values, err := s.convert(of, props.AdditionalProperties.Schema)
		made.AdditionalProperties = values
		return err
	}
	if made.Properties == nil {
		made.AdditionalProperties, made.Properties = false, map[string]*schema{}
	}
	errs := []error{s.fields(made, of, props)}
	for _, embedded := range props.AllOf {
		id, err := referred(of, *embedded.Ref)
		errs = append(errs, err)
		inner := s.parser.Schemata[id]
		errs = append(errs, s.object(made, id, &inner))
	}
	return errors.Join(errs...)
}

// fields adds the fields of a struct, without embedded ones.
func (s *schemas) fields(made *schema, of crd.TypeIdent, props *apiextensionsv1.JSONSchemaProps) error {
	owner, err := s.name(of)
	errs := []error{err}
	for name, field := range props.Properties {
		converted, err := s.convert(of, &field)
		if err == nil && anything[owner+"."+name] {
			converted = &schema{Description: converted.Description}
		}
		if err == nil {
			texts := converted
			if converted.Items != nil {
				texts = converted.Items
			}
			texts.Enum = valuesAt(owner, name)
		}
		made.Properties[name] = converted
		errs = append(errs, err)
	}
	for _, name := range props.Required {
		if !optional[owner+"."+name] {
			made.Required = append(made.Required, name)
		}
	}
	slices.Sort(made.Required)
	return errors.Join(errs...)
}

// referred returns the type that a reference in a type points to.
func referred(of crd.TypeIdent, ref string) (crd.TypeIdent, error) {
	name, path, err := crd.RefParts(ref)
	if err != nil || path == "" {
		return crd.TypeIdent{Package: of.Package, Name: name}, err
	}
	pkg := of.Package.Imports()[path]
	if pkg == nil {
		return crd.TypeIdent{}, fmt.Errorf("%s refers to %s, which its package does not import", of, ref)
	}
	return crd.TypeIdent{Package: pkg, Name: name}, nil
}

// listItem matches the beginning of a comment line that must not be joined to the line before.
var listItem = regexp.MustCompile(`^([-*#|]|\d+\.|\s)`)

// folded joins the lines of each paragraph of a comment.
func folded(comment string) string {
	var text strings.Builder
	for i, line := range strings.Split(comment, "\n") {
		switch {
		case i == 0:
		case line == "" || listItem.MatchString(line) || strings.HasSuffix(text.String(), "\n"):
			text.WriteByte('\n')
		default:
			text.WriteByte(' ')
		}
		text.WriteString(line)
	}
	return text.String()
}

// valuesOf returns the constants of a string type, sorted by value. Without any, every value is allowed.
func valuesOf(id crd.TypeIdent) []any {
	id.Package.NeedTypesInfo()
	scope, values := id.Package.Types.Scope(), map[string]bool{}
	for _, name := range scope.Names() {
		declared, isConstant := scope.Lookup(name).(*types.Const)
		if !isConstant || declared.Val().Kind() != constant.String {
			continue
		}
		if named, isNamed := types.Unalias(declared.Type()).(*types.Named); isNamed && named.Obj().Name() == id.Name && named.Obj().Pkg() == id.Package.Types {
			values[constant.StringVal(declared.Val())] = true
		}
	}
	delete(values, "")
	var sorted []any
	for _, value := range slices.Sorted(maps.Keys(values)) {
		sorted = append(sorted, value)
	}
	return sorted
}

// reachable adds a definition, and all definitions that it refers to, to found.
func reachable(definitions map[string]*schema, from string, found map[string]*schema) {
	of := definitions[from]
	if found[from] != nil || of == nil {
		return
	}
	found[from] = of
	of.walk(func(part *schema) {
		if name, refers := strings.CutPrefix(part.Ref, "#/definitions/"); refers {
			reachable(definitions, name, found)
		}
	})
}

// walk visits a schema and all its parts.
func (s *schema) walk(visit func(*schema)) {
	visit(s)
	if s.Items != nil {
		s.Items.walk(visit)
	}
	for _, property := range s.Properties {
		property.walk(visit)
	}
	if values, isSchema := s.AdditionalProperties.(*schema); isSchema {
		values.walk(visit)
	}
}
