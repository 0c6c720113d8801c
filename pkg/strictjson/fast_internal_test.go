// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What decodes itself is not looked into, and a type may contain itself.
func TestHoldsInterfaces(t *testing.T) {
	type recursive struct {
		Self  []*recursive `json:"self"`
		Other map[string][2]*any
	}
	type embeds struct{ recursive }
	type endless struct{ Self *endless }
	type hidden struct {
		Hidden any `json:"-"`
	}
	for of, want := range map[reflect.Type]bool{
		reflect.TypeFor[string]():               false,
		reflect.TypeFor[any]():                  true,
		reflect.TypeFor[map[string][]any]():     true,
		reflect.TypeFor[recursive]():            true,
		reflect.TypeFor[embeds]():               true,
		reflect.TypeFor[endless]():              false,
		reflect.TypeFor[hidden]():               false,
		reflect.TypeFor[runtime.RawExtension](): false,
		reflect.TypeFor[v1beta1.CloudProfile](): false,
	} {
		for range 2 { // the second answer is the one that was kept
			if got := holdsInterfaces(of); got != want {
				t.Errorf("%s: got %t, want %t", of, got, want)
			}
		}
	}
}
