// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reference prints a reference as its fields and their values: id 1234-amd64.
func Reference(reference any) string {
	raw, _ := json.Marshal(reference) // a reference is made to be printed
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return string(raw)
	}
	words := make([]string, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		words = append(words, fmt.Sprintf("%s %v", name, fields[name]))
	}
	return strings.Join(words, ", ")
}
