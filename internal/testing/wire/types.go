// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package wire tests wire types: the types of a cloud by themselves, with [Types], and all of them against the types of their extensions.
// The fields of the latter are listed in testdata/upstream.txt beside the types. This file names the extension and the version that it
// was made from, followed by a line for each field: its path from the kind, and its type. Lines with a + are fields that only the types
// here have.
//
// [Regional], [Profiles] and [Workers] run a provider's cases in the testdata of the calling package.
package wire

import (
	"encoding/json"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"
)

// Types tests the wire types of a version, which install registers, with the manifests in the testdata of the calling package. Each kind
// has a complete-<kind>.yaml, in lower case, in which every field is set. Each manifest must survive a round trip through strict decoding
// without defaults. Random objects must survive one, too.
func Types(t *testing.T, version metav1.GroupVersion, install func(*runtime.Scheme) error) {
	scheme := runtime.NewScheme()
	if err := install(scheme); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]reflect.Type{}
	for name, kind := range scheme.KnownTypes(schema.GroupVersion(version)) {
		if s, found := kind.FieldByName("TypeMeta"); found && s.Anonymous && strings.Contains(kind.PkgPath(), "/pkg/apis/") &&
			!strings.HasPrefix(kind.PkgPath(), "k8s.io/") {
			kinds[name] = kind
		}
	}
	if len(kinds) == 0 {
		t.Fatalf("%s has no kinds", version)
	}
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	complete := map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			kind := survives(t, file, codecs.UniversalDeserializer())
			if name := kind.Type().Elem().Name(); filepath.Base(file) == "complete-"+strings.ToLower(name)+".yaml" {
				complete[name] = true
				setsEveryField(t, kind)
			}
		})
	}
	seed := rand.Int63()
	t.Logf("seed %d", seed)
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), codecs)
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if !complete[name] {
			t.Errorf("there is no testdata/complete-%s.yaml of kind %s", strings.ToLower(name), name)
		}
		for range 10 {
			roundtrip.RoundTripSpecificKindWithoutProtobuf(t, schema.GroupVersion(version).WithKind(name), scheme, codecs, filler, nil)
		}
	}
}

// survives decodes a manifest and returns the object, which must survive encoding as JSON and as unstructured content.
func survives(t *testing.T, file string, decoder runtime.Decoder) reflect.Value {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		t.Fatal(err)
	}
	object, _, err := decoder.Decode(text, nil, nil)
	if err != nil {
		t.Fatalf("strict decoding: %v", err)
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, text), tree(t, encoded)); diff != "" {
		t.Errorf("lost (-) or invented (+):\n%s", diff)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object.DeepCopyObject())
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree(t, encoded), tree(t, again)); diff != "" {
		t.Errorf("as unstructured content, lost (-) or invented (+):\n%s", diff)
	}
	return reflect.ValueOf(object)
}

// tree decodes JSON or YAML into maps and lists, with durations in Go's format.
func tree(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var root map[string]any
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	for name, value := range root {
		if written, ok := value.(string); ok {
			if d, err := time.ParseDuration(written); err == nil {
				root[name] = d.String()
			}
		}
	}
	return root
}

// setsEveryField reports fields without a value. A complete manifest must not lack new fields.
func setsEveryField(t *testing.T, object reflect.Value) {
	t.Helper()
	set := map[string]bool{}
	record(object, set)
	for _, field := range slices.Sorted(maps.Keys(set)) {
		if !set[field] {
			t.Errorf("%s is not set anywhere", field)
		}
	}
}

// record records whether each field of every struct in v has a value in at least one occurrence.
func record(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			record(v.Elem(), set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			record(v.Index(i), set)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Duration]() {
			return
		}
		for i := range v.NumField() {
			name := v.Type().String() + "." + v.Type().Field(i).Name
			set[name] = set[name] || !v.Field(i).IsZero()
			record(v.Field(i), set)
		}
	default: // scalars, and maps, whose values have no fields
	}
}
