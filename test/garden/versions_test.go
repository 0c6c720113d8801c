// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capkit/capkit/test/garden/internal/repository"
)

// requirements returns the version of each required module in a folder's go.mod.
func requirements(t *testing.T, folder string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = folder
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(output, &file); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, module := range file.Require {
		versions[module.Path] = module.Version
	}
	return versions
}

// With equal versions, the control plane reuses the main module's compiled packages, which are most of it.
func TestTheControlPlaneHasTheVersionsOfTheMainModule(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	ours, shared := requirements(t, filepath.Join(root, "cmd")), 0
	for module, version := range requirements(t, filepath.Join(root, "hack", "controlplane")) {
		want, ok := ours[module]
		if !ok {
			continue
		}
		shared++
		if version != want {
			t.Errorf("cd hack/controlplane && go get %s@%s # not %s", module, want, version)
		}
	}
	if shared < 50 {
		t.Errorf("only %d modules are shared: is this test still right?", shared)
	}
}

// Each version that a garden can have has a module, which requires both modules of Gardener in that version.
func TestTheModulesOfAPIServers(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(root, "hack", "apiservers", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, folder := range folders {
		version, required := filepath.Base(folder), requirements(t, folder)
		found = append(found, version)
		for _, module := range []string{"github.com/gardener/gardener", "github.com/gardener/gardener/pkg/apis"} {
			if required[module] != version {
				t.Errorf("%s requires %s %s", folder, module, required[module])
			}
		}
	}
	if !slices.Equal(found, APIServers) {
		t.Errorf("there are modules for %v, want %v", found, APIServers)
	}
}

// Other versions have only the unmodified API server.
func TestReservedCapabilitiesAreAcceptedByTheVersionOfTheMainModule(t *testing.T) {
	_, err := apiServer(t.Context(), Options{Version: APIServers[0], AcceptsReserved: true})
	if err == nil || !strings.Contains(err.Error(), "that accepts reserved capabilities") {
		t.Errorf("the error is %v", err)
	}
}
