// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// booleans are the plain scalars that are booleans in YAML 1.1, each in three spellings.
var booleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"true": true, "True": true, "TRUE": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
	"false": false, "False": false, "FALSE": false,
}

// meaning returns what a scalar means in YAML 1.1, as kubectl reads it: nil, a bool, int, int64, uint64, float64 or
// string. A timestamp is a string.
func meaning(n *yaml.Node) (any, error) {
	tag, tagged := n.ShortTag(), n.Style&yaml.TaggedStyle != 0
	if b, found := booleans[n.Value]; found && (n.Style == 0 || tagged && tag == "!!bool") {
		return b, nil
	}
	if !tagged && (n.Style != 0 || tag == "!!str" || tag == "!!timestamp") {
		return n.Value, nil
	}
	var data any
	if err := n.Decode(&data); err != nil {
		if tag == "!!binary" {
			return nil, errors.New("the value is not base64, as its tag !!binary says")
		}
		return nil, fmt.Errorf("the value is not what its tag %s says", tag)
	}
	if tag == "!!timestamp" {
		return n.Value, nil
	}
	return data, nil
}

// appendScalar appends the JSON of what meaning returned.
func appendScalar(out []byte, data any) ([]byte, error) {
	if text, ok := data.(string); ok {
		return appendString(out, text), nil
	}
	text, err := json.Marshal(data)
	if err != nil {
		return out, errors.New("JSON has no such number; put it in quotes if it is text")
	}
	return append(out, text...), nil
}

// keyText returns the JSON key for what meaning returned, and whether it can be a key.
func keyText(data any) (string, bool) {
	switch data := data.(type) {
	case string:
		return data, true
	case bool, int, int64:
		return fmt.Sprint(data), true
	case float64:
		text := strconv.FormatFloat(data, 'g', -1, 32)
		if special, ok := map[string]string{"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}[text]; ok {
			return special, true
		}
		return text, true
	}
	return "", false
}
