// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func page(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs", "authors", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// docs/authors/README.md states the modules' requirements correctly: Gardener, Go, and the number of other modules.
func TestWhatAuthorsAreToldOfModules(t *testing.T) {
	text := page(t, "README.md")
	for list, own := range map[string]string{
		"decides": "the root", "admission": "`/pkg/admission`", "worker": "`/pkg/worker/kit`", "command": "`/pkg/cli`",
	} {
		content, err := os.ReadFile("testdata/module-" + list + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var others int
		var version, gardener string
		for line := range strings.Lines(string(content)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch {
			case name == "go":
				version = value
				continue
			case strings.HasPrefix(name, "github.com/capkit/"):
				continue
			case name == "github.com/gardener/gardener", gardener == "" && name == "github.com/gardener/gardener/pkg/apis":
				gardener = value[:strings.LastIndex(value, ".")]
			}
			others++
		}
		row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| [^|]* \| %s \| (API types )?%s \| %s \| \[%d\]`,
			regexp.QuoteMeta(own), regexp.QuoteMeta(gardener), regexp.QuoteMeta(version), others))
		if !row.MatchString(text) {
			t.Errorf("it does not say that %s needs Gardener %s, Go %s and %d other modules", own, gardener, version, others)
		}
	}
}

// The documented steps work in an empty folder beside a clone: they result in a working command, an admission component,
// and a worker controller whose tests pass.
func TestWhatAuthorsAreToldToRun(t *testing.T) {
	readDirectories(t)
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	own := filepath.Join(folder, "acme")
	for _, err := range []error{os.Symlink(clone, filepath.Join(folder, "capkit")), os.Mkdir(own, 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"provider.md", "admission.md", "worker-controller.md"} {
		block := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindStringSubmatch(page(t, name))
		if block == nil {
			t.Fatalf("%s says nothing to run", name)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-euxo", "pipefail", "-c", block[1])
		cmd.Dir = own
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GONOSUMDB=*", "GOFLAGS=-trimpath -gcflags=all=-dwarf=false -ldflags=-w -vet=off")
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, output)
		} else if name == "provider.md" && !strings.Contains(string(output), "1 object checked: no errors, no warnings") {
			t.Errorf("%s: %s", name, output)
		}
	}
}
