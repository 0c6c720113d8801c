// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli_test

import (
	"os"
	"syscall"
	"testing"
)

// What the command looks for by itself, and is a pipe, is an error: nobody may ever write to it. A link to a file is read.
func TestSettingsThatAreAPipe(t *testing.T) {
	inFolder(t, map[string]string{"manifests/profile.yaml": read(t, examples+"/cloudprofile.yaml"), "settings": "failOn: warning\n", "ignored": "*.json\n"})
	lint := func() result { return run(t, "", "lint", "manifests") }
	want := lint()
	if want.status != 0 {
		t.Fatalf("%+v", want)
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{".capkit.yaml": "settings", "manifests/.capkitignore": "ignored"} {
		for target, what := range map[string]string{folder + "/pipe": "a pipe", folder + "/" + file: ""} {
			if err := os.Symlink(target, name); err != nil {
				t.Fatal(err)
			}
			r := lint()
			if what == "" && r != want {
				t.Errorf("%s: %+v, want %+v", name, r, want)
			}
			if what != "" && (r.status != 2 || r.stderr != "capkit: "+name+" is "+what+", and not read: write a file, or rename it\n") {
				t.Errorf("%s: %+v", target, r)
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}
