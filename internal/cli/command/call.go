// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package command represents one run of the command: its streams, its providers, its progress, and the flags and output formats that
// commands share. It knows nothing about the subject of a command. Start reading at [Call].
package command

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/provider"
)

// Provider is a [provider.Provider] whose reference type the command need not know. [provider.Untyped] makes one.
type Provider = provider.Provider[any]

// ByType returns providers sorted by type.
func ByType(providers map[string]Provider) []Provider {
	return slices.SortedFunc(maps.Values(providers), func(a, b Provider) int { return cmp.Compare(a.Type(), b.Type()) })
}

// ErrWrong ends a command that has already printed its findings.
var ErrWrong = errors.New("something was found wrong")

// Call is one run.
type Call struct {
	Stdin io.Reader
	// Stdout and Stderr replace unprintable characters.
	Stdout, Stderr *report.Writer
	// Raw is stdout for a protocol with another program, instead of text.
	Raw       io.Writer
	Providers map[string]Provider
	// described has the files with descriptions of providers, by absolute path.
	described map[string]description
	// Terminal is the terminal of stderr; nil if stderr is none, or is not to be written to. Shown reports whether stdout is a terminal.
	Terminal *Terminal
	Shown    bool
	// Name is the name by which the user calls the command.
	Name string
	// Completes reports whether the program answers a shell's request for completions.
	Completes bool
	// Linked is the version with which the program was linked.
	Linked string
}

// Flush writes unfinished lines. It ignores errors.
func (c *Call) Flush() {
	_ = c.Stdout.Flush()
	_ = c.Stderr.Flush()
}
