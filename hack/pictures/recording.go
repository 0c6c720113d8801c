// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// row is a line of the terminal, and when it appears: in seconds from the beginning.
type row struct {
	class, text string
	at          float64
}

// terminal is the recording of a session. Time passes with each row.
type terminal struct {
	rows  []row
	clock float64
}

// letters is how wide the terminal is.
const letters = 112

// command adds a command that is typed, and a pause to read it.
func (t *terminal) command(text string) {
	if len(t.rows) > 0 {
		t.rows = append(t.rows, row{at: t.clock})
	}
	t.rows = append(t.rows, row{"mono strong", "$ " + text, t.clock})
	t.clock += 1.2
}

// output adds what a command prints, all at once, and a pause to read it. Long lines are continued in the next.
func (t *terminal) output(text string, pause float64) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		class := "mono"
		switch {
		case strings.Contains(line, ": error: "), strings.HasPrefix(line, "-"):
			class += " bad"
		case strings.Contains(line, "no errors"), strings.Contains(line, " boots "), strings.HasPrefix(line, "+"):
			class += " good"
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for i, part := range wrap(line, letters-len(indent)-2) {
			if i > 0 {
				part = "  " + part
			}
			t.rows = append(t.rows, row{class, indent + part, t.clock})
		}
	}
	t.clock += pause
}

// recording draws a session that copies a broken example, lints it, repairs it by what the message says, and asks what it
// boots.
func recording() (*canvas, error) {
	const broken, wrong, right = "example/broken/no-image-fits.yaml", "1877.5.0", "1877.6.0"
	session, err := record(broken, wrong, right)
	if err != nil {
		return nil, err
	}
	const left, top = 24.0, 58.0
	c := &canvas{
		w: 2*left + letters*0.61*13, h: top + float64(len(session.rows))*lineHeight + 12,
		title: "A terminal: capkit lint names an error in a copy of " + broken + ", the version is changed as it says, and capkit select says what boots",
	}
	total := session.clock + 2
	var css strings.Builder
	// Whoever prefers no motion, or prints, sees all of it at once.
	css.WriteString("@media screen and (prefers-reduced-motion: no-preference) {\n")
	for i, x := 0, 22.0; i < 3; i, x = i+1, x+18 {
		fmt.Fprintf(&c.body, "<circle class=\"card\" cx=\"%.6g\" cy=\"22\" r=\"6\"/>\n", x)
	}
	c.path("line", "M0.5 38.5H%.6g", c.w-0.5)
	steps := map[float64]int{}
	for i, r := range session.rows {
		if r.text == "" {
			continue
		}
		step, known := steps[r.at]
		if !known {
			step = len(steps)
			steps[r.at] = step
			if r.at > 0 {
				from := 100 * r.at / total
				fmt.Fprintf(&css, ".s%d { animation: s%d %.6gs infinite; }\n@keyframes s%d { 0%%, %.1f%% { opacity: 0 } %.1f%%, 100%% { opacity: 1 } }\n",
					step, step, total, step, from-0.1, from)
			}
		}
		c.text(fmt.Sprintf("%s s%d", r.class, step), left, top+float64(i+1)*lineHeight-6, r.text)
	}
	css.WriteString("}\n")
	c.extra = css.String()
	return c, nil
}

// record plays the session in a folder of its own, with a copy of a broken example.
func record(broken, wrong, right string) (*terminal, error) {
	text, err := os.ReadFile(broken)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	const name = "shoot.yaml"
	file := filepath.Join(folder, name)
	t := &terminal{}
	play := func(content, command string, status int, pause float64) error {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return err
		}
		output, got, err := capkit(strings.Fields(strings.ReplaceAll(command, name, file))[1:]...)
		if err == nil && got != status {
			err = fmt.Errorf("%s: status %d, %s", command, got, output)
		}
		t.command(command)
		t.output(strings.ReplaceAll(output, file, name), pause)
		return err
	}
	t.command("cp " + broken + " " + name)
	if err := play(string(text), "capkit lint "+name, 1, 5); err != nil {
		return nil, err
	}
	at := strings.LastIndex(string(text), wrong)
	line := strings.Count(string(text)[:at], "\n") + 1
	t.command(fmt.Sprintf("sed -i '%ds/%s/%s/' %s", line, wrong, right, name))
	repaired := string(text)[:at] + right + string(text)[at+len(wrong):]
	if err := play(repaired, "capkit lint "+name, 0, 2); err != nil {
		return nil, err
	}
	return t, play(repaired, "capkit select "+name, 0, 4)
}
