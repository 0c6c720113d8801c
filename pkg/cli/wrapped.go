// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/strictjson"
)

// wrappedFlavor replaces the decoder's error about a core flavor that wraps its capabilities into a key, a form that
// only provider configs have. It returns nil for any other error.
func wrappedFlavor(o *manifest.Object, err *field.Error) *field.Error {
	const path = "spec.machineImages[%d].versions[%d].capabilityFlavors[%d]"
	var i, k, f int
	if n, _ := fmt.Sscanf(err.Field, path, &i, &k, &f); n != 3 || err.Origin != strictjson.OriginFieldType {
		return nil
	}
	var object struct {
		Spec struct {
			MachineImages []struct {
				Versions []struct {
					CapabilityFlavors []map[string]json.RawMessage `json:"capabilityFlavors"`
				} `json:"versions"`
			} `json:"machineImages"`
		} `json:"spec"`
	}
	// What does not decode is left out; the flavor may be there all the same.
	_ = json.Unmarshal(o.JSON, &object)
	images := object.Spec.MachineImages
	if i >= len(images) || k >= len(images[i].Versions) || f >= len(images[i].Versions[k].CapabilityFlavors) {
		return nil
	}
	var capabilities map[string]any
	wrapped := images[i].Versions[k].CapabilityFlavors[f]["capabilities"]
	_ = json.Unmarshal(wrapped, &capabilities)
	if capabilities == nil {
		return nil
	}
	at := fmt.Sprintf(path, i, k, f) + ".capabilities"
	return problem(ruleFlavorWrapped, field.ErrorTypeInvalid, at, nil, fmt.Sprintf(
		`a core flavor is the map of its capabilities itself, without the key "capabilities:", `+
			`which only flavors under spec.providerConfig have; write: - %s`, flowStyle(capabilities)))
}

// flowStyle prints a map of lists in YAML's flow style, in the order of names.
func flowStyle(capabilities map[string]any) string {
	entries := make([]string, 0, len(capabilities))
	for _, name := range slices.Sorted(maps.Keys(capabilities)) {
		values, isList := capabilities[name].([]any)
		if !isList {
			values = []any{capabilities[name]}
		}
		words := make([]string, 0, len(values))
		for _, value := range values {
			words = append(words, fmt.Sprint(value))
		}
		entries = append(entries, name+": ["+strings.Join(words, ", ")+"]")
	}
	return "{" + strings.Join(entries, ", ") + "}"
}
