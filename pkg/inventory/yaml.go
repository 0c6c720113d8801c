// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"runtime"
	"sync"

	"sigs.k8s.io/yaml"
)

// This file reads large inventories. YAML takes ten times as long as JSON, and fifteen times the memory of its text. So the regions of a
// large inventory are converted separately, in as many goroutines as there are processors.

// large is the minimal size of a text, in bytes, whose regions are converted separately.
const large = 1 << 20

// toJSON converts YAML to JSON. Errors are those of the whole text.
func toJSON(text []byte) ([]byte, error) {
	if len(text) >= large {
		if converted, err := byRegions(text); err == nil {
			return converted, nil
		}
	}
	return yaml.YAMLToJSONStrict(text)
}

var (
	// regionsKey matches the line above the regions, and topKey any other top-level key.
	regionsKey = regexp.MustCompile(`(?m)^regions:[ \t]*$`)
	topKey     = regexp.MustCompile(`(?m)^[^\s#-]`)
	// firstItem matches the beginning of the first item of a list, with its indentation.
	firstItem = regexp.MustCompile(`(?m)^( *)- `)
)

// byRegions converts YAML to JSON, each region separately. It returns an error if that is not possible, for example because the regions are
// formatted in another way or refer to each other.
func byRegions(text []byte) ([]byte, error) {
	key := regionsKey.FindIndex(text)
	if key == nil {
		return nil, errors.New("no list of regions")
	}
	list, after := text[key[1]:], []byte(nil)
	if next := topKey.FindIndex(list); next != nil {
		list, after = list[:next[0]], list[next[0]:]
	}
	first := firstItem.FindSubmatch(list)
	if first == nil {
		return nil, errors.New("no regions")
	}
	begins := regexp.MustCompile(`(?m)^`+string(first[1])+`- `).FindAllIndex(list, -1)
	head, err := yaml.YAMLToJSONStrict(bytes.Join([][]byte{text[:key[0]], after}, nil))
	if err != nil || len(bytes.TrimSpace(withoutComments(list[:begins[0][0]]))) > 0 {
		return nil, errors.Join(err, errors.New("no head"))
	}
	regions, errs := make([]json.RawMessage, len(begins)), make([]error, len(begins))
	free, all := make(chan struct{}, runtime.GOMAXPROCS(0)), sync.WaitGroup{}
	for i := range begins {
		end := len(list)
		if i+1 < len(begins) {
			end = begins[i+1][0]
		}
		free <- struct{}{}
		all.Go(func() {
			regions[i], errs[i] = item(list[begins[i][0]:end])
			<-free
		})
	}
	all.Wait()
	members := map[string]json.RawMessage{}
	if err := errors.Join(errors.Join(errs...), json.Unmarshal(head, &members)); err != nil {
		return nil, err
	}
	if members["regions"] != nil {
		return nil, errors.New("two lists of regions")
	}
	if members["regions"], err = json.Marshal(regions); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// item converts a YAML list with a single item, and returns the item as JSON.
func item(list []byte) (json.RawMessage, error) {
	converted, err := yaml.YAMLToJSONStrict(list)
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(converted, &items); err != nil || len(items) != 1 {
		return nil, errors.New("not one item")
	}
	return items[0], nil
}
