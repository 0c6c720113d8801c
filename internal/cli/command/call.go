// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package command is one run of the command: its streams, its providers, its progress, and the flags and forms of output that
// commands share. It knows nothing of what they are about.
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

// Provider is a [provider.Provider] whose type of reference the command need not know. [For] makes one.
type Provider = provider.Provider[any]

// ByType returns providers in the order of their types.
func ByType(providers map[string]Provider) []Provider {
	return slices.SortedFunc(maps.Values(providers), func(a, b Provider) int { return cmp.Compare(a.Type(), b.Type()) })
}

// ErrWrong ends a command that has printed what is wrong.
var ErrWrong = errors.New("something was found wrong")

// Call is one run.
type Call struct {
	Stdin io.Reader
	// Stdout and stderr let nothing through that is not printable.
	Stdout, Stderr *report.Writer
	// Raw is stdout for what is no text: a protocol whose other side is a program.
	Raw       io.Writer
	Providers map[string]Provider
	// described are the files whose descriptions of providers are among them, with their types.
	described map[string]string
	// Terminal is the one that stderr is; nil if it is none, or is to be left alone. Shown is set if stdout is one.
	Terminal *Terminal
	Shown    bool
	// Name is what the user calls the command by.
	Name string
	// Linked is the version that the program was linked with.
	Linked string
}

// Flush writes what has no end of its line yet. What cannot be written is lost.
func (c *Call) Flush() {
	_ = c.Stdout.Flush()
	_ = c.Stderr.Flush()
}
