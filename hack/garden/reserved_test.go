// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	// The demo runs these as a program; the imports make go test rerun the test after changes.
	_ "github.com/capkit/capkit/internal/cli/clouds"
	_ "github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/test/garden/extension"
)

// The demo for a Gardener that accepts its own capabilities succeeds. CI runs the others.
func TestDemoReserved(t *testing.T) {
	t.Chdir("../..")
	for _, s := range slices.Concat(launch, inPlace) {
		for _, arg := range slices.Concat(s.kubectl, s.capkit) {
			file := strings.TrimPrefix(arg, "--patch-file=")
			if !strings.HasSuffix(file, ".yaml") {
				continue
			}
			if _, err := os.Stat(file); err != nil { // tells go test that the result depends on the file
				t.Error(err)
			}
		}
	}
	if err := demoReserved(t.Context(), extension.OpenStack); err != nil {
		t.Error(err)
	}
}
