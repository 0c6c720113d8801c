// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Config is a provider config.
type Config struct {
	// From names the source, for test output: "testdata/a.yaml". May be empty.
	From string
	// JSON is the config as written.
	JSON []byte
}

// Configs returns all objects of a kind in the YAML and JSON files below the folders, including files in txtar archives there. An object
// may be a document of its own or nested, such as the providerConfig of another object. They are returned as JSON, in the order of the
// files. Files that are not YAML are skipped. The test fails at once if a folder has no such object or cannot be read.
func Configs(t testing.TB, kind schema.GroupVersionKind, folders ...string) []Config {
	t.Helper()
	var all []Config
	for _, folder := range folders {
		found, err := configsBelow(folder, kind)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s has no %s of %s", folder, kind.Kind, kind.GroupVersion())
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

func configsBelow(folder string, kind schema.GroupVersionKind) (found []Config, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json", ".txtar"}, filepath.Ext(path)) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) != ".txtar" {
			found = append(found, from(path, configsIn(content, kind))...)
			return nil
		}
		for _, file := range txtar.Parse(content).Files {
			found = append(found, from(path+": "+file.Name, configsIn(file.Data, kind))...)
		}
		return nil
	})
	return found, err
}

// from names the configs of a file, with a number if there are several.
func from(file string, configs [][]byte) []Config {
	made := make([]Config, 0, len(configs))
	for i, config := range configs {
		name := file
		if len(configs) > 1 {
			name = fmt.Sprintf("%s, config %d", file, i+1)
		}
		made = append(made, Config{name, config})
	}
	return made
}

// configsIn returns the objects of a kind in the documents of a file, up to the first that is not YAML.
func configsIn(content []byte, kind schema.GroupVersionKind) (found [][]byte) {
	decoder := utilyaml.NewYAMLToJSONDecoder(bytes.NewReader(content))
	for {
		var document json.RawMessage
		if decoder.Decode(&document) != nil { // the end of the file, unless it is not YAML
			return found
		}
		found = append(found, objectsIn(document, kind)...)
	}
}

// objectsIn returns the outermost objects of a kind in a value, with their bytes unchanged.
func objectsIn(raw json.RawMessage, kind schema.GroupVersionKind) (found [][]byte) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, element := range list {
			found = append(found, objectsIn(element, kind)...)
		}
		return found
	}
	var meta metav1.TypeMeta
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	if json.Unmarshal(raw, &meta) == nil && meta.GroupVersionKind() == kind {
		return [][]byte{raw}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		found = append(found, objectsIn(members[name], kind)...)
	}
	return found
}
