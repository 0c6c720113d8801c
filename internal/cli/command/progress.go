// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
)

// How far a command is, for people at a terminal who wait longer than a second.

// between is how long a command is silent at first, and how long a line about it stands.
const between = time.Second

// clearLine goes back to the begin of a line of the terminal, and clears it.
const clearLine = "\r\x1b[K"

// Terminal is a terminal where somebody waits.
type Terminal struct {
	io.Writer
	// ticks returns a channel that ticks when a line is to be drawn, and what ends it.
	ticks func() (ticks <-chan time.Time, end func())
}

// TerminalOf returns the terminal that a writer is, or nil if it is another file, none at all, or one that cannot clear a line.
func TerminalOf(w io.Writer) *Terminal {
	if !IsTerminal(w) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return &Terminal{Writer: w, ticks: func() (<-chan time.Time, func()) {
		t := time.NewTicker(between)
		return t.C, t.Stop
	}}
}

// IsTerminal reports whether a writer is a terminal.
func IsTerminal(w io.Writer) bool {
	file, isFile := w.(*os.File)
	return isFile && isatty.IsTerminal(file.Fd())
}

// Work is something that may take long. Nil is work that nobody watches. Its methods are safe for concurrent use.
type Work struct {
	terminal *Terminal
	what     string
	of       int // how many steps there are; 0 if that is not known
	done     atomic.Int64
	stop     chan struct{}
	stopped  chan struct{}
}

// Begin says that the command begins with something, which is said after a second. It must be ended before anything else
// is printed.
func (t *Terminal) Begin(what string, of int) *Work {
	if t == nil {
		return nil
	}
	w := &Work{terminal: t, what: what, of: of, stop: make(chan struct{}), stopped: make(chan struct{})}
	go w.tell()
	return w
}

// Steps says that so many more steps of it are done.
func (w *Work) Steps(n int) {
	if w != nil {
		w.done.Add(int64(n))
	}
}

// End says that it is done, and clears the line about it.
func (w *Work) End() {
	if w != nil {
		close(w.stop)
		<-w.stopped
	}
}

// tell draws the line until the work has ended.
func (w *Work) tell() {
	defer close(w.stopped)
	ticks, end := w.terminal.ticks()
	defer end()
	for line := ""; ; {
		select {
		case <-w.stop:
			if line != "" {
				fmt.Fprint(w.terminal, clearLine)
			}
			return
		case <-ticks:
			line = w.String()
			fmt.Fprint(w.terminal, clearLine+line)
		}
	}
}

// String returns the line: what is done, and how much of it.
func (w *Work) String() string {
	switch done := w.done.Load(); {
	case w.of > 0:
		return fmt.Sprintf("%s: %d of %d", w.what, done, w.of)
	case done > 0:
		return fmt.Sprintf("%s: %d", w.what, done)
	}
	return w.what + " …"
}
