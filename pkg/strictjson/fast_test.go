// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	kjson "sigs.k8s.io/json"

	"github.com/capkit/capkit/pkg/strictjson"
)

const profile = `{"apiVersion":"v1","metadata":{"name":"a","Name":"b"},"unknown":1,"spec":{"type":"x","providerConfig":{"a":1,"a":2},` +
	`"machineImages":[{"name":"i","versions":[{"version":"1","capabilityFlavors":[` +
	`{"architecture":["amd64"]},{"architecture":["amd64"]},{"architecture":["arm64"]}]}]}]}}`

func TestUnmarshalTakesWhatAnAPIServerWrites(t *testing.T) {
	for name, options := range map[string][]strictjson.Option{
		"plain":  nil,
		"shared": {strictjson.Shared[v1beta1.MachineImageFlavor](), strictjson.Shared[v1beta1.Capabilities]()},
	} {
		t.Run(name, func(t *testing.T) {
			object := &v1beta1.CloudProfile{}
			if err := strictjson.Unmarshal([]byte(profile), object, options...); err != nil {
				t.Fatal(err)
			}
			if object.Name != "a" || string(object.Spec.ProviderConfig.Raw) != `{"a":1,"a":2}` {
				t.Errorf("got name %s and provider config %s", object.Name, object.Spec.ProviderConfig.Raw)
			}
			flavors := object.Spec.MachineImages[0].Versions[0].CapabilityFlavors
			want := []string{"amd64", "amd64", "arm64"}
			for i, flavor := range flavors {
				if got := flavor.Capabilities["architecture"]; !reflect.DeepEqual([]string(got), want[i:i+1]) {
					t.Errorf("flavor %d has %s", i, got)
				}
			}
			if shared := reflect.ValueOf(flavors[0].Capabilities).Pointer() == reflect.ValueOf(flavors[1].Capabilities).Pointer(); shared != (options != nil) {
				t.Errorf("equal flavors are shared: %t", shared)
			}
		})
	}
}

func TestUnmarshalRefusesWhatIsNotJSON(t *testing.T) {
	for _, data := range []string{"", "{", `{"spec":[]}`, `{} {}`, "\xff"} {
		if err := strictjson.Unmarshal([]byte(data), &v1beta1.CloudProfile{}); err == nil {
			t.Errorf("%q is accepted", data)
		}
	}
}

// Decoding with shared values gives the same result as without.
func TestDecodeShared(t *testing.T) {
	type document struct {
		Flavors []v1beta1.Capabilities `json:"flavors"`
	}
	for _, data := range []string{
		`{"flavors":[{"a":["b"]},{"a":["b"]},{"a": ["b"]},null,{}]}`,
		`{"flavors":[{"a":["b"]},{"a":"b"},{"a":["b"],"a":[]}]}`,
	} {
		plain, shared := &document{}, &document{}
		want := strictjson.Decode([]byte(data), plain, nil)
		got := strictjson.Decode([]byte(data), shared, nil, strictjson.Shared[v1beta1.Capabilities]())
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(plain, shared) {
			t.Errorf("%s: got %v %v, want %v %v", data, shared, got, plain, want)
		}
	}
}

// Types with tags that the fast decoder rejects are decoded by Kubernetes' decoder.
func TestForeign(t *testing.T) {
	const data = `{"spec":{"seedSelector":{"matchLabels":{"a":"b"},"providerTypes":["x"],"unknown":1}}}`
	foreign := strictjson.Foreign[v1beta1.SeedSelector]()
	object := &v1beta1.CloudProfile{}
	if err := strictjson.Unmarshal([]byte(data), object, foreign); err != nil {
		t.Fatal(err)
	}
	if s := object.Spec.SeedSelector; s == nil || s.MatchLabels["a"] != "b" || len(s.ProviderTypes) != 1 {
		t.Errorf("got %v", s)
	}
	errs := strictjson.Decode([]byte(data), &v1beta1.CloudProfile{}, nil, foreign)
	if len(errs) != 1 || errs[0].Field != "spec.seedSelector.unknown" {
		t.Errorf("strictly: %v", errs)
	}
	right := &v1beta1.CloudProfile{}
	errs = strictjson.Decode([]byte(`{"spec":{"seedSelector":{"matchLabels":{"a":"b"}}}}`), right, nil, foreign)
	if errs != nil || right.Spec.SeedSelector.MatchLabels["a"] != "b" {
		t.Errorf("strictly: %v, %v", errs, right.Spec.SeedSelector)
	}
	if err := strictjson.Unmarshal([]byte(`{"spec":{"seedSelector":[]}}`), &v1beta1.CloudProfile{}, foreign); err == nil {
		t.Error("a list is accepted")
	}
}

// Types that the fast decoder interprets differently are decoded as Kubernetes does.
func TestTypesThatAreReadInTwoWays(t *testing.T) {
	type document struct {
		Number json.Number `json:"number"`
		Array  [4]byte     `json:"array"`
	}
	for data, wrong := range map[string]bool{
		`{"number":"x"}`: true, `{"number":""}`: true, `{"array":"AAAAAA=="}`: true,
		`{"number":"1"}`: false, `{"number":1.50,"array":[1,2,3,4]}`: false, `{"array":[1]}`: false, `{"number":null,"array":null}`: false,
	} {
		got, want := &document{}, &document{}
		_ = kjson.UnmarshalCaseSensitivePreserveInts([]byte(data), want)
		if errs := strictjson.Decode([]byte(data), got, nil); (len(errs) > 0) != wrong || !wrong && *got != *want {
			t.Errorf("%s: got %v %v", data, *got, errs)
		}
	}
}
