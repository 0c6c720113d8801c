// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package ci tests how continuous integration treats the results of tests.
package ci

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Test sources of a scratch module. The flaky one fails only on its first run.
const (
	passes = "func Test(t *testing.T) {}\n"
	fails  = "func Test(t *testing.T) { t.Error(\"never right\") }\n"
	flaky  = `func Test(t *testing.T) {
	if _, err := os.Stat("ran"); err == nil {
		return
	}
	if err := os.WriteFile("ran", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Error("the first time")
}
`
	uncompiled = "func Test(t *testing.T) { undefined() }\n"
)

// module writes a module into a folder, with a package of tests for each name.
func module(t *testing.T, folder string, packages map[string]string) {
	t.Helper()
	write(t, filepath.Join(folder, "go.mod"), "module example.com/scratch\n\ngo 1.26.0\n")
	for name, content := range packages {
		imports := "import \"testing\"\n\n"
		if strings.Contains(content, "os.") {
			imports = "import (\n\t\"os\"\n\t\"testing\"\n)\n\n"
		}
		write(t, filepath.Join(folder, name, "some_test.go"), "package "+name+"\n\n"+imports+content)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// script runs hack/test.sh in the folder of a module, and returns its output and whether it succeeded.
func script(t *testing.T, folder string) (output string, well bool) {
	t.Helper()
	test, err := filepath.Abs("../../hack/test.sh")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), test, "-vet=off", "./...")
	run.Dir, run.Env = folder, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-trimpath -gcflags=all=-dwarf=false")
	content, err := run.CombinedOutput()
	return string(content), err == nil
}

// Cached results of go test are not reused after a change of a file outside the module.
func TestRemembered(t *testing.T) {
	repository := t.TempDir()
	folder := filepath.Join(repository, "inside")
	module(t, folder, map[string]string{"passes": passes})
	cached := func() bool {
		t.Helper()
		output, well := script(t, folder)
		if !well || !strings.Contains(output, "ok  \texample.com/scratch/passes\t") {
			t.Fatal(output)
		}
		return strings.Contains(output, "(cached)")
	}
	if cached(); cached() {
		t.Error("a result is repeated where no git tells what has changed")
	}
	if output, err := exec.CommandContext(t.Context(), "git", "init", "-q", repository).CombinedOutput(); err != nil {
		t.Fatalf("%s: %s", err, output)
	}
	if cached(); !cached() {
		t.Error("a result is not repeated, and nothing has changed")
	}
	// Random text avoids hits in the cache from an earlier run of this test.
	write(t, filepath.Join(repository, "outside.txt"), rand.Text())
	if cached() {
		t.Error("a result is repeated, and a file is new")
	}
	write(t, filepath.Join(repository, "outside.txt"), rand.Text())
	if cached() {
		t.Error("a result is repeated, and a file has changed")
	}
}

func TestFlaky(t *testing.T) {
	for name, tc := range map[string]struct {
		packages map[string]string
		well     bool
		// printed are lines of the output, or their beginnings. The lines in absent must not occur.
		printed, absent []string
	}{
		"all pass": {
			map[string]string{"passes": passes}, true,
			[]string{"ok  \texample.com/scratch/passes\t"}, []string{"FLAKY", "=== again", "0 flaky"},
		},
		"one passes when it is run again": {
			map[string]string{"passes": passes, "flaky": flaky}, true,
			[]string{"=== again: example.com/scratch/flaky\n", "FLAKY\texample.com/scratch/flaky\t", "1 flaky\n"}, []string{"FLAKY\texample.com/scratch/passes"},
		},
		"one always fails": {
			map[string]string{"fails": fails, "flaky": flaky}, false,
			[]string{"=== again: example.com/scratch/fails example.com/scratch/flaky\n", "FLAKY\texample.com/scratch/flaky\t", "1 flaky\n"},
			[]string{"FLAKY\texample.com/scratch/fails"},
		},
		"one does not compile, and is not tried again": {
			map[string]string{"uncompiled": uncompiled, "flaky": flaky}, false,
			[]string{"FAIL\texample.com/scratch/uncompiled [build failed]\n", "=== again: example.com/scratch/flaky\n", "FLAKY\texample.com/scratch/flaky\t"},
			[]string{"FLAKY\texample.com/scratch/uncompiled"},
		},
		"nothing but what does not compile": {
			map[string]string{"uncompiled": uncompiled}, false, []string{"FAIL\texample.com/scratch/uncompiled [build failed]\n"}, []string{"=== again"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			module(t, folder, tc.packages)
			output, well := script(t, folder)
			if well != tc.well {
				t.Errorf("all is well: %t", well)
			}
			for _, line := range tc.printed {
				if !strings.Contains("\n"+output, "\n"+line) {
					t.Errorf("no line %q", line)
				}
			}
			for _, line := range tc.absent {
				if strings.Contains("\n"+output, "\n"+line) {
					t.Errorf("a line %q", line)
				}
			}
			if t.Failed() {
				t.Log(output)
			}
		})
	}
}

// What hack/next-gardener.sh says about the copied rules follows from their test. Programs in place of go and git answer at once.
func TestNextGardener(t *testing.T) {
	script, err := filepath.Abs("../../hack/next-gardener.sh")
	if err != nil {
		t.Fatal(err)
	}
	const rule = "copies_test.go:56: LocksShoot in a.go is not what locked.go was written after: read what has changed"
	for said, want := range map[string]string{
		"ok  \tgithub.com/capkit/capkit/pkg/gardenerlib\t1.2s":          "no copied rule has changed",
		"--- FAIL: TestCopies (0.1s)\n    " + rule:                      "changed: LocksShoot in a.go is not what locked.go was written after",
		"FAIL\tgithub.com/capkit/capkit/pkg/gardenerlib [build failed]": "the copied rules were not compared: see above",
	} {
		folder := t.TempDir()
		write(t, filepath.Join(folder, "said"), said+"\n")
		write(t, filepath.Join(folder, "git"), "#!/bin/sh\n")
		write(t, filepath.Join(folder, "go"), "#!/bin/sh\ncase \"$*\" in\n"+
			"'test -vet=off ./pkg/gardenerlib/...') cat "+folder+"/said ;;\nlist*) echo v1.150.0 ;;\nesac\n")
		for _, name := range []string{"git", "go"} {
			if err := os.Chmod(filepath.Join(folder, name), 0o700); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
		}
		run := exec.CommandContext(t.Context(), script)
		run.Env = append(os.Environ(), "NEXT=v1.999.0", "PATH="+folder+":"+os.Getenv("PATH"))
		if output, _ := run.CombinedOutput(); !strings.Contains(string(output), "\n"+want) { // it fails: there is nothing to build
			t.Errorf("%s: no line %q in\n%s", said, want, output)
		}
	}
}
