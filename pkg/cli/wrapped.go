// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/provider"
)

// flavorPath matches the path of a core flavor.
var flavorPath = regexp.MustCompile(`^spec\.machineImages\[\d+\]\.versions\[\d+\]\.capabilityFlavors\[\d+\]`)

// wrappedFlavor replaces the decoder's error about a core flavor that wraps its capabilities into a key, a form that
// only provider configs have. It returns nil for any other error.
func wrappedFlavor(o *manifest.Object, err *field.Error) *field.Error {
	flavor := flavorPath.FindString(err.Field)
	if flavor == "" || err.Origin != provider.RuleFieldType {
		return nil
	}
	wrapped, found := lookUpFlavor(o.JSON, flavor)
	if !found {
		return nil
	}
	return problem(RuleFlavorWrapped, field.ErrorTypeInvalid, flavor+".capabilities", nil, fmt.Sprintf(
		`a core flavor is the map of its capabilities itself, without the key "capabilities:", `+
			`which only flavors under spec.providerConfig have; write: - %s`, wrapped))
}

// lookUpFlavor returns the capabilities that stand under the key "capabilities" of the core flavor at a path, in the
// form in which they should have been written. found is false if the flavor has no such key, or it holds no map.
func lookUpFlavor(manifest []byte, path string) (flow string, found bool) {
	var object struct {
		Spec struct {
			MachineImages []struct {
				Versions []struct {
					CapabilityFlavors []map[string]json.RawMessage `json:"capabilityFlavors"`
				} `json:"versions"`
			} `json:"machineImages"`
		} `json:"spec"`
	}
	// What does not decode is left out; the flavor asked for may be there all the same.
	_ = json.Unmarshal(manifest, &object)
	var i, k, f int
	if _, err := fmt.Sscanf(path, "spec.machineImages[%d].versions[%d].capabilityFlavors[%d]", &i, &k, &f); err != nil {
		return "", false
	}
	images := object.Spec.MachineImages
	if i >= len(images) || k >= len(images[i].Versions) || f >= len(images[i].Versions[k].CapabilityFlavors) {
		return "", false
	}
	var capabilities map[string]any
	if json.Unmarshal(images[i].Versions[k].CapabilityFlavors[f]["capabilities"], &capabilities) != nil || capabilities == nil {
		return "", false
	}
	return flowStyle(capabilities), true
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
