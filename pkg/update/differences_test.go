// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update_test

import (
	"encoding/json"
	"maps"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/update"
)

// filledProfile returns a CloudProfile with every field set.
func filledProfile(seed int64) *v1beta1.CloudProfile {
	const config = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",
"constraints":{"floatingPools":[{"name":"a","region":"x"},{"name":"a","region":"y"},{"name":"b"}],"loadBalancerProviders":[{"name":"haproxy"}]},
"keystoneURL":"https://keystone","serverGroupPolicies":["affinity"],
"machineImages":[{"name":"gl","versions":[{"version":"1.0.0","regions":[{"name":"x","id":"1"}]}]}]}`
	fill := randfill.NewWithSeed(seed).NilChance(0).NumElements(2, 3).MaxDepth(20).Funcs(
		func(raw *runtime.RawExtension, _ randfill.Continue) { raw.Raw = []byte(config) },
		func(at *metav1.Time, c randfill.Continue) { *at = metav1.Unix(1_800_000_000+c.Int63n(1_000_000), 0) },
		func(text *string, c randfill.Continue) { *text = "t" + strconv.FormatUint(c.Uint64(), 36) },
	)
	profile := &v1beta1.CloudProfile{}
	fill.Fill(&profile.Spec)
	profile.Labels, profile.Annotations = map[string]string{"l": "1"}, map[string]string{"a": "1"}
	for i := range profile.Spec.MachineImages {
		for k := range profile.Spec.MachineImages[i].Versions {
			lifecycle(&profile.Spec.MachineImages[i].Versions[k].ExpirableVersion)
		}
	}
	for i := range profile.Spec.Kubernetes.Versions {
		lifecycle(&profile.Spec.Kubernetes.Versions[i])
	}
	return profile
}

// lifecycle gives a version valid classifications.
func lifecycle(v *v1beta1.ExpirableVersion) {
	v.Classification = new(v1beta1.ClassificationPreview)                       //nolint:staticcheck // as people write it
	v.ExpirationDate = new(metav1.Unix(1_800_000_000+int64(len(v.Version)), 0)) //nolint:staticcheck // as people write it
	v.Lifecycle = nil
}

// places calls visit for each JSON value except objects and lists, with a function that replaces it.
func places(value any, at string, set func(any), visit func(at string, value any, set func(any))) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			places(value[name], at+"."+name, func(other any) { value[name] = other }, visit)
		}
	case []any:
		for i := range value {
			places(value[i], at+"["+strconv.Itoa(i)+"]", func(other any) { value[i] = other }, visit)
		}
	default:
		visit(at, value, set)
	}
}

func decoded(t *testing.T, value any) (tree map[string]any) {
	t.Helper()
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &tree)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// said returns the reported differences between two profiles, without facts that cover any of them.
func said(t *testing.T, old, updated *v1beta1.CloudProfile) []string {
	t.Helper()
	offers, others, rewritten := update.Differences(openstack.Provider{}, old, updated, &update.Changes[openstack.Image]{})
	for _, o := range offers {
		others = append(others, o.Path)
	}
	return append(others, rewritten...)
}

// Every changed field of a profile is reported, as part of an offer or among the other differences.
func TestNoDifferenceIsForgotten(t *testing.T) {
	old := filledProfile(1)
	count := 0
	spec := decoded(t, old)
	places(spec["spec"], "spec", nil, func(at string, value any, set func(any)) {
		var other any
		switch value := value.(type) {
		case string:
			other = value + "x"
			if strings.HasSuffix(at, "expirationDate") {
				other = "2031-01-01T00:00:00Z"
			}
			if strings.HasSuffix(at, "classification") {
				other = "supported"
			}
			if strings.HasSuffix(at, ".type") && strings.Contains(value, "t") && len(value) < 3 {
				return
			}
		case bool:
			other = !value
		case float64:
			other = value + 1
		default:
			return
		}
		set(other)
		defer set(value)
		raw, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		updated := &v1beta1.CloudProfile{}
		if err := json.Unmarshal(raw, updated); err != nil {
			return // not a valid quantity or duration
		}
		count++
		if len(said(t, old, updated)) == 0 {
			t.Errorf("%s is %v instead of %v, and nothing is said", at, other, value)
		}
	})
	if count < 100 {
		t.Errorf("%d fields", count)
	}
}

// Equal profiles have no differences, regardless of the order of their lists.
func TestOrderIsNoDifference(t *testing.T) {
	for seed := range int64(20) {
		old := filledProfile(seed)
		random := rand.New(rand.NewSource(seed))
		updated := old.DeepCopy()
		updated.ResourceVersion, updated.UID, updated.Generation = "7", "uid", 8
		updated.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{}"
		shuffle := func(n int, swap func(i, j int)) { random.Shuffle(n, swap) }
		s := &updated.Spec
		shuffle(len(s.Regions), func(i, j int) { s.Regions[i], s.Regions[j] = s.Regions[j], s.Regions[i] })
		shuffle(len(s.MachineTypes), func(i, j int) { s.MachineTypes[i], s.MachineTypes[j] = s.MachineTypes[j], s.MachineTypes[i] })
		shuffle(len(s.VolumeTypes), func(i, j int) { s.VolumeTypes[i], s.VolumeTypes[j] = s.VolumeTypes[j], s.VolumeTypes[i] })
		for i := range s.MachineImages {
			v := s.MachineImages[i].Versions
			shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
		}
		k := s.Kubernetes.Versions
		shuffle(len(k), func(i, j int) { k[i], k[j] = k[j], k[i] })
		s.ProviderConfig = &runtime.RawExtension{Raw: []byte(strings.Replace(string(s.ProviderConfig.Raw),
			`{"name":"a","region":"x"},{"name":"a","region":"y"}`, `{"name":"a","region":"y"},{"name":"a","region":"x"}`, 1))}
		if found := said(t, old, updated); len(found) > 0 {
			t.Errorf("seed %d: %v", seed, found)
		}
	}
	old := filledProfile(3)
	old.Spec.MachineCapabilities = []v1beta1.CapabilityDefinition{{Name: "a", Values: []string{"x", "y"}}}
	updated := old.DeepCopy()
	slices.Reverse(updated.Spec.MachineCapabilities[0].Values) // values are in the order of preference
	if found := said(t, old, updated); !slices.Equal(found, []string{"spec.machineCapabilities[a].values"}) {
		t.Error(found)
	}
}

// The order of capabilities matters, and so does the order of images: a worker pool without one gets the first for its architecture.
func TestOrderThatMeansSomething(t *testing.T) {
	old := filledProfile(3)
	old.Spec.MachineCapabilities = []v1beta1.CapabilityDefinition{{Name: "a", Values: []string{"x"}}, {Name: "b", Values: []string{"y"}}}
	old.Spec.MachineImages = []v1beta1.MachineImage{{Name: "first"}, {Name: "second"}, {Name: "third"}}
	for at, reorder := range map[string]func(s *v1beta1.CloudProfileSpec){
		"spec.machineCapabilities": func(s *v1beta1.CloudProfileSpec) { slices.Reverse(s.MachineCapabilities) },
		"spec.machineImages":       func(s *v1beta1.CloudProfileSpec) { slices.Reverse(s.MachineImages[1:]) },
	} {
		updated := old.DeepCopy()
		reorder(&updated.Spec)
		if found := said(t, old, updated); !slices.Equal(found, []string{at}) {
			t.Errorf("%s: %v", at, found)
		}
	}
	updated := old.DeepCopy() // added and removed elements are reported; the rest keeps its order
	updated.Spec.MachineCapabilities = append([]v1beta1.CapabilityDefinition{{Name: "c", Values: []string{"z"}}}, old.Spec.MachineCapabilities[1:]...)
	updated.Spec.MachineImages = append(old.Spec.MachineImages[:1:1], v1beta1.MachineImage{Name: "new"}, old.Spec.MachineImages[2])
	want := []string{
		"spec.machineCapabilities[a]", "spec.machineCapabilities[c]",
		"spec.machineImages[new]", "spec.machineImages[second]",
	}
	if found := said(t, old, updated); !slices.Equal(slices.Sorted(slices.Values(found)), want) {
		t.Error(found)
	}
}
