// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/worlds"
)

// drawn is the number of generated CloudProfiles, with a NamespacedCloudProfile each.
var drawn = 100

// In generated profiles, the schema has no error unless lint has one.
func TestGenerated(t *testing.T) {
	all, world := compiled(t, "", ""), rapid.Custom(worlds.Draw)
	for seed := range drawn {
		parent := world.Example(seed)
		child := rapid.Custom(func(t *rapid.T) *worlds.World { return worlds.DrawChild(t, parent) }).Example(seed)
		core := metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"}
		profile := written(t, v1beta1.CloudProfile{TypeMeta: core, ObjectMeta: metav1.ObjectMeta{Name: "parent"}, Spec: *parent.Spec(seed)})
		namespaced := child.Child("garden-demo", "child", "parent")
		namespaced.TypeMeta = metav1.TypeMeta{APIVersion: core.APIVersion, Kind: "NamespacedCloudProfile"}
		compare(t, fmt.Sprint("profile ", seed), all, profile, nil)
		compare(t, fmt.Sprint("child ", seed), all, written(t, namespaced), []manifest{profile})
	}
}

// written returns an object as a manifest.
func written(t *testing.T, object any) (m manifest) {
	t.Helper()
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}
