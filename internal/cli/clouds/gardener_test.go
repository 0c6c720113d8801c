// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package clouds_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

// The Shoots in Gardener's documentation name no image, and each gets the one that Gardener would fill in.
func TestShootsOfGardenersDocumentation(t *testing.T) {
	listed, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/gardener/gardener").Output()
	if err != nil {
		t.Fatal(err)
	}
	gardener := strings.TrimSpace(string(listed))
	profile := filepath.Join(gardener, "dev-setup/gardenconfig/components/cloudprofile/cloudprofile.yaml")
	for path, pools := range map[string]int{
		"example/provider-local/shoot.yaml":                               1,
		"example/provider-local/shoot-ipv6.yaml":                          1,
		"example/provider-local/managedseeds/shoot-managedseed.yaml":      1,
		"dev-setup/gardenadm/resources/base/shoot.yaml":                   2,
		"example/provider-local/managedseeds/shoot-managedseed-ipv6.yaml": 1,
	} {
		for _, command := range []string{"select", "explain", "lint", "maintenance"} {
			var stdout, stderr bytes.Buffer
			args := []string{"capkit", command, filepath.Join(gardener, path), profile}
			if status := cli.Run(args, strings.NewReader(""), &stdout, &stderr, clouds.All()...); status != 0 {
				t.Errorf("%s of %s: status %d\n%s%s", command, path, status, &stdout, &stderr)
			}
			if found := strings.Count(stdout.String(), "local@1.0.0, which Gardener selects,"); command == "select" && found != pools {
				t.Errorf("%s: %s", path, &stdout)
			}
		}
	}
}
