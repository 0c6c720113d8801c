// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package release_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/release"
	"github.com/capkit/capkit/internal/cli/release/source"
)

// several returns a profile with some versions, and an unordered source with count versions around them.
func several(t *testing.T, there []int, count int) (release.Profile, *source.Contents) {
	t.Helper()
	version := func(i int) string { return fmt.Sprintf("%d.0.0", i) }
	var core, config, list strings.Builder
	for _, i := range there {
		fmt.Fprintf(&core, "    - version: %s\n", version(i))
		fmt.Fprintf(&config, "      - version: %s\n        image: gl-%d\n", version(i), i)
	}
	list.WriteString("apiVersion: capkit/v1\nkind: ImageList\nimages:\n")
	for i := range count {
		n := 1 + (i*7)%count // each once, unless count is a multiple of 7
		if !slices.Contains(there, n) {
			fmt.Fprintf(&list, "- name: gardenlinux\n  version: %s\n  flavors:\n  - capabilities: {architecture: [amd64]}\n"+
				"    regions:\n    - {name: europe, id: 6dd80000-0000-4000-8000-%012d}\n", version(n), n)
		}
	}
	raw, err := yaml.YAMLToJSON([]byte(`apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata:
  name: many
spec:
  type: openstack
  regions:
  - name: europe
  machineImages:
  - name: gardenlinux
    versions:
` + core.String() + `  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImages:
    - name: gardenlinux
      versions:
` + config.String()))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "images.yaml")
	if err := os.WriteFile(file, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	contents, faults, err := source.Read(source.Source{Kind: source.List, Path: file})
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	for _, cloud := range clouds.All() {
		if cloud.Type() == "openstack" {
			return profileOf(t, release.Profile{Raw: raw, Cloud: cloud}), contents
		}
	}
	t.Fatal("no OpenStack")
	return release.Profile{}, nil
}

// What a NamespacedCloudProfile inherits has no path in its manifest.
func TestRegionsOfTheParent(t *testing.T) {
	parent, contents := several(t, nil, 1)
	parent.Spec.Regions = append(parent.Spec.Regions, v1beta1.Region{Name: "asia"})
	child := release.Profile{Raw: json.RawMessage(`{"kind": "NamespacedCloudProfile", "spec": {}}`), Cloud: parent.Cloud, Parent: &parent.Spec}
	for want, p := range map[string]release.Profile{"spec.regions[1]": parent, "spec.parent.name": child} {
		found := release.Import(p, contents, release.Options{}).Warnings
		if len(found) != 1 || found[0].Origin != release.RuleRegionMissing || found[0].Field != want {
			t.Errorf("want one at %s: %v", want, found)
		}
	}
}

// New versions follow the order of the existing ones, and the work for each version does not grow with their number.
func TestManyVersionsAreImportedInOrder(t *testing.T) {
	for order, there := range map[string][]int{"newest first": {90, 50, 10}, "oldest first": {10, 50, 90}} {
		t.Run(order, func(t *testing.T) {
			work := map[int]float64{}
			for _, count := range []int{100, 1600} {
				p, contents := several(t, there, count)
				var result release.Result
				work[count] = testing.AllocsPerRun(1, func() { result = release.Import(p, contents, release.Options{Classification: "preview"}) })
				if len(result.Errors)+len(result.Faults) > 0 {
					t.Fatal(result.Errors, result.Faults)
				}
				raw, err := json.Marshal(edit.Result(edit.Decoded(p.Raw), result.Ops))
				if err != nil {
					t.Fatal(err)
				}
				var versions []string
				for _, v := range profileOf(t, release.Profile{Raw: raw, Cloud: p.Cloud}).Spec.MachineImages[0].Versions {
					versions = append(versions, v.Version)
				}
				sorted := slices.SortedFunc(slices.Values(versions), source.NewestFirst)
				if order == "oldest first" {
					slices.Reverse(sorted)
				}
				if len(versions) != count || !slices.Equal(versions, sorted) {
					t.Errorf("%d versions: %v", len(versions), versions)
				}
			}
			if work[1600] > 2*16*work[100] {
				t.Errorf("allocations by the number of versions: %v", work)
			}
		})
	}
}
