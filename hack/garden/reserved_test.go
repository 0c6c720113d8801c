// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	// What the demo runs as a program, so that go test runs the test again after a change of it.
	_ "github.com/capkit/capkit/internal/cli/clouds"
	_ "github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/test/garden/extension"
)

// The demo of the Gardener that accepts its own capabilities goes as it should. The others are run by continuous integration.
func TestDemoReserved(t *testing.T) {
	t.Chdir("../..")
	for _, s := range slices.Concat(launch, inPlace) {
		for _, arg := range slices.Concat(s.kubectl, s.capkit) {
			file := strings.TrimPrefix(arg, "--patch-file=")
			if !strings.HasSuffix(file, ".yaml") {
				continue
			}
			if _, err := os.Stat(file); err != nil { // by which go test knows that the result depends on it, too
				t.Error(err)
			}
		}
	}
	if err := demoReserved(t.Context(), extension.OpenStack); err != nil {
		t.Error(err)
	}
}
