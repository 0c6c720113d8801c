// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"runtime/debug"
	"testing"
)

func TestVersionIn(t *testing.T) {
	const path = "github.com/gardener/gardener"
	for want, m := range map[string]*debug.Module{
		"":         {Path: path + "/other", Version: "v1.0.0"},
		"v1.150.0": {Path: path, Version: "v1.150.0"},
		"v1.151.0": {Path: path, Version: "v1.150.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.151.0"}},
		"../fork":  {Path: path, Version: "v1.150.0", Replace: &debug.Module{Path: "../fork"}},
	} {
		if got := versionIn([]*debug.Module{{Path: "example.com/first", Version: "v2.0.0"}, m}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
