// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

// FuzzDecode checks that arbitrary bytes are accepted exactly if Kubernetes' decoder accepts them. Errors must be deterministic, complete
// in form and at Kubernetes' paths.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"spec":{"machineImages":[{"name":"a","versions":[{"version":"1","capabilityFlavors":[{"architecture":["amd64"]}]}]}]}}`,
		`{"spec":{"machineTypes":[{"cpu":"x","memory":{}}],"providerConfig":{"a":1,"a":2}},"metadata":{"creationTimestamp":"x"}}`,
		`{"text":1,"any":{"a":[{"b":1,"b":2}]},"wait":"1h","size":"4Gi","quoted":"1","byNumber":{"x":""},"self":{"map":{"":{"y":null}}}}`,
		"{\"\\u0000\":\"\xff\",\"labels\":{\"\\ud800\":1}}", `[1,`, `nul`, "\ufeff{}", `{"pair":[1,2,3],"bytes":[1,"a"],"quoted":"\"1\""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, typ := range []reflect.Type{reflect.TypeFor[gardencorev1beta1.CloudProfile](), reflect.TypeFor[sample]()} {
			into, oracle := reflect.New(typ).Interface(), reflect.New(typ).Interface()
			errs := strictjson.Decode(data, into, field.NewPath("at"))
			if slices.ContainsFunc(errs, func(f finding.Finding) bool { return strings.Contains(f.Detail, "the exponent") }) {
				return // Kubernetes' decoder would take hours
			}
			if accepts(data, oracle) != (len(errs) == 0) {
				t.Fatalf("%s: %q: %v", typ, data, errs)
			}
			if len(errs) == 0 && !reflect.DeepEqual(into, oracle) {
				t.Fatalf("%s: %q: decoded %+v, not %+v", typ, data, into, oracle)
			}
			if again := strictjson.Decode(data, reflect.New(typ).Interface(), field.NewPath("at")); !reflect.DeepEqual(errs, again) {
				t.Fatalf("%q: %v, then %v", data, errs, again)
			}
			for _, err := range errs {
				if err.Origin == "" || err.Detail == "" || strings.HasPrefix(err.Detail, "cannot be read") ||
					!strings.HasPrefix(err.Field, "at") || strings.Contains(err.String(), "Go struct") {
					t.Fatalf("%q: %v", data, err)
				}
			}
		}
	})
}

// Property: the marshaled form of a filled object decodes without errors into an equal object.
func TestDecodeAcceptsMarshalled(t *testing.T) {
	inner := rapid.Custom(func(t *rapid.T) Inner {
		return Inner{Name: rapid.String().Draw(t, "name"), Labels: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "labels")}
	})
	flag, size, port := true, resource.MustParse("20Gi"), intstr.FromInt32(80)
	when := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Local())
	rapid.Check(t, func(t *rapid.T) {
		in := sample{
			TypeMeta: metav1.TypeMeta{Kind: "K"}, Text: "\u2028\"", Flag: &flag, Ratio: 0.5,
			Lists: [][]int{{1}, {}}, Pair: [2]bool{true}, Size: &size, Wait: metav1.Duration{Duration: time.Minute}, When: &when, Port: &port,
			Raw: &runtime.RawExtension{Raw: []byte(`{"q":1}`)}, Any: map[string]any{"n": int64(1)},
			Inner:    inner.Draw(t, "inner"),
			Small:    rapid.Int8().Draw(t, "small"),
			Count:    rapid.Ptr(rapid.Int64(), true).Draw(t, "count"),
			Unsigned: rapid.Uint16().Draw(t, "unsigned"),
			Bytes:    rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "bytes"),
			Texts:    rapid.SliceOf(rapid.String()).Draw(t, "texts"),
			Map:      rapid.MapOf(rapid.String(), rapid.Ptr(inner, true)).Draw(t, "map"),
			ByNumber: rapid.MapOf(rapid.Int(), rapid.String()).Draw(t, "byNumber"),
			Quoted:   rapid.Int().Draw(t, "quoted"),
			Self:     &sample{Untagged: rapid.String().Draw(t, "untagged")},
		}
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out sample
		if errs := strictjson.Decode(data, &out, nil); errs != nil {
			t.Fatalf("%s: %v", data, errs)
		}
		if again, _ := json.Marshal(out); string(again) != string(data) {
			t.Fatalf("%s became %s", data, again)
		}
	})
}
