// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// words are the plain scalars with a meaning of their own, in YAML 1.1.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	".nan": math.NaN(), ".NaN": math.NaN(), ".NAN": math.NaN(),
	".inf": math.Inf(1), ".Inf": math.Inf(1), ".INF": math.Inf(1),
	"+.inf": math.Inf(1), "+.Inf": math.Inf(1), "+.INF": math.Inf(1),
	"-.inf": math.Inf(-1), "-.Inf": math.Inf(-1), "-.INF": math.Inf(-1),
}

func init() {
	for _, word := range []string{"y", "yes", "true", "on"} {
		spell(word, true)
	}
	for _, word := range []string{"n", "no", "false", "off"} {
		spell(word, false)
	}
}

// spell enters a boolean in its three spellings.
func spell(word string, meaning bool) {
	words[word], words[strings.ToUpper(word)], words[strings.ToUpper(word[:1])+word[1:]] = meaning, meaning, meaning
}

var decimal = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolve returns the meaning of a scalar: nil, a bool, int64, uint64, float64 or string.
func resolve(n *yaml.Node) (any, error) {
	if n.Style&yaml.TaggedStyle == 0 {
		if n.Style != 0 {
			return n.Value, nil
		}
		return plain(n.Value, true), nil
	}
	tag := n.ShortTag()
	if tag == "!!binary" {
		data, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			return nil, errors.New("the value is not base64, as its tag !!binary says")
		}
		return string(data), nil
	}
	data, fits := tagged(tag, n.Value)
	if !fits {
		return nil, fmt.Errorf("the value is not what its tag %s says", tag)
	}
	return data, nil
}

// tagged returns the meaning of a scalar with an explicit tag, and whether it can have that tag. With a tag of no
// meaning here, it is a string.
func tagged(tag, text string) (any, bool) {
	data := plain(text, false)
	fits := true
	switch tag {
	case "!!null":
		fits = data == nil
	case "!!bool":
		_, fits = data.(bool)
	case "!!int":
		_, signed := data.(int64)
		_, unsigned := data.(uint64)
		fits = signed || unsigned
	case "!!float":
		if whole, ok := data.(int64); ok {
			data = float64(whole)
		}
		_, fits = data.(float64)
	case "!!timestamp":
		data, fits = text, isTimestamp(text)
	default:
		data = text
	}
	return data, fits
}

// plain returns the meaning of a scalar without quotes and tag. A timestamp is a string, if timestamps are looked for;
// otherwise what begins like one may be taken for a number.
func plain(text string, timestamps bool) any {
	if data, ok := words[text]; ok {
		return data
	}
	switch first := text[0]; {
	case first == '.':
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case first == '+' || first == '-' || first >= '0' && first <= '9':
		if timestamps && isTimestamp(text) {
			return text
		}
		if number := number(strings.ReplaceAll(text, "_", "")); number != nil {
			return number
		}
	}
	return text
}

// number returns the number that text spells, or nil.
func number(text string) any {
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(text, 0, 64); err == nil {
		return u
	}
	if decimal.MatchString(text) {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	}
	if digits, ok := strings.CutPrefix(text, "0b"); ok {
		if i, err := strconv.ParseInt(digits, 2, 64); err == nil {
			return i
		}
	}
	if digits, ok := strings.CutPrefix(text, "-0b"); ok {
		if i, err := strconv.ParseInt("-"+digits, 2, 64); err == nil {
			return i
		}
	}
	return nil
}

var timestamps = []string{"2006-1-2T15:4:5.999999999Z07:00", "2006-1-2t15:4:5.999999999Z07:00", "2006-1-2 15:4:5.999999999", "2006-1-2"}

func isTimestamp(text string) bool {
	if len(text) < 5 || text[4] != '-' {
		return false
	}
	for _, layout := range timestamps {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// encodeScalar returns the JSON of what resolve returned.
func encodeScalar(data any) (string, error) {
	switch data := data.(type) {
	case string:
		return string(appendString(nil, data)), nil
	case float64:
		if math.IsNaN(data) || math.IsInf(data, 0) {
			return "", errors.New("JSON has no such number; put it in quotes if it is text")
		}
	}
	text, err := json.Marshal(data)
	return string(text), err
}

// keyText returns the JSON key for what resolve returned, and whether it can be a key.
func keyText(data any) (string, bool) {
	switch data := data.(type) {
	case string:
		return data, true
	case bool:
		return strconv.FormatBool(data), true
	case int64:
		return strconv.FormatInt(data, 10), true
	case float64:
		text := strconv.FormatFloat(data, 'g', -1, 32)
		if special, ok := map[string]string{"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}[text]; ok {
			return special, true
		}
		return text, true
	}
	return "", false
}
