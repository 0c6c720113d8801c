// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apiserver/features"
	allfeatures "github.com/gardener/gardener/pkg/features"
	"github.com/gardener/gardener/pkg/utils/validation/kubernetesversion"
	"k8s.io/component-base/featuregate"

	"github.com/capkit/capkit/pkg/gardenerrules/releases"
)

// The data of the newest release match the Gardener in go.mod.
func TestNewestRelease(t *testing.T) {
	if got := releases.Newest.Kubernetes(); !slices.Equal(got, kubernetesversion.SupportedVersions) {
		t.Errorf("Kubernetes %v, Gardener has %v", got, kubernetesversion.SupportedVersions)
	}
	known := slices.Sorted(maps.Keys(releases.Newest.FeatureGates()))
	features.RegisterFeatureGates()
	var registered []string
	for gate := range allfeatures.DefaultFeatureGate.GetAll() {
		if _, is := allfeatures.AllFeatureGates[gate]; is {
			registered = append(registered, string(gate))
		}
	}
	slices.Sort(registered)
	if !slices.Equal(known, registered) {
		t.Errorf("feature gates %v, gardener-apiserver has %v", known, registered)
	}
	for gate, enabled := range releases.Newest.FeatureGates() {
		if allfeatures.AllFeatureGates[featuregate.Feature(gate)].Default != enabled {
			t.Errorf("%s is %v by default", gate, !enabled)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", "github.com/gardener/gardener").Output()
	if version := strings.TrimSpace(string(out)); err != nil || !strings.HasPrefix(version, releases.Newest.String()+".") {
		t.Errorf("the newest release is %s, and go.mod has %s (%v): look at the difference", releases.Newest, version, err)
	}
}

func TestOf(t *testing.T) {
	for version, want := range map[string]struct {
		release releases.Release
		near    releases.Nearness
	}{
		"v1.146.0": {146, releases.Known}, "1.149": {149, releases.Known}, "v1.150.0-dev": {150, releases.Known},
		"v1.144.2": {releases.Oldest, releases.Known}, "v1.143.9": {releases.Oldest, releases.TooOld},
		"v1.151.0": {releases.Newest, releases.TooNew}, "v2.0.0": {releases.Newest, releases.TooNew},
	} {
		release, near, err := releases.Of(version)
		if err != nil || release != want.release || near != want.near {
			t.Errorf("%s: %v, %v, %v", version, release, near, err)
		}
	}
	for _, version := range []string{"", "latest", "v1", "1.x", "v1.150.0.1"} {
		if release, _, err := releases.Of(version); err == nil {
			t.Errorf("%q is taken for %s", version, release)
		}
	}
}

// The documents have the table of differences, the versions, the feature gates and the Kubernetes versions.
func TestChangesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/operators/versions.md")
	if err != nil {
		t.Fatal(err)
	}
	demand := func(part string) {
		t.Helper()
		if !strings.Contains(string(text), part) {
			t.Errorf("docs/operators/versions.md does not say: %s", part)
		}
	}
	for _, c := range releases.Changes() {
		by := map[bool]string{true: "history", false: "sources"}[c.Read]
		demand(fmt.Sprintf("| %s | %s | %s | %s |\n", c.Since, c.Now, c.Before, by))
	}
	if got := strings.Count(string(text), "| sources |") + strings.Count(string(text), "| history |"); got != len(releases.Changes()) {
		t.Errorf("%d differences are documented", got)
	}
	for gate := range releases.Newest.FeatureGates() {
		demand("`" + gate + "`")
	}
	all := releases.Newest.Kubernetes()
	demand("run Kubernetes " + all[0] + " to " + all[len(all)-1])
	demand("| " + releases.Oldest.String() + " to " + releases.Newest.String() + " |")
}

func TestReleasesHaveChanges(t *testing.T) {
	for _, c := range releases.Changes() {
		if !c.Since.Has(c.Name) || (c.Since - 1).Has(c.Name) || !releases.Release(0).Has(c.Name) {
			t.Errorf("%s is not since %s", c.Name, c.Since)
		}
	}
	if got := releases.Newest.Fields(); len(got) > 0 {
		t.Errorf("%s lacks %v", releases.Newest, got)
	}
	if got := releases.Release(149).Fields(); len(got) != 2 {
		t.Errorf("v1.149 lacks %v", got)
	}
}
