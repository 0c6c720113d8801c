// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"io"
	"os"
	"sync"
	"testing"
	"time"
)

// screen is a terminal whose ticks the test controls.
type screen struct {
	sync.Mutex
	bytes.Buffer
	ticks chan time.Time
	drawn chan struct{}
	ended int
}

func (s *screen) Write(p []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	n, err := s.Buffer.Write(p)
	select {
	case s.drawn <- struct{}{}:
	default: // the line is cleared, and no test waits for that
	}
	return n, err
}

func (s *screen) tick() {
	s.ticks <- time.Time{}
	<-s.drawn
}

func newScreen() (*screen, *Terminal) {
	s := &screen{ticks: make(chan time.Time), drawn: make(chan struct{}, 1)}
	return s, &Terminal{Writer: s, ticks: func() (<-chan time.Time, func()) { return s.ticks, func() { s.ended++ } }}
}

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		name string
		of   int
		run  func(*screen, *Work)
		want string
	}{
		{"quick", 3, func(_ *screen, w *Work) { w.Steps(1) }, ""},
		{"unknown", 0, func(s *screen, _ *Work) { s.tick() }, "\r\x1b[Kchecking …\r\x1b[K"},
		{"counted", 0, func(s *screen, w *Work) { w.Steps(500); s.tick() }, "\r\x1b[Kchecking: 500\r\x1b[K"},
		{
			"of all", 3,
			func(s *screen, w *Work) {
				s.tick()
				w.Steps(1)
				w.Steps(1)
				s.tick()
			},
			"\r\x1b[Kchecking: 0 of 3\r\x1b[Kchecking: 2 of 3\r\x1b[K",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, terminal := newScreen()
			w := terminal.Begin("checking", c.of)
			c.run(s, w)
			w.End()
			if got := s.String(); got != c.want {
				t.Errorf("the terminal shows %q, want %q", got, c.want)
			}
			if s.ended != 1 {
				t.Errorf("the clock was stopped %d times, want once", s.ended)
			}
		})
	}
}

// Programs that read the output get no progress.
func TestProgressIsForTerminals(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, w := range []io.Writer{nil, &bytes.Buffer{}, file} {
		if TerminalOf(w) != nil {
			t.Errorf("%T is a terminal", w)
		}
	}
	var nobody *Terminal
	w := nobody.Begin("checking", 1)
	w.Steps(1)
	w.End()
}
