// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// JSON writes a value as indented JSON.
func JSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// YAML writes a value as YAML, with the names that it has in JSON.
func YAML(w io.Writer, value any) error {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
