// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package source reads which images a release has: from the metadata of a release, from an inventory of a cloud, or from a list (semantics S21).
//
// Start reading at [Read], which reads a source into artifacts. [Map] turns metadata into capabilities. Nothing here knows profiles.
package source

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// Artifact is an image of a release, with what refers to it.
type Artifact struct {
	// Image is its name in profiles; empty for the one that the user says. Version is as x.y.z.
	Image, Version string
	// Provider is the type of the clouds that it is for; empty for any.
	Provider string
	// Instance is the instance of the cloud that it is in, where there are several: "public", "china". Empty: it does not matter.
	Instance string
	// Facts are what a map looks at: text, or lists of text. Nil: Capabilities say all.
	Facts map[string][]string
	// Capabilities are as declared, if Facts is nil.
	Capabilities v1beta1.Capabilities
	// Global are the fields of the reference for all regions, as in the provider config; nil if there is none.
	Global map[string]any
	// Regions have references of their own, each region once.
	Regions []Region
	// At is where it is written.
	At Place
	// Places is where Regions are written, in their order; nil if that is not known.
	Places []Place
}

// Region is a region with the fields of the reference there.
type Region struct {
	Name   string
	Fields map[string]any
}

// Place is a place in a file.
type Place struct {
	File         string
	Line, Column int
}

// Fault is something that is wrong with a source, or a map.
type Fault struct {
	Place
	Rule    string
	Type    field.ErrorType
	Field   string
	Message string
}

// Contents is what a source has.
type Contents struct {
	// Artifacts in the order in which they were read.
	Artifacts []Artifact
	// Notes say what of the source is for no profile, and left out.
	Notes []string
	// Matched are the keys of metadata by which artifacts were chosen: what a map skips by them is not skipped.
	Matched []string
	// Map is the one that the source has by default; nil if it says capabilities itself.
	Map *Map
}

// RuleSource is the rule about a source, or a map, that cannot be used.
const RuleSource = "import-source"
