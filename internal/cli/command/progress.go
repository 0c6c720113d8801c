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

// Progress for people at a terminal who wait longer than a second.

// between is the time before the first progress line, and between its updates.
const between = time.Second

// clearLine returns to the beginning of a terminal's line and clears it.
const clearLine = "\r\x1b[K"

// Terminal is a terminal for progress.
type Terminal struct {
	io.Writer
	// ticks returns a channel that ticks when the line is to be drawn, and a function that stops it.
	ticks func() (ticks <-chan time.Time, end func())
}

// TerminalOf returns the terminal of a writer. It returns nil if the writer is no terminal, or one that cannot clear a line.
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

// Work is a task that may take long. A nil Work shows no progress. Its methods are safe for concurrent use.
type Work struct {
	terminal *Terminal
	what     string
	of       int // number of steps; 0 if unknown
	done     atomic.Int64
	stop     chan struct{}
	stopped  chan struct{}
}

// Begin starts a task, which is shown after a second. It must be ended before anything else is printed.
func (t *Terminal) Begin(what string, of int) *Work {
	if t == nil {
		return nil
	}
	w := &Work{terminal: t, what: what, of: of, stop: make(chan struct{}), stopped: make(chan struct{})}
	go w.tell()
	return w
}

// Steps records n more finished steps.
func (w *Work) Steps(n int) {
	if w != nil {
		w.done.Add(int64(n))
	}
}

// End ends the task and clears its line.
func (w *Work) End() {
	if w != nil {
		close(w.stop)
		<-w.stopped
	}
}

// tell draws the line until the task ends.
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

// String returns the progress line.
func (w *Work) String() string {
	switch done := w.done.Load(); {
	case w.of > 0:
		return fmt.Sprintf("%s: %d of %d", w.what, done, w.of)
	case done > 0:
		return fmt.Sprintf("%s: %d", w.what, done)
	}
	return w.what + " …"
}
