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
	"testing"

	"golang.org/x/sync/errgroup"
)

// Each pair of elements that is looked at costs a block at least. What is left below is sorting.
const maxBlocks = 0.5

// maxBytes is above what lists and maps that double waste, for each pair of elements.
const maxBytes = 600

// atLeast is how many places and modes there have to be.
const atLeast = 9000

// The work of every webhook grows with what is written, whatever is written: lists of empty, equal, different and wrong elements, names
// that are near each other, unknown members, and lists that grow together.
func TestWorkGrowsWithWhatIsWritten(t *testing.T) {
	program := build(t)
	var outputs [2][]byte
	var group errgroup.Group
	for i, clouds := range [][]string{{"openstack"}, {"alicloud", "aws", "azure", "gcp"}} {
		group.Go(func() (err error) {
			measure := exec.CommandContext(t.Context(), program, clouds...)
			measure.Dir, measure.Stderr = "measure", os.Stderr
			measure.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir())
			outputs[i], err = measure.Output()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	rows := 0
	lines := bufio.NewScanner(bytes.NewReader(bytes.Join(outputs[:], nil)))
	for ; lines.Scan(); rows++ {
		var row Row
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if blocks, bytes := row.Squared(); blocks > maxBlocks || bytes > maxBytes {
			t.Errorf("%s: for each pair of elements %.2f blocks are run, and %.0f bytes allocated: %v", row.What, blocks, bytes, row.Costs)
		}
	}
	if t.Logf("%d places and modes", rows); rows < atLeast {
		t.Errorf("there are only %d places and modes", rows)
	}
}

// build compiles the program with counters in all our packages. Packages that are not ours count nothing: whoever calls them in a
// loop is counted.
func build(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "measure")
	compile := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-cover", "-covermode=atomic",
		"-coverpkg=./pkg/...,./test/growth/measure", "-o", program, "./test/growth/measure")
	compile.Dir = filepath.Join("..", "..")
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program
}
