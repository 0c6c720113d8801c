// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/capkit/capkit/pkg/cli/manifest"
)

// diff returns a unified diff of a file, which git and patch take from the folder that the name is relative to.
// It becomes another file in further steps.
func diff(name, becomes, before, after string) string {
	if name == manifest.Stdin {
		return unified(name, becomes, before, after)
	}
	relative := func(name string) string { return strings.TrimPrefix(filepath.ToSlash(name), "/") }
	return unified("a/"+relative(name), "b/"+relative(becomes), before, after)
}

// unified returns a unified diff of two texts. udiff counts where a hunk begins in the text afterwards without the lines that stay
// between two changes of an earlier hunk, so this counts anew.
func unified(name, becomes, before, after string) string {
	d, _ := udiff.ToUnifiedDiff(name, becomes, before, udiff.Lines(before, after), udiff.DefaultContextLines) // no edits overlap
	more := 0
	for _, h := range d.Hunks {
		h.ToLine = h.FromLine + more
		for _, line := range h.Lines {
			switch line.Kind {
			case udiff.Insert:
				more++
			case udiff.Delete:
				more--
			}
		}
	}
	return d.String()
}
