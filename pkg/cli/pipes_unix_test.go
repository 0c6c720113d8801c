// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli_test

import (
	"os"
	"strconv"
	"syscall"
	"testing"
)

// A pipe in the settings is an error, too. A language server does not wait for it, either.
func TestSettingsThatNameAPipe(t *testing.T) {
	profile := read(t, examples+"/cloudprofile.yaml")
	for _, key := range []string{"inputs", "providerFiles"} {
		inFolder(t, map[string]string{"profile.yaml": profile, ".capkit.yaml": key + ": [pipe]\n"})
		if err := syscall.Mkfifo("pipe", 0o600); err != nil {
			t.Fatal(err)
		}
		want := "capkit: .capkit.yaml:1:" + strconv.Itoa(len(key)+4) + ": pipe is a pipe, and not read: write a file, or rename it\n"
		if r := run(t, "", "lint", "profile.yaml"); r.status != 2 || r.stderr != want {
			t.Errorf("%+v", r)
		}
	}
}

// A pipe among the files that the command finds by itself is an error, because it may have no writer. A link to a file is read.
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
