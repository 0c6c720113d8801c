// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	// Imported so that go test does not reuse cached results for other code.
	_ "github.com/capkit/capkit/internal/cli/clouds"
	_ "github.com/capkit/capkit/test/webhooks"
)

// limits returns the limits for executed blocks and allocated bytes per pair of elements. Comparing each pair takes at
// least one block; sorting takes less. Lists and maps that double waste less than the limit in bytes.
func limits(row *Row) (blocks, bytes float64) {
	switch together := row.Lists > 1; {
	case together && strings.Contains(row.What, "machineCapabilities"):
		return 150, 3000 // a flavor supports each capability or not, and only operators register them
	case together && strings.Contains(row.What, "mutate-shoot"):
		return 5, 600 // Gardener's choice looks at all image versions for a worker pool; maxSuspects bounds the product
	}
	return 0.5, 600
}

// clouds lists the measured provider types, one process for each list. long_test.go adds the others.
var clouds = [][]string{{"openstack"}}

// atLeast is the minimum number of places and modes in a process.
const atLeast = 4000

// The work of every webhook grows with its input, but not with its square: lists of empty, equal, different and invalid
// elements, similar names, unknown fields, and lists that grow together.
func TestWorkGrowsWithWhatIsWritten(t *testing.T) {
	program := build(t)
	outputs := make([][]byte, len(clouds))
	var group errgroup.Group
	for i, types := range clouds {
		group.Go(func() (err error) {
			measure := exec.CommandContext(t.Context(), program, types...)
			measure.Dir, measure.Stderr = "measure", os.Stderr
			measure.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir(), "GOGC=800") // it allocates much and keeps little
			outputs[i], err = measure.Output()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	rows := 0
	lines := bufio.NewScanner(bytes.NewReader(bytes.Join(outputs, nil)))
	for ; lines.Scan(); rows++ {
		var row Row
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		maxBlocks, maxBytes := limits(&row)
		if blocks, bytes := row.Squared(); blocks > maxBlocks || bytes > maxBytes {
			t.Errorf("%s: for each pair of elements %.2f blocks are run, and %.0f bytes allocated: %v", row.What, blocks, bytes, row.Costs)
		}
	}
	if t.Logf("%d places and modes", rows); rows < atLeast*len(clouds) {
		t.Errorf("there are only %d places and modes", rows)
	}
}

// read reads files that the program uses, so that go test records them as inputs.
func read(t *testing.T, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.FromSlash(pattern))
		for _, file := range files {
			if _, err = os.ReadFile(file); err != nil {
				break
			}
		}
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, len(files), err)
		}
	}
}

// build compiles the program with counters in our packages. Other packages are not counted, but a loop that calls them is.
// Packages finding and fieldpath are excluded, too: their work for each letter of a path would hide the rest.
func build(t *testing.T) (program string) {
	t.Helper()
	const module = "github.com/capkit/capkit/"
	listed, err := exec.CommandContext(t.Context(), "go", "list", module+"pkg/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	read(t, "measure/*.go", "../../example/*.yaml", "../../example/*/*.yaml", "../../pkg/apis/*/v1alpha1/testdata/complete-*.yaml")
	counting := slices.DeleteFunc(strings.Fields(string(listed)), func(name string) bool {
		return name == module+"pkg/finding" || name == module+"pkg/fieldpath"
	})
	program = filepath.Join(t.TempDir(), "measure")
	compile := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-cover", "-covermode=atomic",
		"-coverpkg="+strings.Join(counting, ",")+","+module+"test/growth/measure", "-o", program, module+"test/growth/measure")
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program
}
