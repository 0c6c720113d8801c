// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"cmp"
	"runtime/debug"
)

// Version returns the version of Gardener whose code this package runs, like v1.150.0, as the program's build
// information has it. It is empty if that names no modules, as in tests.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return versionIn(info.Deps)
}

// versionIn returns the version of Gardener among the modules of a program; of one that is replaced it is the
// replacement's, or its path if that is a folder.
func versionIn(modules []*debug.Module) string {
	for _, m := range modules {
		switch {
		case m.Path != "github.com/gardener/gardener":
		case m.Replace != nil:
			return cmp.Or(m.Replace.Version, m.Replace.Path)
		default:
			return m.Version
		}
	}
	return ""
}
