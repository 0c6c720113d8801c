// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package source reads the images of a release from the release's metadata, a cloud's inventory, or a list (semantics S21).
//
// Start reading at [Read], which reads a source into artifacts. [Map] maps metadata to capabilities. Nothing here knows profiles.
package source

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// Artifact is an image of a release with its references.
type Artifact struct {
	// Image is the name in profiles; empty if the user names it. Version is x.y.z.
	Image, Version string
	// Provider is the type of the clouds it is for; empty for any.
	Provider string
	// Instance is the cloud's instance, such as "public" or "china"; empty for any.
	Instance string
	// Facts are the metadata for a map: lists of text. Nil means that Capabilities are complete.
	Facts map[string][]string
	// Capabilities are the declared capabilities if Facts is nil.
	Capabilities v1beta1.Capabilities
	// Global are the fields of the reference for all regions, as in the provider config; nil if there is none.
	Global map[string]any
	// Regions are the regions with their own references, each once.
	Regions []Region
	// At is the artifact's place in the source.
	At Place
	// Places are the places of Regions, in the same order; nil if unknown.
	Places []Place
}

// Region is a region with the fields of its reference.
type Region struct {
	Name   string
	Fields map[string]any
}

// Place is a place in a file.
type Place struct {
	File         string
	Line, Column int
}

// Fault is a mistake in a source or a map.
type Fault struct {
	Place
	Rule    string
	Type    field.ErrorType
	Field   string
	Message string
}

// Contents are the contents of a source.
type Contents struct {
	// Artifacts are in the order in which they were read.
	Artifacts []Artifact
	// Notes name the parts of the source that were left out for every profile.
	Notes []string
	// Matched are the metadata keys in the user's conditions. A map's skip conditions on these keys do not apply.
	Matched []string
	// Map is the source's default map; nil if the source names capabilities itself.
	Map *Map
}

// RuleSource is the rule for a source or a map that cannot be used.
const RuleSource = "import-source"
