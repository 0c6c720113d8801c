// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described

import (
	"cmp"
	"embed"
	"fmt"
	"slices"

	"github.com/capkit/capkit/pkg/provider"
)

//go:embed builtin/*.yaml
var builtIn embed.FS

// BuiltIn returns the providers whose descriptions are part of this package, sorted by type. The caller owns the slice.
func BuiltIn() []provider.Provider[Reference] {
	const folder = "builtin"
	files, err := builtIn.ReadDir(folder)
	if err != nil {
		panic(err) // a test would find it
	}
	all := make([]provider.Provider[Reference], 0, len(files))
	for _, file := range files {
		text, err := builtIn.ReadFile(folder + "/" + file.Name())
		if err != nil {
			panic(err)
		}
		cloud, err := Read(file.Name(), text, nil)
		if err != nil {
			panic(fmt.Sprintf("a description of this package: %v", err))
		}
		all = append(all, cloud)
	}
	slices.SortFunc(all, func(a, b provider.Provider[Reference]) int { return cmp.Compare(a.Type(), b.Type()) })
	return all
}

// Text returns the built-in description of a provider type, or "" if there is none.
func Text(providerType string) string {
	text, err := builtIn.ReadFile("builtin/" + providerType + ".yaml")
	if err != nil {
		return ""
	}
	return string(text)
}
