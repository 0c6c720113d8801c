// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

// specials are types that decode themselves, by the names of their definitions.
var specials = map[string]schema{
	"meta.RawExtension": {},
	// The entries of capabilityFlavors in core are maps, which their type embeds.
	"MachineImageFlavor": {
		Description:          "The capabilities of one flavor of a machine image version: lists of values by name.",
		Type:                 []string{"object", "null"},
		AdditionalProperties: &schema{Ref: "#/definitions/CapabilityValues"},
	},
	"meta.Time":        {Type: []string{"string", "null"}, Format: "date-time"},
	"meta.MicroTime":   {Type: []string{"string", "null"}, Format: "date-time"},
	"meta.IntOrString": {Type: []string{"integer", "string", "null"}},
	"meta.Quantity": {
		Type:                []string{"string", "number", "null"},
		Pattern:             `^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?\s*$`,
		PatternErrorMessage: "This is no quantity: write a number, perhaps with a unit, as in 16Gi or 500m.",
	},
	"meta.Duration": {
		Type:                []string{"string", "null"},
		Pattern:             `^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`,
		PatternErrorMessage: "This is no duration: write numbers with units, as in 1h30m or 10s.",
	},
}

// anything are fields in which lint looks at nothing: what Gardener writes there.
var anything = map[string]bool{
	"CloudProfile.status": true, "NamespacedCloudProfile.status": true, "Shoot.status": true,
	"meta.ObjectMeta.managedFields": true,
}

// open are types with constants, of which other values are accepted, too.
var open = map[string]bool{}

// optional are fields that the Go types demand, and Gardener does not.
var optional = map[string]bool{}
